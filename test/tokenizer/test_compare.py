# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the comparison with the `tokenizers` package."""
import pathlib
import subprocess
import sys

import pytest

COMPARE = pathlib.Path(__file__).with_name("compare.py")


def compare(build, *flags):
    result = subprocess.run([sys.executable, str(COMPARE), "--tool", str(build / "bin/fovea-tokenize"), *flags],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-8000:] + result.stderr[-2000:]


def test_some_code_points(build):
    compare(build, "--quick")


@pytest.mark.long
def test_every_code_point(build):
    compare(build)
