# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured on a GPU: each case's module, inputs, work, the figure that it should reach, and what its result is in f64 at places that are drawn once.

Attention has 16384 tokens at every length and 2048 columns at every head size, as the papers of FlashAttention measure it; numbers are bf16. Arrays of bf16 are numpy's uint16.
"""
import functools

import numpy as np

from models import narrow

TOKENS, COLUMNS = 16384, 2048
LENGTHS = [512, 1024, 2048, 4096, 8192, 16384]
ROWS = 64  # of a result that are compared with f64
PROMPT, STEPS = 512, 64  # of a model: tokens before, tokens timed

# Largest difference over largest value: a result of bf16 has eight bits, tf32 eleven before it is summed; models of f32 are promised to be as near as this to the CPU,
# and those of bf16 round what they multiply.
TOLERANCE = {"bf16": 1e-2, "f32": 2e-5, "tf32": 5e-3, "model-f32": 1e-4, "model-bf16": 2e-2}


def attention(size, mask, length, tokens=TOKENS, columns=COLUMNS):
    targets = {(128, "full"): 550e12, (128, "causal"): 480e12}
    return dict(kind="attention", size=size, mask=mask, batch=tokens // length, length=length, heads=columns // size, target=targets.get((size, mask)) if length >= 4096 else None)


def one_query(size, batch, length, heads, key_heads):
    return dict(kind="one-query", size=size, batch=batch, length=length, heads=heads, key_heads=key_heads, target=0.7)


def gemm(rows, columns, depth, left):
    return dict(kind="gemm", rows=rows, columns=columns, depth=depth, left=left, target=0.85 if left == "bf16" and rows == columns == depth == 8192 else None)


def model(name, dtype, prompt=PROMPT, steps=STEPS):
    return dict(kind="model", model=name, dtype=dtype, prompt=prompt, steps=steps, target=None)


CASES = {
    **{f"attention-{size}-{mask}-{length}": attention(size, mask, length) for size in [64, 128, 256] for mask in ["full", "causal"] for length in LENGTHS},
    **{f"one-query-{size}-{length}": one_query(size, 16, length, 32, 8) for size in [64, 128] for length in [2048, 8192]},
    **{f"gemm-{n}-{left}": gemm(n, n, n, left) for left in ["bf16", "f32"] for n in [4096, 8192]},
    "model-shakespeare": model("shakespeare", "bf16", 64),
    "model-110m": model("llama-110m", "bf16"),
    "model-1b": model("llama-1b", "bf16"),
}
# The same code at sizes for the emulator.
TINY = {
    **{f"attention-{size}-{mask}-48": attention(size, mask, 48, 96, 128) for size in [64, 128] for mask in ["full", "causal"]},
    "one-query-64-80": one_query(64, 2, 80, 4, 2),
    **{f"gemm-64-{left}": gemm(64, 96, 64, left) for left in ["bf16", "f32"]},
    "model-tiny": model("llama-tiny", "bf16", 8, 3),
}


def find(name):
    return CASES.get(name) or TINY[name]


def widen(values):
    """What lies in an array, as f64 or f32."""
    return (values.astype(np.uint32) << 16).view(np.float32) if values.dtype == np.uint16 else values


@functools.lru_cache(maxsize=4)
def noise(count, seed):
    """The same numbers, normally distributed, in every process."""
    return narrow(np.random.default_rng(seed).standard_normal(count, dtype=np.float32))


def drawn(seed, *shape):
    return noise(int(np.prod(shape)), seed).reshape(shape)


def inputs(case):
    """Arrays by the module's names; attention's are [batch, length, heads, size]. A gemm's weight is not among them: it is `weight`."""
    if case["kind"] == "gemm":
        x = drawn(1, 1, case["rows"], case["depth"])
        return {"x": widen(x) if case["left"] == "f32" else x}
    queries = 1 if case["kind"] == "one-query" else case["length"]
    keys = [case["batch"], case["length"], case.get("key_heads", case["heads"]), case["size"]]
    return {"q": drawn(1, case["batch"], queries, case["heads"], case["size"]), "k": drawn(2, *keys), "v": drawn(3, *keys)}


def weight(case):
    return drawn(4, case["columns"], case["depth"])


def places(case):
    """Which parts of a result are compared: (batch, head, rows) of attention, rows of a product. The first and the last are always among them."""
    rng = np.random.default_rng(5)
    if case["kind"] == "gemm":
        return np.unique(np.r_[0, case["rows"] - 1, rng.integers(case["rows"], size=ROWS - 2)])
    ends = [(0, 0), (case["batch"] - 1, case["heads"] - 1)]
    rows = [0] if case["kind"] == "one-query" else np.unique(np.r_[0, case["length"] - 1, rng.integers(case["length"], size=ROWS - 2)])
    return [(batch, head, np.asarray(rows)) for batch, head in dict.fromkeys(ends)]


def sample(case, result):
    """Those parts of a result that lies as the module's."""
    if case["kind"] == "gemm":
        return np.asarray(result[0][places(case)], np.float64)
    return np.stack([np.asarray(result[batch, rows, head], np.float64) for batch, head, rows in places(case)])


def reference(case):
    """The same parts in f64, by the formula."""
    given = inputs(case)
    if case["kind"] == "gemm":
        return widen(given["x"][0][places(case)]).astype(np.float64) @ widen(weight(case)).astype(np.float64).T
    parts = []
    for batch, head, rows in places(case):
        group = case["heads"] // case.get("key_heads", case["heads"])
        q = widen(given["q"][batch, rows, head]).astype(np.float64)
        k, v = (widen(given[name][batch, :, head // group]).astype(np.float64) for name in "kv")
        scores = q @ k.T * case["size"]**-0.5
        if case.get("mask") == "causal":
            scores = np.where(np.arange(case["length"])[None] <= rows[:, None], scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        parts.append(weights @ v / weights.sum(-1, keepdims=True))
    return np.stack(parts)


def tolerance(case, program):
    if case["kind"] == "model":
        return TOLERANCE[f"model-{case['dtype']}"]
    if case["kind"] == "gemm" and case["left"] == "f32":
        return TOLERANCE["f32" if program == "fovea" else "tf32"]
    return TOLERANCE["bf16"]


def flops(case):
    """Operations of the products of one run; a causal mask's pairs are counted exactly."""
    if case["kind"] == "gemm":
        return 2 * case["rows"] * case["columns"] * case["depth"]
    length = case["length"]
    pairs = length if case["kind"] == "one-query" else length * (length + 1) // 2 if case["mask"] == "causal" else length * length
    return 4 * case["batch"] * case["heads"] * case["size"] * pairs


def bytes_read(case):
    """Of the keys and values, which are nearly all that one query's attention reads."""
    return 2 * 2 * case["batch"] * case["length"] * case["key_heads"] * case["size"]


def module(case):
    """The case in the `fovea` dialect: lengths open, sizes fixed. A gemm's weight lies in weights.safetensors beside it."""
    port = lambda name, kind, dims: f'%{name}: {kind} {{fovea.name = "{name}", fovea.dims = {dims}}}'
    if case["kind"] == "gemm":
        x, y = (f"tensor<1x?x{case[size]}x{case['left']}>" for size in ("depth", "columns"))
        w = f"tensor<{case['columns']}x{case['depth']}xbf16>"
        return f"""fovea.weight @w : {w} = #fovea.stored<"weights.safetensors", "w", {w}>
func.func @forward({port("x", x, '["rows"]')}) -> ({y} {{fovea.name = "output", fovea.dims = ["rows"]}}) attributes {{fovea.entry}} {{
  %w = fovea.weight_ref @w : {w}
  %o = fovea.linear %x, %w : {x}, {w} -> {y}
  return %o : {y}
}}
"""
    one = case["kind"] == "one-query"
    tensor = lambda heads, length="?": f"tensor<?x{length}x{heads}x{case['size']}xbf16>"
    q, k = tensor(case["heads"], 1 if one else "?"), tensor(case.get("key_heads", case["heads"]))
    rows, keys = '["batch"]' if one else '["batch", "sequence"]', '["batch", "sequence"]'
    causal = case.get("mask") == "causal"
    return f"""func.func @forward({port("q", q, rows)}, {port("k", k, keys)}, {port("v", k, keys)}) -> ({q} {{fovea.name = "output", fovea.dims = {rows}}}) attributes {{fovea.entry}} {{
{"  %m = fovea.mask_causal" if causal else ""}
  %o = fovea.attention %q, %k, %v {"mask(%m)" if causal else ""} scale({case["size"] ** -0.5!r}) : {q}, {k}, {k} -> {q}
  return %o : {q}
}}
"""


def artifact(case):
    """The name of the file that holds its code: cases that differ in lengths alone share one."""
    if case["kind"] == "model":
        return f"{case['model']}-{case['dtype']}"
    if case["kind"] == "gemm":
        return f"gemm-{case['columns']}x{case['depth']}-{case['left']}"
    return f"{case['kind']}-{case['size']}-{case.get('mask', 'full')}-{case['heads']}x{case.get('key_heads', case['heads'])}"


def decode_bytes(case, config):
    """Of the weights and caches that one step of decoding reads, in the middle of the steps."""
    hidden, layers = config["hidden_size"], config["num_hidden_layers"]
    keys = hidden // config["num_attention_heads"] * config["num_key_value_heads"]
    weights = layers * (2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * config["intermediate_size"]) + hidden * config["vocab_size"]
    return {"f32": 4, "bf16": 2}[case["dtype"]] * weights + 8 * layers * (case["prompt"] + case["steps"] // 2) * keys


def token_ids(case, words):
    return np.random.default_rng(1).integers(3, words, (1, case["prompt"] + case["steps"])).astype(np.int64)
