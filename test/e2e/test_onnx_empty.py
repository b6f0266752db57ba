# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes of zero in ONNX models: every operator is right, or refused with one message; `check` and `compile` say the same."""
import numpy as np
import onnx_empty
import onnx_nodes
import pytest

from onnx_cases import TensorProto, helper, model
from programs import BIN

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64

# What differs from the reference evaluator, by the beginning of a case's name, and why that is no fault.
KNOWN = {
    "test_attention_": "a mask without columns, which the evaluator fills up with minus infinity: rows in which no key is left are what the formula says, NaN",
    "test_causal_conv_with_state_": "a state without places, shorter than the convolution asks for",
    "test_conv_with_autopad_same": "an image smaller than the kernel",
    "test_averagepool_": "an image smaller than the kernel",
    "test_maxpool_": "an image smaller than the kernel",
    "test_tensorscatter_": "an update without places at an index that it does not have",
}

OPERATORS = sorted(onnx_nodes.rows(onnx_nodes.TABLE.read_text()))


@pytest.fixture(scope="module")
def cases():
    return onnx_nodes.collect()


@pytest.mark.long
@pytest.mark.parametrize("operator", OPERATORS)
def test_operator(cases, operator):
    empty = onnx_empty.emptied(cases[operator])
    outcomes = onnx_empty.run_all(empty, BIN)
    failed = [f"{case.name}: {outcome.why}" for case, outcome in zip(empty, outcomes)
              if outcome.kind == "failed" and not (outcome.is_soft and case.name.startswith(tuple(KNOWN)))]
    assert not failed, "\n".join(failed)


def compiled(fovea, tmp_path, proto):
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    fovea("check", path).ok()
    fovea("compile", path, "-o", tmp_path / "model.fovea").ok()
    return tmp_path / "model.fovea"


def run(fovea, tmp_path, artifact, **inputs):
    np.savez(tmp_path / "in.npz", **inputs)
    return fovea("run", artifact, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")


def test_softmax_of_no_columns(fovea, tmp_path):
    proto = model([helper.make_node("Softmax", ["x"], ["z"], axis=-1)], {"x": (FLOAT, [2, 0])}, {"z": (FLOAT, [2, 0])}, opset=17)
    run(fovea, tmp_path, compiled(fovea, tmp_path, proto), x=np.zeros((2, 0), np.float32)).ok()
    assert np.load(tmp_path / "out.npz")["z"].shape == (2, 0)


def attention(q, k, v, z):
    nodes = [helper.make_node("MatMul", ["q", "k"], ["s"]), helper.make_node("Softmax", ["s"], ["p"], axis=-1), helper.make_node("MatMul", ["p", "v"], ["z"])]
    return model(nodes, {"q": (FLOAT, q), "k": (FLOAT, k), "v": (FLOAT, v)}, {"z": (FLOAT, z)}, opset=17)


@pytest.mark.parametrize("queries,keys", [(0, 0), (3, 0), (0, 3)])
@pytest.mark.parametrize("is_open", [False, True])
def test_attention(fovea, tmp_path, queries, keys, is_open):
    s, t = ("s", "t") if is_open else (queries, keys)
    artifact = compiled(fovea, tmp_path, attention([1, 2, s, 4], [1, 2, 4, t], [1, 2, t, 4], [1, 2, s, 4]))
    run(fovea, tmp_path, artifact, q=np.ones((1, 2, queries, 4), np.float32), k=np.ones((1, 2, 4, keys), np.float32), v=np.ones((1, 2, keys, 4), np.float32)).ok()
    z = np.load(tmp_path / "out.npz")["z"]
    assert z.shape == (1, 2, queries, 4)
    assert (z == 0).all()


def test_keys_without_rows_where_queries_have_a_batch(fovea, tmp_path):
    """The keys' first axis is none, their second the batch: an export of transposed keys gone wrong."""
    nodes = [
        helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]), helper.make_node("MatMul", ["q", "kt"], ["s"]),
        helper.make_node("Softmax", ["s"], ["p"], axis=-1), helper.make_node("MatMul", ["p", "v"], ["output"])]
    proto = model(nodes, {"q": (FLOAT, ["batch", 2, "queries", 8]), "k": (FLOAT, [0, "batch", "keys", 8]), "v": (FLOAT, ["batch", 2, "keys", 8])},
                  {"output": (FLOAT, ["batch", 2, "rows", 8])})
    artifact = compiled(fovea, tmp_path, proto)
    zeros = {name: np.zeros(shape, np.float32) for name, shape in {"q": (0, 2, 3, 8), "k": (0, 0, 4, 8), "v": (0, 2, 4, 8)}.items()}
    result = run(fovea, tmp_path, artifact, **zeros)
    assert result.code in (0, 1), str(result)


def test_table_without_rows(fovea, tmp_path):
    """Nothing is read of it; ids are refused, and none are none."""
    proto = model([helper.make_node("Gather", ["w", "i"], ["z"])], {"i": (INT64, ["n"])}, {"z": (FLOAT, ["n", 4])}, {"w": np.zeros((0, 4), np.float32)}, opset=17)
    artifact = compiled(fovea, tmp_path, proto)
    result = run(fovea, tmp_path, artifact, i=np.array([0, 1, 5]))
    assert result.code == 1 and b"out of bounds" in result.err, str(result)
    run(fovea, tmp_path, artifact, i=np.zeros(0, np.int64)).ok()
    assert np.load(tmp_path / "out.npz")["z"].shape == (0, 4)
