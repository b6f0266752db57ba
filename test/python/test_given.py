# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products with matrices that the caller keeps: read where they are, by one row and by many, on each kind of processor."""
import onnx
import pytest
import torch
from onnx import TensorProto, helper

import fovea
from processor import skip_without


def make_model(path, outputs, inputs, kind):
    nodes = [helper.make_node("Transpose", ["w"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["x", "t"], ["p"]), helper.make_node("Add", ["p", "b"], ["y"])]
    graph = helper.make_graph(nodes, "given", [helper.make_tensor_value_info("x", kind, ["rows", inputs]), helper.make_tensor_value_info("w", kind, [outputs, inputs]),
                                               helper.make_tensor_value_info("b", kind, [outputs])], [helper.make_tensor_value_info("y", kind, ["rows", outputs])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


@pytest.mark.parametrize("target", ["host", "x86-64-v4", "x86-64-v3", "x86-64"])
@pytest.mark.parametrize("outputs, inputs", [(200, 2048), (64, 5632), (64, 1000), (64, 4112), (5, 48), (1, 64)],
                         ids=["whole", "long", "part-of-a-vector", "prime-vectors", "few", "one"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
def test_numbers(tmp_path, target, outputs, inputs, dtype):
    """One row is summed across lanes, several are not. Of small integers, in bf16 few that are not zero: exact in any order."""
    skip_without(target)
    make_model(tmp_path / "model.onnx", outputs, inputs, TensorProto.FLOAT if dtype == torch.float32 else TensorProto.BFLOAT16)
    model = fovea.compile(tmp_path / "model.onnx", target=target)
    assert "linear" in model.entries["forward"].steps[0]["description"]
    draw = torch.Generator().manual_seed(3)

    def integers(*shape):
        numbers = torch.randint(-3, 4, shape, generator=draw)
        return (numbers * (torch.rand(shape, generator=draw) < 12 / inputs) if dtype == torch.bfloat16 else numbers).to(dtype)

    for rows in (1, 2, 7, 40, 130):
        x, w, b = integers(rows, inputs), integers(outputs, inputs), integers(outputs)
        expected = x.double() @ w.double().T + b.double()
        assert torch.equal(model(x, w, b).double(), expected), rows
