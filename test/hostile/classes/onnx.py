# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs that call themselves, sizes that wrap or do not fit, operators at their edges."""
import numpy as np
from onnx import SparseTensorProto, TensorProto, helper

from library import case
from seeds import BOOL, FLOAT, INT64, WEIGHT, field, graph_of, one_node, product, write_onnx

MOST = (1 << 63) - 1


def stored(folder, **fields):
    """The product with fields of its weight changed."""
    proto = product()
    weight = proto.graph.initializer[0]
    for name, value in fields.items():
        if isinstance(value, list):
            del getattr(weight, name)[:]
            getattr(weight, name).extend(value)
        else:
            setattr(weight, name, value)
    return write_onnx(folder, proto)


def node(folder, *arguments, **options):
    return write_onnx(folder, one_node(*arguments, **options))


# The file ---------------------------------------------------------------------------------------------------------------------------------------------------


@case("CVE-2021-22570", "bytes that are no message", "model.onnx: expects an ONNX model, got bytes that are no such protobuf message or end too early, at byte 10 of 64")
def bytes_that_are_no_message(folder):
    return write_onnx(folder, b"\xff" * 64)


@case("CVE-2024-39720", "an empty file", "model.onnx: expects a model with a graph, got none")
def file_that_is_empty(folder):
    return write_onnx(folder, b"")


@case("CVE-2025-4565", "graphs in graphs by the thousand: the parser's stack", "model.onnx: expects an ONNX model, got a protobuf message of another kind, or one whose parts are nested more than 100 deep")
def messages_nested_by_the_thousand(folder):
    graph = b""
    for _ in range(3000):
        graph = field(1, field(5, field(6, graph)))
    return write_onnx(folder, field(7, graph))


@case("CVE-2024-27319", "a length that ends behind the file", "model.onnx: expects an ONNX model, got bytes that are no such protobuf message or end too early, at byte 6 of 8")
def length_behind_the_file(folder):
    return write_onnx(folder, b"\x3a\xff\xff\xff\xff\x07" + b"\x0a\x00")


@case("CVE-2025-1889", "a pickle under the name of an ONNX file", "model.onnx: expects an ONNX model, got a pickle, a program that loading would run and that is never loaded; save the weights as safetensors")
def pickle_under_another_name(folder):
    return write_onnx(folder, b"\x80\x02cposix\nsystem\n(X\x0b\x00\x00\x00touch ownedtR.")


@case("microsoft/onnxruntime#28186", "a GGUF file under the name of an ONNX file", "model.onnx: expects an ONNX model, got a GGUF file; give the file itself, under a name that ends in .gguf")
def gguf_under_another_name(folder):
    return write_onnx(folder, b"GGUF\x03\x00\x00\x00" + bytes(16))


# Tensors ----------------------------------------------------------------------------------------------------------------------------------------------------


@case("onnx/onnx#8277", "sizes whose product wraps", "model.onnx: w: expects at most 32 sizes whose bytes can be counted, got [4294967296, 4294967296]")
def tensor_whose_size_wraps(folder):
    return stored(folder, dims=[1 << 32, 1 << 32])


@case("CVE-2026-33298", "sizes whose product wraps to that of the data", "model.onnx: w: expects at most 32 sizes whose bytes can be counted, got [4611686018427387909, 4]")
def tensor_whose_size_wraps_to_its_own(folder):
    return stored(folder, dims=[(1 << 62) + 5, 4])


@case("CVE-2026-21869", "a negative size", "model.onnx: w: expects at most 32 sizes whose bytes can be counted, got [-4, -5]")
def tensor_of_negative_size(folder):
    return stored(folder, dims=[-4, -5])


@case("ml-explore/mlx#3363", "fewer bytes than the shape says", "model.onnx: w: expects 80000000 bytes for [4000, 5000] of float, got 80")
def tensor_shorter_than_its_shape(folder):
    return stored(folder, dims=[4000, 5000])


@case("microsoft/onnxruntime#4585", "an element type outside of the table of types", "model.onnx: w: expects elements that are bool, integers, float16, bfloat16, float or double, got element type 1000")
def tensor_of_an_unknown_type(folder):
    return stored(folder, data_type=1000)


@case("CVE-2024-21802", "more dimensions than any array has", "model.onnx: w: expects at most 32 sizes whose bytes can be counted, got [1, 1, 1, 1, 1, 1, 1, 1, ... (10000 sizes)]")
def tensor_of_too_many_dimensions(folder):
    return stored(folder, dims=[1] * 10_000)


@case("pragnyanramtha/onnxruntime-sparse-external-data-bypass-poc", "a sparse initializer, which a second reader takes without the first one's checks", "model.onnx: g: expects dense initializers, got a sparse one")
def tensor_that_is_sparse(folder):
    proto = product()
    del proto.graph.initializer[:]
    values = TensorProto(name="w", data_type=FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    values.external_data.add(key="location", value="../secret.bin")
    proto.graph.sparse_initializer.append(SparseTensorProto(values=values, indices=TensorProto(data_type=INT64, dims=[1], int64_data=[0]), dims=[4, 5]))
    return write_onnx(folder, proto)


@case("pragnyanramtha/onnxruntime-sparse-external-data-bypass-poc", "a constant that is sparse, likewise", "model.onnx: constant: Constant: not supported: constants that are strings or sparse; expects value, value_int(s) or value_float(s)")
def constant_that_is_sparse(folder):
    values = TensorProto(name="v", data_type=FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    values.external_data.add(key="location", value="../secret.bin")
    sparse = SparseTensorProto(values=values, indices=TensorProto(data_type=INT64, dims=[1], int64_data=[0]), dims=[4, 5])
    nodes = [helper.make_node("Constant", [], ["w"], name="constant", sparse_value=sparse), helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    return write_onnx(folder, graph_of(nodes, {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 5])}))


# Graphs and functions ---------------------------------------------------------------------------------------------------------------------------------------


def function(name, nodes):
    return helper.make_function("own", name, ["x"], ["y"], nodes, [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)])


def calls(folder, *functions, first="F"):
    proto = graph_of([helper.make_node(first, ["x"], ["y"], domain="own", name="call")], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}, functions=functions, domains=["own"])
    return write_onnx(folder, proto)


@case("microsoft/onnxruntime#28187", "a function that calls itself", 'model.onnx: call/again/again/again/again/again/again/again/again/again/again/again/again/again/again/again/again/again/again/again/a...: expects functions that do not call themselves, got "F" in calls 64 deep')
def function_that_calls_itself(folder):
    return calls(folder, function("F", [helper.make_node("F", ["x"], ["y"], domain="own", name="again")]))


@case("onnx/onnx#7815", "two functions that call each other", 'model.onnx: call/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG/toF/toG...: expects functions that do not call themselves, got "F" in calls 64 deep')
def functions_that_call_each_other(folder):
    return calls(folder, *(function(name, [helper.make_node(other, ["x"], ["y"], domain="own", name="to" + other)]) for name, other in ["FG", "GF"]))


@case("onnx/onnx#8171", "a function that calls itself from inside a branch", 'model.onnx: call/inside/inside/inside/inside/inside/inside/inside/inside/inside/inside/inside/inside/inside/inside/inside/inside/ins...: expects functions that do not call themselves, got "G" in calls 64 deep')
def function_that_calls_itself_in_a_branch(folder):
    branch = helper.make_graph([helper.make_node("G", ["x"], ["z"], domain="own", name="inside")], "branch", [], [helper.make_tensor_value_info("z", FLOAT, None)])
    nodes = [helper.make_node("Constant", [], ["true"], value=helper.make_tensor("true", BOOL, [], [True])),
             helper.make_node("If", ["true"], ["y"], then_branch=branch, else_branch=branch, name="branches")]
    return calls(folder, function("G", nodes), first="G")


@case("microsoft/onnxruntime#32339", "functions that double with each level: 2^40 nodes of 40 functions", "model.onnx: call/t/t/t/t/t/t/t/t/t/t/t/t/t/t/t/t/t/t/t/t/t/y/y/y/y/t/y/t/t/t/t/y/t/t/t/t/t/t: expects at most a million nodes once functions are inlined, got more")
def functions_that_double(folder):
    functions = []
    for level in range(40):
        inner = {"op_type": f"F{level - 1}", "domain": "own"} if level else {"op_type": "Relu"}
        functions.append(function(f"F{level}", [helper.make_node(inputs=["x"], outputs=["t"], **inner), helper.make_node(inputs=["t"], outputs=["y"], **inner)]))
    return calls(folder, *functions, first="F39")


@case("microsoft/onnxruntime#29617", "branches in branches: each is looked at twice for each level", "model.onnx: if27: If: not supported: a condition that depends on what a tensor holds, or on open sizes; expects one that is constant")
def branches_in_branches(folder):
    info = helper.make_tensor_value_info
    body = [helper.make_node("Relu", ["x"], ["t0"])]
    for level in range(28):
        outer = helper.make_graph(body, "branch", [], [info(f"t{level}", FLOAT, None)])
        other = helper.make_graph([helper.make_node("Exp", ["x"], [f"o{level}"])], "other", [], [info(f"o{level}", FLOAT, None)])
        body = [helper.make_node("If", ["q"], [f"t{level + 1}"], then_branch=outer, else_branch=other, name=f"if{level}")]
    return write_onnx(folder, graph_of([*body, helper.make_node("Identity", ["t28"], ["y"])], {"x": (FLOAT, [2]), "q": (BOOL, [])}, {"y": (FLOAT, [2])}))


@case("CWE-674", "a node that reads its own result", 'model.onnx: first: Add: expects an input, an initializer or an earlier node named "b", got none: it is missing, or nodes form a cycle')
def node_that_reads_itself(folder):
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="first"), helper.make_node("Relu", ["a"], ["b"], name="second")]
    return write_onnx(folder, graph_of(nodes, {"x": (FLOAT, ["n"])}, {"b": (FLOAT, ["n"])}))


@case("CWE-694", "two nodes that write one name, of which readers take the first or the last", 'model.onnx: b: Exp: expects one value of the name "y", got two')
def results_of_one_name(folder):
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="a"), helper.make_node("Exp", ["x"], ["y"], name="b")]
    return write_onnx(folder, graph_of(nodes, {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}))


@case("CVE-2025-0312", "an operator without its inputs", "model.onnx: node: MatMul: expects 2 inputs, got none in place 0")
def node_without_its_inputs(folder):
    return node(folder, "MatMul", [], (FLOAT, [2]))


@case("CWE-114", "an operator of somebody's library, which a loader would open", "model.onnx: node: com.evil.RunShell: not supported: an operator that Fovea does not know; the nearest is a function of the model, made of ONNX's own operators")
def operator_of_a_library(folder):
    return node(folder, "RunShell", ["x"], (FLOAT, [2, 6]), {"domain": "com.evil", "command": "touch owned"}, domains=["com.evil"])


@case("CWE-829", "an operator that runs another program", "model.onnx: node: com.microsoft.PythonOp: not supported: an operator that Fovea does not know; the nearest is a function of the model, made of ONNX's own operators")
def operator_of_another_language(folder):
    return node(folder, "PythonOp", ["x"], (FLOAT, [2, 6]), {"domain": "com.microsoft", "module": "os", "func_name": "system"}, domains=["com.microsoft"])


# Shapes -----------------------------------------------------------------------------------------------------------------------------------------------------


def with_shape(folder, op, sizes, shape=(2, 6), **options):
    return node(folder, op, ["x", "s"], (FLOAT, None), shapes={"x": (FLOAT, list(shape))}, constants={"s": np.array(sizes, np.int64)}, **options)


@case("onnx/onnx#8277", "a shape with -1 where the rest does not divide the elements", "model.onnx: node: Reshape: expects a size in place of -1 that gives all elements of [2, 6], got 12 / 5")
def reshape_that_does_not_divide(folder):
    return with_shape(folder, "Reshape", [5, -1])


@case("onnx/onnx#8277", "a shape with -1 where the rest does not divide the elements, whatever the open sizes are", "model.onnx: node: Reshape: expects a size in place of -1 that gives all elements of [n, 8], got 8 / 3")
def reshape_that_never_divides(folder):
    return with_shape(folder, "Reshape", [0, 3, -1], shape=["n", 8])


@case("ml-explore/mlx#3363", "a sum over axes of seven elements and of one", "model.onnx: node: MatMul: expects axes of one size to sum over, got [7] and [1]")
def sum_over_axes_of_two_sizes(folder):
    return node(folder, "MatMul", ["x", "w"], (FLOAT, None), shapes={"x": (FLOAT, ["n", 7])}, constants={"w": np.ones((1, 20), np.float32)})


@case("onnx/onnx#8277", "a shape of as many elements as fit no number", "model.onnx: node: Reshape: expects elements that can be counted in 64 bits, got [2, 6] as [4294967296, 4294967296, 12]")
def reshape_whose_product_wraps(folder):
    return with_shape(folder, "Reshape", [1 << 32, 1 << 32, 12])


@case("onnx/onnx#8277", "a shape with two sizes to be found", "model.onnx: node: Reshape: expects one size of -1 at most, got two")
def reshape_with_two_open_sizes(folder):
    return with_shape(folder, "Reshape", [-1, -1])


@case("CVE-2026-21869", "a negative size in a shape", "model.onnx: node: Reshape: expects sizes, 0 or -1, got -12")
def reshape_to_a_negative_size(folder):
    return with_shape(folder, "Reshape", [-12, -1, 1])


@case("CVE-2025-0317", "a -1 beside a size of zero: divided by it", "model.onnx: node: Reshape: expects sizes beside -1 that are not zero, got a product of 0")
def reshape_beside_zero(folder):
    return with_shape(folder, "Reshape", [0, -1], attributes={"allowzero": 1})


@case("CVE-2020-15212", "a row before the table", "model.onnx: node: Gather: expects indices inside of axis 0 of [2, 2], got [-7]")
def row_before_the_table(folder):
    return node(folder, "Gather", ["w", "i"], (FLOAT, None), {"axis": 0}, shapes={"x": (FLOAT, [2])}, constants={"w": WEIGHT[:2, :2], "i": np.array([-7], np.int64)})


@case("onnx/onnx#8277", "a shape whose product wraps to that of the data", "model.onnx: node: Reshape: expects elements that can be counted in 64 bits, got [2, 6] as [4, 4611686018427387907]")
def reshape_whose_product_wraps_to_its_own(folder):
    return with_shape(folder, "Reshape", [4, (1 << 62) + 3])


@case("CVE-2025-0315", "a constant of gigabytes from a hundred bytes", "model.onnx: node: ConstantOfShape: not supported: a constant of more than 2^28 bytes; expects an input of the model")
def constant_of_gigabytes(folder):
    return node(folder, "ConstantOfShape", ["s"], (FLOAT, None), shapes={"x": (FLOAT, [2])}, constants={"s": np.array([1 << 31], np.int64)})


@case("CVE-2025-0315", "a tensor of 2^50 elements from eight bytes", "model.onnx: node: ConstantOfShape: expects a tensor of fewer than 2^48 bytes, got float [33554432, 33554432]")
def constant_of_2_50_elements(folder):
    return node(folder, "ConstantOfShape", ["s"], (FLOAT, None), shapes={"x": (FLOAT, [2])}, constants={"s": np.array([1 << 25, 1 << 25], np.int64)})


@case("onnx/onnx#8277", "a tensor of 2^80 elements", "model.onnx: node: ConstantOfShape: expects a tensor of fewer than 2^48 bytes, got float [1099511627776, 1099511627776]")
def constant_whose_size_wraps(folder):
    return node(folder, "ConstantOfShape", ["s"], (FLOAT, None), shapes={"x": (FLOAT, [2])}, constants={"s": np.array([1 << 40, 1 << 40], np.int64)})


@case("CVE-2026-21869", "a tensor of negative size", "model.onnx: node: ConstantOfShape: expects sizes from 0, got [-5]")
def constant_of_negative_size(folder):
    return node(folder, "ConstantOfShape", ["s"], (FLOAT, None), shapes={"x": (FLOAT, [2])}, constants={"s": np.array([-5], np.int64)})


@case("onnx/onnx#8277", "a tensor repeated 2^62 times", "model.onnx: node: Tile: expects sizes that fit 64 bits, got [2, 6] times [4611686018427387904, 4611686018427387904]")
def tile_that_wraps(folder):
    return with_shape(folder, "Tile", [1 << 62, 1 << 62])


@case("CVE-2025-0315", "a broadcast to 2^60 rows", "model.onnx: node: Expand: expects a tensor of fewer than 2^48 bytes, got float [9223372036854775807, 2, 6]")
def expand_that_wraps(folder):
    return with_shape(folder, "Expand", [MOST, 2, 6])


@case("onnx/onnx#8277", "a range whose number of elements wraps", "model.onnx: node: Range: expects sizes that fit 64 bits, got larger ones")
def range_that_wraps(folder):
    return node(folder, "Range", ["a", "b", "c"], (INT64, None), shapes={"x": (FLOAT, [2])}, constants={"a": np.int64(-MOST), "b": np.int64(MOST), "c": np.int64(1)})


@case("CVE-2025-0317", "a range with a step of zero", "model.onnx: node: Range: expects a step other than zero, got 0")
def range_without_a_step(folder):
    return node(folder, "Range", ["a", "b", "c"], (INT64, None), shapes={"x": (FLOAT, [2])}, constants={"a": np.int64(0), "b": np.int64(9), "c": np.int64(0)})


@case("CVE-2025-0317", "a slice with a step of zero", "model.onnx: node: Slice: expects steps that are not zero, got 0")
def slice_without_a_step(folder):
    numbers = {name: np.array([value], np.int64) for name, value in {"b": 0, "e": 6, "a": 1, "s": 0}.items()}
    return node(folder, "Slice", ["x", "b", "e", "a", "s"], (FLOAT, None), constants=numbers)


@case("GHSA-j7rm-8ww4-xx2g", "blocks of no size: a division by zero", "model.onnx: node: SpaceToDepth: not supported: an operator that Fovea does not know; the nearest is a function of the model, made of ONNX's own operators")
def blocks_of_no_size(folder):
    return node(folder, "SpaceToDepth", ["x"], (FLOAT, None), {"blocksize": 0}, shapes={"x": (FLOAT, [1, 1, 4, 4])})


@case("onnx/onnx#8277", "padding of 2^63 elements", "model.onnx: node: Pad: expects sizes that fit 64 bits, got larger ones")
def padding_that_wraps(folder):
    return with_shape(folder, "Pad", [MOST, 0, MOST, 0])


@case("CVE-2025-0315", "padding that takes more away than there is", "model.onnx: node: Pad: expects negative pads to take away no more than the 2 elements of axis 0, got -5 and 0")
def padding_below_zero(folder):
    return with_shape(folder, "Pad", [-5, 0, 0, 0])


@case("microsoft/onnxruntime#28731", "a kernel of more axes than the image: reads behind the dilations", "model.onnx: node: Conv: expects floats [N, C, ...] and a weight [M, C / group, ...] of their type, got x of float [1, 1, 8], w of float [1, 1, 3, 3], dilations [1]")
def convolution_of_another_rank(folder):
    return node(folder, "Conv", ["x", "w"], (FLOAT, None), {"dilations": [1]}, shapes={"x": (FLOAT, [1, 1, 8])}, constants={"w": np.zeros((1, 1, 3, 3), np.float32)})


@case("onnx/onnx#8277", "a stride of zero: the result's size is divided by it", "model.onnx: node: Conv: expects positive strides and dilations, and pads that are not negative, for 1 axes, got x of float [1, 1, 8], w of float [1, 1, 3], strides [0]")
def convolution_without_a_stride(folder):
    return node(folder, "Conv", ["x", "w"], (FLOAT, None), {"strides": [0]}, shapes={"x": (FLOAT, [1, 1, 8])}, constants={"w": np.zeros((1, 1, 3), np.float32)})


@case("CVE-2023-27579", "groups of no channels: channels are divided by them", "model.onnx: node: Conv: expects group to divide the channels, and weights of C / group channels, got x of float [1, 1, 8], w of float [1, 1, 3], group 0")
def convolution_without_groups(folder):
    return node(folder, "Conv", ["x", "w"], (FLOAT, None), {"group": 0}, shapes={"x": (FLOAT, [1, 1, 8])}, constants={"w": np.zeros((1, 1, 3), np.float32)})


@case("onnx/onnx#8277", "a pool of 2^62 elements that reach behind the sum", "model.onnx: node: MaxPool: expects kernel_shape to give a size from 1 to 2^20 for each of 1 axes, got x of float [1, 1, 8], dilations [4], kernel_shape [4611686018427387904]")
def pool_that_wraps(folder):
    return node(folder, "MaxPool", ["x"], (FLOAT, None), {"kernel_shape": [1 << 62], "dilations": [4]}, shapes={"x": (FLOAT, [1, 1, 8])})


@case("CVE-2020-15212", "rows by indices outside of a table that is known", "model.onnx: node: Gather: expects indices inside of axis 0 of [2, 2], got [99]")
def rows_outside_of_the_table(folder):
    return node(folder, "Gather", ["w", "i"], (FLOAT, None), {"axis": 0}, shapes={"x": (FLOAT, [2])}, constants={"w": WEIGHT[:2, :2], "i": np.array([1, 99], np.int64)})


@case("CVE-2020-15212", "writes by indices outside of the tensor: none is made", end="runs", call=("--input", "x=[[1, 2, 3, 4, 5, 6], [7, 8, 9, 10, 11, 12]]"))
def writes_outside_of_the_tensor(folder):
    return node(folder, "ScatterND", ["x", "i", "u"], (FLOAT, None), constants={"i": np.array([[99]], np.int64), "u": np.zeros((1, 6), np.float32)})


@case("microsoft/onnxruntime#28175", "an embedding whose tables have other widths: writes behind the result", "model.onnx: node: com.microsoft.EmbedLayerNormalization: expects shapes that broadcast, got sizes 8 and 4")
def embedding_of_several_widths(folder):
    tables = {name: np.zeros(shape, np.float32) for name, shape in {"words": (9, 8), "places": (9, 4), "gamma": (8,), "beta": (8,)}.items()}
    attributes = {"domain": "com.microsoft", "epsilon": 1e-5}
    proto = graph_of([helper.make_node("EmbedLayerNormalization", ["ids", "", "words", "places", "", "gamma", "beta"], ["y", "m"], name="node", **attributes)],
                     {"ids": (TensorProto.INT32, [1, 3])}, {"y": (FLOAT, None)}, tables, domains=["com.microsoft"])
    return write_onnx(folder, proto)


@case("microsoft/onnxruntime, MatMulNBits PrePack", "attributes that claim a larger weight than there is: reads behind it", "model.onnx: node: com.microsoft.MatMulNBits: not supported: an operator that Fovea does not know; the nearest is a function of the model, made of ONNX's own operators")
def product_of_another_size(folder):
    attributes = {"domain": "com.microsoft", "K": 4096, "N": 4096, "bits": 4, "block_size": 32}
    return node(folder, "MatMulNBits", ["x", "b", "s"], (FLOAT, None), attributes, shapes={"x": (FLOAT, [2, 4096])},
                constants={"b": np.zeros((4, 1, 16), np.uint8), "s": np.zeros(4, np.float32)}, domains=["com.microsoft"])


@case("CVE-2023-27579", "attention with no heads: the width is divided by them", "model.onnx: node: com.microsoft.MultiHeadAttention: expects queries and a number of heads, got x of float [1, 3, 8], x of float [1, 3, 8], x of float [1, 3, 8], num_heads 0")
def attention_without_heads(folder):
    attributes = {"domain": "com.microsoft", "num_heads": 0}
    return node(folder, "MultiHeadAttention", ["x", "x", "x"], (FLOAT, None), attributes, shapes={"x": (FLOAT, [1, 3, 8])}, domains=["com.microsoft"])


@case("CVE-2025-0315", "a loop of 2^62 rounds", "model.onnx: node: Loop: not supported: more than 256 rounds")
def loop_without_end(folder):
    info = helper.make_tensor_value_info
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["v", "v"], ["w"])], "body",
                             [info("i", INT64, []), info("c", BOOL, []), info("v", FLOAT, None)], [info("d", BOOL, []), info("w", FLOAT, None)])
    return node(folder, "Loop", ["n", "", "x"], (FLOAT, None), {"body": body}, constants={"n": np.int64(1 << 62)})


@case("CVE-2026-34445", "an attribute that nobody knows, taken for a field of the object", 'model.onnx: node: Relu: not supported: attribute "__class__"')
def attribute_that_nobody_knows(folder):
    return node(folder, "Relu", ["x"], (FLOAT, None), {"__class__": "os.system", "raw_data": 1 << 40})


@case("onnx/onnx#8277", "an axis outside of the tensor", "model.onnx: node: Softmax: expects an axis in [-2, 2), got 9223372036854775807")
def axis_outside_of_the_tensor(folder):
    return node(folder, "Softmax", ["x"], (FLOAT, None), {"axis": MOST})


@case("CVE-2022-23594", "two inputs of one name", "model.onnx: x: expects one input of this name, got two")
def inputs_of_one_name(folder):
    proto = one_node("Relu", ["x"], (FLOAT, None))
    proto.graph.input.append(helper.make_tensor_value_info("x", FLOAT, [3]))
    return write_onnx(folder, proto)


@case("microsoft/onnxruntime#4585", "an input of an element type that is none", "model.onnx: x: expects an input that is a tensor of a known rank with elements that are bool, integers, float16, bfloat16, float or double, got one of element type 1000")
def input_of_an_unknown_type(folder):
    proto = one_node("Relu", ["x"], (FLOAT, None))
    proto.graph.input[0].type.tensor_type.elem_type = 1000
    return write_onnx(folder, proto)


@case("CVE-2026-21869", "an input of negative size", "model.onnx: x: expects sizes from 0, or -1 for an open one, got -3")
def input_of_negative_size(folder):
    return node(folder, "Relu", ["x"], (FLOAT, None), shapes={"x": (FLOAT, [-3, 4])})


@case("CVE-2025-49847", "an operator set beyond 32 bits", "model.onnx: expects operator set 13 to 28, got 4611686018427387904")
def operator_set_beyond_32_bits(folder):
    return write_onnx(folder, product(opset=(1 << 62)))


# At the call ------------------------------------------------------------------------------------------------------------------------------------------------


@case("onnx/onnx#8277", "a shape with -1 that divides for some sizes of the input only", "entry 'forward': expects sizes that fit together and that its slices and reshapes can be taken of, got x [5, 4]", end="at the call", call=("--input", "x=random:5x4"))
def reshape_that_divides_sometimes(folder):
    return node(folder, "Reshape", ["x", "s"], (FLOAT, None), shapes={"x": (FLOAT, ["n", 4])}, constants={"s": np.array([3, -1], np.int64)})


@case("onnx/onnx#8277", "a shape of fixed sizes that holds as many elements for one size of the input only", "entry 'forward': expects sizes that fit together and that its slices and reshapes can be taken of, got x [7]", end="at the call", call=("--input", "x=random:7"))
def reshape_that_fits_sometimes(folder):
    return node(folder, "Reshape", ["x", "s"], (FLOAT, None), shapes={"x": (FLOAT, ["n"])}, constants={"s": np.array([2, 3], np.int64)})


@case("onnx/onnx#8277", "the shape of another input, which holds as many elements in some calls only", "entry 'forward': expects sizes that fit together and that its slices and reshapes can be taken of, got x [3, 4], z [2, 5]", end="at the call", call=("--input", "x=random:3x4", "--input", "z=random:2x5"))
def reshape_to_the_shape_of_another(folder):
    nodes = [helper.make_node("Shape", ["z"], ["s"]), helper.make_node("Reshape", ["x", "s"], ["y"], name="node")]
    return write_onnx(folder, graph_of(nodes, {"x": (FLOAT, ["n", 4]), "z": (FLOAT, ["k", "l"])}, {"y": (FLOAT, None)}))


@case("CVE-2020-15212", "rows by indices of the call, outside of the table", "entry 'forward': kernel 'embedding_0' (node) met an index or a size out of bounds; look at the values of 'i'", end="at the call", call=("--input", "i=[-7, 99]"))
def rows_outside_of_the_table_at_the_call(folder):
    return node(folder, "Gather", ["w", "i"], (FLOAT, None), {"axis": 0}, shapes={"i": (INT64, ["n"])}, constants={"w": WEIGHT})


@case("CVE-2020-15212", "writes by indices of the call, outside of the tensor: none is made", end="runs", call=("--input", "x=random:3x4", "--input", "i=[[99]]", "--input", "u=random:1x4"))
def writes_outside_of_the_tensor_at_the_call(folder):
    return node(folder, "ScatterND", ["x", "i", "u"], (FLOAT, None), shapes={"x": (FLOAT, ["n", 4]), "i": (INT64, ["m", 1]), "u": (FLOAT, ["m", 4])})


@case("CWE-369", "a division of integers by zero", "entry 'forward': kernel 'divsi_0' (node) met an index or a size out of bounds; look at the values of 'x', 'd'", end="at the call", call=("--input", "x=[7]", "--input", "d=[0]"))
def division_by_zero(folder):
    return node(folder, "Div", ["x", "d"], (INT64, None), shapes={"x": (INT64, ["n"]), "d": (INT64, ["n"])})


@case("microsoft/onnxruntime#28731", "an image smaller than the kernel: a result of negative size", "entry 'forward': kernel 'generic_0' (node) met an index or a size out of bounds", end="at the call", call=("--input", "x=random:1x1x2"))
def image_smaller_than_its_kernel(folder):
    return node(folder, "Conv", ["x", "w"], (FLOAT, None), shapes={"x": (FLOAT, [1, 1, "n"])}, constants={"w": np.zeros((1, 1, 5), np.float32)})


@case("onnx/onnx#8277", "two inputs that cannot be broadcast together", "entry 'forward': kernel 'addf_0' (node) met an index or a size out of bounds", end="at the call", call=("--input", "x=random:3", "--input", "z=random:4"))
def sizes_that_do_not_meet(folder):
    return node(folder, "Add", ["x", "z"], (FLOAT, None), shapes={"x": (FLOAT, ["n"]), "z": (FLOAT, ["m"])})
