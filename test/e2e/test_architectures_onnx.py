# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures of transformers, small and random, as PyTorch exports them: every attention of each is fused with the masks that a reader of its code sees, and the numbers are PyTorch's in f64.

Decoders and encoders get a padded `attention_mask`, so it is a dense mask beside what the architecture has of its own.
"""
import json

import numpy as np
import pytest

from exporters import write_onnx

pytestmark = pytest.mark.long

SIZES = dict(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, max_position_embeddings=64)
GROUPED = dict(SIZES, num_key_value_heads=2)
IMAGES = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=16, patch_size=4)
PAIR = dict(vocab_size=100, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64, decoder_ffn_dim=64, max_position_embeddings=64)
SHIFTED = dict(image_size=16, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4)

PADDED, CAUSAL, WINDOW = {"dense"}, {"dense", "causal"}, {"dense", "window", "causal"}
NONE = set()

# Name: the model's class, its sizes, and the mask kinds of its attentions, in any order.
TEXT = {
    "Roberta": ("Model", SIZES, [PADDED]),
    "MPNet": ("Model", SIZES, [PADDED]),  # buckets of positions like T5's
    "DebertaV2": ("Model", dict(SIZES, relative_attention=True, position_buckets=16, pos_att_type=["p2c", "c2p"]), [PADDED]),
    "Esm": ("Model", dict(SIZES, position_embedding_type="rotary", mask_token_id=1, pad_token_id=0), [PADDED]),
    "ModernBert": ("Model", dict(SIZES, pad_token_id=0), [PADDED, {"dense", "window"}]),
    "GPTNeo": ("ForCausalLM", dict(vocab_size=100, hidden_size=32, num_layers=2, num_heads=4, attention_types=[[["global", "local"], 1]], window_size=4, max_position_embeddings=64), [CAUSAL, WINDOW]),
    "GPTNeoX": ("ForCausalLM", SIZES, [CAUSAL]),
    "GPTJ": ("ForCausalLM", dict(vocab_size=100, n_embd=32, n_layer=2, n_head=4, rotary_dim=4, n_positions=64), [CAUSAL]),
    "OPT": ("ForCausalLM", dict(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64, max_position_embeddings=64, word_embed_proj_dim=32), [CAUSAL]),
    "Bloom": ("ForCausalLM", dict(vocab_size=100, hidden_size=32, n_layer=2, n_head=4), [CAUSAL]),  # ALiBi
    "Mpt": ("ForCausalLM", dict(vocab_size=100, d_model=32, n_layers=2, n_heads=4, max_seq_len=64), [CAUSAL]),
    "Falcon": ("ForCausalLM", dict(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4), [CAUSAL]),  # one key head
    "Mistral": ("ForCausalLM", dict(GROUPED, sliding_window=4), [WINDOW]),
    "Qwen3": ("ForCausalLM", dict(GROUPED, head_dim=8), [CAUSAL]),  # queries and keys normalised
    "Gemma2": ("ForCausalLM", dict(GROUPED, head_dim=8, sliding_window=4), [CAUSAL, WINDOW]),  # soft cap
    "Phi": ("ForCausalLM", SIZES, [CAUSAL]),
    "Cohere": ("ForCausalLM", GROUPED, [CAUSAL]),
    "Olmo2": ("ForCausalLM", GROUPED, [CAUSAL]),
    "DeepseekV3": ("ForCausalLM", dict(SIZES, q_lora_rank=16, kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8, first_k_dense_replace=2), [CAUSAL]),  # latents; values narrower than keys
}
VISION = {
    "ViT": (IMAGES, [NONE]),
    "CLIPVision": (IMAGES, [NONE]),
    "Beit": (dict(IMAGES, use_relative_position_bias=True), [NONE]),
    "Swin": (SHIFTED, [NONE]),  # the shifted windows' mask is a constant bias of -100
    "Swinv2": (SHIFTED, [NONE]),  # cosines with a learned scale
}
TRANSLATION = {
    "T5ForConditionalGeneration": (dict(vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, decoder_start_token_id=0), [NONE, {"causal"}]),
    "BartForConditionalGeneration": (PAIR, [NONE, {"causal"}]),
    "MarianMTModel": (dict(PAIR, pad_token_id=0, decoder_start_token_id=0), [NONE, {"causal"}]),
}


def build(class_name, config_name, sizes, eager=True):
    import torch
    import transformers

    torch.manual_seed(0)
    config = getattr(transformers, config_name)(**sizes)
    config._attn_implementation = "eager" if eager else "sdpa"
    config.use_cache = False
    return getattr(transformers, class_name)(config).eval()


def check(fovea, fovea_run, tmp_path, model, draw, sizes, axes, masks):
    """Exports `model`, called with what `draw(*sizes)` names; its only result is logits or hidden states. `axes` are the open axes of each input."""
    import torch

    names = list(draw(*sizes[0]))

    class Positional(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *inputs):
            out = self.model(**dict(zip(names, inputs)), return_dict=True)
            return out.logits if hasattr(out, "logits") else out.last_hidden_state

    wrapped, path = Positional(), tmp_path / "model.onnx"
    write_onnx(wrapped, tuple(draw(*sizes[0]).values()), path, input_names=names, output_names=["out"], dynamo=True,
               **({"dynamic_shapes": (tuple(axes[name] for name in names),)} if axes else {}))
    fovea("compile", path, "-o", tmp_path / "model.fovea", f"--report={tmp_path / 'report.json'}", "--require-fusion").ok()
    found = {frozenset(entry["masks"]) for entry in json.loads((tmp_path / "report.json").read_text())["attention"]}
    assert found == {frozenset(kinds) for kinds in masks}
    wrapped.double()
    for size in sizes:
        inputs = draw(*size)
        np.savez(tmp_path / "in.npz", **{name: value.numpy() for name, value in inputs.items()})
        fovea_run("run", tmp_path / "model.fovea", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        with torch.no_grad():
            expected = wrapped(*[value.double() if value.is_floating_point() else value for value in inputs.values()]).numpy()
        given = np.load(tmp_path / "out.npz")["out"]
        assert given.shape == expected.shape
        assert np.abs(given - expected).max() <= 2e-5 * np.abs(expected).max()


def ids(seed, *shape):
    import torch

    return torch.randint(3, 100, shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", TEXT)
def test_text(fovea, fovea_run, tmp_path, name):
    import torch

    kind, config, masks = TEXT[name]
    # The eager attention of DeepSeek cannot be exported.
    model = build(name + kind, name + "Config", config, eager=name != "DeepseekV3")

    def draw(batch, length):
        mask = torch.ones(batch, length, dtype=torch.long)
        mask[1:, -2:] = 0
        return {"input_ids": ids(length, batch, length), "attention_mask": mask}

    batch, sequence = torch.export.Dim("batch", min=1, max=8), torch.export.Dim("sequence", min=2, max=60)
    check(fovea, fovea_run, tmp_path, model, draw, [(2, 7), (3, 12)], {name: {0: batch, 1: sequence} for name in ["input_ids", "attention_mask"]}, masks)


@pytest.mark.parametrize("name", VISION)
def test_vision(fovea, fovea_run, tmp_path, name):
    import torch

    config, masks = VISION[name]
    check(fovea, fovea_run, tmp_path, build(name + "Model", name + "Config", config), lambda batch: {"pixel_values": torch.randn(batch, 3, 16, 16, generator=torch.Generator().manual_seed(1))}, [(2,)], None, masks)


@pytest.mark.parametrize("name", TRANSLATION)
def test_translation(fovea, fovea_run, tmp_path, name):
    import torch

    config, masks = TRANSLATION[name]
    model = build(name, name.replace("ForConditionalGeneration", "").replace("MTModel", "") + "Config", config)
    batch = torch.export.Dim("batch", min=1, max=8)
    axes = {"input_ids": {0: batch, 1: torch.export.Dim("source", min=2, max=60)}, "decoder_input_ids": {0: batch, 1: torch.export.Dim("target", min=2, max=60)}}
    check(fovea, fovea_run, tmp_path, model, lambda batch, source, target: {"input_ids": ids(1, batch, source), "decoder_input_ids": ids(2, batch, target)}, [(2, 7, 5), (1, 9, 12)], axes, masks)
