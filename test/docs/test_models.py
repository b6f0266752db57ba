# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""docs/models.md says what `fovea families` and the tests' lists of cases say."""
import subprocess
import sys

import pytest


def test_table_of_models_is_current(root):
    if not (root / "build" / "bin" / "fovea").exists():
        pytest.skip("build/bin/fovea does not exist")
    done = subprocess.run([sys.executable, root / "scripts" / "generate-models", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
