# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files that name other files: the index of shards, and the list of a sentence model's modules."""
import json
import os

from library import case
from seeds import NORM, checkpoint, header_and_data, sharded, weights, write_index, write_safetensors

INDEX = "model.safetensors.index.json"


def placed(folder, **changes):
    """The sharded model with some tensors placed elsewhere."""
    model = sharded(folder)
    places = json.loads((model / INDEX).read_text())["weight_map"]
    write_index(model, {**places, **{NORM: file for file in changes.values()}})
    return model


def outside(folder):
    """A sound safetensors file that the model may not read."""
    write_safetensors(folder / "secret.safetensors", *header_and_data({NORM: weights()[NORM]}))


@case("kekzl/imp#1612", "a shard above the model's folder", "model/model.safetensors.index.json: weight_map.model.norm.weight: expects the name of a file below the model's folder, got \"../secret.safetensors\"")
def shard_in_the_folder_above(folder):
    outside(folder)
    placed(folder, norm="../secret.safetensors")
    return "model"


@case("huggingface/transformers#47176", "a shard whose path goes down before it goes up", "model/model.safetensors.index.json: weight_map.model.norm.weight: expects the name of a file below the model's folder, got \"model-00001-of-00002.safetensors/../../secret.safetensors\"")
def shard_by_a_detour(folder):
    outside(folder)
    placed(folder, norm="model-00001-of-00002.safetensors/../../secret.safetensors")
    return "model"


@case("GHSA-9mfc-5mqx-wxhr", "a shard by its absolute path", "model/model.safetensors.index.json: weight_map.model.norm.weight: expects the name of a file below the model's folder, got \"/etc/hostname\"")
def shard_by_its_absolute_path(folder):
    outside(folder)
    placed(folder, norm="/etc/hostname")
    return "model"


@case("CWE-158", "a name that is checked as text up to a zero byte and opened beyond it", "model/model.safetensors.index.json: weight_map.model.norm.weight: expects the name of a file below the model's folder, got \"model-00002-of-00002.safetensors\\x00.txt\"")
def shard_with_a_zero_byte(folder):
    placed(folder, norm="model-00002-of-00002.safetensors\0.txt")
    return "model"


@case("CWE-66", "a shard that is a folder", "model/more.safetensors: expects a regular file, got a folder")
def shard_that_is_a_folder(folder):
    model = placed(folder, norm="more.safetensors")
    (model / "more.safetensors").mkdir()
    return "model"


@case("CWE-66", "a shard that is a pipe: the loader waits for ever", "model/more.safetensors: expects a regular file, got a pipe")
def shard_that_is_a_pipe(folder):
    model = placed(folder, norm="more.safetensors")
    os.mkfifo(model / "more.safetensors")
    return "model"


@case("CWE-66", "a shard that is a device without end", "model/more.safetensors: expects a regular file, got a device")
def shard_that_is_a_device(folder):
    model = placed(folder, norm="more.safetensors")
    (model / "more.safetensors").symlink_to("/dev/zero")
    return "model"


@case("huggingface/transformers#46913", "a tensor in two shards, of which one wins silently", 'model/model-00002-of-00002.safetensors: tensor "model.norm.weight": is in another shard too; expects it once')
def tensor_in_two_shards(folder):
    model = sharded(folder)
    arrays = weights()
    names = list(arrays)
    write_safetensors(model / "model-00001-of-00002.safetensors", *header_and_data({name: arrays[name] for name in [names[0], NORM]}))
    return "model"


@case("huggingface/transformers#46097", "a tensor that is not where the index says", 'model/model-00001-of-00002.safetensors: tensor "model.norm.weight": is missing in the shard that model/model.safetensors.index.json maps it to')
def tensor_that_is_elsewhere(folder):
    placed(folder, norm="model-00001-of-00002.safetensors")
    return "model"


@case("CVE-2025-0315", "an index of more shards than there can be", "model/model.safetensors.index.json: weight_map: expects from 1 to 4096 shards, got 100000")
def shards_without_number(folder):
    model = sharded(folder)
    write_index(model, {f"t{i}": f"s{i}.safetensors" for i in range(100_000)})
    return "model"


@case("CWE-843", "a number where a file's name is read", "model/model.safetensors.index.json: weight_map.model.norm.weight: expects the name of a file below the model's folder, got 1")
def shard_that_is_a_number(folder):
    model = sharded(folder)
    write_index(model, {NORM: 1})
    return "model"


def modules(folder, *entries):
    model = checkpoint(folder)
    (model / "modules.json").write_text(json.dumps([{"idx": i, "name": str(i), "path": path, "type": kind} for i, (path, kind) in enumerate(entries)]))
    return model


TRANSFORMER, POOLING, DENSE = ("sentence_transformers.models." + name for name in ["Transformer", "Pooling", "Dense"])


@case("CVE-2024-37032", "a module's folder outside of the model's", "model/modules.json: [1].path: expects a folder below the model's, got \"../secret\"")
def module_in_the_folder_above(folder):
    modules(folder, ("", TRANSFORMER), ("../secret", POOLING))
    return "model"


@case("CVE-2025-1550", "a list of modules that names a Python class to import", 'model/modules.json: [1].type: expects Pooling, got "subprocess.Popen"')
def module_of_a_class_to_import(folder):
    modules(folder, ("", TRANSFORMER), ("1_Pooling", "subprocess.Popen"))
    return "model"


@case("CVE-2024-3660", "an activation that names a Python function to call", 'model/2_Dense/config.json: activation_function: expects Tanh, GELU, ReLU, SiLU, Sigmoid or Identity, got "builtins.exec"')
def activation_of_a_function_to_call(folder):
    model = modules(folder, ("", TRANSFORMER), ("1_Pooling", POOLING), ("2_Dense", DENSE))
    (model / "1_Pooling").mkdir()
    (model / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True}))
    (model / "2_Dense").mkdir()
    (model / "2_Dense" / "config.json").write_text(json.dumps({"in_features": 8, "out_features": 4, "bias": False, "activation_function": "builtins.exec"}))
    write_safetensors(model / "2_Dense" / "model.safetensors", *header_and_data({"linear.weight": weights()["model.layers.0.self_attn.k_proj.weight"]}))
    return "model"
