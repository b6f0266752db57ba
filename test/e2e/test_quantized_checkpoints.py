# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints with quantised matrices: compiled code against `transformers` in f64 with the numbers that these stand for."""
import json

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

from quantized_checkpoints import SCHEMES, write
from test_families import difference, run_entry

BLOCKS = {"gptq": "int4, 32", "gptq-zeros": "int4_offset, 32", "gptq-8": "int8_offset, 32", "gptq-whole": "int4, 64", "bytes": "int8, 64"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """By scheme: a folder, and the logits of `transformers`."""
    import torch

    made = {}

    def get(scheme, family="llama"):
        if (scheme, family) not in made:
            folder = tmp_path_factory.mktemp(scheme)
            model = write(folder, scheme, family)
            ids = np.random.default_rng(3).integers(0, 96, (2, 21))
            np.savez(folder / "inputs.npz", input_ids=ids)
            with torch.no_grad():
                made[scheme, family] = folder, model(torch.from_numpy(ids)).logits.numpy()
        return made[scheme, family]

    return get


@pytest.mark.parametrize("scheme", SCHEMES)
def test_numbers_are_those_that_are_stored(fovea, fovea_run, models, tmp_path, scheme):
    folder, expected = models(scheme)
    fovea("compile", folder, "--compute=f32", "-o", tmp_path / "model.fovea").ok()
    found = run_entry(fovea_run, tmp_path / "model.fovea", "forward", folder / "inputs.npz", tmp_path / "out.npz")["logits"]
    assert difference(found, expected) <= 2e-5


@pytest.mark.parametrize("scheme, family", [("gptq-order", "phi3"), ("rows", "gpt-neox"), ("gptq", "gpt2"), ("mxfp4", "gpt-oss")])
def test_other_families(fovea, fovea_run, models, tmp_path, scheme, family):
    """Rows of stacked matrices, one by one and head by head; matrices that are stored as [in, out]; and experts."""
    folder, expected = models(scheme, family)
    fovea("compile", folder, "--compute=f32", "-o", tmp_path / "model.fovea").ok()
    found = run_entry(fovea_run, tmp_path / "model.fovea", "forward", folder / "inputs.npz", tmp_path / "out.npz")["logits"]
    assert difference(found, expected) <= 2e-5


@pytest.mark.parametrize("scheme", ["gptq", "gptq-order", "awq", "bytes-zeros", "rows-channel"])
def test_by_default_inputs_are_rounded(fovea, fovea_run, models, tmp_path, scheme):
    folder, expected = models(scheme)
    fovea("compile", folder, "-o", tmp_path / "model.fovea").ok()
    found = run_entry(fovea_run, tmp_path / "model.fovea", "forward", folder / "inputs.npz", tmp_path / "out.npz")["logits"]
    assert difference(found, expected) <= 6e-2


@pytest.mark.parametrize("scheme", ["gptq-order", "rows-zeros"])
def test_verify(fovea, models, scheme):
    fovea("verify", models(scheme)[0], "--length=1,9").ok()


@pytest.mark.parametrize("scheme", BLOCKS)
def test_integers_stay_integers(fovea, models, tmp_path, scheme):
    fovea("compile", models(scheme)[0], "--compute=f32", "--emit=import", "-o", tmp_path / "import.mlir").ok()
    assert f"x!fovea.blocks<{BLOCKS[scheme]}>>" in (tmp_path / "import.mlir").read_text()


#===-- Faults -------------------------------------------------------------------------------------------------===#

QUERY = "model.layers.0.self_attn.q_proj."


def without(ending):
    return lambda config, tensors: tensors.pop(QUERY + ending)


def with_tensor(ending, change):
    def apply(config, tensors):
        tensors[QUERY + ending] = change(tensors[QUERY + ending]).contiguous()

    return apply


def with_key(key, value):
    return lambda config, tensors: config["quantization_config"].update({key: value})


def with_weights_key(key, value):
    return lambda config, tensors: config["quantization_config"]["config_groups"]["group_0"]["weights"].update({key: value})


FAULTS = [
    ("gptq", without("scales"), ["q_proj.scales", "is missing; expects shape [2, 64]"]),
    ("gptq", without("qzeros"), ["q_proj.qzeros", "is missing; expects shape [2, 8]"]),
    ("gptq-order", without("g_idx"), ["q_proj.g_idx", "is missing; expects shape [64]"]),
    ("gptq", with_tensor("qweight", lambda x: x[:4]), ["q_proj.qweight", "expects shape [8, 64] as the configuration says, got [4, 64]"]),
    ("gptq", with_tensor("scales", lambda x: x.double()), ["q_proj.scales", "expects element type F16, BF16 or F32, got F64"]),
    ("gptq-order", with_tensor("g_idx", lambda x: x.index_fill(0, x.new_tensor([5]).long(), 9)), ["q_proj.g_idx", "expects groups from 0 to 1, got 9 for input 5"]),
    ("gptq-order", with_tensor("g_idx", lambda x: x * 0), ["q_proj.g_idx", "expects 32 inputs in each group, got 64 in group 0"]),
    ("gptq", with_key("bits", 3), ["quantization_config.bits", "expects 4 or 8, got 3"]),
    ("gptq", with_key("group_size", 48), ["q_proj.qweight", "groups of a multiple of 8 inputs that divide all 64, got groups of 48"]),
    ("gptq", with_key("checkpoint_format", "marlin"), ["quantization_config.checkpoint_format", 'expects "gptq" or "gptq_v2", got "marlin"']),
    ("gptq", with_key("rotation", "hadamard"), ["quantization_config.rotation", "could change numbers and is not understood"]),
    ("gptq", with_key("quant_method", "aqlm"), ["quantization_config.quant_method", "others are not supported", 'got "aqlm"']),
    ("awq", with_key("version", "gemv"), ["quantization_config.version", 'expects "gemm", got "gemv"']),
    ("awq", with_key("zero_point", False), ["quantization_config.zero_point", "expects true, got false"]),
    ("rows-zeros", without("weight_zero_point"), ["q_proj.weight_zero_point", "is missing; expects shape [8, 2]"]),
    ("rows", with_weights_key("num_bits", 6), ["config_groups.group_0.weights.num_bits", "expects 4 or 8, got 6"]),
    ("rows", with_key("format", "nvfp4-pack-quantized"), ["quantization_config.format", "pack-quantized", 'got "nvfp4-pack-quantized"']),
    ("rows", with_key("kv_cache_scheme", {"num_bits": 8}), ["quantization_config.kv_cache_scheme", "expects nothing"]),
    ("bytes", with_tensor("weight_scale", lambda x: x[:, 0]), ["q_proj.weight_scale", "expects shape [64, 1] as the configuration says, got [64]"]),
    ("float8-blocks", without("weight_scale_inv"), ["q_proj.weight_scale_inv", "is missing; expects shape [2, 2]"]),
]


@pytest.mark.parametrize("scheme, change, expected", FAULTS, ids=[f"{scheme}-{number}" for number, (scheme, _, _) in enumerate(FAULTS)])
def test_faults_are_named(fovea, models, tmp_path, scheme, change, expected):
    folder, _ = models(scheme)
    config, tensors = json.loads((folder / "config.json").read_text()), load_file(folder / "model.safetensors")
    change(config, tensors)
    save_file(tensors, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config))
    result = fovea("check", tmp_path)
    assert result.code == 1, str(result)
    errors = [line for line in result.err.decode().splitlines() if "error:" in line]
    # Groups that do not divide the inputs are a fault of each matrix.
    assert len(errors) == (14 if "groups of 48" in expected[-1] else 1) and all(part in errors[0] for part in expected), str(result)
