# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files that nobody vouches for: each fault is one message that names its place, exit code 1, and nothing is read that the model may not read.

The external data cases are the history of that bug class: "..", absolute paths, symbolic links, hard links, offsets and lengths beyond the file.
"""
import os

import numpy as np
import pytest

from onnx_cases import TensorProto, helper, interpret, model, numpy_helper, onnx

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def linear(weight=None, **options):
    """y = x w, the smallest model with a weight."""
    weight = np.arange(20, dtype=np.float32).reshape(4, 5) if weight is None else weight
    return model([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 5])}, {"w": weight}, **options)


@pytest.fixture
def refuse(fovea, tmp_path):
    """Checks that a model is refused with words of the message; gives all of it."""
    def check(proto, *words, count=1):
        path = tmp_path / "model.onnx"
        path.write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString())
        result = fovea("check", path)
        assert result.code == 1, str(result)
        errors = [line for line in result.err.decode().splitlines() if "error:" in line]
        assert len(errors) == count, result.err.decode()
        for word in words:
            assert word in result.err.decode(), result.err.decode()
        return result.err.decode()
    return check


# Bytes --------------------------------------------------------------------------------------------------------------------------------------------------


def test_cut_short_anywhere(fovea, tmp_path):
    whole = linear().SerializeToString()
    path = tmp_path / "model.onnx"
    for size in range(0, len(whole), 3):
        path.write_bytes(whole[:size])
        result = fovea("check", path)
        assert result.code == 1 and result.err.decode().count("error:") == 1, (size, result.err.decode())


def test_any_byte_changed(fovea, tmp_path):
    whole = linear().SerializeToString()
    path, codes = tmp_path / "model.onnx", set()
    for place in range(0, len(whole), 2):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1:])
        codes.add(fovea("check", path).code)
    assert codes <= {0, 1}


def test_sizes_that_cannot_be_multiplied(refuse):
    node = helper.make_node("MatMul", ["a", "b"], ["y"], name="product")
    for size in (1, 4):
        refuse(model([node], {"a": (FLOAT, ["n", size]), "b": (FLOAT, [5, 3])}, {"y": (FLOAT, ["n", 3])}), f"MatMul: expects axes of one size to sum over, got [{size}] and [5]")


def test_garbage(refuse):
    refuse(b"\xff" * 100, "expects an ONNX model")
    refuse(b"", "expects a model with a graph")
    refuse(b"{\"not\": \"protobuf\"}", "expects")


def test_not_there(fovea, tmp_path):
    assert fovea("check", tmp_path / "none.onnx").code == 1
    (tmp_path / "folder.onnx").mkdir()
    assert fovea("check", tmp_path / "folder.onnx").code == 1


# Tensors ------------------------------------------------------------------------------------------------------------------------------------------------


def tensor(**fields):
    result = TensorProto(name="w", data_type=FLOAT, dims=[4, 5], raw_data=bytes(80))
    for name, value in fields.items():
        if name == "dims":
            del result.dims[:]
            result.dims.extend(value)
        else:
            setattr(result, name, value)
    return result


@pytest.mark.parametrize("fields,words", [
    ({"raw_data": bytes(79)}, "expects 80 bytes"), ({"raw_data": bytes(84)}, "got 84"), ({"dims": [-4, 5]}, "expects at most 32 sizes"),
    ({"dims": [1 << 40, 1 << 40]}, "bytes can be counted"), ({"dims": [1] * 40}, "expects at most 32 sizes"), ({"data_type": 8}, "got string"),
    ({"data_type": 17}, "got float8e4m3fn"), ({"data_type": 99}, "got element type 99"), ({"data_type": 0}, "got undefined")])
def test_tensor(refuse, fields, words):
    proto = linear()
    proto.graph.initializer[0].CopyFrom(tensor(**fields))
    refuse(proto, words, "w:")


def test_typed_data_of_another_size(refuse):
    proto = linear()
    proto.graph.initializer[0].CopyFrom(TensorProto(name="w", data_type=FLOAT, dims=[4, 5], float_data=[1, 2, 3]))
    refuse(proto, "expects 80 bytes", "got 12")


# Graphs -------------------------------------------------------------------------------------------------------------------------------------------------


def test_cycle(refuse):
    nodes = [helper.make_node("Add", ["x", "b"], ["a"], name="first"), helper.make_node("Relu", ["a"], ["b"], name="second")]
    refuse(model(nodes, {"x": (FLOAT, ["n"])}, {"b": (FLOAT, ["n"])}), "first", '"b"', "cycle")


def test_missing_input(refuse):
    refuse(model([helper.make_node("Relu", ["nowhere"], ["y"], name="r")], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}), '"nowhere"', "r:")


def test_missing_result(refuse):
    refuse(model([helper.make_node("Relu", ["x"], ["z"])], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}), "y", "got none")


def test_duplicate_name(refuse):
    refuse(model([helper.make_node("Relu", ["x"], ["y"], name="a"), helper.make_node("Exp", ["x"], ["y"], name="b")], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}), "b:", "got two")


def test_no_name(refuse):
    relu = helper.make_node("Relu", ["x"], ["y"])
    refuse(model([relu], {"x": (FLOAT, [2]), "": (FLOAT, [2])}, {"y": (FLOAT, [2])}), "input 1: expects a name, got none")
    refuse(model([relu], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2]), "": (FLOAT, [2])}), "result 1: expects a name, got none")


@pytest.mark.parametrize("op", ["Unsqueeze", "ReduceL2", "ReduceSum"])
def test_sizes_that_nothing_has(refuse, op):
    """Refused where they stand; beside a zero, where they are multiplied."""
    axes = {"axes": np.array([1])}
    node = helper.make_node(op, ["x", "axes"], ["y"], name="node")
    refuse(model([node], {"x": (FLOAT, ["n", 2, (1 << 63) - 1])}, {"y": (FLOAT, None)}, axes), "model.onnx: x: expects a tensor of fewer than 2^48 bytes, got float [n, 2, 9223372036854775807]")
    refuse(model([node], {"x": (FLOAT, [1 << 62, 1, 1 << 62, 0])}, {"y": (FLOAT, None)}, axes), "that can be counted in 64 bits")


def test_bits_of_floats(refuse):
    refuse(model([helper.make_node("BitwiseNot", ["x"], ["y"])], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}), "BitwiseNot: expects integers, got float")


@pytest.mark.parametrize("sizes,words", [
    ({"k": [3, 8, 6, 16]}, "of one batch"), ({"q": ["b", 8, "s", 16], "v": [44, 8, 6, 16]}, "of one batch"),
    ({"q": ["b", 8, "s", 16], "mask": (TensorProto.BOOL, [3, 8, "s", 6])}, "expects a mask or bias for scores [2, 8, s, 6], got [3, 8, s, 6]"), ({"v": [2, 8, 5, 16]}, "as many values as keys"),
    ({"mask": (TensorProto.BOOL, [2, 4, "s", "t"])}, "expects a mask or bias for scores [2, 8, s, 6], got [2, 4, s, t]"),
    ({"mask": (TensorProto.BOOL, ["s", 7])}, "expects a mask or bias for scores"), ({"mask": (FLOAT, [4, 1, 6])}, "expects a mask or bias for scores"),
    ({"mask": (FLOAT, [1, 1, 1, 1, 6])}, "expects a mask or bias of rank 1 to 4, got 5"), ({"q": [2, 0, "s", 16]}, "that divides the queries', got 8 of 0"),
    ({"lengths": (INT64, [3])}, "expects one length, or one for each of [2] sequences, got [3]")])
def test_attention(refuse, sizes, words):
    inputs = {"q": [2, 8, "s", 16], "k": [2, 8, 6, 16], "v": [2, 8, 6, 16]} | sizes
    names = ["q", "k", "v", "mask" if "mask" in sizes else "", "", "", "lengths" if "lengths" in sizes else ""]
    node = helper.make_node("Attention", names, ["y"])
    refuse(model([node], {name: shape if isinstance(shape, tuple) else (FLOAT, shape) for name, shape in inputs.items()}, {"y": (FLOAT, None)}, opset=24), words)


@pytest.mark.parametrize("op, opset", [("LayerNormalization", 18), ("RMSNormalization", 23), ("InstanceNormalization", 18), ("GroupNormalization", 21)])
@pytest.mark.parametrize("which", ["scale", "bias"])
def test_parameters_of_norms(refuse, op, opset, which):
    """Integers have no fraction to scale by."""
    if (op, which) == ("RMSNormalization", "bias"):
        return
    inputs = {"x": (FLOAT, [2, 4, 4]), "scale": (FLOAT, [4]), "bias": (FLOAT, [4])} | {which: (INT64, [4])}
    if op == "RMSNormalization":
        del inputs["bias"]
    attributes = {"num_groups": 2} if op == "GroupNormalization" else {}
    refuse(model([helper.make_node(op, list(inputs), ["y"], **attributes)], inputs, {"y": (FLOAT, None)}, opset=opset), f"{op}: expects floats")


@pytest.mark.parametrize("split", [None, 1, 2])
def test_parts_that_nobody_counts(refuse, split):
    names = ["x"] if split is None else ["x", "split"]
    constants = {} if split is None else {"split": np.array(split)}
    node = helper.make_node("SplitToSequence", names, ["parts"])
    at = helper.make_node("SequenceAt", ["parts", "first"], ["y"])
    refuse(model([node, at], {"x": (FLOAT, [1 << 40])}, {"y": (FLOAT, None)}, {"first": np.array(0), **constants}), "more than 4096 parts")


def test_scales_of_a_scalar(refuse, fovea, tmp_path):
    def quantize(count):
        return model([helper.make_node("QuantizeLinear", ["x", "scale"], ["y"])], {"x": (FLOAT, []), "scale": (FLOAT, [count])}, {"y": (TensorProto.UINT8, None)})
    refuse(quantize(2), "QuantizeLinear: expects one scale and zero point for a scalar, got [2]")
    (tmp_path / "one.onnx").write_bytes(quantize(1).SerializeToString())
    fovea("compile", tmp_path / "one.onnx", "-o", tmp_path / "one.fovea").ok()


def test_operator_set(refuse):
    refuse(linear(opset=12), "operator set 13", "got 12")


def test_kind_of_input(refuse):
    proto = linear()
    proto.graph.input[0].type.CopyFrom(helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [2])))
    refuse(proto, "got sequence")


def test_result_of_another_type(refuse):
    proto = linear()
    proto.graph.output[0].type.tensor_type.elem_type = INT64
    refuse(proto, "expects a result of float", "got int64")


def test_recursive_function(refuse):
    body = helper.make_function("own", "F", ["x"], ["y"], [helper.make_node("F", ["x"], ["y"], domain="own", name="again")],
                                [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)])
    proto = model([helper.make_node("F", ["x"], ["y"], domain="own", name="call")], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}, functions=[body], domains=["own"])
    refuse(proto, "do not call themselves")


def test_functions_that_double(refuse):
    functions = []
    for level in range(25):
        inner = {"op_type": f"F{level - 1}", "domain": "own"} if level else {"op_type": "Relu"}
        nodes = [helper.make_node(inputs=["x"], outputs=["t"], **inner), helper.make_node(inputs=["t"], outputs=["y"], **inner)]
        functions.append(helper.make_function("own", f"F{level}", ["x"], ["y"], nodes, [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]))
    proto = model([helper.make_node("F24", ["x"], ["y"], domain="own")], {"x": (FLOAT, [2])}, {"y": (FLOAT, [2])}, functions=functions, domains=["own"])
    refuse(proto, "a million nodes")


def test_deep_subgraphs(refuse):
    """A graph in an attribute of a node of a graph, 3000 times: as bytes, since no library writes it."""
    def field(number, content):
        size, digits = len(content), b""
        while size >= 128:
            digits, size = digits + bytes([size % 128 + 128]), size // 128
        return bytes([number * 8 + 2]) + digits + bytes([size]) + content

    graph = b""
    for _ in range(3000):
        graph = field(1, field(5, field(6, graph)))
    refuse(field(7, graph), "expects an ONNX model")


@pytest.mark.parametrize("op, nearest", [("STFT", "a function of the model"), ("Sofmax", "Softmax"), ("softmax", "Softmax"), ("LayerNormalisation", "LayerNormalization"),
                                         ("RMSNorm", "a function of the model"), ("Zzz", "a function of the model")])
def test_nearest_operator(refuse, op, nearest):
    """The operator first, then one whose name is near; a short name is near to nothing that has other letters."""
    proto = model([helper.make_node(op, ["x"], ["y"], name="node")], {"x": (FLOAT, [2, 4])}, {"y": (FLOAT, None)})
    refuse(proto, f": node: {op}: not supported: an operator that Fovea does not know; the nearest is {nearest}")


def test_unsupported_things_of_every_kind(refuse):
    """One call names each by its node and says what would do instead; what only follows from another is not named."""
    info, layer = helper.make_tensor_value_info, "/encoder/layer.{}/".format
    body = helper.make_graph([helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Add", ["v", "v"], ["w"])], "body",
                             [info("i", INT64, []), info("c", TensorProto.BOOL, []), info("v", FLOAT, None)], [info("d", TensorProto.BOOL, []), info("w", FLOAT, None)])
    branch = helper.make_graph([helper.make_node("Relu", ["x"], ["t"])], "branch", [], [info("t", FLOAT, None)])
    nodes = [helper.make_node("LSTM", ["x", "w", "w"], ["a"], name=layer(0) + "rnn/LSTM", hidden_size=4),
             helper.make_node("Sofmax", ["x"], ["b"], name=layer(1) + "attn/Sofmax"),
             helper.make_node("Gelu", ["x"], ["c"], name=layer(2) + "mlp/act/Gelu", approximate="quick"),
             helper.make_node("Softmax", ["x"], ["d"], name=layer(3) + "attn/Softmax", flavour="sour"),
             helper.make_node("Cast", ["x"], ["e"], name=layer(4) + "Cast", to=TensorProto.FLOAT8E4M3FN),
             helper.make_node("NonZero", ["x"], ["f"], name=layer(5) + "NonZero"),
             helper.make_node("Reshape", ["x", "s"], ["g"], name=layer(6) + "Reshape"),
             helper.make_node("Loop", ["n", "", "x"], ["h"], name=layer(7) + "Loop", body=body),
             helper.make_node("If", ["q"], ["i"], name=layer(8) + "If", then_branch=branch, else_branch=branch),
             helper.make_node("FlashAttention", ["x", "x", "x"], ["j"], name=layer(9) + "attn/FlashAttention", domain="com.vendor"),
             helper.make_node("Relu", ["a"], ["k"], name=layer(10) + "follows")]
    inputs = {"x": (FLOAT, [2, "n", 4]), "s": (INT64, [1]), "n": (INT64, []), "q": (TensorProto.BOOL, []), "w": (FLOAT, [1, 16, 4])}
    proto = model(nodes, inputs, {name: (FLOAT, None) for name in "abcdfghijk"}, opset=20, domains=["com.vendor"])
    errors = refuse(proto, count=10).splitlines()
    expected = [("0/rnn/LSTM", "LSTM: not supported", "nearest is Attention"), ("1/attn/Sofmax", "nearest is Softmax"),
                ("2/mlp/act/Gelu", "Gelu: not supported: approximate 'quick'; expects none or tanh"), ("3/attn/Softmax", 'not supported: attribute "flavour"'),
                ("4/Cast", "casts to float8e4m3fn; expects bool, integers, float16, bfloat16, float or double"), ("5/NonZero", "a result whose size depends on what a tensor holds; expects a constant"),
                ("6/Reshape", "a shape from a tensor's elements"), ("7/Loop", "a number of rounds that depends on what a tensor holds", "expects a constant"),
                ("8/If", "a condition that depends on what a tensor holds", "expects one that is constant"), ("9/attn/FlashAttention", "com.vendor.FlashAttention: not supported", "nearest is")]
    for (place, *words), line in zip(expected, errors):
        for word in (f": /encoder/layer.{place}: ", *words):
            assert word in line, line


# External data ------------------------------------------------------------------------------------------------------------------------------------------


WEIGHT = np.arange(20, dtype=np.float32).reshape(4, 5)


def external(location, offset=None, length=None):
    proto = linear()
    stored = proto.graph.initializer[0]
    stored.ClearField("raw_data")
    stored.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", offset), ("length", length)):
        if text is not None:
            stored.external_data.add(key=key, value=str(text))
    return proto


@pytest.fixture
def secret(tmp_path):
    """The folder of a model with data beside it, and a file outside that it must not reach."""
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(WEIGHT.tobytes())
    (folder / "w.bin").write_bytes(bytes(16) + WEIGHT.tobytes())
    return folder


def write(folder, proto):
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    return folder / "model.onnx"


def check_result(path, tmp_path):
    x = np.ones((2, 4), np.float32)
    result, = interpret(path, {"x": x}, tmp_path)
    assert np.array_equal(result, x @ WEIGHT)


def test_external_data(secret, tmp_path):
    check_result(write(secret, external("w.bin", 16, 80)), tmp_path)


def test_external_data_in_a_folder_below(secret, tmp_path):
    (secret / "data").mkdir()
    (secret / "data" / "w.bin").write_bytes(WEIGHT.tobytes())
    check_result(write(secret, external("data/w.bin")), tmp_path)


def constant(tensor):
    """y = x w, where w is a node's constant."""
    nodes = [helper.make_node("Constant", [], ["w"], value=tensor), helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    return model(nodes, {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 5])})


def test_external_data_of_a_constant(secret, tmp_path):
    """The onnx package gives such tensors names, which are no values' names."""
    tensor = external("w.bin", 16, 80).graph.initializer[0]
    tensor.name = "Constant_attr::value"
    check_result(write(secret, constant(tensor)), tmp_path)


def test_a_constant_that_calls_itself_as_an_initializer(secret, tmp_path):
    proto = constant(numpy_helper.from_array(WEIGHT, "other"))
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros((4, 5), np.float32), "other"))
    check_result(write(secret, proto), tmp_path)


@pytest.mark.parametrize("location", ["../secret.bin", "data/../../secret.bin", "w.bin/../../secret.bin", "./../secret.bin", "..", "", "/etc/hostname", "w\\..\\secret.bin",
                                      "//etc/hostname", "data//w.bin", "w.bin\0.txt"])
def test_external_path(refused, location, secret):
    (secret / "data").mkdir()
    refused(write(secret, external(location)))


@pytest.fixture
def refused(fovea):
    def check(path, *words):
        for verb in (["check", path], ["compile", path, "--emit=import", "-o", path.parent / "out.mlir"]):
            result = fovea(*verb)
            assert result.code == 1 and "error:" in result.err.decode(), str(result)
            for word in words:
                assert word in result.err.decode(), result.err.decode()
        assert not (path.parent / "out.mlir").exists()
    return check


def test_external_absolute_path_of_its_own_file(refused, secret):
    refused(write(secret, external(str(secret / "w.bin"), 16, 80)), "absolute")


def test_external_symbolic_link_that_leads_out(refused, secret):
    (secret / "link.bin").symlink_to(secret.parent / "secret.bin")
    refused(write(secret, external("link.bin")), "a link that leads to")


def test_external_folder_that_is_a_link_out(refused, secret):
    (secret / "data").symlink_to(secret.parent)
    refused(write(secret, external("data/secret.bin")), "a link that leads to")


def test_external_chain_of_links(refused, secret):
    (secret / "one").symlink_to("two")
    (secret / "two").symlink_to("../secret.bin")
    refused(write(secret, external("one")), "a link that leads to")


def test_external_link_inside(secret, tmp_path):
    (secret / "link.bin").symlink_to("w.bin")
    check_result(write(secret, external("link.bin", 16)), tmp_path)


def test_external_hard_link(refused, secret):
    os.link(secret.parent / "secret.bin", secret / "hard.bin")
    refused(write(secret, external("hard.bin")), "2 hard links")


def test_external_folder_with_the_models_name_as_prefix(refused, secret):
    other = secret.parent / "model-other"
    other.mkdir()
    (other / "w.bin").write_bytes(WEIGHT.tobytes())
    (secret / "link.bin").symlink_to(other / "w.bin")
    refused(write(secret, external("link.bin")), "a link that leads to")


def test_external_special_files(refused, secret):
    os.mkfifo(secret / "pipe")
    refused(write(secret, external("pipe")), "regular file")
    refused(write(secret, external("missing.bin")), "missing.bin")
    (secret / "folder").mkdir()
    refused(write(secret, external("folder")), "regular file")


@pytest.mark.parametrize("offset,length", [(17, None), (16, 81), (16, 79), (1 << 40, 80), (97, None), (16, 0), (0, 1 << 60), (-16, 80), ("16x", 80), ("", 80), ("99999999999999999999", 80)])
def test_external_range(refused, offset, length, secret):
    refused(write(secret, external("w.bin", offset, length)))


def cache(tmp_path, target="blobs"):
    """A Hugging Face cache: snapshots are made of links."""
    blobs, snapshot = tmp_path / "hub" / "blobs", tmp_path / "hub" / "snapshots" / "abc" / "onnx"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    (blobs / "1").write_bytes(external("model.onnx_data").SerializeToString())
    (tmp_path / "hub" / "elsewhere").write_bytes(WEIGHT.tobytes())
    (blobs / "2").write_bytes(WEIGHT.tobytes())
    (snapshot / "model.onnx").symlink_to("../../../blobs/1")
    (snapshot / "model.onnx_data").symlink_to("../../../" + target)
    return snapshot / "model.onnx"


def test_hugging_face_cache(tmp_path):
    check_result(cache(tmp_path, "blobs/2"), tmp_path)


def test_hugging_face_cache_that_leads_elsewhere(refused, tmp_path):
    refused(cache(tmp_path, "elsewhere"), "a link that leads to")


def test_hugging_face_blob_named_itself(refused, tmp_path):
    """Named by its blob, the model's folder is that of blobs, where its data has another name."""
    cache(tmp_path, "blobs/2")
    (tmp_path / "hub" / "blobs" / "1.onnx").symlink_to("1")
    refused(tmp_path / "hub" / "blobs" / "1.onnx", "model.onnx_data")


def test_cycle_of_links(refused, secret):
    (secret / "a").symlink_to("b")
    (secret / "b").symlink_to("a")
    refused(write(secret, external("a")))


def test_an_open_size_times_zero(fovea, fovea_run, tmp_path):
    """Is zero, though not by the rules of a collapse."""
    path = tmp_path / "flat.onnx"
    path.write_bytes(model([helper.make_node("Flatten", ["x"], ["y"])], {"x": (FLOAT, [1, "n", 0])}, {"y": (FLOAT, None)}).SerializeToString())
    fovea("compile", path, "-o", tmp_path / "flat.fovea").ok()
    assert "y: [1, 0] f32" in fovea_run("run", tmp_path / "flat.fovea", "--input", "x=random:1x3x0").ok().out.decode()
