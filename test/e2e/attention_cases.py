# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention in all its clauses: cases that cover every pair of choices, each as IR and as plain numpy in f64.

The numpy side follows the formula of the op's reference page line by line and shares nothing with the compiler or its interpreter.
"""
import itertools
import random

import numpy as np

CHOICES = {
    "head": [1, 8, 40, 64, 128],
    "groups": [1, 2, 4, 8],
    "key_heads": [1, 2],
    "value_head": ["same", "odd"],
    "mask": ["none", "causal", "window", "strictly-before", "length", "prefix", "segment", "global", "dense-keys", "dense-full", "not", "causal-and-window", "window-or-global",
             "causal-and-segment", "length-and-not-window", "nothing", "everything", "nested"],
    "score": ["none", "bias", "key-bias", "alibi", "soft-cap", "table", "temperature"],
    "probability": ["none", "cap", "dropout", "floor", "table"],
    "sinks": [False, True],
    "additive": [False, True],
    "fill": ["zero", "mean", "raw", "nan"],
    "positions": ["index", "shared", "rows"],
    "scale": [False, True],
    "results": ["output", "lse", "weights", "both"],
}


def covering_cases(seed=0):
    """Cases in which every two values of two choices meet at least once: greedy, the best of some random candidates at each step."""
    names = list(CHOICES)
    generator = random.Random(seed)
    open_pairs = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in CHOICES[a] for y in CHOICES[b]}
    cases = []
    while open_pairs:
        best, covered, ordered = None, set(), sorted(open_pairs, key=str)
        for _ in range(30):
            (a, x), (b, y) = generator.choice(ordered)
            case = {name: generator.choice(values) for name, values in CHOICES.items()}
            case[a], case[b] = x, y
            pairs = {((p, case[p]), (q, case[q])) for p, q in itertools.combinations(names, 2)} & open_pairs
            if len(pairs) > len(covered):
                best, covered = case, pairs
        open_pairs -= covered
        cases.append(best)
    return cases


class Case:
    """One attention; `entry` is its name in the module."""

    def __init__(self, entry, choice):
        self.entry, self.choice = entry, choice
        self.D, self.Hk = choice["head"], choice["key_heads"]
        self.Hq = self.Hk * choice["groups"]
        self.Dv = self.D if choice["value_head"] == "same" else self.D + 3
        self.scale = 0.37 if choice["scale"] else 1.0
        self.arguments = {}  # name: (type, dims)
        self.lines = []

    # IR ------------------------------------------------------------------------------------------------------------------------------------------------------

    def argument(self, name, type_, *dims):
        self.arguments[name] = (type_, dims)
        return f"%{name}"

    def mask_op(self, text):
        name = f"%m{len(self.lines)}"
        self.lines.append(f"{name} = fovea.{text}")
        return name

    def lengths(self):
        return self.argument("lengths", "tensor<?xi32>", "batch")

    def segments(self):
        self.argument("query_segments", "tensor<?x?xi32>", "batch", "queries")
        self.argument("key_segments", "tensor<?x?xi32>", "batch", "keys")
        return self.mask_op("mask_segment %query_segments, %key_segments : tensor<?x?xi32>, tensor<?x?xi32>")

    def length_mask(self):
        return self.mask_op(f"mask_length {self.lengths()} : tensor<?xi32>")

    def window(self):
        return self.mask_op("mask_window left(5) right(2)")

    def mask(self):
        op, kind = self.mask_op, self.choice["mask"]
        if kind == "none":
            return None
        if kind == "causal":
            return op("mask_causal")
        if kind == "window":
            return self.window()
        if kind == "strictly-before":
            return op("mask_window right(-1)")
        if kind == "length":
            return self.length_mask()
        if kind == "prefix":
            return op(f"mask_prefix {self.lengths()} : tensor<?xi32>")
        if kind == "segment":
            return self.segments()
        if kind == "global":
            return op("mask_global tokens(3)")
        if kind == "dense-keys":
            return op(f"mask_dense {self.argument('keep', 'tensor<?x1x1x?xi64>', 'batch', 'keys')} : tensor<?x1x1x?xi64>")
        if kind == "dense-full":
            type_ = f"tensor<?x{self.Hq}x?x?xi1>"
            return op(f"mask_dense {self.argument('allowed', type_, 'batch', 'queries', 'keys')} : {type_}")
        if kind == "not":
            return op(f"mask_not {self.window()}")
        if kind == "causal-and-window":
            return op(f"mask_and({op('mask_causal')}, {self.window()})")
        if kind == "window-or-global":
            return op(f"mask_or({self.window()}, {op('mask_global tokens(3)')})")
        if kind == "causal-and-segment":
            return op(f"mask_and({op('mask_causal')}, {self.segments()})")
        if kind == "length-and-not-window":
            return op(f"mask_and({self.length_mask()}, {op(f'mask_not {self.window()}')})")
        if kind == "nothing":
            return op("mask_or()")
        if kind == "everything":
            return op("mask_and()")
        causal_in_segment = op(f"mask_and({op('mask_causal')}, {self.segments()})")
        return op(f"mask_and({op(f'mask_or({causal_in_segment}, ' + op('mask_global tokens(2)') + ')')}, {self.length_mask()})")

    def score(self):
        """(operand clauses, block arguments, body) of the score region."""
        kind = self.choice["score"]
        if kind == "bias":
            type_ = f"tensor<{self.Hq}x?x?xf32>"
            return [f"{self.argument('bias', type_, 'queries', 'keys')} : {type_} by (b, h, i, j) -> (h, i, j)"], ["%s: f32"], ["%y = arith.addf %x, %s : f32"]
        if kind == "key-bias":
            return [f"{self.argument('bias', 'tensor<?x?xf32>', 'batch', 'keys')} : tensor<?x?xf32> by (b, h, i, j) -> (b, j)"], ["%s: f32"], ["%y = arith.addf %x, %s : f32"]
        if kind == "alibi":
            type_ = f"tensor<{self.Hq}xf32>"
            return ([f"{self.argument('slopes', type_)} : {type_} by (b, h, i, j) -> (h)"], ["%s: f32"],
                    ["%d = arith.subi %j, %i : i32", "%f = arith.sitofp %d : i32 to f32", "%p = arith.mulf %s, %f : f32", "%y = arith.addf %x, %p : f32"])
        if kind == "soft-cap":
            return [], [], ["%c = arith.constant 4.0 : f32", "%r = arith.divf %x, %c : f32", "%t = math.tanh %r : f32", "%y = arith.mulf %c, %t : f32"]
        if kind == "table":
            type_ = f"tensor<16x{self.Hq}xf32>"
            return ([f"{self.argument('table', type_)} : {type_} by (b, h, i, j) -> ()"], [f"%s: {type_}"],
                    ["%d = arith.subi %i, %j : i32", "%a = math.absi %d : i32", "%c = arith.constant 15 : i32", "%m = arith.minsi %a, %c : i32",
                     "%at = arith.index_cast %m : i32 to index", f"%found = tensor.extract %s[%at, %h] : {type_}", "%y = arith.addf %x, %found : f32"])
        if kind == "temperature":
            type_ = f"tensor<{self.Hq}xf32>"
            return [f"{self.argument('slopes', type_)} : {type_} by (b, h, i, j) -> (h)"], ["%s: f32"], ["%y = arith.mulf %x, %s : f32"]
        return None

    def probability(self):
        """The same of the probability region, which yields %y for %x."""
        kind = self.choice["probability"]
        if kind == "cap":
            return [], [], ["%c = arith.constant 0.3 : f32", "%y = arith.minimumf %x, %c : f32"]
        if kind == "dropout":
            type_ = f"tensor<?x{self.Hq}x?x?xf32>"
            return [f"{self.argument('drop', type_, 'batch', 'queries', 'keys')} : {type_} by (b, h, i, j) -> (b, h, i, j)"], ["%s: f32"], ["%y = arith.mulf %x, %s : f32"]
        if kind == "floor":  # weight for allowed keys of no probability, by place
            return [], [], ["%c = arith.constant 0.01 : f32", "%m = arith.maximumf %x, %c : f32", "%f = arith.cmpi sgt, %j, %i : i32", "%y = arith.select %f, %m, %x : f32"]
        if kind == "table":
            type_ = f"tensor<{self.Hq}x16xf32>"
            return ([f"{self.argument('gains', type_)} : {type_} by (b, h, i, j) -> ()"], [f"%s: {type_}"],
                    ["%c = arith.constant 15 : i32", "%z = arith.constant 0 : i32", "%l = arith.maxsi %j, %z : i32", "%m = arith.minsi %l, %c : i32",
                     "%at = arith.index_cast %m : i32 to index", f"%found = tensor.extract %s[%h, %at] : {type_}", "%y = arith.mulf %x, %found : f32"])
        return None

    def ir(self):
        choice = self.choice
        q, k, v = f"tensor<?x?x{self.Hq}x{self.D}xf32>", f"tensor<?x?x{self.Hk}x{self.D}xf32>", f"tensor<?x?x{self.Hk}x{self.Dv}xf32>"
        out, lse, weights = f"tensor<?x?x{self.Hq}x{self.Dv}xf32>", f"tensor<?x{self.Hq}x?xf32>", f"tensor<?x{self.Hq}x?x?xf32>"
        self.argument("q", q, "batch", "queries")
        self.argument("k", k, "batch", "keys")
        self.argument("v", v, "batch", "keys")
        clauses = []
        if choice["positions"] != "index":
            rows = "1" if choice["positions"] == "shared" else "?"
            dims = () if choice["positions"] == "shared" else ("batch",)
            for name, length in [("q_pos", "queries"), ("k_pos", "keys")]:
                type_ = f"tensor<{rows}x?xi32>"
                clauses.append(f"{name}({self.argument(name, type_, *dims, length)} : {type_})")
        mask = self.mask()
        if mask:
            clauses.append(f"mask({mask})")
        if choice["sinks"]:
            type_ = f"tensor<{self.Hq}xf32>"
            clauses.append(f"sinks({self.argument('sinks', type_)} : {type_})")
        if choice["additive"]:
            type_ = f"tensor<{self.D}xf32>"
            clauses.append(f"additive({self.argument('additive', type_)} : {type_})")
        if choice["scale"]:
            clauses.append(f"scale({self.scale})")
        if choice["fill"] != "zero":
            clauses.append(f"fill({choice['fill']})")
        for name, region in [("score", self.score()), ("probability", self.probability())]:
            if not region:
                continue
            operands, arguments, body = region
            clauses.append(f"{name}({', '.join(operands)}) {{\n    ^bb0({', '.join(['%x: f32', *arguments, '%b: index', '%h: index', '%i: i32', '%j: i32'])}):\n      "
                           + "\n      ".join([*body, "fovea.yield %y : f32"]) + "\n    }")
        results = [("o", out, ["batch", "queries"])]
        suffix = ""
        if choice["results"] in ("lse", "both"):
            suffix += f" lse {lse}"
            results.append(("lse", lse, ["batch", "queries"]))
        if choice["results"] in ("weights", "both"):
            suffix += f" weights {weights}"
            results.append(("weights", weights, ["batch", "queries", "keys"]))

        def attributes(name, dims):
            return f'{{fovea.name = "{name}"' + (f", fovea.dims = [{', '.join(f'{chr(34)}{dim}{chr(34)}' for dim in dims)}]" if dims else "") + "}"

        names = ", ".join(f"%{name}" for name, _, _ in results)
        types = ", ".join(type_ for _, type_, _ in results)
        lines = [*self.lines, f"{names} = fovea.attention %q, %k, %v {' '.join(clauses)} : {q}, {k}, {v} -> {out}{suffix}", f"return {names} : {types}"]
        return (f"func.func @{self.entry}(" + ",\n    ".join(f"%{name}: {type_} {attributes(name, dims)}" for name, (type_, dims) in self.arguments.items()) + ")\n    -> ("
                + ",\n    ".join(f"{type_} {attributes(name, dims)}" for name, type_, dims in results) + ")\n    attributes {fovea.entry} {\n  " + "\n  ".join(lines) + "\n}\n")

    # Numbers ---------------------------------------------------------------------------------------------------------------------------------------------------

    def inputs(self, seed, B, Sq, Sk):
        """Arrays for the entry's arguments; call after ir()."""
        random_ = np.random.default_rng(seed)

        def normal(*shape):
            return random_.standard_normal(shape).astype(np.float32)

        # Positions in which no two tokens swap: runs with gaps, each row with its own start.
        def positions(length, rows):
            return (random_.integers(-3, 4, (rows, 1)) + np.arange(length) + (np.arange(length) // 7)).astype(np.int32)

        rows = 1 if self.choice["positions"] == "shared" else B
        made = {
            "q": lambda: normal(B, Sq, self.Hq, self.D) * np.float32(2 / self.D**0.25), "k": lambda: normal(B, Sk, self.Hk, self.D) * np.float32(1 / self.D**0.25),
            "v": lambda: normal(B, Sk, self.Hk, self.Dv), "q_pos": lambda: positions(Sq, rows), "k_pos": lambda: positions(Sk, rows),
            "lengths": lambda: random_.integers(0, Sk + 2, B).astype(np.int32), "query_segments": lambda: np.sort(random_.integers(0, 3, (B, Sq)), 1).astype(np.int32),
            "key_segments": lambda: np.sort(random_.integers(0, 3, (B, Sk)), 1).astype(np.int32), "keep": lambda: random_.integers(0, 2, (B, 1, 1, Sk)),
            "allowed": lambda: random_.integers(0, 2, (B, self.Hq, Sq, Sk)).astype(bool), "sinks": lambda: normal(self.Hq), "additive": lambda: normal(self.D),
            "bias": lambda: normal(B, Sk) if self.choice["score"] == "key-bias" else normal(self.Hq, Sq, Sk), "slopes": lambda: 0.3 * np.abs(normal(self.Hq)),
            "table": lambda: normal(16, self.Hq), "gains": lambda: normal(self.Hq, 16), "drop": lambda: random_.integers(0, 3, (B, self.Hq, Sq, Sk)).astype(np.float32),
        }
        return {name: made[name]() for name in self.arguments}

    def allowed(self, a, B, Sq, Sk):
        """The mask as booleans [B, Hq, Sq, Sk], from the definitions of the mask ops."""
        i = a["q_pos"] if "q_pos" in a else np.arange(Sq)[None]
        j = a["k_pos"] if "k_pos" in a else np.arange(Sk)[None]
        i, j = i.astype(int)[:, None, :, None], j.astype(int)[:, None, None, :]
        masks = {
            "none": lambda: i == i, "everything": lambda: i == i, "nothing": lambda: i != i, "causal": lambda: j <= i, "window": lambda: (i - 5 <= j) & (j <= i + 2),
            "strictly-before": lambda: j <= i - 1, "length": lambda: j < a["lengths"][:, None, None, None], "prefix": lambda: (j <= i) | (j < a["lengths"][:, None, None, None]),
            "segment": lambda: a["query_segments"][:, None, :, None] == a["key_segments"][:, None, None, :], "global": lambda: (j < 3) | (i < 3), "dense-keys": lambda: a["keep"] != 0,
            "dense-full": lambda: a["allowed"] != 0,
        }
        masks["not"] = lambda: ~masks["window"]()
        masks["causal-and-window"] = lambda: masks["causal"]() & masks["window"]()
        masks["window-or-global"] = lambda: masks["window"]() | masks["global"]()
        masks["causal-and-segment"] = lambda: masks["causal"]() & masks["segment"]()
        masks["length-and-not-window"] = lambda: masks["length"]() & ~masks["window"]()
        masks["nested"] = lambda: (masks["causal-and-segment"]() | (j < 2) | (i < 2)) & masks["length"]()
        return np.broadcast_to(masks[self.choice["mask"]](), (B, self.Hq, Sq, Sk))

    def expected(self, a):
        """The op's formula in f64. Returns the results, and which rows [B, Hq, Sq] have no allowed key."""
        q, k, v = (a[name].astype(np.float64) for name in "qkv")
        (B, Sq), Sk = q.shape[:2], k.shape[1]
        k, v = (np.repeat(array, self.Hq // self.Hk, axis=2) for array in (k, v))
        if "additive" in a:
            x = np.einsum("d,bhijd->bhij", a["additive"].astype(np.float64), np.tanh(q.transpose(0, 2, 1, 3)[:, :, :, None] + k.transpose(0, 2, 1, 3)[:, :, None]))
        else:
            x = np.einsum("bihd,bjhd->bhij", q, k)
        x = x * self.scale
        i = (a["q_pos"] if "q_pos" in a else np.arange(Sq)[None]).astype(int)[:, None, :, None]
        j = (a["k_pos"] if "k_pos" in a else np.arange(Sk)[None]).astype(int)[:, None, None, :]
        kind = self.choice["score"]
        head = (None, slice(None), None, None)
        if kind == "bias":
            x = x + a["bias"][None]
        elif kind == "key-bias":
            x = x + a["bias"][:, None, None, :]
        elif kind == "alibi":
            x = x + a["slopes"].astype(np.float64)[head] * (j - i)
        elif kind == "soft-cap":
            x = 4 * np.tanh(x / 4)
        elif kind == "table":
            x = x + a["table"][np.minimum(np.abs(i - j), 15), np.arange(self.Hq)[None, :, None, None]]
        elif kind == "temperature":
            x = x * a["slopes"].astype(np.float64)[head]

        allowed = self.allowed(a, B, Sq, Sk)
        empty = ~allowed.any(-1)
        sinks = a["sinks"].astype(np.float64)[head] if "sinks" in a else np.full((1, 1, 1, 1), -np.inf)
        y = np.where(allowed, x, -np.inf)
        with np.errstate(all="ignore"):
            top = np.maximum(y.max(-1, keepdims=True, initial=-np.inf), sinks)
            top = np.where(np.isfinite(top), top, 0)
            e = np.exp(y - top)
            total = e.sum(-1, keepdims=True) + np.exp(sinks - top)
            lse = (np.log(total) + top)[..., 0]
            p = np.where(total > 0, e / total, 0)
            fill = self.choice["fill"]
            if "sinks" not in a and Sk:
                row = empty[..., None]
                if fill == "mean":
                    p = np.where(row, 1 / Sk, p)
                elif fill == "raw":
                    raw = np.exp(x - x.max(-1, keepdims=True))
                    p = np.where(row, raw / raw.sum(-1, keepdims=True), p)
                elif fill == "nan":
                    p = np.where(row, np.nan, p)
        # What the region makes of the probabilities of keys that are seen; a row that is no number stays so.
        seen = allowed | (empty[..., None] & (fill in ("mean", "raw") and "sinks" not in a))
        kind, w = self.choice["probability"], p
        if kind == "cap":
            w = np.minimum(p, np.float32(0.3))
        elif kind == "dropout":
            w = p * a["drop"]
        elif kind == "floor":
            w = np.where(j > i, np.maximum(p, np.float32(0.01)), p)
        elif kind == "table":
            w = p * a["gains"].astype(np.float64)[:, np.clip(j, 0, 15)[:, 0, 0]].transpose(1, 0, 2)[:, :, None]
        w = np.where(seen, w, np.where(np.isnan(p), p, 0))
        results = {"o": np.einsum("bhij,bjhd->bihd", w, v)}
        if self.choice["results"] in ("lse", "both"):
            results["lse"] = lse
        if self.choice["results"] in ("weights", "both"):
            results["weights"] = p
        return results, empty


def modules(cases_per_module=12):
    """Lists of cases that share a module."""
    cases = [Case(f"case{number}", choice) for number, choice in enumerate(covering_cases())]
    return [cases[first:first + cases_per_module] for first in range(0, len(cases), cases_per_module)]
