# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What IR an ONNX graph becomes: shape arithmetic leaves no tensors, reshapes are proven, constants stand in bodies, weights are named."""
import re

import numpy as np
import pytest

from onnx_cases import TensorProto, difference, helper, interpret, model, numpy_helper

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
node = helper.make_node


@pytest.fixture
def ir(fovea, tmp_path):
    """The import stage of a model, as text; checked against `expected` by the interpreter, if given."""
    def make(proto, feeds=None, expected=None):
        path, out = tmp_path / "model.onnx", tmp_path / "out.mlir"
        path.write_bytes(proto.SerializeToString())
        fovea("compile", path, "--emit=import", "-o", out).ok()
        if feeds is not None:
            result, = interpret(path, feeds, tmp_path)
            assert difference(result, expected) < 1e-6
        return out.read_text()
    return make


def ops(text):
    return set(re.findall(r"\b((?:tensor|linalg|arith|math|fovea|scf)\.[a-z_]+)", text))


def test_shape_arithmetic_leaves_no_tensors(ir):
    """view(B, S, H, D) as the older exporter writes it: Shape, Gather, Unsqueeze, Concat, Reshape."""
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "zero"], ["b0"], axis=0), node("Gather", ["s", "one"], ["s0"], axis=0),
             node("Unsqueeze", ["b0", "axis"], ["b1"]), node("Unsqueeze", ["s0", "axis"], ["s1"]),
             node("Concat", ["b1", "s1", "heads"], ["t"], axis=0), node("Reshape", ["x", "t"], ["y"])]
    proto = model(nodes, {"x": (FLOAT, ["batch", "sequence", 32])}, {"y": (FLOAT, ["batch", "sequence", 4, 8])},
                  {"zero": np.array(0), "one": np.array(1), "axis": np.array([0]), "heads": np.array([4, -1])})
    x = np.random.default_rng(0).standard_normal((2, 3, 32)).astype(np.float32)
    text = ir(proto, {"x": x}, x.reshape(2, 3, 4, 8))
    assert ops(text) == {"fovea.model", "fovea.entry", "fovea.name", "fovea.dims", "arith.constant", "tensor.dim", "tensor.expand_shape"}
    assert "[[0], [1], [2, 3]]" in text


def test_merged_heads_are_proven_from_a_product_of_sizes(ir):
    """reshape(B * H, S, D) and back: sizes are products of sizes, divided exactly."""
    nodes = [node("Reshape", ["x", "merged"], ["a"]), node("Shape", ["x"], ["s"]), node("Reshape", ["a", "s"], ["y"])]
    proto = model(nodes, {"x": (FLOAT, ["b", 4, "s", 8])}, {"y": (FLOAT, ["b", 4, "s", 8])}, {"merged": np.array([-1, 0, 8])})
    # The 0 copies axis 1, which is 4: [b * s, 4, 8] is another shape and has to go through one axis.
    x = np.random.default_rng(0).standard_normal((2, 4, 3, 8)).astype(np.float32)
    text = ir(proto, {"x": x}, x)
    assert "arith.floordivsi" not in text


def test_sizes_that_are_sums_divide_exactly(ir):
    """Keys behind a past, turned as PyTorch's newer exporter writes it: [1, H, P + S, D] to [-1, P + S, D], turned, to [1, H, D, P + S]. -1 is a quotient of sums."""
    nodes = [node("Concat", ["past", "x"], ["k"], axis=2), node("Shape", ["k"], ["s"]), node("Slice", ["s", "two", "four"], ["last"]), node("Slice", ["s", "zero", "two"], ["first"]),
             node("Concat", ["minus", "last"], ["merged"], axis=0), node("Reshape", ["k", "merged"], ["a"]), node("Transpose", ["a"], ["turned"], perm=[0, 2, 1]),
             node("Slice", ["s", "two", "three"], ["keys"]), node("Slice", ["s", "three", "four"], ["size"]), node("Concat", ["first", "size", "keys"], ["t"], axis=0),
             node("Reshape", ["turned", "t"], ["y"])]
    numbers = {name: np.array([value]) for name, value in dict(minus=-1, zero=0, two=2, three=3, four=4).items()}
    proto = model(nodes, {"past": (FLOAT, [1, 12, "p", 8]), "x": (FLOAT, [1, 12, "s", 8])}, {"y": (FLOAT, [1, 12, 8, "t"])}, numbers)
    rng = np.random.default_rng(0)
    past, x = (rng.standard_normal((1, 12, size, 8)).astype(np.float32) for size in (5, 2))
    text = ir(proto, {"past": past, "x": x}, np.concatenate([past, x], 2).transpose(0, 1, 3, 2))
    assert "arith.floordivsi" not in text
    assert "tensor<?xf32>" not in text  # no axis of all elements


def test_expand_mask_decides_where_and_equal(ir):
    """expand() as the older exporter writes it: Where(Equal(shape, -1), ones, shape)."""
    nodes = [node("Shape", ["x"], ["s"]), node("Concat", ["minus", "s"], ["t"], axis=0), node("Equal", ["t", "minus"], ["e"]),
             node("Where", ["e", "one", "t"], ["w"]), node("Expand", ["x", "w"], ["y"])]
    proto = model(nodes, {"x": (FLOAT, ["n", 3])}, {"y": (FLOAT, [1, "n", 3])}, {"minus": np.array([-1]), "one": np.array([1])})
    x = np.ones((2, 3), np.float32)
    assert "arith.select" not in ir(proto, {"x": x}, x[None])


def test_scalars_stand_in_the_body(ir):
    nodes = [node("Mul", ["x", "half"], ["y"])]
    text = ir(model(nodes, {"x": (FLOAT, ["n"])}, {"y": (FLOAT, ["n"])}, {"half": np.array(0.5, np.float32)}))
    assert "arith.constant 5.000000e-01 : f32" in text and "dense" not in text


def test_equal_shapes_make_one_op(ir):
    text = ir(model([node("Add", ["x", "x"], ["y"])], {"x": (FLOAT, ["n", 2])}, {"y": (FLOAT, ["n", 2])}))
    assert "arith.addf %arg0, %arg0 : tensor<?x2xf32>" in text and "linalg.generic" not in text


def test_weights_and_constants(ir):
    nodes = [node("MatMul", ["x", "w"], ["a"]), node("Add", ["a", "b"], ["y"])]
    text = ir(model(nodes, {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 8])}, {"w": np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32), "b": np.ones(8, np.float32)}))
    assert 'fovea.weight @w : tensor<4x8xf32> = #fovea.stored<"model.onnx", "w", tensor<4x8xf32>>' in text
    assert "linalg.contract" in text and "dense<1.000000e+00> : tensor<8xf32>" in text


@pytest.mark.parametrize("a, b", [(["n", 1], ["k", 3]), (["n", "k"], [1, 3])])
def test_a_sum_over_one_element_and_an_open_size(ir, a, b):
    """Not broadcast as batches are: the open size is one as well, which the call checks."""
    x, w = np.array([[2], [3]], np.float32), np.array([[1, 2, 4]], np.float32)
    text = ir(model([node("MatMul", ["a", "b"], ["y"])], {"a": (FLOAT, a), "b": (FLOAT, b)}, {"y": (FLOAT, ["n", 3])}), {"a": x, "b": w}, x @ w)
    assert "linalg.contract" in text


def test_conditions_that_shapes_decide(ir):
    then = helper.make_graph([node("Relu", ["x"], ["t"])], "then", [], [helper.make_tensor_value_info("t", FLOAT, None)])
    other = helper.make_graph([node("Neg", ["x"], ["e"])], "else", [], [helper.make_tensor_value_info("e", FLOAT, None)])
    nodes = [node("Shape", ["x"], ["s"], start=1, end=2), node("Squeeze", ["s"], ["k"]), node("Equal", ["k", "three"], ["c"]),
             node("If", ["c"], ["y"], then_branch=then, else_branch=other)]
    proto = model(nodes, {"x": (FLOAT, ["n", 3])}, {"y": (FLOAT, ["n", 3])}, {"three": np.array(3)})
    x = np.array([[-1, 2, -3]], np.float32)
    text = ir(proto, {"x": x}, np.maximum(x, 0))
    assert "scf.if" not in text and "negf" not in text


def test_a_branch_has_tensors_of_its_own(ir):
    """Initializers of a subgraph: seen there alone, whatever the main graph calls its own."""
    own = np.array([1, 2, 3], np.float32)
    then = helper.make_graph([node("Add", ["x", "w"], ["t"])], "then", [], [helper.make_tensor_value_info("t", FLOAT, None)], [numpy_helper.from_array(own, "w")])
    other = helper.make_graph([node("Add", ["x", "v"], ["e"])], "else", [], [helper.make_tensor_value_info("e", FLOAT, None)], [numpy_helper.from_array(-own, "v")])
    for decision, sign in ((True, 1), (False, -1)):
        proto = model([node("If", ["c"], ["y"], then_branch=then, else_branch=other)], {"x": (FLOAT, ["n", 3])}, {"y": (FLOAT, ["n", 3])}, {"c": np.array(decision)})
        x = np.array([[-1, 2, -3]], np.float32)
        ir(proto, {"x": x}, x + sign * own)


def test_loop_of_a_constant_number_of_rounds(ir):
    info = helper.make_tensor_value_info
    body = helper.make_graph([node("Add", ["v", "v"], ["w"]), node("Identity", ["c"], ["d"])], "body",
                             [info("i", INT64, []), info("c", BOOL, []), info("v", FLOAT, None)], [info("d", BOOL, []), info("w", FLOAT, None)])
    proto = model([node("Loop", ["three", "", "x"], ["y"], body=body)], {"x": (FLOAT, ["n"])}, {"y": (FLOAT, ["n"])}, {"three": np.array(3)})
    x = np.array([1, 2], np.float32)
    assert ir(proto, {"x": x}, 8 * x).count("arith.addf") == 3


def test_functions_are_inlined_with_their_attributes(ir):
    softmax = node("Softmax", ["a"], ["b"])
    softmax.attribute.add(name="axis", ref_attr_name="along", type=2)
    function = helper.make_function("own", "F", ["a"], ["b"], [softmax], [helper.make_opsetid("", 18)], ["along"])
    proto = model([node("F", ["x"], ["y"], domain="own", along=0, name="call")], {"x": (FLOAT, ["n", 3])}, {"y": (FLOAT, ["n", 3])}, functions=[function], domains=["own"])
    assert "linalg.softmax dimension(0)" in ir(proto)


def test_names_and_sizes_of_the_entry(ir):
    proto = model([node("Concat", ["x", "past"], ["y"], axis=0)], {"x": (FLOAT, ["new", 2]), "past": (FLOAT, [None, 2])}, {"y": (FLOAT, ["all", 2])})
    text = ir(proto)
    assert 'fovea.dims = ["new"], fovea.name = "x"' in text and 'fovea.dims = ["past_axis0"]' in text
    assert 'fovea.dims = ["y_axis0"], fovea.name = "y"' in text


def test_range_from_a_number_that_a_tensor_holds(ir):
    """Positions behind a cache: from `offset`, as many as tokens."""
    nodes = [node("Shape", ["x"], ["s"], start=0, end=1), node("Squeeze", ["s"], ["n"]), node("Add", ["offset", "n"], ["end"]), node("Range", ["offset", "end", "one"], ["y"])]
    proto = model(nodes, {"x": (FLOAT, ["n"]), "offset": (INT64, [])}, {"y": (INT64, ["n"])}, {"one": np.array(1)})
    ir(proto, {"x": np.zeros(4, np.float32), "offset": np.array(7)}, np.arange(7, 11))


def test_attention_becomes_the_op(ir):
    proto = model([node("Attention", ["q", "k", "v", "m"], ["y"], is_causal=1, softcap=5.0, q_num_heads=4, kv_num_heads=2)],
                  {"q": (FLOAT, ["b", "s", 32]), "k": (FLOAT, ["b", "s", 16]), "v": (FLOAT, ["b", "s", 16]), "m": (BOOL, ["b", 1, "s", "s"])},
                  {"y": (FLOAT, ["b", "s", 32])}, opset=23)
    text = ir(proto)
    assert {"fovea.attention", "fovea.mask_causal", "fovea.mask_dense", "fovea.mask_and"} <= ops(text)
    assert "linalg.transpose" not in text and "math.tanh" in text


def test_last_token_is_a_slice_of_one(ir):
    nodes = [node("Gather", ["x", "last"], ["y"], axis=1)]
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    text = ir(model(nodes, {"x": (FLOAT, ["b", "s", 4])}, {"y": (FLOAT, ["b", 4])}, {"last": np.array(-1)}), {"x": x}, x[:, -1])
    assert "tensor.extract_slice" in text and "linalg.generic" not in text
