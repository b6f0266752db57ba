# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small runs of what breaks off programs (faults.py) and of what compares bits (same_bits.py); each with a fault that it must see."""
import json
import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent
sys.path.append(str(FOLDER))
import faults
import same_bits
import shim

pytestmark = [pytest.mark.long, pytest.mark.skipif(not shim.LIBRARY.exists(), reason="sanitizers want to be loaded first")]


def script(name, *arguments):
    return subprocess.run([sys.executable, FOLDER / name, *map(str, arguments)], capture_output=True, text=True)


def test_kills(tmp_path):
    done = script("faults.py", "kills", 40, "--figures", tmp_path / "figures.json")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())["faults"]
    assert sum(row["runs"] for row in figures.values()) == 40 and sum(row.get("killed", 0) for row in figures.values()) > 10


@pytest.mark.parametrize("scenario", ["compile", "run"])
def test_calls_that_fail(tmp_path, scenario):
    done = script("faults.py", "calls", "--only", scenario, "--figures", tmp_path / "figures.json")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())["faults"]
    assert {"calls: ENOSPC", "calls: kill", "calls: short", "calls: cut"} <= figures.keys() and figures["calls: ENOSPC"]["exit 1"] > 5


def test_no_hash_of_a_model_that_is_read_in_part():
    """A file that cannot be opened a second time, for the names of its tensors' files, once left them out of the cache's key."""
    done = script("faults.py", "calls", "--only", "cached", "--fault", "EMFILE")
    assert done.returncode == 0 and re.search(r"EMFILE +wrong 0 +runs \d\d", done.stdout), done.stdout + done.stderr


@pytest.fixture
def scenario(tmp_path):
    return next(faults.scenarios(tmp_path, "compile"))


def test_what_is_left_is_seen(scenario):
    """The judge itself: a half-written output, one that is missing, a file beside it, a wrong exit code, two messages."""
    out = scenario.folder / "out" / "model.fovea"
    scenario.reset()
    assert scenario.judge(1, "fovea: error: no space\n") is None
    assert "ends with 70" in scenario.judge(70, "")
    assert "2 messages" in scenario.judge(1, "error: a\nerror: b\n")
    assert "something else after code 0" in scenario.judge(0, "")  # it is the old one
    (scenario.folder / "tmp" / "left").write_bytes(b"x")
    assert "leaves ['tmp/left']" in scenario.judge(1, "error: a\n")
    scenario.reset()
    out.write_bytes(scenario.made["out/model.fovea"][:-1])
    assert "something else" in scenario.judge(1, "error: a\n")
    out.unlink()
    assert "is missing" in scenario.judge(1, "error: a\n")
    scenario.reset()
    (scenario.folder / "out" / "model.fovea.other").write_bytes(b"x")
    assert "after the kill leaves" in scenario.judge(-9, "")


def test_same_bits(tmp_path):
    done = script("same_bits.py", 64, "--figures", tmp_path / "figures.json")
    assert done.returncode == 0, done.stdout + done.stderr
    figures = json.loads((tmp_path / "figures.json").read_text())["determinism"]
    assert figures["compile"]["cases"] == 4 and figures["run f32"]["runs"] == 16


def test_other_bits_are_seen(capsys):
    seen = same_bits.Comparison()
    for threads, found in [(1, "a"), (2, "a"), (3, "b")]:
        seen.take("run f32", "1x7", threads, found)
    assert seen.counts["run f32"]["different"] == 1 and "3 threads give other bits than 1" in capsys.readouterr().out
