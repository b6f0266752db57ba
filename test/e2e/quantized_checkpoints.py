# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small Llamas with quantised matrices, in the layouts of the packages that write them (GPTQModel, AutoAWQ, compressed-tensors), and the numbers that they stand for."""
import json

import numpy as np

AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def words(codes, bits):
    """Unsigned codes along the last axis, the first in the lowest bits of an i32; missing ones are zero."""
    each = 32 // bits
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % each)]).astype(np.uint64)
    parts = codes.reshape(*codes.shape[:-1], -1, each) << (np.arange(each, dtype=np.uint64) * np.uint64(bits))
    return parts.sum(-1).astype(np.uint32).view(np.int32)


def scales_of(random, bits, *shape):
    """Of f16, and as f64: numbers as large as those of a model at random."""
    scales = (random.uniform(0.002, 0.01, shape) * 2.0 ** (4 - bits)).astype(np.float16)
    return scales, scales.astype(np.float64)


def integers(random, out, inputs, bits, group, symmetric):
    """Codes and zeros, unsigned, and their scales for each group of a row."""
    groups = inputs // (group if group > 0 else inputs)
    codes = random.integers(0, 2**bits, (out, inputs))
    zeros = np.full((out, groups), 2 ** (bits - 1)) if symmetric else random.integers(0, 2**bits, (out, groups))
    return codes, zeros, *scales_of(random, bits, out, groups)


def numbers(codes, zeros, scales, groups):
    """`groups` has the group of each input."""
    return (codes - zeros[:, groups]) * scales[:, groups]


def in_turn(inputs, count):
    return np.arange(inputs) // (inputs // count)


def gptq(bits=4, group=32, symmetric=True, version=1, ordered=False):
    def make(random, out, inputs):
        codes, zeros, scales, exact = integers(random, out, inputs, bits, group, symmetric)
        groups = in_turn(inputs, scales.shape[1])
        if ordered:
            groups = random.permutation(groups)
        packed = words(zeros.T, bits)
        if version == 1:
            packed = (packed.view(np.uint32) - np.uint32(0x11111111 if bits == 4 else 0x01010101)).view(np.int32)
        tensors = {"qweight": np.ascontiguousarray(words(codes, bits).T), "scales": np.ascontiguousarray(scales.T), "qzeros": packed, "g_idx": groups.astype(np.int32)}
        return tensors, numbers(codes, zeros, exact, groups)

    return {"quant_method": "gptq", "bits": bits, "group_size": group, "sym": symmetric, "desc_act": ordered, "checkpoint_format": "gptq" if version == 1 else "gptq_v2", "damp_percent": 0.1}, make


def awq(group=32):
    def make(random, out, inputs):
        codes, zeros, scales, exact = integers(random, out, inputs, 4, group, False)
        pack = lambda x: words(np.ascontiguousarray(x.T).reshape(x.shape[1], -1, 8)[:, :, AWQ_ORDER].reshape(x.shape[1], -1), 4)
        tensors = {"qweight": pack(codes), "scales": np.ascontiguousarray(scales.T), "qzeros": pack(zeros)}
        return tensors, numbers(codes, zeros, exact, in_turn(inputs, scales.shape[1]))

    return {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True, "version": "gemm", "modules_to_not_convert": ["lm_head"]}, make


def compressed(format, weights, make):
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None, "output_activations": None}
    return {"quant_method": "compressed-tensors", "format": format, "config_groups": {"group_0": group}, "ignore": ["lm_head"], "quantization_status": "compressed", "kv_cache_scheme": None}, make


def packed_rows(bits=4, group=32, symmetric=True, ordered=False):
    def make(random, out, inputs):
        codes, zeros, scales, exact = integers(random, out, inputs, bits, group, symmetric)
        groups = in_turn(inputs, scales.shape[1])
        if ordered:
            groups = random.permutation(groups)
        tensors = {"weight_packed": words(codes, bits), "weight_scale": scales, "weight_shape": np.array([out, inputs])}
        if not symmetric:
            tensors["weight_zero_point"] = np.ascontiguousarray(words(zeros.T, bits).T)
        if ordered:
            tensors["weight_g_idx"] = groups.astype(np.int32)
        return tensors, numbers(codes, zeros, exact, groups)

    weights = {"num_bits": bits, "type": "int", "symmetric": symmetric, "strategy": "group" if group > 0 else "channel", "dynamic": False, "observer": "minmax"}
    weights |= {"group_size": group} if group > 0 else {}
    return compressed("pack-quantized", weights | ({"actorder": "group"} if ordered else {}), make)


def plain_bytes(symmetric=True):
    def make(random, out, inputs):
        codes, zeros, scales, exact = integers(random, out, inputs, 8, -1, symmetric)
        tensors = {"weight": (codes - 128).astype(np.int8), "weight_scale": scales}
        if not symmetric:
            tensors["weight_zero_point"] = (zeros - 128).astype(np.int8)
        return tensors, numbers(codes, zeros, exact, in_turn(inputs, 1))

    return compressed("int-quantized", {"num_bits": 8, "type": "int", "symmetric": symmetric, "strategy": "channel"}, make)


def float8(blocks=None, strategy="channel"):
    """A scale for each block, output or tensor."""
    import torch

    def make(random, out, inputs):
        weight = torch.from_numpy(random.uniform(-400, 400, (out, inputs))).to(torch.float8_e4m3fn)
        rows, columns = blocks or ((1, inputs) if strategy == "channel" else (out, inputs))
        scales = random.uniform(1e-4, 5e-4, (-(-out // rows), -(-inputs // columns))).astype(np.float32)
        exact = weight.double().numpy() * scales.astype(np.float64)[np.arange(out)[:, None] // rows, np.arange(inputs) // columns]
        return {"weight": weight, "weight_scale_inv" if blocks else "weight_scale": scales if blocks or strategy == "channel" else scales.reshape(1)}, exact

    if blocks:
        return {"quant_method": "fp8", "activation_scheme": "dynamic", "fmt": "e4m3", "weight_block_size": list(blocks)}, make
    return compressed("float-quantized", {"num_bits": 8, "type": "float", "symmetric": True, "strategy": strategy}, make)


SCHEMES = {
    "gptq": lambda: gptq(), "gptq-zeros": lambda: gptq(symmetric=False), "gptq-8": lambda: gptq(bits=8, symmetric=False), "gptq-v2": lambda: gptq(symmetric=False, version=2),
    "gptq-whole": lambda: gptq(group=-1), "gptq-order": lambda: gptq(symmetric=False, ordered=True), "awq": lambda: awq(),
    "rows": lambda: packed_rows(), "rows-zeros": lambda: packed_rows(symmetric=False), "rows-channel": lambda: packed_rows(group=-1), "rows-8": lambda: packed_rows(bits=8),
    "rows-order": lambda: packed_rows(ordered=True), "bytes": lambda: plain_bytes(), "bytes-zeros": lambda: plain_bytes(symmetric=False),
    "float8": lambda: float8(), "float8-tensor": lambda: float8(strategy="tensor"), "float8-blocks": lambda: float8(blocks=(48, 40)),
}


def make_mxfp4(random, experts, inputs, out):
    """GPT-OSS's matrices, which `transformers` has as [experts, inputs, out] and files as [experts, out, inputs]."""
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    codes, scales = random.integers(0, 16, (experts, out, inputs)), random.integers(119, 123, (experts, out, inputs // 32)).astype(np.uint8)
    numbers = table[codes & 7] * np.where(codes & 8, -1, 1) * 2.0 ** (np.repeat(scales, 32, -1).astype(int) - 127)
    pairs = (codes[..., ::2] | codes[..., 1::2] << 4).astype(np.uint8)
    return {"blocks": pairs.reshape(experts, out, -1, 16), "scales": scales}, numbers.swapaxes(1, 2)


SIZES = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 96, "max_position_embeddings": 64,
         "tie_word_embeddings": False}
GPT2_SIZES = {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 96, "n_positions": 64}
# By family: its class, sizes, and the endings of what is quantised.
FAMILIES = {
    "llama": ("Llama", SIZES, "_proj.weight"),
    "phi3": ("Phi3", SIZES | {"pad_token_id": 0}, "_proj.weight"), # stacked by kind
    "gpt-neox": ("GPTNeoX", {key: value for key, value in SIZES.items() if key != "num_key_value_heads"}, (".query_key_value.weight", ".dense.weight", "_to_h.weight", "to_4h.weight")), # stacked by head
    "gpt2": ("GPT2", GPT2_SIZES, (".c_attn.weight", ".c_proj.weight", ".c_fc.weight")), # [in, out]
    "gpt-oss": ("GptOss", SIZES | {"num_local_experts": 3, "num_experts_per_tok": 2, "head_dim": 16}, ("gate_up_proj", "down_proj")),
}


def write(folder, scheme, family="llama"):
    """A model whose layers' matrices are quantised, with the numbers that these stand for, in f64."""
    import torch
    import transformers
    from safetensors.torch import save_file

    name, sizes, endings = FAMILIES[family]
    quantization, make = SCHEMES[scheme]() if scheme != "mxfp4" else ({"quant_method": "mxfp4", "modules_to_not_convert": ["lm_head"]}, make_mxfp4)
    language_model = getattr(transformers, f"{name}LMHeadModel" if family == "gpt2" else f"{name}ForCausalLM")
    config = getattr(transformers, f"{name}Config")(**sizes, architectures=[language_model.__name__])
    torch.manual_seed(5)
    config._experts_implementation = "eager" # computes in f64
    model, random, stored = language_model(config).double().eval(), np.random.default_rng(11), {}
    for name, tensor in model.state_dict().items():
        if not name.endswith(endings):
            tensor.copy_(tensor.to(torch.bfloat16))
            stored[name] = tensor.to(torch.bfloat16)
            continue
        parts, exact = make(random, *(tensor.shape[::-1] if family == "gpt2" else tensor.shape))
        for part, value in parts.items():
            separator = name.removesuffix("weight") if scheme != "mxfp4" else name + "_"
            stored[separator + part] = value if isinstance(value, torch.Tensor) else torch.from_numpy(np.ascontiguousarray(value))
        tensor.copy_(torch.from_numpy(exact.T if family == "gpt2" else exact))
    if family == "gpt2":
        del stored["lm_head.weight"] # tied
    if family == "gpt-neox":
        stored["embed_out.weight"] = stored.pop("lm_head.weight")
    folder.mkdir(parents=True, exist_ok=True)
    save_file(stored, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(config.to_dict() | {"quantization_config": quantization}))
    return model
