# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a tiny model folder of random weights, as Hugging Face lays it out.

    make_checkpoint.py llama|bert|roberta|gpt2|deepseek_v3 FOLDER [KEY=JSON ...] [--without TENSOR] [--dtype F32|BF16] [--shards N] [--pooling]

KEY=JSON changes the configuration; the weights follow it. Standard library only.
"""
import argparse
import json
import pathlib
import random
import struct

FAMILIES = {
    "llama": dict(architectures=["LlamaForCausalLM"], model_type="llama", hidden_size=24, intermediate_size=20, num_hidden_layers=2,
                  num_attention_heads=4, num_key_value_heads=2, head_dim=8, vocab_size=17, max_position_embeddings=64,
                  hidden_act="silu", rms_norm_eps=1e-5, rope_parameters={"rope_theta": 10000.0, "rope_type": "default"},
                  tie_word_embeddings=True, attention_bias=False, mlp_bias=False, bos_token_id=1, eos_token_id=2),
    "bert": dict(architectures=["BertModel"], model_type="bert", hidden_size=12, intermediate_size=20, num_hidden_layers=2,
                 num_attention_heads=3, vocab_size=17, max_position_embeddings=32, type_vocab_size=2, hidden_act="gelu",
                 layer_norm_eps=1e-12, pad_token_id=0),
    "roberta": dict(architectures=["RobertaModel"], model_type="roberta", hidden_size=12, intermediate_size=20, num_hidden_layers=1,
                    num_attention_heads=3, vocab_size=17, max_position_embeddings=32, type_vocab_size=1, pad_token_id=1),
    "gpt2": dict(architectures=["GPT2LMHeadModel"], model_type="gpt2", n_embd=12, n_layer=2, n_head=3, n_positions=32, vocab_size=17,
                 activation_function="gelu_new", layer_norm_epsilon=1e-5, tie_word_embeddings=True),
    "deepseek_v3": dict(architectures=["DeepseekV3ForCausalLM"], model_type="deepseek_v3", hidden_size=24, intermediate_size=20, num_hidden_layers=2,
                        num_attention_heads=3, num_key_value_heads=3, kv_lora_rank=10, q_lora_rank=14, qk_nope_head_dim=8, qk_rope_head_dim=4, v_head_dim=6,
                        n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=2, moe_intermediate_size=5, first_k_dense_replace=1, n_group=4, topk_group=2, norm_topk_prob=True,
                        routed_scaling_factor=2.5, vocab_size=17, max_position_embeddings=64, rms_norm_eps=1e-5,
                        rope_parameters={"rope_theta": 10000.0, "rope_type": "default"}, bos_token_id=1, eos_token_id=2),
}


def llama_shapes(c):
    hidden, width, size = c["hidden_size"], c["intermediate_size"], c["head_dim"]
    heads, kv = c["num_attention_heads"] * size, c["num_key_value_heads"] * size
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], hidden), "model.norm.weight": (hidden,)}
    if not c["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (c["vocab_size"], hidden)
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        shapes[layer + "input_layernorm.weight"] = shapes[layer + "post_attention_layernorm.weight"] = (hidden,)
        linears = {"self_attn.q_proj": (heads, hidden), "self_attn.k_proj": (kv, hidden), "self_attn.v_proj": (kv, hidden),
                   "self_attn.o_proj": (hidden, heads), "mlp.gate_proj": (width, hidden), "mlp.up_proj": (width, hidden),
                   "mlp.down_proj": (hidden, width)}
        for name, shape in linears.items():
            shapes[layer + name + ".weight"] = shape
            if c["mlp_bias" if name.startswith("mlp") else "attention_bias"]:
                shapes[layer + name + ".bias"] = shape[:1]
    return shapes


def bert_shapes(c):
    hidden, width = c["hidden_size"], c["intermediate_size"]
    shapes = {"embeddings.word_embeddings.weight": (c["vocab_size"], hidden),
              "embeddings.position_embeddings.weight": (c["max_position_embeddings"], hidden),
              "embeddings.token_type_embeddings.weight": (c["type_vocab_size"], hidden)}

    def put(name, *shape):
        shapes[name + ".weight"], shapes[name + ".bias"] = shape, shape[:1]

    put("embeddings.LayerNorm", hidden)
    for i in range(c["num_hidden_layers"]):
        layer = f"encoder.layer.{i}."
        for which in ["query", "key", "value"]:
            put(layer + "attention.self." + which, hidden, hidden)
        put(layer + "attention.output.dense", hidden, hidden)
        put(layer + "attention.output.LayerNorm", hidden)
        put(layer + "intermediate.dense", width, hidden)
        put(layer + "output.dense", hidden, width)
        put(layer + "output.LayerNorm", hidden)
    put("pooler.dense", hidden, hidden)
    return shapes


def gpt2_shapes(c):
    hidden = c["n_embd"]
    width = c.get("n_inner") or 4 * hidden
    shapes = {"transformer.wte.weight": (c["vocab_size"], hidden), "transformer.wpe.weight": (c["n_positions"], hidden)}

    def put(name, *shape):  # [in, out]
        shapes["transformer." + name + ".weight"], shapes["transformer." + name + ".bias"] = shape, shape[-1:]

    put("ln_f", hidden)
    for i in range(c["n_layer"]):
        layer = f"h.{i}."
        put(layer + "ln_1", hidden)
        put(layer + "ln_2", hidden)
        put(layer + "attn.c_attn", hidden, 3 * hidden)
        put(layer + "attn.c_proj", hidden, hidden)
        put(layer + "mlp.c_fc", hidden, width)
        put(layer + "mlp.c_proj", width, hidden)
    return shapes


def gated(name, width, hidden):
    return {name + ".gate_proj.weight": (width, hidden), name + ".up_proj.weight": (width, hidden), name + ".down_proj.weight": (hidden, width)}


def deepseek_shapes(c):
    hidden, heads, rank, low, width = (c[key] for key in ["hidden_size", "num_attention_heads", "kv_lora_rank", "q_lora_rank", "moe_intermediate_size"])
    plain, rotated, value = c["qk_nope_head_dim"], c["qk_rope_head_dim"], c["v_head_dim"]
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], hidden), "model.norm.weight": (hidden,), "lm_head.weight": (c["vocab_size"], hidden)}
    for i in range(c["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        shapes[layer + "input_layernorm.weight"] = shapes[layer + "post_attention_layernorm.weight"] = (hidden,)
        parts = {"q_a_proj": (low, hidden), "q_a_layernorm": (low,), "q_b_proj": (heads * (plain + rotated), low),
                 "kv_a_proj_with_mqa": (rank + rotated, hidden), "kv_a_layernorm": (rank,), "kv_b_proj": (heads * (plain + value), rank),
                 "o_proj": (hidden, heads * value)}
        shapes |= {f"{layer}self_attn.{name}.weight": shape for name, shape in parts.items()}
        if i < c["first_k_dense_replace"]:
            shapes |= gated(layer + "mlp", c["intermediate_size"], hidden)
            continue
        shapes |= {layer + "mlp.gate.weight": (c["n_routed_experts"], hidden), layer + "mlp.gate.e_score_correction_bias": (c["n_routed_experts"],)}
        for expert in range(c["n_routed_experts"]):
            shapes |= gated(f"{layer}mlp.experts.{expert}", width, hidden)
        shapes |= gated(layer + "mlp.shared_experts", (c["n_shared_experts"] or 1) * width, hidden)
    return shapes


def write_safetensors(path, shapes, dtype, rng):
    header, data = {"__metadata__": {"format": "pt"}}, bytearray()
    for name, shape in shapes.items():
        count, begin = 1, len(data)
        for size in shape:
            count *= size
        for _ in range(count):
            bits = struct.pack("<f", rng.uniform(-0.5, 0.5))
            data += bits if dtype == "F32" else bits[2:]  # BF16 is the upper half
        header[name] = dict(dtype=dtype, shape=shape, data_offsets=[begin, len(data)])
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("changes", nargs="*")
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--dtype", choices=["F32", "BF16"], default="F32")
    parser.add_argument("--shards", type=int, default=1)
    parser.add_argument("--pooling", action="store_true")
    args = parser.parse_intermixed_args()
    config = dict(FAMILIES[args.family])
    for change in args.changes:
        key, value = change.split("=", 1)
        config[key] = json.loads(value)
    shapes = {"llama": llama_shapes, "bert": bert_shapes, "roberta": bert_shapes, "gpt2": gpt2_shapes, "deepseek_v3": deepseek_shapes}[args.family](config)
    for name in args.without:
        del shapes[name]

    args.folder.mkdir(parents=True, exist_ok=True)
    (args.folder / "config.json").write_text(json.dumps(config, indent=2))
    rng, names = random.Random(3), sorted(shapes)
    if args.shards == 1:
        write_safetensors(args.folder / "model.safetensors", {name: shapes[name] for name in names}, args.dtype, rng)
    else:
        places = {name: f"model-{i % args.shards + 1:05}-of-{args.shards:05}.safetensors" for i, name in enumerate(names)}
        for file in set(places.values()):
            write_safetensors(args.folder / file, {name: shapes[name] for name in names if places[name] == file}, args.dtype, rng)
        (args.folder / "model.safetensors.index.json").write_text(json.dumps(dict(metadata={}, weight_map=places)))
    if args.pooling:
        hidden = config["hidden_size"]
        kinds = ["Transformer", "Pooling", "Dense", "Normalize"]
        modules = [dict(idx=i, name=str(i), path="" if i == 0 else f"{i}_{kind}", type="sentence_transformers.models." + kind)
                   for i, kind in enumerate(kinds)]
        (args.folder / "modules.json").write_text(json.dumps(modules))
        (args.folder / "sentence_bert_config.json").write_text(json.dumps(dict(max_seq_length=24, do_lower_case=False)))
        write_safetensors(args.folder / "2_Dense" / "model.safetensors",
                          {"linear.weight": (5, hidden), "linear.bias": (5,)}, args.dtype, rng)
        (args.folder / "2_Dense" / "config.json").write_text(json.dumps(
            dict(in_features=hidden, out_features=5, bias=True, activation_function="torch.nn.modules.activation.Tanh")))
        (args.folder / "1_Pooling").mkdir(exist_ok=True)
        (args.folder / "1_Pooling" / "config.json").write_text(json.dumps(
            dict(word_embedding_dimension=hidden, pooling_mode_cls_token=False, pooling_mode_mean_tokens=True)))


main()
