# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What this machine's processor has, for tests that run code of one level of x86-64."""
import pathlib

import pytest


def has(feature):
    """By the names of /proc/cpuinfo."""
    return feature in pathlib.Path("/proc/cpuinfo").read_text().split()


def skip_without(target):
    """Skips a test whose target is x86-64-v4 where there is no AVX-512."""
    if target == "x86-64-v4" and not has("avx512vl"):
        pytest.skip("this machine has no AVX-512")
