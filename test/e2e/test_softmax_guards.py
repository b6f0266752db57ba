# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What stands around a softmax: guards that change nothing are seen through, each by an argument that holds for all inputs; what changes something is never dropped."""
import json

import numpy as np
import pytest

from onnx_cases import TensorProto, difference, helper, interpret, model, onnx
from programs import invoke

F32 = TensorProto.FLOAT
SIZE = 8


class Graph:
    """ONNX nodes by the names of their operators: g.Softmax(x, axis=-1)."""

    def __init__(self):
        self.nodes, self.constants = [], {}

    def __getattr__(self, operator):
        def add(*inputs, **attributes):
            name = f"t{len(self.nodes)}"
            self.nodes.append(helper.make_node(operator, [self.name(x) for x in inputs], [name], **attributes))
            return name
        return add

    def name(self, x):
        if isinstance(x, str):
            return x
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(x, np.float32 if isinstance(x, float) else None)
        return name

    # What most spellings need.
    def sum(self, x):
        return self.ReduceSum(x, np.array([-1]), keepdims=1)

    def max(self, x):
        return self.ReduceMax(x, np.array([-1]), keepdims=1)

    def softmax(self, x):
        return self.Softmax(x, axis=-1)

    def exp(self, s):
        return self.Exp(self.Sub(s, self.max(s)))

    def masked(self, s):
        return self.Where("keep", s, np.array(-np.inf, np.float32))


def attention(spell, takes_mask):
    """softmax(q k^T / sqrt(d)) v with weights spelled by `spell(graph, scores)`; [1, 2, n, 8]."""
    g = Graph()
    s = g.Mul(g.MatMul("q", g.Transpose("k", perm=[0, 1, 3, 2])), float(SIZE ** -0.5))
    out = g.MatMul(spell(g, s), "v")
    g.nodes.append(helper.make_node("Identity", [out], ["out"]))
    inputs = {"q": (F32, [1, 2, "n", SIZE]), "k": (F32, [1, 2, "m", SIZE]), "v": (F32, [1, 2, "m", SIZE])}
    if takes_mask:
        inputs["keep"] = (TensorProto.BOOL, [1, 1, "n", "m"])
    return model(g.nodes, inputs, {"out": (F32, [1, 2, "n", SIZE])}, g.constants)


def feeds(queries, keys, takes_mask, scale=1.0):
    random = np.random.default_rng(5)
    made = {name: random.standard_normal((1, 2, rows, SIZE)).astype(np.float32) for name, rows in (("q", queries), ("k", keys), ("v", keys))}
    made["q"] *= np.float32(scale)
    if takes_mask:
        made["keep"] = random.random((1, 1, queries, keys)) < 0.6
        made["keep"][..., 0] = True
    return made


def fusions(path, folder, *flags):
    report = folder / "report.json"
    invoke("fovea", "compile", path, "-o", folder / "model.fovea", f"--report={report}", *flags).ok()
    return json.loads(report.read_text())["attention"]


def check_numbers(path, given, folder, bound=2e-5):
    np.savez(folder / "inputs.npz", **given)
    invoke("fovea", "run", folder / "model.fovea", f"--inputs={folder / 'inputs.npz'}", f"--outputs={folder / 'outputs.npz'}").ok()
    found = np.load(folder / "outputs.npz")["out"]
    assert difference(found, interpret(path, given, folder)[0]) < bound


# Name: (spelling of the weights, whether it takes a mask). The comment is the argument, for all inputs.
NOT_A_NUMBER = np.array(np.nan, np.float32)
GUARDS = {
    # A softmax of finite scores is finite.
    "nan_to_num": (lambda g, s: (lambda p: g.Where(g.IsNaN(p), 0.0, p))(g.softmax(s)), False),
    "nan_by_comparison": (lambda g, s: (lambda p: g.Where(g.Equal(p, p), p, 0.0))(g.softmax(s)), False),
    "nan_and_infinity": (lambda g, s: (lambda p: (lambda x: g.Where(g.IsInf(x), 1.0, x))(g.Where(g.IsNaN(p), 0.0, p)))(g.softmax(s)), False),
    # A probability lies in [0, 1].
    "clamp_to_0_1": (lambda g, s: g.Clip(g.softmax(s), 0.0, 1.0), False),
    "relu": (lambda g, s: g.Relu(g.softmax(s)), False),
    "at_most_one": (lambda g, s: g.Min(g.softmax(s), 1.0), False),
    "above_a_negative_number": (lambda g, s: g.Max(g.softmax(s), -1e-6), False),
    "absolute": (lambda g, s: g.Abs(g.softmax(s)), False),
    "root_of_square": (lambda g, s: (lambda p: g.Sqrt(g.Mul(p, p)))(g.softmax(s)), False),
    "zero_beyond_two": (lambda g, s: (lambda p: g.Where(g.Greater(p, 2.0), 0.0, p))(g.softmax(s)), False),
    "kept_if_not_negative": (lambda g, s: (lambda p: g.Where(g.GreaterOrEqual(p, 0.0), p, 0.0))(g.softmax(s)), False),
    "floor_of_half": (lambda g, s: (lambda p: g.Sub(p, g.Floor(g.Mul(p, 0.5))))(g.softmax(s)), False),
    # What all exponents share cancels, whatever it is.
    "maximum_twice": (lambda g, s: g.softmax(g.Sub(s, g.max(s))), False),
    "clamped_maximum": (lambda g, s: g.softmax(g.Sub(s, g.Clip(g.max(s), -1e4, 1e4))), False),
    "maximum_that_is_finite": (lambda g, s: (lambda m: (lambda x: g.Div(x, g.sum(x)))(g.Exp(g.Sub(s, g.Where(g.IsInf(m), 0.0, m)))))(g.max(s)), False),
    # No score is above the greatest one: the exponent is at most 0, its exponential in (0, 1].
    "exponent_at_most_zero": (lambda g, s: (lambda x: g.Div(x, g.sum(x)))(g.Exp(g.Min(g.Sub(s, g.max(s)), 0.0))), False),
    "exponential_in_0_1": (lambda g, s: (lambda x: g.Div(x, g.sum(x)))(g.Clip(g.exp(s), 0.0, 1.0)), False),
    "relu_of_exponential": (lambda g, s: (lambda x: g.Div(x, g.sum(x)))(g.Relu(g.exp(s))), False),
    "norm_of_exponentials": (lambda g, s: (lambda x: g.Div(x, g.ReduceL1(x, np.array([-1]), keepdims=1)))(g.exp(s)), False),
    # The greatest score adds 1 to the sum: it is at least 1, beside which 1e-9 is below rounding.
    "epsilon_in_sum": (lambda g, s: (lambda x: g.Div(x, g.Add(g.sum(x), 1e-9)))(g.exp(s)), False),
    "sum_at_least_epsilon": (lambda g, s: (lambda x: g.Div(x, g.Max(g.sum(x), 1e-12)))(g.exp(s)), False),
    "sum_at_least_one": (lambda g, s: (lambda x: g.Div(x, g.Clip(g.sum(x), 1.0)))(g.exp(s)), False),
    "no_division_by_zero": (lambda g, s: (lambda x: (lambda t: g.Div(x, g.Where(g.Equal(t, 0.0), 1.0, t)))(g.sum(x)))(g.exp(s)), False),
    "reciprocal_of_guarded_sum": (lambda g, s: (lambda x: g.Mul(x, g.Reciprocal(g.Max(g.sum(x), 1e-9))))(g.exp(s)), False),
    # The probabilities of a row sum to 1.
    "normalised_twice": (lambda g, s: (lambda p: g.Div(p, g.sum(p)))(g.softmax(s)), False),
    "normalised_twice_with_floor": (lambda g, s: (lambda p: g.Div(p, g.Max(g.sum(p), 1e-6)))(g.softmax(s)), False),
    # A logarithm of a probability is at most 0.
    "logarithm_at_most_zero": (lambda g, s: g.Exp(g.Min(g.LogSoftmax(s, axis=-1), 0.0)), False),
    # A dropout is none when it is not trained.
    "dropout": (lambda g, s: g.Dropout(g.softmax(s)), False),
    # Forbidden keys have no weight already.
    "masked_again": (lambda g, s: g.Where("keep", g.softmax(g.masked(s)), 0.0), True),
    "times_the_mask": (lambda g, s: g.Mul(g.softmax(g.masked(s)), g.Cast("keep", to=F32)), True),
    # What a row without keys gives is the op's `fill`; for others the guard does nothing.
    "nan_to_num_of_masked": (lambda g, s: (lambda p: g.Where(g.IsNaN(p), 0.0, p))(g.softmax(g.masked(s))), True),
    "zero_if_no_key": (lambda g, s: g.Where(g.Cast(g.ReduceMax(g.Cast("keep", to=F32), np.array([-1]), keepdims=1), to=TensorProto.BOOL), g.softmax(g.masked(s)), 0.0), True),
    # Finite scores lie above the least finite number.
    "scores_above_the_least_number": (lambda g, s: g.softmax(g.Max(g.masked(s), float(np.finfo(np.float32).min))), True),
    # Scores of finite inputs are no NaN.
    "nan_to_num_of_scores": (lambda g, s: g.softmax(g.Where(g.IsNaN(s), 0.0, s)), False),
}

# Carried into the op's score region: they change numbers, and stay.
CARRIED = {
    "clamped_scores": (lambda g, s: g.softmax(g.Clip(s, -2.0, 2.0)), False),
    "absolute_scores": (lambda g, s: g.softmax(g.Abs(s)), False),
    "floor_of_scores": (lambda g, s: g.softmax(g.Floor(s)), False),
    "capped_beyond": (lambda g, s: g.softmax(g.Where(g.Greater(s, 3.0), 3.0, s)), False),
}

# What changes probabilities where few look: 600 keys, scores of all sizes. Those of one probability alone are carried into the op's probability region.
WEIGHED = {"threshold", "clamp_min", "clamp_max", "zero_above", "root", "by_place"}
REFUSED = {"threshold_normalised", "square_if_sure", "sum_at_least_two"}
NEAR_MISSES = {
    "threshold": lambda g, s: (lambda p: g.Where(g.Less(p, 1e-3), 0.0, p))(g.softmax(s)),
    "threshold_normalised": lambda g, s: (lambda p: (lambda x: g.Div(x, g.sum(x)))(g.Where(g.Less(p, 1e-3), 0.0, p)))(g.softmax(s)),
    "clamp_min": lambda g, s: g.Clip(g.softmax(s), 1e-3),
    "clamp_max": lambda g, s: g.Clip(g.softmax(s), -1.0, 0.9),
    "zero_above": lambda g, s: (lambda p: g.Where(g.Greater(p, 0.9), 0.0, p))(g.softmax(s)),
    "root": lambda g, s: g.Sqrt(g.softmax(s)),
    "by_place": lambda g, s: g.Where(g.Less(g.Range(np.array(0), g.Gather(g.Shape(s), np.array(3), axis=0), np.array(1)), np.array(500)), g.softmax(s), 0.0),
    "square_if_sure": lambda g, s: (lambda p: g.Where(g.Greater(g.max(p), 0.95), g.Mul(p, p), p))(g.softmax(s)),
    "epsilon_that_counts": lambda g, s: (lambda x: g.Div(x, g.Add(g.sum(x), 0.5)))(g.exp(s)),
    "sum_at_least_two": lambda g, s: (lambda x: g.Div(x, g.Max(g.sum(x), 2.0)))(g.exp(s)),
}


def written(spell, takes_mask, folder):
    path = folder / "model.onnx"
    onnx.save(attention(spell, takes_mask), path)
    return path


@pytest.mark.parametrize("name", GUARDS | CARRIED)
def test_guards_fuse(name, tmp_path):
    spell, takes_mask = (GUARDS | CARRIED)[name]
    path = written(spell, takes_mask, tmp_path)
    (fusion,) = fusions(path, tmp_path, "--require-fusion")
    assert fusion["status"] == "fused" and (fusion["score"] != "x" or name in GUARDS) and fusion["weight"] == "p", fusion
    check_numbers(path, feeds(5, 37, takes_mask, scale=3), tmp_path)


@pytest.mark.parametrize("name", NEAR_MISSES)
@pytest.mark.parametrize("scale", [0.1, 1, 8])
def test_near_misses_are_right(name, scale, tmp_path):
    path = written(NEAR_MISSES[name], False, tmp_path)
    (fusion,) = fusions(path, tmp_path)
    if name in REFUSED:
        assert fusion["status"] == "not fused" and " at " in fusion["reason"], fusion
    else:
        assert fusion["status"] == "fused" and (fusion["weight"] != "p") == (name in WEIGHED), fusion
    check_numbers(path, feeds(4, 600, False, scale), tmp_path)


def rms_norm(g, x):
    return g.Mul(g.Mul(x, g.Reciprocal(g.Sqrt(g.Add(g.ReduceMean(g.Mul(x, x), np.array([-1]), keepdims=1), 1e-6)))), "w")


# Around norms, [2, n, 16].
BOUNDED_NORMS = {
    "rms_norm_at_most_2.5": lambda g, x: g.Min(rms_norm(g, x), 2.5),
    "l2_norm_with_floor_1": lambda g, x: g.Div(x, g.Max(g.ReduceL2(x, np.array([-1]), keepdims=1), 1.0)),
    "l2_norm_with_floor_1e-12": lambda g, x: g.Div(x, g.Max(g.ReduceL2(x, np.array([-1]), keepdims=1), 1e-12)),
    "layer_norm_at_least_-3": lambda g, x: g.Max(g.LayerNormalization(x, "w", axis=-1), -3.0),
}


@pytest.mark.parametrize("name", BOUNDED_NORMS)
@pytest.mark.parametrize("scale", [1e-3, 0.1, 1, 100])
def test_bounds_of_norms_are_kept(name, scale, tmp_path):
    g = Graph()
    g.nodes.append(helper.make_node("Identity", [BOUNDED_NORMS[name](g, "x")], ["out"]))
    random = np.random.default_rng(3)
    g.constants["w"] = random.standard_normal(16).astype(np.float32)
    path = tmp_path / "model.onnx"
    onnx.save(model(g.nodes, {"x": (F32, [2, "n", 16])}, {"out": (F32, [2, "n", 16])}, g.constants), path)
    invoke("fovea", "compile", path, "-o", tmp_path / "model.fovea").ok()
    x = random.standard_normal((2, 7, 16)).astype(np.float32) * np.float32(scale)
    x[:, :, 3] *= 9  # far from the others: what bounds a norm shows there
    check_numbers(path, {"x": x}, tmp_path)


def mix(g, x):
    """Two heads made of two others, for each query and key."""
    mixed = g.MatMul(g.Transpose(x, perm=[0, 2, 3, 1]), np.array([[0.7, -0.2], [0.4, 1.1]], np.float32))
    return g.Transpose(mixed, perm=[0, 3, 1, 2])


# Name: (weights, the reason for which they are no attention's).
NO_ATTENTION = {
    "heads_mixed_before": (lambda g, s: g.softmax(mix(g, s)), "heads are mixed before the softmax"),
    "heads_mixed_behind": (lambda g, s: mix(g, g.softmax(s)), "heads are mixed between the softmax and the product"),
    "over_queries": (lambda g, s: g.Softmax(s, axis=-2), "not the softmax of anything over the keys"),
}


@pytest.mark.parametrize("name", NO_ATTENTION)
def test_reasons_name_the_cause(name, tmp_path):
    spell, reason = NO_ATTENTION[name]
    path = written(spell, False, tmp_path)
    assert all(fusion["status"] == "not fused" and reason in fusion["reason"] for fusion in fusions(path, tmp_path))
    check_numbers(path, feeds(5, 37, False), tmp_path)


def test_differential_attention_is_two(tmp_path):
    """Ye et al. 2024 (arXiv 2410.05258): softmax(q k) - lambda softmax(q2 k2), times v."""
    g = Graph()
    scores = lambda q, k: g.Mul(g.MatMul(q, g.Transpose(k, perm=[0, 1, 3, 2])), float(SIZE ** -0.5))
    out = g.MatMul(g.Sub(g.softmax(scores("q", "k")), g.Mul("lambda", g.softmax(scores("q2", "k2")))), "v")
    g.nodes.append(helper.make_node("Identity", [out], ["out"]))
    shapes = {name: (F32, [1, 2, "n" if name[0] == "q" else "m", SIZE]) for name in ("q", "k", "q2", "k2", "v")}
    path = tmp_path / "model.onnx"
    onnx.save(model(g.nodes, {**shapes, "lambda": (F32, [2, 1, 1])}, {"out": (F32, [1, 2, "n", SIZE])}, g.constants), path)
    found = fusions(path, tmp_path, "--require-fusion")
    assert [fusion["status"] for fusion in found] == ["fused", "fused"]
    given = feeds(5, 37, False)
    given |= {"q2": given["q"][..., ::-1].copy(), "k2": given["k"] * np.float32(0.7), "lambda": np.array([0.8, -0.3], np.float32).reshape(2, 1, 1)}
    check_numbers(path, given, tmp_path)
