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


def test_some_code_points(build):
    compare(build, "compare_tokenizers.py", "--quick")


@pytest.mark.long
def test_every_code_point(build):
    compare(build, "compare_tokenizers.py")


def test_some_texts_by_sentencepiece(build):
    compare(build, "compare_sentencepiece.py", "--quick")


@pytest.mark.long
def test_many_texts_by_sentencepiece(build):
    """At least 50,000 for each model."""
    compare(build, "compare_sentencepiece.py")
