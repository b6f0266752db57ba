# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What hostile files are made from: the smallest sound checkpoint and the smallest sound ONNX model. The same bytes each time."""
import json
import struct

import numpy as np
from onnx import TensorProto, helper, numpy_helper

HIDDEN, HEADS, HEAD, WIDTH, VOCABULARY = 8, 2, 4, 16, 261
NORM, TABLE = "model.norm.weight", "model.embed_tokens.weight"

CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": WIDTH, "num_hidden_layers": 1, "num_attention_heads": HEADS,
    "num_key_value_heads": 1, "head_dim": HEAD, "hidden_act": "silu", "max_position_embeddings": 64, "rms_norm_eps": 1e-5, "vocab_size": VOCABULARY, "tie_word_embeddings": True,
    "rope_parameters": {"rope_type": "default", "rope_theta": 10000.0}, "bos_token_id": 256, "eos_token_id": 257,
}


def shapes():
    layer = "model.layers.0."
    return {
        TABLE: (VOCABULARY, HIDDEN), layer + "input_layernorm.weight": (HIDDEN,), layer + "post_attention_layernorm.weight": (HIDDEN,),
        layer + "self_attn.q_proj.weight": (HEADS * HEAD, HIDDEN), layer + "self_attn.k_proj.weight": (HEAD, HIDDEN), layer + "self_attn.v_proj.weight": (HEAD, HIDDEN),
        layer + "self_attn.o_proj.weight": (HIDDEN, HEADS * HEAD), layer + "mlp.gate_proj.weight": (WIDTH, HIDDEN), layer + "mlp.up_proj.weight": (WIDTH, HIDDEN),
        layer + "mlp.down_proj.weight": (HIDDEN, WIDTH), NORM: (HIDDEN,),
    }


def weights():
    random = np.random.default_rng(7)
    return {name: (random.standard_normal(shape) / 2).astype(np.float32) for name, shape in shapes().items()}


def header_and_data(arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        header[name] = {"dtype": {"float32": "F32", "int64": "I64"}[str(array.dtype)], "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    return header, data


def write_safetensors(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def byte_characters():
    """The character that stands for each byte in byte-level vocabularies, as GPT-2 chose them."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def tokenizer():
    characters = byte_characters()
    vocabulary = {character: byte for byte, character in enumerate(characters)}
    vocabulary.update({"<s>": 256, "</s>": 257, "th": 258, "the": 259, "an": 260})
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [{"id": 256, "content": "<s>", **special}, {"id": 257, "content": "</s>", **special}],
        "normalizer": None, "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "post_processor": None, "decoder": {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "ignore_merges": False, "vocab": vocabulary, "merges": [["t", "h"], ["th", "e"], ["a", "n"]]},
    }


def checkpoint(folder, name="model"):
    """A Llama of one layer in `folder`/`name`; gives its path."""
    model = folder / name
    model.mkdir()
    (model / "config.json").write_text(json.dumps(CONFIG, indent=1))
    (model / "tokenizer.json").write_text(json.dumps(tokenizer()))
    write_safetensors(model / "model.safetensors", *header_and_data(weights()))
    return model


def sharded(folder):
    """The same in two shards with an index."""
    model = checkpoint(folder)
    (model / "model.safetensors").unlink()
    arrays = weights()
    names = list(arrays)
    placed = {}
    for number, part in enumerate([names[:1], names[1:]], 1):
        file = f"model-0000{number}-of-00002.safetensors"
        write_safetensors(model / file, *header_and_data({name: arrays[name] for name in part}))
        placed.update({name: file for name in part})
    write_index(model, placed)
    return model


def write_index(model, placed):
    (model / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 0}, "weight_map": placed}))


# ONNX -------------------------------------------------------------------------------------------------------------------------------------------------------


FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
WEIGHT = np.arange(20, dtype=np.float32).reshape(4, 5)


def graph_of(nodes, inputs, outputs, initializers=None, opset=18, functions=(), domains=()):
    """inputs and outputs: {name: (type, shape)}; initializers: {name: array}."""
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info(name, *kind) for name, kind in inputs.items()], [helper.make_tensor_value_info(name, *kind) for name, kind in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (initializers or {}).items()])
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10, producer_name="hostile")


def product(weight=WEIGHT, **options):
    """y = x w, the smallest model with a weight."""
    return graph_of([helper.make_node("MatMul", ["x", "w"], ["y"], name="product")], {"x": (FLOAT, ["n", 4])}, {"y": (FLOAT, ["n", 5])}, {"w": weight}, **options)


def one_node(op, inputs, output, attributes=None, shapes=None, constants=None, **options):
    """A model of one node named `node`, with a result y; `shapes` are those of its inputs that are no constants."""
    node = helper.make_node(op, inputs, ["y"], name="node", **(attributes or {}))
    return graph_of([node], shapes if shapes is not None else {"x": (FLOAT, [2, 6])}, {"y": output}, constants, **options)


def write_onnx(folder, proto, name="model.onnx"):
    (folder / name).write_bytes(proto if isinstance(proto, bytes) else proto.SerializeToString(deterministic=True))
    return name


def field(number, content):
    """A field of protobuf that holds bytes."""
    size, digits = len(content), b""
    while size >= 128:
        digits, size = digits + bytes([size % 128 + 128]), size // 128
    return bytes([number * 8 + 2]) + digits + bytes([size]) + content
