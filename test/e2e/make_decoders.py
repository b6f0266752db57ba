# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random checkpoints of the decoders in decoder_cases.py, each with inputs and the outputs of `transformers` in f64.

usage: make_decoders.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/ as make_checkpoints.py does, and FOLDER/NAME/generated.json: the likeliest tokens behind a prompt, each from the whole text, and the smallest
distance of a likeliest to the second on the way, as a part of the larger of the two. FOLDER/NAME-older has the same model with the configuration of an older version.
"""
import copy
import json
import pathlib
import re
import shutil
import sys

import torch
import transformers

from decoder_cases import CASES, NEW_TOKENS, OLDER, PROMPT, configuration, family_of
from make_checkpoints import load, randomise, reference, save, token_ids

# On both sides of a window and of the positions that scaled rotations were trained on.
INPUTS = [{"input_ids": token_ids(7, 2, 21)}, {"input_ids": token_ids(8, 1, 50)}]


def make_model(prefix, settings, seed):
    settings = copy.deepcopy(settings)
    config = getattr(transformers, prefix + ("TextConfig" if prefix == "Gemma3" else "Config"))(**settings)
    model = randomise(getattr(transformers, prefix + "ForCausalLM")(config), seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if prefix.startswith("Gemma") and "embed" in name:
                parameter.mul_(0.25)  # the model makes them larger
            if parameter.dim() != 1 or not name.endswith("weight"):
                continue
            # Of the last norm with signs at random: else a model whose embeddings are tied repeats its last token.
            if not re.search(r"\.\d+\.", name) and "embed" not in name:
                parameter.mul_(torch.randint(0, 2, parameter.shape, generator=generator) * 2 - 1)
            if prefix.startswith("Gemma"):
                parameter.sub_(1)  # stored without the one
        for name, buffer in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                buffer.copy_(0.3 * torch.randn(buffer.shape, generator=generator))
    return model


def generate(folder, model):
    """Writes the text; false if it repeats itself so much that it says little of caches, or if a distance may be lost in rounding."""
    model = load(folder, model)
    tokens, gap = list(PROMPT), 1.0
    for _ in range(NEW_TOKENS):
        with torch.no_grad():
            values, ids = torch.topk(model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0, -1], 2)
        gap = min(gap, float((values[0] - values[1]) / values.abs().max()))
        tokens.append(int(ids[0]))
    new = tokens[len(PROMPT):]
    (folder / "generated.json").write_text(json.dumps({"prompt": PROMPT, "tokens": new, "gap": gap}))
    return len(set(new)) >= NEW_TOKENS // 2 and gap >= 1e-3


# What well-known checkpoints say besides, without effect.
BESIDES = {
    "gemma": {"hidden_act": "gelu", "hidden_activation": None},  # means gelu_pytorch_tanh
    "gemma2": {"hidden_act": "gelu_pytorch_tanh", "cache_implementation": "hybrid"},
    "gemma3": {"cache_implementation": "hybrid"},
    "qwen2": {"sliding_window": 8},  # without use_sliding_window
    "gptj": {"gradient_checkpointing": False, "rotary": True, "scale_attn_weights": True, "summary_activation": None, "summary_first_dropout": 0.1,
             "summary_proj_to_labels": True, "summary_type": "cls_index", "summary_use_proj": True, "tokenizer_class": "GPT2Tokenizer",
             "task_specific_params": {"text-generation": {"do_sample": True, "max_length": 50, "temperature": 1.0}}},
    "bloom": {"attention_softmax_in_fp32": True, "bias_dropout_fusion": True, "masked_softmax_fusion": True, "n_inner": None, "offset_alibi": 100,
              "skip_bias_add": True, "skip_bias_add_qkv": False, "unk_token_id": 0},
    "mpt": {"init_config": {"name": "kaiming_normal_", "verbose": 0}, "tokenizer_name": "EleutherAI/gpt-neox-20b", "verbose": 0},
    "falcon": {"apply_residual_connection_post_layernorm": False},
    "opt": {"activation_dropout": 0.0, "prefix": "</s>"},
}
RENAMED = {"bloom": {"n_embed": "hidden_size", "num_attention_heads": "n_head"}, "gemma3": {"sliding_window_pattern": "_sliding_window_pattern"}}
LATER = {"gemma2": ["layer_types"], "gemma3": ["layer_types"], "olmo3": ["layer_types"], "qwen2": ["layer_types"], "falcon": ["num_kv_heads"]}


def older_config(config, family):
    """The same model as the versions of `transformers` before 5, and what is stored with checkpoints, described it."""
    config["torch_dtype"] = config.pop("dtype")
    rope = config.pop("rope_parameters", None)
    if "full_attention" in (rope or {}):  # one for each type of layer
        if family == "gemma3":
            config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"]
        rope = rope["full_attention"]
    if rope:
        theta, part = rope.pop("rope_theta"), rope.pop("partial_rotary_factor", None)
        config["rotary_emb_base" if family == "gpt_neox" else "rope_theta"] = theta
        if part is not None:
            config["rotary_pct" if family == "gpt_neox" else "partial_rotary_factor"] = part
        if family == "phi3":
            rope.pop("original_max_position_embeddings", None)  # stands beside it
            rope["type"] = rope.pop("rope_type")
        config["rope_scaling"] = rope if rope.get("rope_type") != "default" else None
    for older, newer in RENAMED.get(family, {}).items():
        config[older] = config.pop(newer)
    for key in LATER.get(family, []):
        config.pop(key)
    config.update(BESIDES.get(family, {}))


def make_older(out, name):
    folder = out / f"{name}-older"
    shutil.copytree(out / name, folder)
    path = folder / "model" / "config.json"
    config = json.loads(path.read_text())
    older_config(config, family_of(name))
    path.write_text(json.dumps(config, indent=2))
    # What it means now.
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float64)
    was = transformers.AutoModelForCausalLM.from_pretrained(out / name / "model", dtype=torch.float64)
    with torch.no_grad():
        for inputs in INPUTS:
            ids = torch.from_numpy(inputs["input_ids"])
            assert torch.equal(model(input_ids=ids).logits, was(input_ids=ids).logits), folder.name


def make(out, name, tokenizer):
    prefix, settings, dtype = configuration(name)
    first = sum(map(ord, name))
    for seed in range(first, first + 20):
        model = make_model(prefix, settings, seed)
        shutil.copy(tokenizer, save(out / name, model, dtype))
        if generate(out / name, model):
            return reference(out / name, model, INPUTS)
        shutil.rmtree(out / name)
    raise AssertionError(f"{name}: no seed gives a text that tells much")


def main():
    out, shakespeare = map(pathlib.Path, sys.argv[1:3])
    torch.set_num_threads(1)  # so small that a second one only waits
    for name in CASES:
        make(out, name, shakespeare / "tokenizer.json")
        if name in OLDER:
            make_older(out, name)


if __name__ == "__main__":
    main()
