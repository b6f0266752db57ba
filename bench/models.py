# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the random checkpoints that the benchmarks need: Llamas of a chosen shape in Hugging Face's layout, the same bytes for the same arguments.

usage: python bench/models.py NAME FOLDER [--dtype f32|bf16]     NAME: one of SHAPES

Weights are written tensor by tensor, so that a checkpoint may be larger than memory.
"""
import argparse
import json
import pathlib
import struct

import numpy as np

SHAPES = {
    # 110 million parameters, the head tied to the embedding.
    "llama-110m": dict(hidden_size=768, num_hidden_layers=12, num_attention_heads=12, num_key_value_heads=12, intermediate_size=2048, vocab_size=32000,
                       max_position_embeddings=2048, tie_word_embeddings=True),
    # The shape of TinyLlama, 1.1 billion parameters in 22 layers.
    "llama-1b": dict(hidden_size=2048, num_hidden_layers=22, num_attention_heads=32, num_key_value_heads=4, intermediate_size=5632, vocab_size=32000,
                     max_position_embeddings=2048, tie_word_embeddings=False),
}


def tensors(shape):
    """Yields (name, sizes, spread); a spread of 0 is a norm's weight, near one."""
    hidden, inner, words = shape["hidden_size"], shape["intermediate_size"], shape["vocab_size"]
    keys = hidden // shape["num_attention_heads"] * shape["num_key_value_heads"]
    yield "model.embed_tokens.weight", (words, hidden), 0.5
    for layer in range(shape["num_hidden_layers"]):
        at = f"model.layers.{layer}."
        yield at + "input_layernorm.weight", (hidden,), 0
        for name, rows in [("q", hidden), ("k", keys), ("v", keys), ("o", hidden)]:
            yield f"{at}self_attn.{name}_proj.weight", (rows, hidden), hidden**-0.5
        yield at + "post_attention_layernorm.weight", (hidden,), 0
        for name in ["gate", "up"]:
            yield f"{at}mlp.{name}_proj.weight", (inner, hidden), hidden**-0.5
        yield at + "mlp.down_proj.weight", (hidden, inner), inner**-0.5
    yield "model.norm.weight", (hidden,), 0
    if not shape["tie_word_embeddings"]:
        yield "lm_head.weight", (words, hidden), hidden**-0.5


def narrow(values):
    """f32 to bf16 as numpy's uint16, to the nearest."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def encode(values, dtype):
    return (values if dtype == "f32" else narrow(values)).tobytes()


def head(tensors):
    """The beginning of a .safetensors file; `tensors` has a record for each name."""
    text = json.dumps(tensors).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def make(name, folder, dtype="f32"):
    """Gives the checkpoint's folder; makes it only if it is not there."""
    folder = pathlib.Path(folder)
    if (folder / "config.json").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    shape = SHAPES[name]
    size = {"f32": 4, "bf16": 2}[dtype]
    header, end = {}, 0
    for tensor, sizes, _ in tensors(shape):
        begin, end = end, end + size * int(np.prod(sizes))
        header[tensor] = {"dtype": dtype.upper(), "shape": list(sizes), "data_offsets": [begin, end]}
    rng = np.random.default_rng(0)
    # Numbers for all of a large model would take minutes to draw: slices of one pool serve, each begun elsewhere.
    pool = rng.standard_normal(1 << 23, dtype=np.float32)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(head(header))
        for _, sizes, spread in tensors(shape):
            count = int(np.prod(sizes))
            while count:
                begin = int(rng.integers(len(pool) // 2))
                part = pool[begin:begin + min(count, len(pool) // 2)]
                file.write(encode(part * np.float32(spread) if spread else 1 + np.float32(0.1) * part, dtype))
                count -= len(part)
    config = dict(shape, architectures=["LlamaForCausalLM"], model_type="llama", head_dim=shape["hidden_size"] // shape["num_attention_heads"], hidden_act="silu",
                  rms_norm_eps=1e-5, rope_theta=10000.0, attention_bias=False, mlp_bias=False, bos_token_id=1, eos_token_id=2,
                  torch_dtype={"f32": "float32", "bf16": "bfloat16"}[dtype])
    # Last: what makes the folder a checkpoint.
    (folder / "config.json").write_text(json.dumps(config, indent=1))
    return folder


def weights(folder):
    """The f32 tensors of a checkpoint that `make` wrote."""
    data = np.memmap(pathlib.Path(folder) / "model.safetensors", np.uint8, "r")
    length = int(data[:8].view(np.uint64)[0])
    header = json.loads(bytes(data[8:8 + length]))
    return {name: data[8 + length + entry["data_offsets"][0]:8 + length + entry["data_offsets"][1]].view(np.float32).reshape(entry["shape"])
            for name, entry in header.items()}


def main():
    parser = argparse.ArgumentParser(description="Makes a random checkpoint.")
    parser.add_argument("name", choices=SHAPES)
    parser.add_argument("folder")
    parser.add_argument("--dtype", choices=["f32", "bf16"], default="f32")
    arguments = parser.parse_args()
    print(make(arguments.name, arguments.folder, arguments.dtype))


if __name__ == "__main__":
    main()
