# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes models of `transformers` as GGUF files, as llama.cpp's converters arrange them: other names, rows of Llama's queries and keys so that rotated pairs are
neighbours, Gemma's norms with one added, GPT-2's matrices transposed, experts one behind the other."""
import math
import re

import gguf
import numpy as np

TYPES = gguf.GGMLQuantizationType

LLAMA = {
    "model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output", "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate": "ffn_gate_inp",
    "block_sparse_moe.gate": "ffn_gate_inp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
    "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp"}
GEMMA2 = LLAMA | {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm"}
NAMES = {
    "gemma2": GEMMA2, "gemma3": GEMMA2,
    "phi3": LLAMA | {"self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"},
    "phi2": LLAMA | {"model.final_layernorm": "output_norm", "self_attn.dense": "attn_output", "mlp.fc1": "ffn_up", "mlp.fc2": "ffn_down"},
    "gpt2": {"transformer.wte": "token_embd", "transformer.wpe": "position_embd", "transformer.ln_f": "output_norm", "ln_1": "attn_norm", "attn.c_attn": "attn_qkv",
             "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down", "lm_head": "output"},
    "bert": {"embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd", "embeddings.token_type_embeddings": "token_types",
             "embeddings.LayerNorm": "token_embd_norm", "attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
             "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm", "intermediate.dense": "ffn_up", "output.dense": "ffn_down",
             "output.LayerNorm": "layer_output_norm"},
}
PERMUTED = ("llama", "granite")


def rename(arch, name):
    """`model.layers.3.mlp.up_proj.weight` as `blk.3.ffn_up.weight`; nothing for what has no name."""
    module, _, ending = name.rpartition(".")
    layer = re.fullmatch(r"(?:model\.layers|transformer\.h|encoder\.layer)\.(\d+)\.(.*)", module)
    found = NAMES.get(arch, LLAMA).get(layer[2] if layer else module)
    return found and (f"blk.{layer[1]}." if layer else "") + f"{found}.{ending}"


def neighbours(rows, heads):
    """Rows of each head, whose halves are pairs, so that pairs lie side by side."""
    return rows.reshape(heads, 2, rows.shape[0] // heads // 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


def convert(arch, config, state):
    """Tensors by GGUF's names."""
    tensors = {}
    for name, value in state.items():
        value = value.float().numpy()
        if match := re.fullmatch(r"model\.layers\.(\d+)\.(?:mlp|block_sparse_moe)\.experts\.(gate_up_proj|down_proj)", name):
            parts = {"ffn_gate_exps": value[:, :value.shape[1] // 2], "ffn_up_exps": value[:, value.shape[1] // 2:]} if match[2] == "gate_up_proj" else {"ffn_down_exps": value}
            tensors |= {f"blk.{match[1]}.{part}.weight": array for part, array in parts.items()}
            continue
        renamed = rename(arch, name)
        if not renamed or (renamed == "output.weight" and config.tie_word_embeddings):
            continue
        if arch in PERMUTED and (match := re.search(r"\.attn_([qk])\.", renamed)):
            value = neighbours(value, config.num_attention_heads if match[1] == "q" else config.num_key_value_heads)
        if arch.startswith("gemma") and name.endswith("norm.weight"):
            value = value + 1
        if arch == "gpt2" and value.ndim == 2 and ".h." in name:
            value = value.T
        tensors[renamed] = value[0] if renamed.endswith("ffn_gate_inp_shexp.weight") else value
    return tensors


def llama3_factors(rope, dim):
    """What Llama 3.1's kind divides each pair's frequency by (rope_freqs.weight)."""
    factors = []
    for pair in range(dim // 2):
        wave = 2 * math.pi * rope["rope_theta"] ** (2 * pair / dim)
        low, high = (rope["original_max_position_embeddings"] / rope[f"{which}_freq_factor"] for which in ("low", "high"))
        smooth = (rope["original_max_position_embeddings"] / wave - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"])
        factors.append(1 if wave < high else rope["factor"] if wave > low else 1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(factors, np.float32)


def rope_keys(config, dim, keys, tensors):
    rope = getattr(config, "rope_parameters", None) or {}
    rope = rope.get("full_attention", rope)
    kind = rope.get("rope_type", "default")
    keys |= {"rope.freq_base": rope["rope_theta"], "rope.dimension_count": int(dim * rope.get("partial_rotary_factor", 1))} if rope else {}
    if kind == "llama3":
        tensors["rope_freqs.weight"] = llama3_factors(rope, dim)
    elif kind == "longrope":
        original = getattr(config, "original_max_position_embeddings", None) or rope["original_max_position_embeddings"]
        stretch = config.max_position_embeddings / original
        keys |= {"rope.scaling.original_context_length": original, "rope.scaling.attn_factor": math.sqrt(1 + math.log(stretch) / math.log(original))}
        tensors |= {f"rope_factors_{which}.weight": np.array(rope[f"{which}_factor"], np.float32) for which in ("long", "short")}
    elif kind in ("linear", "yarn"):
        keys |= {"rope.scaling.type": kind, "rope.scaling.factor": rope["factor"]}
        if kind == "yarn":
            keys |= {"rope.scaling.original_context_length": rope["original_max_position_embeddings"], "rope.scaling.yarn_beta_fast": rope["beta_fast"],
                     "rope.scaling.yarn_beta_slow": rope["beta_slow"]}


def keys_of(arch, config, tensors):
    """The keys of the architecture, without its name; adds the tensors that hold factors."""
    hidden, heads = config.hidden_size, config.num_attention_heads
    head = getattr(config, "head_dim", None) or hidden // heads
    keys = {"embedding_length": hidden, "block_count": config.num_hidden_layers, "attention.head_count": heads, "context_length": config.max_position_embeddings,
            "feed_forward_length": getattr(config, "intermediate_size", None) or getattr(config, "n_inner", None) or 4 * hidden, "vocab_size": config.vocab_size}
    for key, names in {"attention.head_count_kv": ["num_key_value_heads"], "attention.layer_norm_rms_epsilon": ["rms_norm_eps"],
                       "attention.layer_norm_epsilon": ["layer_norm_eps", "layer_norm_epsilon"], "attention.sliding_window": ["sliding_window"],
                       "attn_logit_softcapping": ["attn_logit_softcapping"], "final_logit_softcapping": ["final_logit_softcapping"],
                       "expert_count": ["num_local_experts", "num_experts"], "expert_used_count": ["num_experts_per_tok"],
                       "expert_feed_forward_length": ["moe_intermediate_size"], "expert_shared_feed_forward_length": ["shared_expert_intermediate_size"],
                       "embedding_scale": ["embedding_multiplier"], "residual_scale": ["residual_multiplier"], "logit_scale": ["logits_scaling"],
                       "attention.scale": ["attention_multiplier"]}.items():
        for name in names:
            if (value := getattr(config, name, None)) is not None:
                keys[key] = value
    if hasattr(config, "query_pre_attn_scalar"):
        keys["attention.scale"] = config.query_pre_attn_scalar**-0.5
    if arch == "phi3" and not config.sliding_window:
        keys.pop("attention.sliding_window", None)
    if head * heads != hidden or arch.startswith("gemma"):
        keys |= {"attention.key_length": head, "attention.value_length": head}
    if arch == "gemma3":
        keys |= {"attention.sliding_window_pattern": [kind == "sliding_attention" for kind in config.layer_types],
                 "rope.freq_base_swa": config.rope_parameters["sliding_attention"]["rope_theta"]}
    if arch == "bert":
        keys |= {"attention.causal": False}
    rope_keys(config, head, keys, tensors)
    return keys


def put(writer, key, value):
    """A key of the type that its value has."""
    if isinstance(value, (list, np.ndarray)):
        writer.add_array(key, list(value))
    elif isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    else:
        (writer.add_float32 if isinstance(value, float) else writer.add_string)(key, value)


def write(path, arch, keys, tensors, types=lambda name: TYPES.F32, others=()):
    """A file with `keys` of the architecture and `others` as they are; matrices have the type that `types` gives for their names."""
    writer = gguf.GGUFWriter(str(path), arch)
    for key, value in {f"{arch}.{key}": value for key, value in keys.items()}.items():
        put(writer, key, value)
    for key, value in dict(others).items():
        put(writer, key, value)
    for name, array in tensors.items():
        array = np.ascontiguousarray(array, np.float32)
        kind = types(name) if array.ndim > 1 else TYPES.F32
        writer.add_tensor(name, gguf.quants.quantize(array, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_model(path, arch, model, types=lambda name: TYPES.F32, others=(), **more):
    tensors = convert(arch, model.config, model.state_dict())
    write(path, arch, keys_of(arch, model.config, tensors) | more, tensors, types, others)


# Vocabularies: the keys of a tokenizer, as `others` of `write`.

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


def vocabulary(model, tokens, types, scores=None, **more):
    keys = {"tokenizer.ggml.model": model, "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.token_type": types}
    if scores is not None:
        keys["tokenizer.ggml.scores"] = [float(score) for score in scores]
    return keys | {f"tokenizer.{'ggml.' if not key.startswith('chat') else ''}{key}": value for key, value in more.items()}


def bpe_keys(tokenizer, pre="gpt-2", **more):
    """Of a tokenizer.json with byte-level BPE, as a dictionary."""
    added = {token["id"]: token for token in tokenizer["added_tokens"]}
    by_id = {i: text for text, i in tokenizer["model"]["vocab"].items()} | {i: token["content"] for i, token in added.items()}
    types = [NORMAL if i not in added else CONTROL if added[i]["special"] else USER_DEFINED for i in range(len(by_id))]
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]]
    return vocabulary("gpt2", [by_id[i] for i in range(len(by_id))], types, merges=merges, pre=pre, **more)


def pieces_keys(proto, model="llama", **more):
    """Of a SentencePiece model."""
    pieces = list(proto.pieces)
    return vocabulary(model, [piece.piece for piece in pieces], [piece.type for piece in pieces], [piece.score for piece in pieces],
                      add_space_prefix=proto.normalizer_spec.add_dummy_prefix, remove_extra_whitespaces=proto.normalizer_spec.remove_extra_whitespaces, **more)


def wordpiece_keys(tokens, special, **more):
    """Of WordPiece: a word's first piece is marked, the others are not."""
    marked = [token if token in special else token[2:] if token.startswith("##") else "\u2581" + token for token in tokens]
    ids = {key: tokens.index(token) for key, token in {"unknown_token_id": "[UNK]", "cls_token_id": "[CLS]", "seperator_token_id": "[SEP]", "padding_token_id": "[PAD]"}.items()}
    return vocabulary("bert", marked, [CONTROL if token in special else NORMAL for token in tokens], **ids, **more)
