# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples teach the truth: the commands in their comments print what the comments say, and their numbers are those of the formulas, here in numpy and f64."""
import importlib.util
import inspect
import json
import re
import shlex
import sys

import numpy as np
import pytest

from programs import ROOT, invoke

sys.path.append(str(ROOT / "test" / "docs"))
import consoles  # noqa: E402

EXAMPLES = ROOT / "examples"
FILES = sorted(str(path.relative_to(EXAMPLES)) for path in EXAMPLES.glob("*/*.mlir"))
TUTORIAL = EXAMPLES / "tutorial-classifier"


@pytest.fixture(scope="module", autouse=True)
def models_are_compiled_here(tmp_path_factory):
    """`fovea run` of a model keeps what it compiled; not where other runs would find it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_commands(build, name):
    if not (build / "bin" / "fovea").exists():
        pytest.skip("build/bin/fovea does not exist")
    text = (EXAMPLES / name).read_text()
    ran = [command for _, command, _ in consoles.comments(text)]
    shown = "experts" if name == "blocks/experts.mlir" else "fused"  # all others have an attention
    assert any("fovea inspect" in command and shown in command for command in ran), "shows no fusion"
    assert any("fovea run" in command for command in ran), "runs nothing"
    found = consoles.complaints(ROOT, text, name, consoles.comments)
    assert not found, "\n\n".join(found)


# The formulas -----------------------------------------------------------------------------------------------------------------------------------------------
#
# FORMULAS[file, entry] is a function of the entry's arguments, arrays in f64 or of integers, that gives its results in order. Its parameters' annotations say what to draw
# for them: sizes by name or number, and of what kind. Inside, attention is [..., heads, words, size]; `heads` and `words` change between that and [batch, words, heads, size].

FORMULAS = {}
SIZES = [{"batch": 2, "words": 5, "queries": 3, "keys": 7, "memory": 6}, {"batch": 1, "words": 11, "queries": 8, "keys": 4, "memory": 3}]


def formula(name, entry="forward"):
    def keep(function):
        FORMULAS[name, entry] = function
        return function

    return keep


def heads(x):
    return np.swapaxes(x, -3, -2)


words = heads


def softmax(y, allowed=True, sink=None):
    """Over the last axis and what is allowed there; a row of nothing gives NaN, or zero with a sink."""
    y = np.where(allowed, y, -np.inf)
    with np.errstate(all="ignore"):
        top = y.max(-1, keepdims=True) if sink is None else np.maximum(y.max(-1, keepdims=True), sink)
        e = np.exp(y - top)
        return e / (e.sum(-1, keepdims=True) + (0 if sink is None else np.exp(sink - top)))


def scores(q, k):
    return q @ np.swapaxes(k, -2, -1)


def places(q, k):
    """i as a column, j as a row."""
    return np.arange(q.shape[-2])[:, None], np.arange(k.shape[-2])


def attend(q, k, v, allowed=True, scale=None):
    return softmax(scores(q, k) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale), allowed) @ v


@formula("attention/three-words.mlir")
def three_words(q: "3 4", k: "3 4", v: "3 2"):
    s = scores(q, k) / 2
    return s, softmax(s), softmax(s) @ v


@formula("attention/plain-score.mlir", "plain")
def plain(q: "batch queries 1 4", k: "batch keys 1 4", v: "batch keys 1 1"):
    return words(attend(heads(q), heads(k), heads(v), scale=1)),


@formula("attention/plain-score.mlir", "scaled")
def scaled(q: "batch queries 1 4", k: "batch keys 1 4", v: "batch keys 1 1"):
    return words(attend(heads(q), heads(k), heads(v))),


@formula("attention/additive-score.mlir")
def additive(q: "queries 8", k: "keys 8", v: "keys 4", w: "8"):
    return softmax(np.tanh(q[:, None] + k) @ w) @ v,


@formula("attention/soft-cap.mlir")
def soft_cap(q: "batch queries 2 4", k: "batch keys 2 4", v: "batch keys 2 4"):
    x = scores(heads(q), heads(k)) / 2
    return words(softmax(30 * np.tanh(x / 30)) @ heads(v)),


soft_cap.times = {"q": 30}  # so that the cap matters


@formula("attention/threshold.mlir")
def threshold(q: "queries 1", k: "keys 1", v: "keys 1"):
    p = softmax(q @ k.T)
    return np.where(p < np.float32(0.2), 0, p) @ v,


@formula("attention/sinks.mlir")
def sinks(q: "batch queries 2 2", k: "batch keys 2 2", v: "batch keys 2 1", sinks: "2"):
    return words(softmax(scores(heads(q), heads(k)) / np.sqrt(2), sink=sinks[:, None, None]) @ heads(v)),


@formula("attention/not-fused.mlir")
def over_queries(q: "queries 2", k: "keys 2", v: "keys 1"):
    return softmax(scores(k, q)).T @ v,


def masked(allowed):
    def result(q, k, v):
        return words(attend(heads(q), heads(k), heads(v), allowed))

    return result


@formula("masks/causal.mlir")
def causal(q: "words 4", k: "words 4", v: "words 4"):
    i, j = places(q, k)
    return attend(q, k, v, j <= i),


@formula("masks/causal.mlir", "mask")
def causal_mask():
    return np.tri(6)[None, None],


def window_of(i, j):
    return (i - 2 <= j) & (j <= i)


@formula("masks/window.mlir")
def window(q: "batch words 2 4", k: "batch words 2 4", v: "batch words 2 4"):
    return masked(window_of(*places(heads(q), heads(k))))(q, k, v),


@formula("masks/window.mlir", "mask")
def window_mask():
    return window_of(np.arange(6)[:, None], np.arange(6))[None, None],


@formula("masks/padding.mlir")
def padding(q: "batch queries 4", k: "batch keys 4", v: "batch keys 1", lengths: "length batch"):
    allowed = np.arange(k.shape[1]) < lengths[:, None, None]
    return attend(q, k, v, allowed | ~allowed.any(-1, keepdims=True)),


@formula("masks/padding.mlir", "mask")
def padding_mask(lengths: "length 2"):
    return np.broadcast_to(np.arange(3) < lengths[:, None, None, None], (2, 1, 3, 3)),


@formula("masks/prefix.mlir")
def prefix(q: "batch words 2 4", k: "batch words 2 4", v: "batch words 2 4", lengths: "length batch"):
    i, j = places(heads(q), heads(k))
    return masked((j <= i) | (j < lengths[:, None, None, None]))(q, k, v),


@formula("masks/prefix.mlir", "mask")
def prefix_mask(lengths: "length 1"):
    i, j = np.arange(6)[:, None], np.arange(6)
    return ((j <= i) | (j < lengths[:, None, None, None])),


@formula("masks/segments.mlir")
def segments(q: "batch words 2 4", k: "batch words 2 4", v: "batch words 2 4", segment: "segment batch words"):
    i, j = places(heads(q), heads(k))
    return masked((segment[:, None, :, None] == segment[:, None, None]) & (j <= i))(q, k, v),


@formula("masks/segments.mlir", "mask")
def segments_mask(segment: "segment 1 6"):
    return (segment[:, None, :, None] == segment[:, None, None]) & np.tri(6, dtype=bool),


def window_or_global(i, j):
    return (abs(i - j) <= 1) | (j < 1) | (i < 1)


@formula("masks/global.mlir")
def global_(q: "batch words 2 4", k: "batch words 2 4", v: "batch words 2 4"):
    return masked(window_or_global(*places(heads(q), heads(k))))(q, k, v),


@formula("masks/global.mlir", "mask")
def global_mask():
    return window_or_global(np.arange(6)[:, None], np.arange(6))[None, None],


@formula("masks/all-but-itself.mlir")
def all_but_itself(qk: "batch words 1 2", v: "batch words 1 2"):
    i, j = places(heads(qk), heads(qk))
    return np.nan_to_num(masked(j < i)(qk, qk, v)),


@formula("masks/all-but-itself.mlir", "mask")
def all_but_itself_mask():
    return np.tri(4, k=-1)[None, None],


@formula("masks/dense.mlir")
def dense(q: "queries 4", k: "keys 4", v: "keys 1", mask: "keep queries keys"):
    return softmax(np.where(mask != 0, scores(q, k) / 2, -1e9)) @ v,


@formula("masks/fills.mlir")
def fills(q: "batch queries 1 1", k: "batch keys 1 1", v: "batch keys 1 1", lengths: "length batch"):
    allowed = np.arange(k.shape[1]) < lengths[:, None, None, None]
    empty = ~allowed.any(-1, keepdims=True)
    masked_rows, raw = attend(heads(q), heads(k), heads(v), allowed), attend(heads(q), heads(k), heads(v))
    return tuple(words(np.where(empty, other, masked_rows)) for other in [0, heads(v).mean(-2, keepdims=True), raw, np.nan])


def waves(count, size):
    angle = np.arange(count)[:, None] / 10000 ** (np.arange(0, size, 2) / size)
    return np.stack([np.sin(angle), np.cos(angle)], -1).reshape(count, size)


@formula("positions/sinusoidal.mlir")
def sinusoidal(x: "batch words 4"):
    y = x + waves(x.shape[1], 4)
    return attend(y, y, y)[:, :, None],


@formula("positions/sinusoidal.mlir", "table")
def sinusoidal_table():
    return waves(4, 4)[None],


@formula("positions/learned.mlir")
def learned(x: "batch queries 2", table: "6 2"):
    y = x + table[:x.shape[1]]
    return attend(y, y, y)[:, :, None],


learned.sizes = [{"batch": 2, "queries": 6}, {"batch": 1, "queries": 1}]


def turn(x, positions, frequencies, pairs, factor=1.0):
    """Each pair of elements of x [batch, words, heads, size] by its angle; the other elements stay."""
    y = x.copy()
    for frequency, (a, b) in zip(frequencies, pairs):
        angle = (positions * frequency)[:, :, None]
        cos, sin = factor * np.cos(angle), factor * np.sin(angle)
        y[..., a], y[..., b] = x[..., a] * cos - x[..., b] * sin, x[..., b] * cos + x[..., a] * sin
    return y


HALF = [(0, 2), (1, 3)]


def rope_attend(q, k, v, positions, frequencies=(1, 0.01), allowed=True, factor=1.0):
    return words(attend(heads(turn(q, positions, frequencies, HALF, factor)), heads(turn(k, positions, frequencies, HALF, factor)), heads(v), allowed))


@formula("positions/rope-by-hand.mlir")
def rope_by_hand(q: "batch words 2 4", k: "batch words 2 4", v: "batch words 2 4"):
    return rope_attend(q, k, v, np.arange(q.shape[1])[None]),


@formula("positions/rope.mlir")
def rope(q: "batch words 1 4", k: "batch words 1 4", v: "batch words 1 4", positions: "position batch words"):
    return rope_attend(q, k, v, positions),


@formula("positions/rope.mlir", "turn")
def rope_turn(x: "batch words 1 4", positions: "position batch words"):
    return turn(x, positions, (1, 0.01), HALF), turn(x, positions, (1, 0.01), [(0, 1), (2, 3)]), turn(x, positions, (1,), [(0, 1)])


def yarn(frequencies, factor=4, original=64, low=1, high=8, dim=4, theta=10000):
    """Peng et al. 2023, as programs have it: between the pairs that turn `high` and `low` times within the original context, rounded outwards, a straight blend."""
    def pair(turns):
        return dim * np.log(original / (turns * 2 * np.pi)) / (2 * np.log(theta))

    first, last = max(np.floor(pair(high)), 0), min(np.ceil(pair(low)), dim - 1)
    slow = np.clip((np.arange(dim // 2) - first) / max(last - first, 1e-3), 0, 1)
    return frequencies * (1 - slow) + frequencies / factor * slow


def llama3(frequencies, factor=4, original=64, low=1, high=4):
    wavelengths = 2 * np.pi / frequencies
    blend = np.clip((original / wavelengths - low) / (high - low), 0, 1)
    return frequencies / factor * (1 - blend) + frequencies * blend


@formula("positions/rope-scaled.mlir")
def rope_scaled(q: "batch words 1 4", k: "batch words 1 4", v: "batch words 1 4", positions: "position batch words"):
    allowed = positions[:, None, :, None] >= 0
    i, j = places(heads(q), heads(k))
    return rope_attend(q, k, v, positions, yarn(np.array([1, 0.01])), (j <= i) & allowed, 1.1386294361119891),


@formula("positions/rope-scaled.mlir", "turn")
def rope_scaled_turn(x: "batch words 1 4", positions: "position batch words"):
    f = np.array([1, 0.01])
    longest = max(positions.max() + 1, 64)
    theta = 10000 * (4 * longest / 64 - 3) ** (4 / 2)
    factors = np.array([1, 1.5] if longest <= 64 else [2, 8])
    return (turn(x, positions, f / 4, HALF), turn(x, positions, np.array([1, theta**-0.5]), HALF), turn(x, positions, yarn(f), HALF, 1.1386294361119891),
            turn(x, positions, f / factors, HALF, 1.25), turn(x, positions, llama3(f), HALF))


@formula("positions/alibi.mlir")
def alibi(q: "batch 2 words 4", k: "batch 2 words 4", v: "batch 2 words 4"):
    i, j = places(q, k)
    return softmax(scores(q, k) / 2 + np.array([1 / 16, 1 / 256])[:, None, None] * (j - i), j <= i) @ v,


@formula("positions/alibi.mlir", "slopes")
def slopes():
    return np.array([1 / 16, 1 / 256]), np.array([1 / 16, 1 / 256, 1 / 4])


@formula("positions/relative-bias.mlir")
def relative_bias(q: "batch queries 2 1", k: "batch keys 2 1", v: "batch keys 2 1", table: "8 2"):
    i, j = places(heads(q), heads(k))
    distance = abs(j - i)
    # Two exact buckets, and two for the distances from 2 on, by their logarithm between 2 and 16.
    far = np.minimum(2 + np.floor(np.log(np.maximum(distance, 1) / 2) / np.log(16 / 2) * 2), 3)
    bucket = (np.where(distance < 2, distance, far) + 4 * (j > i)).astype(int)
    return words(softmax(scores(heads(q), heads(k)) + np.moveaxis(table[bucket], -1, 0)) @ heads(v)),


def weights():
    spec = importlib.util.spec_from_file_location("make_weights", EXAMPLES / "blocks" / "make_weights.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


W = {name: array.astype(np.float64) for name, array in weights().tensors().items()}


def split(x, size=4):
    """[batch, words, heads * size] as [batch, heads, words, size]."""
    return heads(x.reshape(*x.shape[:-1], -1, size))


def join(x):
    return words(x).reshape(x.shape[0], x.shape[2], -1)


def layer_norm(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def multi(kind, x, memory, allowed):
    q, k, v = x @ W[f"{kind}.query"].T, memory @ W[f"{kind}.key"].T, memory @ W[f"{kind}.value"].T
    return join(np.nan_to_num(attend(split(q), split(k), split(v), allowed))) @ W[f"{kind}.output"].T


def relu(x):
    return np.maximum(x, 0)


def gelu(x):
    import math
    return x / 2 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


@formula("blocks/multi-head.mlir")
def multi_head(x: "batch words 8"):
    q, k, v = (x @ W[f"attention.{name}"].T + W["attention.bias"][place] for place, name in enumerate(["query", "key", "value"]))
    return join(attend(split(q), split(k), split(v))) @ W["attention.output"].T + W["attention.bias"][3],


@formula("blocks/encoder-post-norm.mlir")
def post_norm(x: "batch words 8", attention_mask: "keep batch words"):
    y = layer_norm(x + multi("attention", x, x, attention_mask[:, None, None] != 0))
    return layer_norm(y + relu(y @ W["mlp.up"].T) @ W["mlp.down"].T),


@formula("blocks/encoder-pre-norm.mlir")
def pre_norm(x: "batch words 8", attention_mask: "keep batch words"):
    n = layer_norm(x)
    y = x + multi("attention", n, n, attention_mask[:, None, None] != 0)
    return y + gelu(layer_norm(y) @ W["mlp.up"].T) @ W["mlp.down"].T,


@formula("blocks/decoder.mlir")
def decoder(x: "batch words 8", memory: "batch memory 8", memory_mask: "keep batch memory"):
    y = layer_norm(x + multi("attention", x, x, np.tri(x.shape[1], dtype=bool)))
    z = layer_norm(y + multi("cross", y, memory, memory_mask[:, None, None] != 0))
    return layer_norm(z + relu(z @ W["mlp.up"].T) @ W["mlp.down"].T),


@formula("blocks/llama.mlir", "forward")
@formula("blocks/llama.mlir", "prefill")
@formula("blocks/llama.mlir", "decode")
def llama(x: "batch words 8"):
    def norm(x, weight):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

    n, positions = norm(x, W["norm1"]), np.arange(x.shape[1])[None]
    q, k = (turn((n @ W[name].T).reshape(*x.shape[:2], -1, 4), positions, (1, 0.01), HALF) for name in ["attention.query", "grouped.key"])
    v = split(n @ W["grouped.value"].T)
    y = x + join(attend(heads(q), heads(k), v, np.tri(x.shape[1], dtype=bool))) @ W["attention.output"].T
    m = norm(y, W["norm2"])
    gate = m @ W["mlp.gate"].T
    return y + (gate / (1 + np.exp(-gate)) * (m @ W["mlp.up"].T)) @ W["mlp.down"].T,


@formula("blocks/experts.mlir")
def experts(x: "batch words 8"):
    scores = x @ W["experts.router"].T
    chosen = np.argsort(-scores, axis=-1, kind="stable")[..., :2]
    best = np.take_along_axis(scores, chosen, -1)
    weights = np.exp(best) / np.exp(best).sum(-1, keepdims=True)
    up, down = W["experts.up"].reshape(4, 16, 8), W["experts.down"].reshape(4, 8, 16)
    each = np.einsum("bwsoi,bwsi->bwso", down[chosen], relu(np.einsum("bwsoi,bwi->bwso", up[chosen], x)))
    return x + (weights[..., None] * each).sum(2),


@formula("blocks/cache.mlir", "prefill")
@formula("blocks/cache.mlir", "decode")
def cache(q: "batch words 1 4", k: "batch words 1 4", v: "batch words 1 4"):
    return masked(np.tri(q.shape[1], dtype=bool))(q, k, v),


# Of a step there is one word, and the caches are empty.
STEPS = {("blocks/llama.mlir", "decode"), ("blocks/cache.mlir", "decode")}


def draw(function, sizes, seed, integers=np.int64):
    """An array for each parameter, f32 or integers."""
    random = np.random.default_rng(seed)
    longest = max(sizes.values())
    arrays = {}
    for name, parameter in inspect.signature(function).parameters.items():
        kind, *axes = parameter.annotation.split() if parameter.annotation.split()[0] in ("length", "segment", "keep", "position") else ("float", *parameter.annotation.split())
        shape = [sizes[axis] if axis in sizes else int(axis) for axis in axes]
        arrays[name] = {
            "float": lambda: (getattr(function, "times", {}).get(name, 1) * random.standard_normal(shape)).astype(np.float32),
            "length": lambda: random.integers(0, longest + 1, shape).astype(integers),
            "segment": lambda: np.sort(random.integers(0, 3, shape), -1).astype(integers),
            "keep": lambda: random.integers(0, 2, shape).astype(integers),
            "position": lambda: (random.integers(0, 90, (shape[0], 1)) + np.arange(shape[1])).astype(integers),
        }[kind]()
    return arrays


def expected(function, arrays):
    return [np.asarray(result, dtype=np.float64) for result in function(**{name: array.astype(np.float64) if array.dtype.kind == "f" else array for name, array in arrays.items()})]


def close(found, wanted, tolerance):
    assert found.shape == wanted.shape
    assert (np.isnan(found) == np.isnan(wanted)).all()
    wanted, found = np.nan_to_num(wanted), np.nan_to_num(found.astype(np.float64))
    assert np.abs(found - wanted).max() <= tolerance * max(np.abs(wanted).max(), 1e-30)


def entries(name):
    """The entries of an example and the names of their results, in order."""
    text = (EXAMPLES / name).read_text()
    found = {}
    for match in re.finditer(r"func\.func @(\w+)\((.*?)\)\s*->\s*\((.*?)\)\s*attributes \{fovea\.entry", text, re.DOTALL):
        found[match[1]] = [result for kind, result in re.findall(r"(![\w]+|tensor<[^>]*>) \{fovea\.name = \"(\w+)\"", match[3]) if kind not in ("!keys", "!values")]
    return found


def test_every_entry_has_a_formula():
    assert sorted(FORMULAS) == sorted((name, entry) for name in FILES for entry in entries(name))


@pytest.mark.devices("cpu", "emulator", "emulator:late")
@pytest.mark.parametrize("name, entry", sorted(FORMULAS))
def test_numbers(compiled, fovea_run, tmp_path, name, entry, device, gpu_code):
    """On the CPU, and as a GPU's code on the emulator with all its checks."""
    function = FORMULAS[name, entry]
    flags = ([] if "not-fused" in name else ["--require-fusion"]) + gpu_code
    artifact = compiled(EXAMPLES / name, *flags)
    text = (EXAMPLES / name).read_text()
    for number, sizes in enumerate(getattr(function, "sizes", SIZES)):
        if (name, entry) in STEPS:
            sizes = {**sizes, "words": 1}
        arrays = draw(function, sizes, number)
        for argument in arrays:
            # Positions, lengths and segments that no framework gives are i32; what comes from one is i64.
            if re.search(rf"@{entry}\([^)]*%{argument}: (!positions|tensor<[^>]*xi32>)", re.sub(r"\{[^}]*\}", "", text), re.DOTALL):
                arrays[argument] = arrays[argument].astype(np.int32)
        np.savez(tmp_path / "in.npz", **arrays)
        fovea_run("run", artifact, "--device", device, "--entry", entry, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        found = np.load(tmp_path / "out.npz")
        for result, wanted in zip(entries(name)[entry], expected(function, arrays), strict=True):
            close(found[result], wanted, 2e-5)


def printed_arrays(lines):
    """name -> array of what `fovea run` prints, where a comment has all of it."""
    arrays, name, text = {}, None, ""
    for line in [*lines, "end: "]:
        if match := re.fullmatch(r"(\w+): (?:\[[\d, ]*\] \w+)?", line):
            if name and "..." not in text:
                arrays[name] = np.array(json.loads(text.replace("nan", "NaN")), dtype=np.float64)
            name, text = match[1], ""
        else:
            text += line
    return arrays


def typed_runs():
    """(file, entry, inputs, printed results, whether several entries share caches) of each run in a comment whose inputs are numbers."""
    for name in FILES:
        for line, command, lines in consoles.comments((EXAMPLES / name).read_text()):
            typed = shlex.split(command)
            if typed[:2] != ["fovea", "run"] or "random:" in command or any(text.startswith("# exit code") for text in lines):
                continue
            inputs = {}
            for key, value in (typed[place + 1].split("=", 1) for place, word in enumerate(typed) if word == "--input"):
                inputs.setdefault(key, []).append(np.array(json.loads(value)))
            called = [typed[place + 1] for place, word in enumerate(typed) if word == "--entry"] or ["forward"]
            # What several calls read, one after the other, is one text.
            arrays = {key: np.concatenate(values, 1) if len(called) > 1 else values[0] for key, values in inputs.items()}
            yield pytest.param(name, called[0], arrays, printed_arrays(lines), len(called) > 1, id=f"{name}:{line}")


@pytest.mark.parametrize("name, entry, arrays, printed, cached", list(typed_runs()))
def test_printed_numbers(name, entry, arrays, printed, cached):
    """The numbers that stand in comments, to all their four decimals."""
    function = FORMULAS[name, entry]
    kinds = {parameter: value.annotation.split()[0] for parameter, value in inspect.signature(function).parameters.items()}
    arrays = {key: array if kinds[key] in ("length", "segment", "keep", "position") else array.astype(np.float32) for key, array in arrays.items()}
    for result, wanted in zip(entries(name)[entry], expected(function, arrays), strict=True):
        if result in printed:
            wanted = wanted[:, -1:] if cached else wanted
            assert printed[result].shape == wanted.shape
            np.testing.assert_allclose(printed[result], wanted, rtol=0, atol=0.501e-4)


@pytest.mark.parametrize("name", ["blocks/cache.mlir", "blocks/llama.mlir"])
def test_decoding_goes_on(compiled, fovea_run, name):
    """Two prompts and two words more are the last rows of the whole text."""
    function = FORMULAS[name, "prefill"]
    arrays = draw(function, {"batch": 2, "words": 9}, 3)
    wanted, = expected(function, arrays)
    for ends in [[4, 7], [4, 7, 8], [4, 7, 8, 9]]:
        given = []
        for first, end in zip([0, *ends], ends):
            given += ["--entry", "prefill" if end <= 7 else "decode"]
            given += [word for key, array in arrays.items() for word in ("--input", f"{key}={array[:, first:end].tolist()}")]
        found = json.loads(fovea_run("run", compiled(EXAMPLES / name, "--require-fusion"), "--json", *given).ok().text)
        values, = found["values"].values()
        close(np.array(values), wanted[:, ends[-2]:ends[-1]], 2e-5)


def test_three_words_table():
    """The table of words is what goes in, and the hand calculation is right."""
    text = (EXAMPLES / "attention" / "three-words.mlir").read_text()
    rows = [[float(number) for number in match.split()] for match in re.findall(r"^//     (?:cats|drink|milk)((?: +\d){10})$", text, re.MULTILINE)]
    table = np.array(rows)
    run = next(param for param in typed_runs() if param.values[0] == "attention/three-words.mlir")
    for key, columns in [("q", table[:, :4]), ("k", table[:, 4:8]), ("v", table[:, 8:])]:
        np.testing.assert_array_equal(run.values[2][key], columns)
    assert set(run.values[3]) == {"scores", "weights", "output"}
    e = np.exp(table[0, :4] @ table[:, 4:8].T / 2)
    for number in [*e, e.sum()]:
        assert f"{number:.3f}" in text
    for number in e / e.sum():
        assert f"{number:.4f}" in text


def test_weights_are_made_by_the_script():
    assert (EXAMPLES / "blocks" / "weights.safetensors").read_bytes() == weights().file_bytes()


# The tutorial's classifier ----------------------------------------------------------------------------------------------------------------------------------

CLASSIFIERS = {"reverse": [], "reverse-mask-2d": ["dense"], "reverse-mask-3d": ["dense"], "reverse-mask-4d": ["dense"], "reverse-mask-4d-bool": ["dense"]}


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifier(fovea, fovea_run, tmp_path, name):
    artifact, graph = tmp_path / "model.fovea", tmp_path / "graph.mlir"
    fovea("compile", TUTORIAL / f"{name}.onnx", "-o", artifact, "--require-fusion", "--report", tmp_path / "report.json").ok()
    fovea("compile", TUTORIAL / f"{name}.onnx", "-o", graph, "--emit", "graph").ok()
    found = json.loads((tmp_path / "report.json").read_text())["attention"]
    assert [(entry["status"], entry["masks"]) for entry in found] == [("fused", CLASSIFIERS[name])]
    # Replaced scores are all equal in a row without any key: the mean.
    assert re.findall(r"fill\((\w+)\)", graph.read_text()) == (["mean"] if CLASSIFIERS[name] else [])
    references = np.load(TUTORIAL / "references.npz")
    for which in (0, 1):
        arrays = {key.split(".")[-1]: references[key] for key in references.files if key.startswith(f"{name}.{which}.")}
        results = {key: arrays.pop(key) for key in ["digits_backwards", "scores", "map"]}
        np.savez(tmp_path / "in.npz", **arrays)
        fovea_run("run", artifact, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        out = np.load(tmp_path / "out.npz")
        close(out["scores"], results["scores"], 1e-4)
        close(out["map"], results["map"], 1e-4)
        np.testing.assert_array_equal(out["digits_backwards"], results["digits_backwards"])
        if "mask" in arrays:
            # The first row of the mask allows nothing, and all are looked at alike.
            np.testing.assert_allclose(out["map"][0, 0, 0], 1 / out["map"].shape[-1], rtol=1e-6)
        elif which == 0:
            np.testing.assert_array_equal(out["digits_backwards"][:, ::-1], arrays["digits"])
