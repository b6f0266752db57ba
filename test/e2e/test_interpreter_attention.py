# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter's attention, every two choices of its clauses together, is the formula in numpy to the last digits of f64."""
import json
import re

import attention_cases
import numpy as np
import pytest

from programs import invoke

pytestmark = pytest.mark.long
CASES = [case for module in attention_cases.modules() for case in module]
LENGTHS = [(1, 1), (5, 9), (9, 5), (4, 0), (0, 4), (12, 12)]


def interpret(source, case, arrays, tmp_path):
    """Results in order. The program prints `@name`, then a line `2x3 [1, 2, ...]` for each."""
    (tmp_path / "in.json").write_text(json.dumps({name: {"shape": array.shape, "data": array.astype(float if array.dtype.kind == "f" else int).ravel().tolist()}
                                                  for name, array in arrays.items()}))
    printed = invoke("fovea-interpret", source, "--exact", f"--entry={case.entry}", f"--inputs={tmp_path / 'in.json'}").ok().text
    found = []
    for shape, numbers in re.findall(r"^  ([\dx]+) \[(.*)\]$", printed, re.MULTILINE):
        found.append(np.array([float(number) for number in numbers.split(",") if number.strip()]).reshape([int(size) for size in shape.split("x")]))
    return found


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.entry for case in CASES])
def test_attention(tmp_path, number):
    case = CASES[number]
    (tmp_path / "case.mlir").write_text(case.ir())
    queries, keys = LENGTHS[number % len(LENGTHS)]
    arrays = case.inputs(number, 1 + number % 3, queries, keys)
    found = interpret(tmp_path / "case.mlir", case, arrays, tmp_path)
    expected, _ = case.expected(arrays)
    assert len(found) == len(expected)
    for got, (name, wanted) in zip(found, expected.items()):
        assert got.shape == wanted.shape, name
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12, err_msg=f"{name} of {case.choice}")
