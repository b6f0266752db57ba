# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Artifacts of each version of the format, as a compiler of that version wrote them: the present one opens and runs, earlier ones are refused by the versions' numbers, never misread.

A version is two numbers: that of the file's format (artifact/Format.h) and that of the interface between code and runtime (abi/Abi.h). Who raises one adds the golden artifact of the new version
(make_golden.py) and its hash here; the old ones stay.
"""
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_golden  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
HASHES = {
    "format-1-abi-1.fovea": "00e273bb54b652acf9de7ab3b309cbef8e8a7b8209bceab7df66bac20a47242e",
    "format-1-abi-2.fovea": "0a67329faad402151b4771b77d644bc1f5eaeb8168091a06eb0c0e2757180dc4",
    "format-1-abi-3.fovea": "6358eeac8823c5c9c87a3d1516975f686f869ecc00d5243361409c91581f10a1",
    "format-2-abi-3.fovea": "f9502295d0468fadcf7b23b9423e007c537080287f6505a19adbbfc6f920923e",
}


def number_in(file, pattern):
    return int(re.search(pattern, (ROOT / file).read_text()).group(1))


PRESENT = make_golden.name_of(number_in("artifact/Format.h", r"formatVersion = (\d+);"), number_in("abi/Abi.h", r"#define FOVEA_ABI_VERSION (\d+)"))


def run(program, *arguments, **options):
    path = ROOT / "build" / "bin" / program
    if not path.exists():
        pytest.skip(f"build/bin/{program} does not exist")
    return subprocess.run([path, *map(str, arguments)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL, **options)


def ok(done):
    assert done.returncode == 0, done.stderr
    return done.stdout


def logits(artifact, ids, folder):
    np.savez(folder / "in.npz", input_ids=np.array([ids], np.int64))
    ok(run("fovea-run", "run", artifact, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz"))
    return np.load(folder / "out.npz")["logits"]


def test_present_version_has_a_golden_artifact():
    assert PRESENT in HASHES, f"the version was raised: run test/artifact/make_golden.py and add {PRESENT} with its hash"


def test_golden_artifacts_stay_as_they_are():
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in make_golden.GOLDEN.iterdir()}
    assert found == HASHES
    for name in HASHES:
        assert make_golden.name_of(*make_golden.versions(make_golden.GOLDEN / name)) == name


def test_present_version_opens():
    told = ok(run("fovea", "inspect", "--verify", make_golden.GOLDEN / PRESENT))
    for line in ["entry prefill (9 steps, at most 32 positions)", "takes input_ids: [batch, sequence] i64", "takes key_cache.0: cache 1x4 f32", "gives logits: [batch, 8] f32",
                 "table: 8x4 f32", "head: 8x4 f32, fovea.panels<16>", "all hashes are right"]:
        assert line in told, told


def test_present_version_runs(tmp_path):
    """Texts in and out, caches, weights: the model counts, and ends."""
    told = json.loads(ok(run("fovea-run", "generate", make_golden.GOLDEN / PRESENT, "--prompt", "ONE", "--temp", "0", "-n", 20, "--json", "--quiet")))
    assert told["text"] == " two three four five" and told["stop"] == "end", told
    # Token 4 stands alone on its direction, which the head gives to token 5; its opposite is 5 itself, which goes on to 6.
    weights = make_golden.weights()
    expected = weights["head"] @ weights["table"][4]
    assert np.abs(logits(make_golden.GOLDEN / PRESENT, [3, 4], tmp_path) - expected).max() <= 1e-5 * np.abs(expected).max()


def test_present_compiler_makes_the_same_of_it(tmp_path):
    make_golden.write_sources(tmp_path)
    ok(run("fovea", "compile", "golden.mlir", "-o", "new.fovea", cwd=tmp_path))
    assert make_golden.name_of(*make_golden.versions(tmp_path / "new.fovea")) == PRESENT
    for ids in ([3], [3, 4, 5], [0, 6, 2, 7]):
        assert np.abs(logits(tmp_path / "new.fovea", ids, tmp_path) - logits(make_golden.GOLDEN / PRESENT, ids, tmp_path)).max() <= 1e-5 * 8


@pytest.mark.parametrize("name", sorted(set(HASHES) - {PRESENT}))
@pytest.mark.parametrize("words", [("fovea", "inspect"), ("fovea-run", "run"), ("fovea-run", "generate", "--prompt", "one")], ids=lambda words: " ".join(words[:2]))
def test_other_versions_are_refused_by_their_numbers(name, words):
    path = make_golden.GOLDEN / name
    done = run(words[0], words[1], path, *words[2:])
    (form, interface), (ours, our_interface) = make_golden.versions(path), make_golden.versions(make_golden.GOLDEN / PRESENT)
    told = (f"has artifact format version {form}; this program reads {ours}" if form != ours
            else f"holds code for version {interface} of the runtime's interface; this program has version {our_interface}")
    assert done.returncode == 1 and done.stdout == "" and done.stderr == f"{words[0]}: error: {path}: {told}; compile the model again\n", done.stderr


def test_both_versions_stand_in_the_header():
    """Where the two numbers are is part of every version, so that all can be told apart."""
    for name in HASHES:
        data = (make_golden.GOLDEN / name).read_bytes()
        assert data[:8] == b"\x89FOVEA\r\n" and struct.unpack("<II", data[8:16]) == tuple(int(word) for word in re.findall(r"\d+", name))
