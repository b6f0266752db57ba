# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds the fuzz targets together: each has inputs and is documented, and the scripts say what is wrong with their arguments. That the targets run is ctest's."""
import json
import re
import shutil
import subprocess
import sys

import pytest


def script(root, name, *arguments):
    return subprocess.run([root / "scripts" / name, *map(str, arguments)], cwd=root, capture_output=True, text=True)


def test_each_target_has_inputs_and_a_line_in_the_document(root):
    targets = script(root, "fuzz", "--list").stdout.split()
    assert len(targets) > 10
    assert sorted(folder.name for folder in (root / "test" / "fuzz" / "corpus").iterdir()) == targets
    for target in targets:
        assert any((root / "test" / "fuzz" / "corpus" / target).iterdir())
    assert re.findall(r"^\| `([\w-]+)` \|", (root / "docs" / "fuzzing.md").read_text(), re.MULTILINE) == targets


@pytest.mark.parametrize("arguments, message", [
    (["nonsense"], "expects targets of artifact, "), (["--inputs", "0"], "expects a number of inputs of at least 1, got '0'"), (["--inputs", "5", "--hours", "1"], "got both"),
    (["--hours", "nan"], "expects hours, such as 0.5, got 'nan'"), (["--commands", "5", "json"], "is a run of its own"), (["--json", "/nowhere/x.json"], "a folder that exists"),
    (["--json", __file__], "which is no JSON object")])
def test_arguments(root, arguments, message):
    result = script(root, "fuzz", *arguments)
    assert result.returncode == 2 and message in result.stderr and not result.stdout, result.stderr


def test_help(root):
    result = script(root, "fuzz", "--help")
    assert result.returncode == 0 and "--inputs N" in result.stdout and "--fast" in result.stdout and "build-fuzz/findings" in result.stdout


def test_tables_of_the_document_are_current(root):
    result = script(root, "generate-reliability", "--check")
    assert result.returncode == 0, result.stderr


@pytest.fixture
def reliability(root, tmp_path):
    """Runs a copy of generate-reliability on a document of two tables."""
    for folder in ("scripts", "docs"):
        (tmp_path / folder).mkdir()
    shutil.copy(root / "scripts" / "generate-reliability", tmp_path / "scripts")
    (tmp_path / "docs" / "reliability.json").write_text("{}")
    (tmp_path / "docs" / "reliability.md").write_text("begin\n" + "".join(f"<!-- table: {name} -->\n<!-- end of table -->\nbetween\n" for name in ("targets", "faults")))

    def run(figures=None, *arguments):
        if figures is not None:
            (tmp_path / "figures.json").write_text(figures if isinstance(figures, str) else json.dumps(figures))
            arguments = ("--add", tmp_path / "figures.json", *arguments)
        return script(tmp_path, "generate-reliability", *arguments), (tmp_path / "docs" / "reliability.md").read_text()
    return run


def test_figures_become_tables(reliability):
    target = {"inputs": 3000, "seconds": 9.0, "cpu_seconds": 2.0, "crashes": 1, "timeouts": 0, "memory": 2, "peak_mb": 88}
    assert reliability({"targets": {"json": target}, "faults": {"kills: b": {"wrong": 0, "whole": 7}}})[0].returncode == 0
    result, text = reliability({"targets": {}, "faults": {"calls: a": {"wrong": 1, "EIO": 4000}}})
    assert result.returncode == 0 and text.startswith("begin\n") and text.endswith("between\n")
    assert "| target | inputs | a second | crashes | over 5 s | over 600 MB | peak MB |\n" in text and "| json | 3,000 | 1,500 | 1 | 0 | 2 | 88 |\n" in text
    assert "| calls: a | 1 | 4,000 |  |\n| kills: b | 0 |  | 7 |\n| all | 1 | 4,000 | 7 |\n" in text and re.search(r"\nAdded on \d{4}-\d\d-\d\d; processors: \d+ of \S", text)
    assert reliability(None, "--check")[0].returncode == 0
    assert reliability({"faults": {"calls: a": {"wrong": 0}}})[1].count("| calls: a |") == 1


@pytest.mark.parametrize("figures, message", [
    ("{", "Expecting"), ("[]", "expects {section"), ({"faults": {"a": 5}}, "expects {section"), ({"faults": {"a": {"wrong": "no"}}}, "expects {section"),
    ({"others": {"a": {"wrong": 1}}}, "got none for others")])
def test_figures_that_are_none(reliability, figures, message):
    before = reliability()[1]
    result, text = reliability(figures)
    assert result.returncode == 1 and message in result.stderr and text == before, result.stderr


def test_a_stale_document(reliability, tmp_path):
    reliability({"faults": {"a": {"wrong": 0}}})
    document = tmp_path / "docs" / "reliability.md"
    document.write_text(document.read_text().replace("| a | 0 |", "| a | 5 |"))
    result, text = reliability(None, "--check")
    assert result.returncode == 1 and "is stale" in result.stderr and "| a | 5 |" in text


@pytest.mark.long
def test_commands(root, tmp_path):
    """A few runs of each kind, twice: none is wrong, and a seed says all."""
    counts = []
    for number in range(2):
        file = tmp_path / f"{number}.json"
        result = subprocess.run([sys.executable, root / "test" / "fuzz" / "commands.py", "1", "32", "--findings", tmp_path / "findings", "--json", file], capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
        counts.append({kind: {key: value for key, value in figures.items() if key != "peak_mb"} for kind, figures in json.loads(file.read_text()).items()})
    assert counts[0] == counts[1] and sum(figures["runs"] for figures in counts[0].values()) == 32
