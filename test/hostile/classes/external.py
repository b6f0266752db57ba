# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files whose tensors lie in other files: the history of that class, fix by fix. In each case a file `secret.bin` lies outside, with just the bytes that the model asks for."""
import os

from onnx import TensorProto, helper

from library import case
from seeds import FLOAT, WEIGHT, graph_of, product

FILE = "model/model.onnx"


def tensor(location, **entries):
    stored = TensorProto(name="w", data_type=FLOAT, dims=[4, 5], data_location=TensorProto.EXTERNAL)
    for key, text in {"location": location, **entries}.items():
        stored.external_data.add(key=key, value=str(text))
    return stored


def external(folder, location, **entries):
    """The product with its weight at `location`; beside the model lies w.bin, whose bytes 16 to 96 are a sound one."""
    model = folder / "model"
    model.mkdir(exist_ok=True)
    (folder / "secret.bin").write_bytes(WEIGHT.tobytes())
    (model / "w.bin").write_bytes(bytes(16) + WEIGHT.tobytes())
    proto = product()
    proto.graph.initializer[0].CopyFrom(tensor(location, **entries))
    (model / "model.onnx").write_bytes(proto.SerializeToString(deterministic=True))
    return FILE


@case("CVE-2022-25882", "a path that begins with ../", "model/model.onnx: w: expects a file below the model's folder, got \"../secret.bin\"")
def path_to_the_folder_above(folder):
    return external(folder, "../secret.bin")


@case("CVE-2024-27318", "a path that goes down before it goes up: the fix looked at its beginning", "model/model.onnx: w: expects a file below the model's folder, got \"data/../../secret.bin\"")
def path_by_a_detour(folder):
    (folder / "model" / "data").mkdir(parents=True)
    return external(folder, "data/../../secret.bin")


@case("CVE-2024-27318", "a path up from a file that is no folder", "model/model.onnx: w: expects a file below the model's folder, got \"w.bin/../../secret.bin\"")
def path_up_from_a_file(folder):
    return external(folder, "w.bin/../../secret.bin")


@case("microsoft/onnxruntime#26776", "an absolute path", "model/model.onnx: w: expects a file below the model's folder, got the absolute path \"/etc/hostname\"")
def path_that_is_absolute(folder):
    return external(folder, "/etc/hostname")


@case("microsoft/onnxruntime#26776", "an absolute path in another system's words", "model/model.onnx: w: expects a file name of letters, digits and '/', got \"C:\\secret.bin\"")
def path_of_another_system(folder):
    return external(folder, "C:\\secret.bin")


@case("CVE-2025-51480", "separators of another system", "model/model.onnx: w: expects a file name of letters, digits and '/', got \"..\\secret.bin\"")
def path_with_other_separators(folder):
    return external(folder, "..\\secret.bin")


@case("CVE-2026-27489", "a folder on the way that is a link out", "model/model.onnx: w: expects external data below the model's folder, got \"data/secret.bin\", a link that leads to \"FOLDER/secret.bin\"")
def folder_that_is_a_link(folder):
    (folder / "model").mkdir()
    (folder / "model" / "data").symlink_to("..")
    return external(folder, "data/secret.bin")


@case("CVE-2026-34447", "a link out", "model/model.onnx: w: expects external data below the model's folder, got \"link.bin\", a link that leads to \"FOLDER/secret.bin\"")
def link_that_leads_out(folder):
    (folder / "model").mkdir()
    (folder / "model" / "link.bin").symlink_to("../secret.bin")
    return external(folder, "link.bin")


@case("CVE-2026-34447", "a link to a link out", "model/model.onnx: w: expects external data below the model's folder, got \"one.bin\", a link that leads to \"FOLDER/secret.bin\"")
def link_to_a_link(folder):
    (folder / "model").mkdir()
    (folder / "model" / "one.bin").symlink_to("two.bin")
    (folder / "model" / "two.bin").symlink_to("../secret.bin")
    return external(folder, "one.bin")


@case("CVE-2026-34446", "a second name of a file outside: no link that a check of links finds", "model/model.onnx: w: expects external data that is one file with one name, got \"hard.bin\" with 2 hard links, of which others may lie outside of the model's folder")
def hard_link(folder):
    (folder / "model").mkdir()
    (folder / "secret.bin").write_bytes(WEIGHT.tobytes())
    os.link(folder / "secret.bin", folder / "model" / "hard.bin")
    return external(folder, "hard.bin")


@case("CWE-22", "a folder beside the model's whose name begins alike", "model/model.onnx: w: expects external data below the model's folder, got \"link.bin\", a link that leads to \"FOLDER/model-other/w.bin\"")
def folder_whose_name_begins_alike(folder):
    (folder / "model-other").mkdir()
    (folder / "model-other" / "w.bin").write_bytes(WEIGHT.tobytes())
    (folder / "model").mkdir()
    (folder / "model" / "link.bin").symlink_to("../model-other/w.bin")
    return external(folder, "link.bin")


@case("microsoft/onnxruntime#28725", "the mark by which the runtime names its own memory, forged", 'model/model.onnx: w: expects external data that can be read, got "*/_ORT_MEM_ADDR_/*": No such file or directory')
def mark_of_memory(folder):
    return external(folder, "*/_ORT_MEM_ADDR_/*", offset=140737488355328, length=80)


@case("CWE-158", "a zero byte in the path", "model/model.onnx: w: expects a file name of letters, digits and '/', got \"w.bin\\x00.txt\"")
def path_with_a_zero_byte(folder):
    return external(folder, "w.bin\0.txt")


@case("CVE-2025-0312", "no path at all", "model/model.onnx: w: expects the name of a file, got an empty one")
def path_that_is_empty(folder):
    return external(folder, "")


@case("CWE-66", "a pipe: the reader waits for ever", 'model/model.onnx: w: expects external data to be a regular file, got "pipe"')
def file_that_is_a_pipe(folder):
    (folder / "model").mkdir()
    os.mkfifo(folder / "model" / "pipe")
    return external(folder, "pipe")


@case("CWE-66", "a folder", 'model/model.onnx: w: expects external data to be a regular file, got "data"')
def file_that_is_a_folder(folder):
    (folder / "model" / "data").mkdir(parents=True)
    return external(folder, "data")


@case("CWE-59", "links in a circle", 'model/model.onnx: w: expects external data that can be read, got "a.bin": Too many levels of symbolic links')
def links_in_a_circle(folder):
    (folder / "model").mkdir()
    (folder / "model" / "a.bin").symlink_to("b.bin")
    (folder / "model" / "b.bin").symlink_to("a.bin")
    return external(folder, "a.bin")


@case("Hironabe333/onnx-external-data-offset-opacity-poc", "an offset behind the file", 'model/model.onnx: w: expects 80 bytes at 1099511627776 of "w.bin", got 80 in a file of 96')
def offset_behind_the_file(folder):
    return external(folder, "w.bin", offset=1 << 40, length=80)


@case("CVE-2026-27940", "an offset that wraps when the length is added", 'model/model.onnx: w: expects the offset of external data to be a number of 1 to 18 digits, got "18446744073709551552"')
def offset_that_wraps(folder):
    return external(folder, "w.bin", offset=(1 << 64) - 64, length=80)


@case("CVE-2026-21869", "a negative offset", 'model/model.onnx: w: expects the offset of external data to be a number of 1 to 18 digits, got "-16"')
def offset_that_is_negative(folder):
    return external(folder, "w.bin", offset=-16, length=80)


@case("CWE-681", "an offset that is cut to its digits", 'model/model.onnx: w: expects the offset of external data to be a number of 1 to 18 digits, got "16x"')
def offset_with_a_letter(folder):
    return external(folder, "w.bin", offset="16x", length=80)


@case("CVE-2026-7482", "a length beyond the file's end", 'model/model.onnx: w: expects 80 bytes at 17 of "w.bin", got 80 in a file of 96')
def length_beyond_the_end(folder):
    return external(folder, "w.bin", offset=17)


@case("ml-explore/mlx#3363", "a length that is not the shape's", 'model/model.onnx: w: expects 80 bytes at 16 of "w.bin", got 40 in a file of 96')
def length_that_is_not_the_shapes(folder):
    return external(folder, "w.bin", offset=16, length=40)


@case("CVE-2026-34445", "keys that are set as fields of an object", end="untouched")
def keys_that_are_fields(folder):
    return external(folder, "w.bin", offset=16, length=80, __class__="os.system", basepath="../../etc", checksum="0" * 40)


@case("microsoft/onnxruntime#27539", "the tensor of a constant, which another code path opens", "model/model.onnx: c: expects a file below the model's folder, got \"../secret.bin\"")
def tensor_of_a_constant(folder):
    external(folder, "w.bin")
    nodes = [helper.make_node("Constant", [], ["c"], value=tensor("../secret.bin"), name="constant"), helper.make_node("MatMul", ["x", "c"], ["y"], name="product")]
    (folder / FILE).write_bytes(graph_of(nodes, {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 5])}).SerializeToString(deterministic=True))
    return FILE


@case("microsoft/onnxruntime#28709", "the tensor of a branch, which another code path opens", "model/model.onnx: w: expects external data of a tensor of the main graph with a name of its own, got one elsewhere")
def tensor_of_a_branch(folder):
    external(folder, "w.bin")
    branch = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["z"], name="product")], "branch", [], [helper.make_tensor_value_info("z", FLOAT, None)])
    branch.initializer.append(tensor("../secret.bin"))
    other = helper.make_graph([helper.make_node("Relu", ["x"], ["o"])], "other", [], [helper.make_tensor_value_info("o", FLOAT, None)])
    nodes = [helper.make_node("Constant", [], ["true"], value=helper.make_tensor("true", TensorProto.BOOL, [], [True])),
             helper.make_node("If", ["true"], ["y"], then_branch=branch, else_branch=other, name="branches")]
    (folder / FILE).write_bytes(graph_of(nodes, {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 5])}).SerializeToString(deterministic=True))
    return FILE


@case("microsoft/onnxruntime#27430", "a cache of downloads whose link leads to another place than its blobs", "hub/snapshots/abc/model.onnx: w: expects external data below the model's folder, got \"data.bin\", a link that leads to \"FOLDER/secret.bin\"")
def cache_that_leads_elsewhere(folder):
    external(folder, "data.bin")
    snapshot = folder / "hub" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (folder / "hub" / "blobs").mkdir()
    (folder / FILE).rename(folder / "hub" / "blobs" / "1")
    (snapshot / "model.onnx").symlink_to("../../blobs/1")
    (snapshot / "data.bin").symlink_to("../../../secret.bin")
    return "hub/snapshots/abc/model.onnx"
