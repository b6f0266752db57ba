# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files whose products have no weight, and what stands around them: tile programs on processors and GPUs that compute what the imported program says."""
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

# Arguments with their sizes; the nodes, each with its inputs' names and attributes, the last of which gives y.
CASES = {
    "batches": ({"a": ["batch", 40, 24], "b": ["batch", 24, 30]}, [("MatMul", "a b", {})]),
    "heads": ({"a": ["batch", 3, "queries", 24], "b": ["batch", 3, 24, "keys"]}, [("MatMul", "a b", {})]),
    "open-depth": ({"a": ["batch", 7, "keys"], "b": ["batch", "keys", 24]}, [("MatMul", "a b", {})]),
    "shared-matrix": ({"a": ["batch", "length", 24], "b": [24, 30]}, [("MatMul", "a b", {})]),
    "matrices": ({"a": [24, "rows"], "b": [30, 24], "c": [30]}, [("Gemm", "a b c", {"transA": 1, "transB": 1})]),
    "scores": ({"a": ["batch", "queries", 24], "b": ["batch", 24, "keys"], "c": ["batch", "keys", 30]},
               [("MatMul", "a b", {}), ("Mul", "0 scale", {}), ("Sigmoid", "1", {}), ("MatMul", "2 c", {})]),
    "squared-scores": ({"a": ["batch", "queries", 24], "b": ["batch", 24, "keys"], "c": ["batch", "keys", 30]},
                       [("MatMul", "a b", {}), ("Relu", "0", {}), ("Mul", "1 1", {}), ("MatMul", "2 c", {})]),
    "kernel-features": ({"a": ["batch", "length", 24], "b": ["batch", 24, "length"], "c": ["batch", "length", 30]},
                        [("Elu", "a", {}), ("MatMul", "b c", {}), ("MatMul", "0 1", {})]),
}


def write(path, name):
    arguments, steps = CASES[name]
    last = len(steps) - 1
    nodes = [helper.make_node(kind, inputs.split(), ["y" if i == last else str(i)], **attributes) for i, (kind, inputs, attributes) in enumerate(steps)]
    values = [helper.make_tensor_value_info(key, TensorProto.FLOAT, sizes) for key, sizes in arguments.items()]
    graph = helper.make_graph(nodes, "g", values, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(np.array(0.25, np.float32), "scale")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10), str(path))
    return path


@pytest.mark.parametrize("name", CASES)
def test_computes_what_the_source_says(fovea, tmp_path, name):
    path = write(tmp_path / "products.onnx", name)
    text = fovea("compile", path, "--emit=scheduled", "-o", "-").ok().text
    products = sum(kind in ("MatMul", "Gemm") for kind, _, _ in CASES[name][1])
    assert text.count("linalg.contract") == text.count("#fovea.contraction") == products or "#fovea.by_rows" in text
    assert "#fovea.loops" not in text
    fovea("verify", path).ok()


@pytest.mark.parametrize("name", ["heads", "open-depth", "scores"])
def test_on_a_gpu(fovea, tmp_path, name):
    fovea("verify", write(tmp_path / "products.onnx", name), "--gpu=sm_80", "--device=emulator").ok()
