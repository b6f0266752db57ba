# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds the fuzz targets together: each has inputs and is documented, and the scripts say what is wrong with their arguments. That the targets run is ctest's."""
import json
import re
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
    assert result.returncode == 0 and "--inputs N" in result.stdout and "build-fuzz/findings" in result.stdout


def test_tables_of_the_document_are_current(root):
    result = script(root, "generate-reliability", "--check")
    assert result.returncode == 0, result.stderr


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
