# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Formats whose files are programs that loading runs: pickles in all their wrappings, and other frameworks' models. Each program would leave a file `owned` behind."""
import io
import json
import struct
import tarfile
import zipfile
import zlib

from library import case
from seeds import checkpoint

# GLOBAL os.system, MARK, the command, TUPLE, REDUCE, STOP: what unpickling runs.
PROGRAM = b"\x80\x02cposix\nsystem\n(X\x0b\x00\x00\x00touch ownedtR."
DATE = (1980, 1, 1, 0, 0, 0)


def archive(members, **changes):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        for name, content in members:
            info = zipfile.ZipInfo(name, DATE)
            for key, value in changes.items():
                setattr(info, key, value)
            file.writestr(info, content)
    return data.getvalue()


def torch_archive(**changes):
    return archive([("archive/data.pkl", PROGRAM), ("archive/version", b"3\n"), ("archive/data/0", bytes(32))], **changes)


def only(folder, name, data, beside=()):
    """The checkpoint with other weights in place of its own."""
    model = checkpoint(folder)
    (model / "model.safetensors").unlink()
    (model / name).write_bytes(data)
    for other, content in beside:
        (model / other).write_bytes(content)
    return "model"


def alone(folder, name, data):
    (folder / name).write_bytes(data)
    return name


@case("CVE-2025-32434", "a checkpoint of pickles: code runs although only weights are asked for", "model/: expects model.safetensors or model.safetensors.index.json, got only pytorch_model.bin, a zip archive, as PyTorch and Keras keep programs in, which is never loaded; save the weights as safetensors")
def weights_of_a_pickle(folder):
    return only(folder, "pytorch_model.bin", torch_archive())


@case("CVE-2025-24357", "a checkpoint of several pickles with an index", "model/: expects model.safetensors or model.safetensors.index.json, got only pytorch_model-00001-of-00001.bin, a zip archive, as PyTorch and Keras keep programs in, which is never loaded; save the weights as safetensors")
def shards_of_pickles(folder):
    index = json.dumps({"metadata": {}, "weight_map": {"model.norm.weight": "pytorch_model-00001-of-00001.bin"}}).encode()
    return only(folder, "pytorch_model.bin.index.json", index, [("pytorch_model-00001-of-00001.bin", torch_archive())])


@case("CVE-2024-3568", "TensorFlow's weights beside a pickle, taken where there is nothing else", "model/: expects model.safetensors or model.safetensors.index.json, got only extra_data.pickle, a pickle, a program that loading would run and that is never loaded; save the weights as safetensors")
def weights_of_another_framework(folder):
    return only(folder, "tf_model.h5", b"\x89HDF\r\n\x1a\n" + bytes(64), [("extra_data.pickle", PROGRAM)])


@case("CVE-2026-1839", "the state of a random generator beside sound weights: a pickle", end="untouched")
def pickle_beside_sound_weights(folder):
    model = checkpoint(folder)
    for name in ["rng_state.pth", "training_args.bin", "optimizer.pt", "pytorch_model.bin", "scheduler.pt"]:
        (model / name).write_bytes(PROGRAM)
    return "model"


@case("CVE-2025-1716", "a bare pickle", "model.pkl: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a pickle, a program that loading would run and that is never loaded; save the weights as safetensors")
def file_pkl(folder):
    return alone(folder, "model.pkl", PROGRAM)


@case("CVE-2025-1944", "a torch archive whose names differ between its directory and its members", "model.pt: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a zip archive, as PyTorch and Keras keep programs in, which is never loaded; save the weights as safetensors")
def archive_with_two_names(folder):
    data = torch_archive()
    at = data.find(b"archive/data.pkl")
    return alone(folder, "model.pt", data[:at] + b"archive/dat4.pkl" + data[at + 16:])


@case("CVE-2025-1945", "a torch archive with flag bits that scanners trip over", "model.pth: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a zip archive, as PyTorch and Keras keep programs in, which is never loaded; save the weights as safetensors")
def archive_with_flag_bits(folder):
    data = bytearray(torch_archive())
    data[data.find(b"PK\x01\x02") + 8] |= 1
    return alone(folder, "model.pth", bytes(data))


@case("CVE-2025-1889", "a pickle under a name that no scanner looks at", "model.config: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a pickle, a program that loading would run and that is never loaded; save the weights as safetensors")
def pickle_with_another_ending(folder):
    return alone(folder, "model.config", PROGRAM)


@case("CVE-2025-10155", "a pickle under the ending of a framework's files", "model.bin: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a pickle, a program that loading would run and that is never loaded; save the weights as safetensors")
def file_bin(folder):
    return alone(folder, "model.bin", PROGRAM)


@case("CVE-2025-10156", "an archive with a wrong checksum: scanners give up, torch loads", "model.ckpt: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a zip archive, as PyTorch and Keras keep programs in, which is never loaded; save the weights as safetensors")
def archive_with_a_wrong_checksum(folder):
    data = bytearray(torch_archive())
    for signature, offset in [(b"PK\x03\x04", 14), (b"PK\x01\x02", 16)]:
        at = data.find(signature)
        data[at + offset:at + offset + 4] = bytes(4)
    return alone(folder, "model.ckpt", bytes(data))


@case("CVE-2024-34997", "a compressed pickle", "model.joblib: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got compressed data, as of joblib, which is never unpacked")
def file_joblib(folder):
    return alone(folder, "model.joblib", zlib.compress(PROGRAM, 6))


@case("CVE-2026-24157", "an archive with a pickle, and a member above its folder", "model.nemo: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a tar archive, which is never unpacked; give the model in it")
def file_nemo(folder):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as file:
        for name, content in [("model_config.yaml", b"target: evil.Evil\n"), ("../../owned", b""), ("model_weights.ckpt", PROGRAM)]:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return alone(folder, "model.nemo", data.getvalue())


@case("CVE-2022-45907", "TorchScript: a program by design", "model.torchscript: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a zip archive, as PyTorch and Keras keep programs in, which is never loaded; save the weights as safetensors")
def file_torchscript(folder):
    return alone(folder, "model.torchscript", archive([("model/code/__torch__.py", b"import os\n"), ("model/data.pkl", PROGRAM), ("model/constants.pkl", b"\x80\x02).")]))


@case("CVE-2024-3660", "a Keras file with a layer of marshalled Python", "model.h5: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got an HDF5 file, as Keras keeps programs in, which is never loaded")
def file_h5(folder):
    return alone(folder, "model.h5", b"\x89HDF\r\n\x1a\n" + bytes(40) + json.dumps({"class_name": "Lambda", "config": {"function": "4wEAAAA="}}).encode())


@case("CVE-2025-1550", "a Keras archive whose configuration names a function to call", "model.keras: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a zip archive, as PyTorch and Keras keep programs in, which is never loaded; save the weights as safetensors")
def file_keras(folder):
    config = {"module": "os", "class_name": "function", "config": "system", "registered_name": "system", "inbound_nodes": [{"args": ["touch owned"], "kwargs": {}}]}
    return alone(folder, "model.keras", archive([("config.json", json.dumps(config).encode()), ("metadata.json", b"{}"), ("model.weights.h5", b"")]))


@case("CVE-2022-23594", "a TensorFlow graph that an importer takes on trust", "saved_model.pb: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a TensorFlow graph, which is not read; export it to ONNX")
def file_pb(folder):
    return alone(folder, "saved_model.pb", b"\x08\x01\x12\x10\n\x0eserve" + b"\x7a\x02\x0a\x00" * 4)


@case("CVE-2020-15211", "a TFLite file with a tensor of index -1", "model.tflite: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got a TensorFlow Lite model, which is not read; export it to ONNX")
def file_tflite(folder):
    return alone(folder, "model.tflite", struct.pack("<I4siii", 20, b"TFL3", -1, -1, 0) + bytes(32))


@case("CVE-2019-6446", "an array of Python objects", "weights.npy: expects the folder of a model, a .gguf file, a .onnx file or a .mlir file, got an array of NumPy, which is no model")
def file_npy(folder):
    header = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }"
    header += b" " * (117 - len(header)) + b"\n"
    return alone(folder, "weights.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + PROGRAM)


@case("CWE-502", "a folder that holds nothing but pickles", "model/config.json: is missing; expects a checkpoint's configuration, got only data.pkl, a pickle, a program that loading would run and that is never loaded; save the weights as safetensors")
def folder_of_pickles(folder):
    (folder / "model").mkdir()
    (folder / "model" / "data.pkl").write_bytes(PROGRAM)
    return "model"
