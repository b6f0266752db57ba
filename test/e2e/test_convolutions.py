# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions of ONNX files: those with one group are products with a weight, whatever their windows are; the code computes what the imported program says."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

# The input's channels and sizes, outputs, kernel, strides, dilations, pads, groups; whether it becomes a linear.
CASES = {
    "patches": ((3, 12, 8), 10, (4, 4), (4, 4), (1, 1), (0, 0, 0, 0), 1, True),
    "patches-and-a-rest": ((3, 13, 9), 10, (4, 4), (4, 4), (1, 1), (0, 0, 0, 0), 1, True),
    "one-by-one": ((6, 5, 7), 9, (1, 1), (1, 1), (1, 1), (0, 0, 0, 0), 1, True),
    "one-by-one-strided": ((6, 5, 7), 9, (1, 1), (2, 3), (1, 1), (0, 0, 0, 0), 1, True),
    "three-by-three": ((4, 6, 5), 7, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 1, True),
    "strided-dilated": ((4, 11, 9), 7, (3, 2), (2, 1), (2, 3), (1, 0, 2, 1), 1, True),
    "along-a-length": ((5, 17), 8, (3,), (2,), (1,), (1, 1), 1, True),
    "three-axes": ((2, 4, 4, 6), 5, (2, 2, 2), (2, 2, 2), (1, 1, 1), (0,) * 6, 1, True),
    "groups": ((6, 5, 7), 9, (3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 3, False),
    "each-channel": ((6, 17), 6, (4,), (1,), (1,), (3, 0), 6, False),
}


def write(path, name, biased):
    shape, outputs, kernel, strides, dilations, pads, groups, _ = CASES[name]
    draw = np.random.default_rng(3).standard_normal
    tensors = {"w": draw((outputs, shape[0] // groups, *kernel)), **({"b": draw(outputs)} if biased else {})}
    node = helper.make_node("Conv", ["x", *tensors], ["y"], strides=strides, dilations=dilations, pads=pads, group=groups)
    graph = helper.make_graph(
        [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", *shape])], [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value.astype(np.float32), key) for key, value in tensors.items()])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), str(path))
    return path


@pytest.mark.parametrize("name", CASES)
def test_computes_what_the_source_says(fovea, tmp_path, name):
    path = write(tmp_path / "conv.onnx", name, biased=True)
    text = fovea("compile", path, "--emit=graph", "-o", "-").ok().text
    assert ("fovea.linear" in text) == CASES[name][-1]
    fovea("verify", path).ok()


def test_without_a_bias(fovea, tmp_path):
    fovea("verify", write(tmp_path / "conv.onnx", "three-by-three", biased=False)).ok()
