# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Near misses notice when a part of raising's account is left out; docs/rationale/raising.md has the parts."""
import pytest

from programs import invoke

SERIES = ["--near-misses", "--raise-only", "--seed=3", "--count=400", "--quiet"]


def test_the_whole_account_gives_no_wrong_number():
    assert invoke("fovea-smith", *SERIES).ok().text.endswith("400 passed, 0 failed\n")


@pytest.mark.parametrize("part", ["carried", "harmless", "intervals", "coverage"])
def test_a_missing_part_is_noticed(part):
    result = invoke("fovea-smith", *SERIES, f"--plant={part}")
    assert result.code == 1 and ": numbers: " in result.text, str(result)


def test_an_unknown_part_is_refused():
    result = invoke("fovea-smith", *SERIES, "--plant=luck")
    assert result.code != 0 and "expects carried, harmless, intervals or coverage, got 'luck'" in result.err.decode()
