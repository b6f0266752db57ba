# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The node tests of the `onnx` package through the compiled path: none fails, and the table in docs/onnx-ops.md says what passes."""
import onnx_nodes
import pytest

from programs import BIN

# Cases that fail, and why. One that passes may not stand here.
KNOWN = {"test_dft_inverse_opset19": "imaginary parts that are zero by cancellation are sums in f32 here", "test_dft_inverse": "the same"}

ROWS = onnx_nodes.rows(onnx_nodes.TABLE.read_text())


@pytest.fixture(scope="module")
def cases():
    return onnx_nodes.collect()


@pytest.mark.long
@pytest.mark.parametrize("operator", ROWS)
def test_operator(cases, operator):
    outcomes = onnx_nodes.run_all(cases[operator], BIN)
    failed = [f"{case.name}: {outcome.why}" for case, outcome in zip(cases[operator], outcomes) if outcome.kind == "failed" and case.name not in KNOWN]
    assert not failed, "\n".join(failed)
    assert not [case.name for case, outcome in zip(cases[operator], outcomes) if outcome.kind == "passed" and case.name in KNOWN]
    assert onnx_nodes.row(operator, outcomes) == ROWS[operator]


def test_the_table_holds_what_transformers_need():
    for operator in ("Attention", "RotaryEmbedding", "MatMul", "Gemm", "Softmax", "LayerNormalization", "Gather", "Reshape", "Where"):
        passed, failed, unsupported = (int(cell) for cell in ROWS[operator].split("|")[2:5])
        assert passed
    assert sum(int(line.split("|")[3]) for line in ROWS.values()) == len(KNOWN)
