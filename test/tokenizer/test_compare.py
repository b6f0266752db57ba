# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the comparisons with the packages `tokenizers` and `sentencepiece`."""
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent


def compare(build, program, *flags):
    result = subprocess.run([sys.executable, str(FOLDER / program), "--tool", str(build / "bin/fovea-tokenize"), *flags],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]


@pytest.fixture
def quick(request):
    """Some of what --all compares."""
    return [] if request.config.getoption("--all") or request.config.getoption("--exhaustive") else ["--quick"]


def test_code_points(build, quick):
    """Each of Unicode's, with --all."""
    compare(build, "compare_tokenizers.py", *quick)


def test_texts_by_sentencepiece(build, quick):
    """At least 50,000 for each model, with --all."""
    compare(build, "compare_sentencepiece.py", *quick)
