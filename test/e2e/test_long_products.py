# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products of more inputs than a second-level cache holds panels of: the depth is multiplied in parts."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from processor import skip_without


def make_model(path, weight):
    inputs, outputs = weight.shape
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    graph = helper.make_graph(nodes, "long", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", inputs])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", outputs])], [numpy_helper.from_array(weight, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10), path)


@pytest.mark.parametrize("target", ["host", "x86-64-v4", "x86-64-v3"])
@pytest.mark.parametrize("inputs, flags", [
    (5632, []), (4100, []), (8704, ["--dtype=bf16", "--compute=f32"]), (8704, ["--dtype=bf16", "--compute=bf16"])],
    ids=["f32", "not-divisible", "bf16-by-f32", "bf16"])
def test_each_input_is_counted_once(fovea, fovea_run, tmp_path, target, inputs, flags):
    """Of small integers, whose sums are exact in any order."""
    skip_without(target)
    model, artifact = tmp_path / "long.onnx", tmp_path / "long.fovea"
    draw = np.random.default_rng(2)
    weight = draw.integers(-3, 4, size=(inputs, 64)).astype(np.float32)
    make_model(model, weight)
    fovea("compile", model, f"--target={target}", *flags, "-o", artifact).ok()
    for rows in (1, 7, 40, 130):
        x = draw.integers(-3, 4, size=(rows, inputs)).astype(np.float32)
        np.savez(tmp_path / "in.npz", x=x)
        fovea_run("run", artifact, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        assert np.array_equal(np.load(tmp_path / "out.npz")["y"], x @ weight)
