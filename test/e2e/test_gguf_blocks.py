# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantised blocks of GGUF files: their numbers against the package `gguf` to the bit, and a model that has all kinds against `transformers` in f64."""
import json

import numpy as np
import gguf
import pytest

from gguf_blocks import KINDS, TYPES, numbers_of, random_blocks, worst_blocks
from gguf_files import convert, keys_of, neighbours, put, write_model
from programs import SHAKESPEARE
from test_families import difference, run_entry

COLUMNS = 512


def all_blocks():
    """By kind: rows of worst blocks, padded to two or more blocks a row, and rows of random ones."""
    random = np.random.default_rng(7)
    found = {}
    for kind in KINDS:
        elements = gguf.GGML_QUANT_SIZES[TYPES[kind]][0]
        worst = worst_blocks(kind, random)
        rest = random_blocks(kind, len(worst), COLUMNS - elements, random)
        found[kind] = np.concatenate([np.concatenate([worst, rest], 1), random_blocks(kind, 40 - len(worst), COLUMNS, random)])
    return found


def write_blocks(path, blocks):
    writer = gguf.GGUFWriter(str(path), "llama")
    for kind, rows in blocks.items():
        writer.add_tensor(kind, rows, raw_dtype=TYPES[kind])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


@pytest.fixture(scope="module")
def programs(fovea, tmp_path_factory):
    """For each kind two entries that give rows by their numbers: of the tensor as floats, and of its blocks."""
    folder = tmp_path_factory.mktemp("blocks")
    blocks = all_blocks()
    write_blocks(folder / "blocks.gguf", blocks)
    weights, entries = [], []
    for kind in KINDS:
        stored = f"tensor<40x{COLUMNS}x!fovea.blocks<{kind.lower()}>>"
        recipe = f'#fovea.stored<"blocks.gguf", "{kind}", {stored}>'
        for name, type, value in ((f"floats_{kind}", f"tensor<40x{COLUMNS}xf32>", f"#fovea.cast<{recipe}, f32>"), (f"blocks_{kind}", stored, recipe)):
            weights.append(f"fovea.weight @w_{name} : {type} = {value}")
            entries.append(f"""func.func @{name}(%ids: tensor<?xi64> {{fovea.name = "ids", fovea.dims = ["n"]}}) -> (tensor<?x{COLUMNS}xf32> {{fovea.name = "rows", fovea.dims = ["n"]}}) attributes {{fovea.entry}} {{
  %w = fovea.weight_ref @w_{name} : {type}
  %y = fovea.embedding %ids, %w : tensor<?xi64>, {type} -> tensor<?x{COLUMNS}xf32>
  return %y : tensor<?x{COLUMNS}xf32>
}}""")
    (folder / "blocks.mlir").write_text("\n".join(weights + entries))
    fovea("compile", folder / "blocks.mlir", "-o", folder / "blocks.fovea").ok()
    np.savez(folder / "ids.npz", ids=np.arange(40))
    return folder, blocks


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_those_of_gguf(fovea_run, programs, tmp_path, kind):
    folder, blocks = programs
    expected = numbers_of(kind, blocks[kind])
    assert np.isfinite(expected[20:]).all() and np.unique(expected[20:]).size > 20
    found = run_entry(fovea_run, folder / "blocks.fovea", f"floats_{kind}", folder / "ids.npz", tmp_path / "out.npz")["rows"]
    same = (found.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(found) & np.isnan(expected))
    assert same.all(), (np.argwhere(~same)[:5], found[~same][:5], expected[~same][:5])
    # Compiled code fuses a product and a sum.
    packed = run_entry(fovea_run, folder / "blocks.fovea", f"blocks_{kind}", folder / "ids.npz", tmp_path / "out.npz")["rows"]
    assert (np.isnan(packed) == np.isnan(expected)).all()
    finite = np.isfinite(expected)
    assert (packed[~finite & ~np.isnan(expected)] == expected[~finite & ~np.isnan(expected)]).all()
    np.testing.assert_allclose(packed[finite], expected[finite], rtol=1e-5, atol=1e-6 * np.abs(expected[20:]).max())


@pytest.fixture(scope="module")
def mixed_model(tmp_path_factory):
    """A small Llama whose matrices have all kinds in turn, inputs, and the logits of `transformers` in f64."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("mixed")
    config = LlamaConfig(hidden_size=256, intermediate_size=512, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, vocab_size=300, max_position_embeddings=64,
                         tie_word_embeddings=False)
    torch.manual_seed(5)
    model = LlamaForCausalLM(config).double()
    random = np.random.default_rng(9)
    tensors = convert("llama", config, model.state_dict())
    keys = keys_of("llama", config, tensors)
    writer = gguf.GGUFWriter(str(folder / "model.gguf"), "llama")
    for key, value in keys.items():
        put(writer, f"llama.{key}", value)
    state, kinds = model.state_dict(), list(KINDS)
    for number, name in enumerate(state):
        [renamed] = convert("llama", config, {name: state[name]})
        if state[name].ndim == 1:
            writer.add_tensor(renamed, tensors[renamed].astype(np.float32))
            continue
        kind = kinds[number % len(kinds)]
        blocks = random_blocks(kind, *state[name].shape, random, magnitude=0.1)
        writer.add_tensor(renamed, blocks, raw_dtype=TYPES[kind])
        numbers = numbers_of(kind, blocks).astype(np.float64)
        if name.endswith(("q_proj.weight", "k_proj.weight")): # back to halves: pairs of neighbours
            heads = config.num_attention_heads if "q_proj" in name else config.num_key_value_heads
            numbers = numbers.reshape(heads, -1, 2, numbers.shape[1]).swapaxes(1, 2).reshape(numbers.shape)
            assert (neighbours(numbers, heads) == numbers_of(kind, blocks)).all()
        state[name].copy_(torch.from_numpy(numbers))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    ids = np.random.default_rng(3).integers(0, 300, (2, 21))
    np.savez(folder / "inputs.npz", input_ids=ids)
    with torch.no_grad():
        return folder, model(torch.from_numpy(ids)).logits.numpy()


@pytest.mark.parametrize("compute, bound", [("f32", 2e-5), ("bf16", 6e-2), ("int8", 6e-2)])
def test_all_kinds_in_a_model(fovea, fovea_run, mixed_model, tmp_path, compute, bound):
    folder, expected = mixed_model
    fovea("compile", folder / "model.gguf", f"--compute={compute}", "-o", tmp_path / "model.fovea").ok()
    found = run_entry(fovea_run, tmp_path / "model.fovea", "forward", folder / "inputs.npz", tmp_path / "out.npz")["logits"]
    assert difference(found, expected) <= bound


@pytest.fixture(scope="module")
def shakespeare_model():
    import torch
    from transformers import LlamaForCausalLM

    return LlamaForCausalLM.from_pretrained(SHAKESPEARE, dtype=torch.float64)


def relative_norm(found, expected):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected)


@pytest.mark.parametrize("kind", ["Q4_0", "Q5_1", "Q8_0"])
def test_trained_model(fovea, fovea_run, shakespeare_model, tmp_path, kind):
    """Quantised by the package `gguf`: the logits of `transformers` with these numbers, tied table included."""
    import copy

    import torch

    model = copy.deepcopy(shakespeare_model)
    write_model(tmp_path / "model.gguf", "llama", model, lambda name: TYPES[kind])
    for name, parameter in model.named_parameters():
        if parameter.ndim == 2: # rows of queries and keys stand in another order in the file, and are quantised one by one
            rows = gguf.quants.quantize(parameter.detach().numpy().astype(np.float32), TYPES[kind])
            parameter.data.copy_(torch.from_numpy(numbers_of(kind, rows).astype(np.float64)))
    ids = np.random.default_rng(3).integers(2, 2048, (2, 40))
    np.savez(tmp_path / "inputs.npz", input_ids=ids)
    with torch.no_grad():
        expected = model(torch.from_numpy(ids)).logits.numpy()
    # A rounding that falls to the other side moves a logit by some hundredths of the greatest: of rows in eight bits all are judged together.
    for compute, bound, bound_of_norm in (("f32", 2e-5, 2e-5), ("auto", 1e-1, 1.2e-2)):
        fovea("compile", tmp_path / "model.gguf", f"--compute={compute}", "-o", tmp_path / "model.fovea").ok()
        found = run_entry(fovea_run, tmp_path / "model.fovea", "forward", tmp_path / "inputs.npz", tmp_path / "out.npz")["logits"]
        assert difference(found, expected) <= bound
        assert relative_norm(found, expected) <= bound_of_norm


def test_other_types(fovea, mixed_model, tmp_path):
    """Blocks become what is asked for; GPUs, which read none, say so."""
    folder, _ = mixed_model
    for dtype, matrix in (("bf16", "tensor<256x512xbf16>"), ("int8", "tensor<256x512xi8>")):
        fovea("compile", folder / "model.gguf", f"--dtype={dtype}", "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
        values = [line for line in (tmp_path / "graph.mlir").read_text().splitlines() if "fovea.weight_ref" in line]
        assert any(matrix in line for line in values) and not any("blocks" in line for line in values)
    result = fovea("compile", folder / "model.gguf", "--gpu=sm_80", "-o", tmp_path / "model.fovea")
    assert result.code == 1 and "--gpu: expects weights of floats, int8 or int4, got blocks of " in str(result) and "--dtype=bf16" in str(result)
    assert not (tmp_path / "model.fovea").exists()


def test_verify_and_stages(fovea, mixed_model, tmp_path):
    """The reference agrees, and each stage is IR that is read back and says its blocks."""
    folder, _ = mixed_model
    fovea("verify", folder / "model.gguf", "--length=1,9").ok()
    for stage in ("import", "graph", "fused", "scheduled", "kernels"):
        fovea("compile", folder / "model.gguf", "--compute=f32", f"--emit={stage}", "-o", tmp_path / f"{stage}.mlir").ok()
        assert "!fovea.blocks<q4_k>" in (tmp_path / f"{stage}.mlir").read_text()
    fovea("compile", tmp_path / "scheduled.mlir", "--from-stage=scheduled", "-o", tmp_path / "model.fovea").ok()


@pytest.mark.parametrize("target, compute", [("cascadelake", "int8"), ("haswell", "int8"), ("skylake-avx512", None)])
def test_linears_multiply_codes_where_bytes_are_multiplied(fovea, mixed_model, tmp_path, target, compute):
    """By themselves: a processor that multiplies bytes need not multiply bf16."""
    folder, _ = mixed_model
    fovea("compile", folder / "model.gguf", f"--target={target}", "-O0", "--report", tmp_path / "report.json", "-o", tmp_path / "model.fovea").ok()
    counts = json.loads((tmp_path / "report.json").read_text()).get("compute")
    assert (counts is None) if compute is None else counts[compute] > 0
