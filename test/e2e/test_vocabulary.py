# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Everything that a frontend may write at the `import` stage verifies, is interpreted, compiled and run: a table of small programs, by op, element type and edge sizes.

Each program runs compiled on arrays against numpy, at every size of its case, and is verified against the interpreter on inputs made up for it.
"""
import math
import re

import numpy as np
import pytest

from programs import invoke

pytestmark = pytest.mark.long

NUMPY = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i1": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
TOLERANCE = {"f32": 2e-5, "f64": 1e-12, "f16": 2e-3, "bf16": 1.6e-2}


def typed(text):
    """`x: ?x3xf32 [n]`: a name, a shape with an element type, and the names of open sizes."""
    name, shape, dims = re.fullmatch(r"(\w+): ([\w?]+)(?: \[(.*)\])?", text).groups()
    return name, f"tensor<{shape}>", [d.strip() for d in dims.split(",")] if dims else []


def port(name, type_, dims):
    names = ", ".join(f'"{d}"' for d in dims)
    return f'{type_} {{fovea.name = "{name}"' + (f", fovea.dims = [{names}]" if dims else "") + "}"


def program(arguments, results, body, head=""):
    """A module with one entry; `body` may name the arguments, `%c0`, `%c1` and, for each open size, `%name`."""
    arguments, results = [typed(a) for a in arguments], [typed(r) for r in results]
    lines = ["%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%c2 = arith.constant 2 : index"]
    known = set()
    for name, type_, dims in arguments:
        open_axes = [axis for axis, size in enumerate(type_[7:-1].split("x")[:-1]) if size == "?"]
        for axis, dim in zip(open_axes, dims):
            if dim not in known:
                known.add(dim)
                lines += [f"%axis_{dim} = arith.constant {axis} : index", f"%{dim} = tensor.dim %{name}, %axis_{dim} : {type_}"]
    lines += [line.strip() for line in body.strip().splitlines()]
    returned = [re.sub(r"_\d+$", "", name) for name, _, _ in results]
    lines.append(f"return {', '.join('%' + name for name in returned)} : {', '.join(type_ for _, type_, _ in results)}")
    return (f"{head}\nfunc.func @main(" + ", ".join(f"%{name}: {port(name, type_, dims)}" for name, type_, dims in arguments) + ") -> ("
            + ", ".join(port(f"out_{name}", type_, dims) for name, type_, dims in results) + ") attributes {fovea.entry} {\n  " + "\n  ".join(lines) + "\n}\n")


class Case:
    def __init__(self, name, arguments, results, body, reference, *sizes, data=None, verify=True, tolerance=None, head=""):
        self.name, self.arguments, self.results, self.body, self.reference = name, arguments, results, body, reference
        self.sizes, self.data, self.verify, self.tolerance, self.head = sizes or ({},), data, verify, tolerance, head

    def __repr__(self):
        return self.name


def elements(random, element, shape):
    if element == "i1":
        return random.integers(0, 2, shape).astype(bool)
    if element in ("f32", "f64", "f16"):
        return random.normal(size=shape).astype(NUMPY[element])
    limit = {"i8": 100, "i16": 1000}.get(element, 1 << 20)
    return random.integers(-limit, limit, shape).astype(NUMPY[element])


def inputs(case, sizes, random):
    arrays = {}
    for name, type_, dims in map(typed, case.arguments):
        *shape, element = type_[7:-1].split("x")
        names = iter(dims)
        arrays[name] = elements(random, element, [sizes[next(names)] if size == "?" else int(size) for size in shape])
    if case.data:
        arrays.update(case.data(random, sizes))
    return arrays


def check(found, expected, tolerance, what):
    assert found.shape == expected.shape and found.dtype == expected.dtype, f"{what}: {found.dtype}{found.shape}, expected {expected.dtype}{expected.shape}"
    if found.dtype.kind != "f":
        assert np.array_equal(found, expected), f"{what}: {found} instead of {expected}"
        return
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    assert np.array_equal(np.isfinite(found) | same, np.isfinite(expected) | same), f"{what}: {found} instead of {expected}"
    scale = np.max(np.abs(expected[np.isfinite(expected)]), initial=0)
    error = np.max(np.abs(np.where(same, 0, found - expected)), initial=0)
    assert error <= tolerance * scale, f"{what}: {found} instead of {expected}, apart by {error}"


def run(path, out, arrays):
    np.savez(out.with_suffix(".in.npz"), **arrays)
    invoke("fovea", "run", path, "--quiet", "--inputs", out.with_suffix(".in.npz"), "--outputs", out).ok()
    return np.load(out)


CASES = []


def case(*arguments, **options):
    CASES.append(Case(*arguments, **options))


NM = ({"n": 3, "m": 5}, {"n": 1, "m": 1}, {"n": 0, "m": 4}, {"n": 2, "m": 37})
FLOATS = ("f32", "f64", "f16")
INTEGERS = ("i8", "i16", "i32", "i64")

# ---- Elementwise ops on tensors --------------------------------------------------------------------------------------------------------------------------


def ufunc(function):
    return np.frompyfunc(function, 1, 1)


def wide(function):
    """In f64, rounded to the operands' type."""
    return lambda *x: function(*(a.astype(np.float64) for a in x)).astype(x[0].dtype)


UNARY = {
    "math.absf": np.abs, "math.ceil": np.ceil, "math.floor": np.floor, "math.trunc": np.trunc, "math.round": lambda x: np.trunc(x + np.copysign(0.5, x)), "math.roundeven": np.rint,
    "arith.negf": np.negative, "math.exp": np.exp, "math.exp2": np.exp2, "math.expm1": np.expm1, "math.sin": np.sin, "math.cos": np.cos, "math.tan": np.tan, "math.sinh": np.sinh,
    "math.cosh": np.cosh, "math.tanh": np.tanh, "math.atan": np.arctan, "math.asinh": np.arcsinh, "math.cbrt": np.cbrt, "math.erf": lambda x: ufunc(math.erf)(x).astype(np.float64),
    "math.erfc": lambda x: ufunc(math.erfc)(x).astype(np.float64),
}
# On positive numbers.
UNARY_POSITIVE = {"math.sqrt": np.sqrt, "math.rsqrt": lambda x: 1 / np.sqrt(x), "math.log": np.log, "math.log2": np.log2, "math.log10": np.log10, "math.log1p": np.log1p}
# On [-0.9, 0.9].
UNARY_SMALL = {"math.asin": np.arcsin, "math.acos": np.arccos, "math.atanh": np.arctanh}

for element in FLOATS:
    for group, ops, data in (("any", UNARY, None), ("positive", UNARY_POSITIVE, lambda x: np.abs(x) + x.dtype.type(0.1)), ("small", UNARY_SMALL, lambda x: np.clip(x / 4, -0.9, 0.9).astype(x.dtype))):
        shape = f"?x?x{element}"
        names = [op.replace(".", "_") for op in ops]
        case(f"unary-{group}-{element}", [f"x: {shape} [n, m]"], [f"{name}: {shape} [n, m]" for name in names],
             "\n".join(f"%{name} = {op} %x : tensor<{shape}>" for name, op in zip(names, ops)),
             lambda a, ops=ops: [wide(f)(a["x"]) for f in ops.values()], *NM[:3], verify=group == "any" and element != "f16",
             data=data and (lambda random, sizes, data=data, element=element: {"x": data(elements(random, element, [sizes["n"], sizes["m"]]))}), tolerance=4e-3 if element == "f16" else None)

BINARY = {
    "arith.addf": np.add, "arith.subf": np.subtract, "arith.mulf": np.multiply, "arith.divf": np.divide, "arith.remf": np.fmod, "arith.maximumf": np.maximum, "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax, "arith.minnumf": np.fmin, "math.copysign": np.copysign, "math.atan2": np.arctan2,
}
for element in FLOATS:
    shape = f"?x?x{element}"
    names = [op.replace(".", "_") for op in BINARY]
    case(f"binary-{element}", [f"x: {shape} [n, m]", f"y: {shape} [n, m]"], [f"{name}: {shape} [n, m]" for name in names],
         "\n".join(f"%{name} = {op} %x, %y : tensor<{shape}>" for name, op in zip(names, BINARY)), lambda a: [wide(f)(a["x"], a["y"]) for f in BINARY.values()], *NM, verify=element != "f16")
    case(f"power-{element}", [f"x: {shape} [n, m]", f"y: {shape} [n, m]"], [f"p: {shape} [n, m]", f"f: {shape} [n, m]"],
         f"%a = math.absf %x : tensor<{shape}>\n%p = math.powf %a, %y : tensor<{shape}>\n%f = math.fma %x, %y, %a : tensor<{shape}>",
         lambda a: [wide(lambda x, y: np.abs(x) ** y)(a["x"], a["y"]), wide(lambda x, y: x * y + np.abs(x))(a["x"], a["y"])], *NM[:2], verify=element != "f16")

case("float-edges", ["x: ?xf32 [n]", "y: ?xf32 [n]"], ["a: ?xf32 [n]", "b: ?xf32 [n]", "c: ?xf32 [n]", "d: ?xf32 [n]", "e: ?xi1 [n]", "f: ?xi1 [n]"],
     """%a = arith.maximumf %x, %y : tensor<?xf32>
        %b = arith.minimumf %x, %y : tensor<?xf32>
        %c = arith.maxnumf %x, %y : tensor<?xf32>
        %d = arith.minnumf %x, %y : tensor<?xf32>
        %e = arith.cmpf oeq, %x, %y : tensor<?xf32>
        %f = arith.cmpf uno, %x, %y : tensor<?xf32>""",
     lambda a: [np.maximum(a["x"], a["y"]), np.minimum(a["x"], a["y"]), np.fmax(a["x"], a["y"]), np.fmin(a["x"], a["y"]), a["x"] == a["y"], np.isnan(a["x"]) | np.isnan(a["y"])], {"n": 25},
     data=lambda random, sizes: dict(zip("xy", (m.reshape(-1).astype(np.float32) for m in np.meshgrid(*[[0.5, np.nan, np.inf, -np.inf, -2.0]] * 2)))))

COMPARE = {"oeq": np.equal, "une": np.not_equal, "olt": np.less, "ole": np.less_equal, "ogt": np.greater, "oge": np.greater_equal}
for element in FLOATS:
    case(f"compare-{element}", [f"x: ?x?x{element} [n, m]", f"y: ?x?x{element} [n, m]"], [f"{name}: ?x?xi1 [n, m]" for name in COMPARE] + [f"s: ?x?x{element} [n, m]"],
         "\n".join(f"%{name} = arith.cmpf {name}, %x, %y : tensor<?x?x{element}>" for name in COMPARE) + f"\n%s = arith.select %olt, %x, %y : tensor<?x?xi1>, tensor<?x?x{element}>",
         lambda a: [f(a["x"], a["y"]) for f in COMPARE.values()] + [np.where(a["x"] < a["y"], a["x"], a["y"])], *NM)

INTEGER = {
    "arith.addi": np.add, "arith.subi": np.subtract, "arith.muli": np.multiply, "arith.andi": np.bitwise_and, "arith.ori": np.bitwise_or, "arith.xori": np.bitwise_xor, "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
}
ICOMPARE = {"eq": np.equal, "ne": np.not_equal, "slt": np.less, "sle": np.less_equal, "sgt": np.greater, "sge": np.greater_equal}


def unsigned(x):
    return x.view({1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[x.dtype.itemsize])


def truncated(a, b):
    """C's quotient: towards zero."""
    q = np.floor_divide(a, b)
    return q + ((np.remainder(a, b) != 0) & ((a < 0) != (b < 0))).astype(a.dtype)


for element in INTEGERS:
    shape = f"?x?x{element}"
    case(f"integer-{element}", [f"x: {shape} [n, m]", f"y: {shape} [n, m]"], [f"{op[6:]}: {shape} [n, m]" for op in INTEGER] + [f"{name}: ?x?xi1 [n, m]" for name in ICOMPARE] + [f"ult: ?x?xi1 [n, m]", f"abs: {shape} [n, m]"],
         "\n".join([f"%{op[6:]} = {op} %x, %y : tensor<{shape}>" for op in INTEGER] + [f"%{name} = arith.cmpi {name}, %x, %y : tensor<{shape}>" for name in (*ICOMPARE, "ult")]
                   + [f"%abs = math.absi %x : tensor<{shape}>"]),
         lambda a: [f(a["x"], a["y"]) for f in (*INTEGER.values(), *ICOMPARE.values())] + [unsigned(a["x"]) < unsigned(a["y"]), np.abs(a["x"])], *NM)
    divisors = lambda random, sizes, element=element: {"x": elements(random, element, [sizes["n"], sizes["m"]]), "y": random.choice(np.array([-7, -2, -1, 1, 2, 3, 11], NUMPY[element]), [sizes["n"], sizes["m"]])}
    case(f"division-{element}", [f"x: {shape} [n, m]", f"y: {shape} [n, m]"], [f"{name}: {shape} [n, m]" for name in ("divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui")],
         "\n".join(f"%{name} = arith.{name} %x, %y : tensor<{shape}>" for name in ("divsi", "remsi", "floordivsi", "ceildivsi", "divui", "remui", "ceildivui")),
         lambda a: [truncated(a["x"], a["y"]), np.fmod(a["x"], a["y"]), np.floor_divide(a["x"], a["y"]), -np.floor_divide(-a["x"], a["y"]),
                    (unsigned(a["x"]) // unsigned(a["y"])).view(a["x"].dtype), (unsigned(a["x"]) % unsigned(a["y"])).view(a["x"].dtype),
                    (unsigned(a["x"]) // unsigned(a["y"]) + (unsigned(a["x"]) % unsigned(a["y"]) != 0).astype(unsigned(a["x"]).dtype)).view(a["x"].dtype)], *NM, data=divisors, verify=False)
    width = int(element[1:])
    case(f"shift-{element}", [f"x: {shape} [n, m]", f"y: {shape} [n, m]"], [f"l: {shape} [n, m]", f"s: {shape} [n, m]", f"u: {shape} [n, m]"],
         f"%l = arith.shli %x, %y : tensor<{shape}>\n%s = arith.shrsi %x, %y : tensor<{shape}>\n%u = arith.shrui %x, %y : tensor<{shape}>",
         lambda a: [a["x"] << a["y"], a["x"] >> a["y"], (unsigned(a["x"]) >> unsigned(a["y"])).view(a["x"].dtype)], *NM[:2], verify=False,
         data=lambda random, sizes, element=element, width=width: {"y": random.integers(0, width, [sizes["n"], sizes["m"]]).astype(NUMPY[element])})
    case(f"overflow-{element}", [f"x: ?x{element} [n]", f"y: ?x{element} [n]"], [f"d: ?x{element} [n]", f"r: ?x{element} [n]"],
         f"%d = arith.divsi %x, %y : tensor<?x{element}>\n%r = arith.remsi %x, %y : tensor<?x{element}>",
         lambda a: [a["x"], np.zeros_like(a["x"])], {"n": 3}, verify=False,
         data=lambda random, sizes, element=element: {"x": np.full(3, np.iinfo(NUMPY[element]).min, NUMPY[element]), "y": np.full(3, -1, NUMPY[element])})

case("booleans", ["x: ?x?xi1 [n, m]", "y: ?x?xi1 [n, m]"], ["a: ?x?xi1 [n, m]", "o: ?x?xi1 [n, m]", "e: ?x?xi1 [n, m]", "q: ?x?xi1 [n, m]", "f: ?x?xf32 [n, m]", "i: ?x?xi64 [n, m]", "t: ?x?xi1 [n, m]"],
     """%a = arith.andi %x, %y : tensor<?x?xi1>
        %o = arith.ori %x, %y : tensor<?x?xi1>
        %e = arith.xori %x, %y : tensor<?x?xi1>
        %q = arith.cmpi eq, %x, %y : tensor<?x?xi1>
        %f = arith.uitofp %x : tensor<?x?xi1> to tensor<?x?xf32>
        %i = arith.extui %x : tensor<?x?xi1> to tensor<?x?xi64>
        %s = arith.extsi %y : tensor<?x?xi1> to tensor<?x?xi32>
        %t = arith.trunci %s : tensor<?x?xi32> to tensor<?x?xi1>""",
     lambda a: [a["x"] & a["y"], a["x"] | a["y"], a["x"] ^ a["y"], a["x"] == a["y"], a["x"].astype(np.float32), a["x"].astype(np.int64), a["y"]], *NM)

EXTREME = [0.0, -0.0, 0.5, -0.5, 1.99, -1.99, 127.6, 128.5, -129.0, 255.9, 256.0, 3e4, 7e4, 2147483520.0, 2147483648.0, -2147483648.0, 4294967040.0, 4294967296.0, 9.3e18, -9.3e18, 1.9e19, np.inf, -np.inf, np.nan]


def saturated(x, info, element):
    with np.errstate(invalid="ignore"):
        exact = [0 if math.isnan(v) else int(min(max(math.trunc(v) if math.isfinite(v) else math.copysign(1e30, v), info.min), info.max)) for v in x.astype(np.float64)]
    return np.array(exact, info.dtype).view(NUMPY[element])


for source in ("f32", "f64"):
    for target in INTEGERS:
        unsigned_type = {"i8": np.uint8, "i16": np.uint16, "i32": np.uint32, "i64": np.uint64}[target]
        case(f"to-integer-{source}-{target}", [f"x: ?x{source} [n]"], [f"s: ?x{target} [n]", f"u: ?x{target} [n]"],
             f"%s = arith.fptosi %x : tensor<?x{source}> to tensor<?x{target}>\n%u = arith.fptoui %x : tensor<?x{source}> to tensor<?x{target}>",
             lambda a, target=target, unsigned_type=unsigned_type: [saturated(a["x"], np.iinfo(NUMPY[target]), target), saturated(a["x"], np.iinfo(unsigned_type), target)], {"n": len(EXTREME)},
             data=lambda random, sizes, source=source: {"x": np.array(EXTREME, NUMPY[source])})
case("conversions", ["x: ?xf32 [n]", "h: ?xf16 [n]", "i: ?xi32 [n]"], ["a: ?xf16 [n]", "b: ?xf64 [n]", "c: ?xf32 [n]", "d: ?xf32 [n]", "e: ?xf32 [n]", "f: ?xi64 [n]", "g: ?xi64 [n]", "j: ?xi8 [n]", "k: ?xf16 [n]", "l: ?xf32 [n]"],
     """%a = arith.truncf %x : tensor<?xf32> to tensor<?xf16>
        %b = arith.extf %x : tensor<?xf32> to tensor<?xf64>
        %c = arith.extf %h : tensor<?xf16> to tensor<?xf32>
        %d = arith.sitofp %i : tensor<?xi32> to tensor<?xf32>
        %e = arith.uitofp %i : tensor<?xi32> to tensor<?xf32>
        %f = arith.extsi %i : tensor<?xi32> to tensor<?xi64>
        %g = arith.extui %i : tensor<?xi32> to tensor<?xi64>
        %j = arith.trunci %i : tensor<?xi32> to tensor<?xi8>
        %m = arith.truncf %x : tensor<?xf32> to tensor<?xbf16>
        %l = arith.extf %m : tensor<?xbf16> to tensor<?xf32>
        %k = arith.sitofp %j : tensor<?xi8> to tensor<?xf16>""",
     lambda a: [a["x"].astype(np.float16), a["x"].astype(np.float64), a["h"].astype(np.float32), a["i"].astype(np.float32), a["i"].view(np.uint32).astype(np.float32), a["i"].astype(np.int64),
                a["i"].view(np.uint32).astype(np.int64), a["i"].astype(np.int8), a["i"].astype(np.int8).astype(np.float16),
                ((a["x"].view(np.uint32) + 0x7fff + (a["x"].view(np.uint32) >> 16 & 1)) & np.uint32(0xffff0000)).view(np.float32)], {"n": 33}, {"n": 0}, verify=False)

# ---- Broadcasts, constants, scalars ----------------------------------------------------------------------------------------------------------------------

ID2 = "affine_map<(d0, d1) -> (d0, d1)>"


def generic(maps, iterators, ins, outs, body, results, name="r"):
    """One linalg.generic; `ins` and `outs` are pairs of values and types, `body` yields."""
    arguments = ", ".join(f"%b{i}: {t[7:-1].split('x')[-1] if t.startswith('tensor') else t}" for i, (_, t) in enumerate(ins + outs))
    inputs = f"ins({', '.join(v for v, _ in ins)} : {', '.join(t for _, t in ins)}) " if ins else ""
    return (f"%{name} = linalg.generic {{indexing_maps = [{', '.join(f'affine_map<{m}>' for m in maps)}], iterator_types = [{', '.join(chr(34) + i + chr(34) for i in iterators)}]}} "
            f"{inputs}outs({', '.join(v for v, _ in outs)} : {', '.join(t for _, t in outs)}) {{\n^bb0({arguments}):\n{body}\n}} -> {results}")


P2 = ("parallel", "parallel")
for element in ("f32", "f64", "i32", "f16"):
    add = "addi" if element.startswith("i") else "addf"
    shape = f"tensor<?x?x{element}>"
    case(f"broadcast-{element}", [f"x: ?x?x{element} [n, m]", f"row: ?x{element} [m]", f"column: ?x1x{element} [n]", f"s: {element}"], [f"r: ?x?x{element} [n, m]"],
         f"%e = tensor.empty(%n, %m) : {shape}\n" + generic(
             ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1)", "(d0, d1) -> (d0, 0)", "(d0, d1) -> ()", "(d0, d1) -> (d0, d1)"], P2,
             [("%x", shape), ("%row", f"tensor<?x{element}>"), ("%column", f"tensor<?x1x{element}>"), ("%s", f"tensor<{element}>")], [("%e", shape)],
             f"%1 = arith.{add} %b0, %b1 : {element}\n%2 = arith.{add} %1, %b2 : {element}\n%3 = arith.{add} %2, %b3 : {element}\nlinalg.yield %3 : {element}", shape),
         lambda a: [a["x"] + a["row"] + a["column"] + a["s"]], *NM, verify=element != "f16", tolerance=4e-3 if element == "f16" else None)
case("outer", ["x: ?xf32 [n]", "y: ?xf32 [m]"], ["r: ?x?xf32 [n, m]"],
     "%e = tensor.empty(%n, %m) : tensor<?x?xf32>\n" + generic(["(d0, d1) -> (d0)", "(d0, d1) -> (d1)", "(d0, d1) -> (d0, d1)"], P2, [("%x", "tensor<?xf32>"), ("%y", "tensor<?xf32>")],
                                                                [("%e", "tensor<?x?xf32>")], "%1 = arith.mulf %b0, %b1 : f32\nlinalg.yield %1 : f32", "tensor<?x?xf32>"),
     lambda a: [a["x"][:, None] * a["y"]], *NM)
case("constants", ["x: ?x3xf32 [n]", "b: 3xi1"], ["s: 3xf32", "t: 2x2xi64", "u: 3xi1", "v: ?x3xf32 [n]", "w: f32", "y: 3xi1", "z: 0x3xf32"],
     """%s = arith.constant dense<[1.5, -2.0, 0.25]> : tensor<3xf32>
        %t = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
        %u = arith.constant dense<[true, false, true]> : tensor<3xi1>
        %h = arith.constant dense<0.5> : tensor<3xf32>
        %z = arith.constant dense<> : tensor<0x3xf32>
        %w = arith.constant dense<7.0> : tensor<f32>
        %y = arith.xori %u, %b : tensor<3xi1>
        %q = arith.mulf %s, %h : tensor<3xf32>
        %e = tensor.empty(%n) : tensor<?x3xf32>
     """ + generic(["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1)", "(d0, d1) -> (d0, d1)"], P2, [("%x", "tensor<?x3xf32>"), ("%q", "tensor<3xf32>")], [("%e", "tensor<?x3xf32>")],
                   "%1 = arith.mulf %b0, %b1 : f32\nlinalg.yield %1 : f32", "tensor<?x3xf32>", "v"),
     lambda a: [np.array([1.5, -2, 0.25], np.float32), np.array([[1, 2], [3, 4]]), np.array([True, False, True]), a["x"] * np.array([0.75, -1, 0.125], np.float32), np.float32(7).reshape(()),
                np.array([True, False, True]) ^ a["b"], np.zeros((0, 3), np.float32)], {"n": 4}, {"n": 0})
case("identity", ["x: ?xi64 [n]", "s: f64"], ["x: ?xi64 [n]", "x_1: ?xi64 [n]", "s: f64", "y: ?xi64 [n]", "y_1: ?xi64 [n]"], "%y = arith.addi %x, %x : tensor<?xi64>",
     lambda a: [a["x"], a["x"], a["s"], 2 * a["x"], 2 * a["x"]], {"n": 3}, {"n": 0})
case("scalars", ["x: ?xf32 [n]", "s: f32", "i: i64", "p: i1"], ["r: ?xf32 [n]", "q: ?xf32 [n]", "t: f32", "c: ?xf32 [n]", "z: i64"],
     """%v = tensor.extract %s[] : tensor<f32>
        %w = math.exp %v : f32
        %k = tensor.splat %w[%n] : tensor<?xf32>
        %r = arith.mulf %x, %k : tensor<?xf32>
        %t = math.sqrt %s : tensor<f32>
        %ni = arith.index_cast %n : index to i64
        %nf = arith.sitofp %ni : i64 to f32
        %e = tensor.empty(%n) : tensor<?xf32>
        %q = linalg.fill ins(%nf : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
        %cond = tensor.extract %p[] : tensor<i1>
        %c = arith.select %cond, %x, %r : tensor<?xf32>
        %z = tensor.from_elements %ni : tensor<i64>""",
     lambda a: [a["x"] * np.exp(a["s"]), np.full_like(a["x"], len(a["x"])), np.sqrt(a["s"]), a["x"] if a["p"] else a["x"] * np.exp(a["s"]), np.array(len(a["x"]))], {"n": 4}, {"n": 0},
     data=lambda random, sizes: {"s": np.array(1.25, np.float32)}, verify=False)

# ---- Reductions and contractions -------------------------------------------------------------------------------------------------------------------------

START = {"f32": {"sum": "0.0", "max": "0xFF800000", "product": "1.0"}, "f64": {"sum": "0.0", "max": "0xFFF0000000000000", "product": "1.0"}, "f16": {"sum": "0.0", "max": "0xFC00", "product": "1.0"},
         "i32": {"sum": "0", "max": str(-2**31), "product": "1"}, "i64": {"sum": "0", "max": str(-2**63), "product": "1"}}
COMBINE = {"sum": ("addf", "addi", np.sum), "max": ("maximumf", "maxsi", np.max), "product": ("mulf", "muli", np.prod)}
for element in START:
    for axes in ((2,), (1,), (0,), (0, 1), (1, 2), (0, 1, 2)):
        kept = [axis for axis in range(3) if axis not in axes]
        shape = "".join("?x" for _ in kept) + element
        dims = [("b", "n", "m")[axis] for axis in kept]
        lines, names = [], []
        for kind, (on_floats, on_integers, _) in COMBINE.items():
            op = on_integers if element.startswith("i") else on_floats
            lines += [f"%{kind}0 = arith.constant {START[element][kind]} : {element}", f"%{kind}e = tensor.empty({', '.join('%' + d for d in dims)}) : tensor<{shape}>",
                      f"%{kind}f = linalg.fill ins(%{kind}0 : {element}) outs(%{kind}e : tensor<{shape}>) -> tensor<{shape}>",
                      f"%{kind} = linalg.reduce {{ arith.{op} }} ins(%x : tensor<?x?x?x{element}>) outs(%{kind}f : tensor<{shape}>) dimensions = [{', '.join(map(str, axes))}]"]
        case(f"reduce-{element}-{''.join(map(str, axes))}", [f"x: ?x?x?x{element} [b, n, m]"], [f"{kind}: {shape}" + (f" [{', '.join(dims)}]" if dims else "") for kind in COMBINE], "\n".join(lines),
             lambda a, axes=axes: [f(a["x"].astype(np.float64) if a["x"].dtype.kind == "f" else a["x"], axis=axes, **({} if f is not np.max else {"initial": -np.inf if a["x"].dtype.kind == "f" else np.iinfo(a["x"].dtype).min})).astype(a["x"].dtype) for _, _, f in COMBINE.values()],
             {"b": 2, "n": 3, "m": 5}, {"b": 1, "n": 300, "m": 2}, {"b": 2, "n": 0, "m": 3}, verify=False,
             data=(lambda random, sizes, element=element: {"x": random.integers(-3, 4, [sizes["b"], sizes["n"], sizes["m"]]).astype(NUMPY[element])}) if element[0] == "i" else None, tolerance=2e-2 if element == "f16" else 5e-5)
case("any-all", ["x: ?x?xi1 [n, m]"], ["any: ?xi1 [n]", "all: ?xi1 [m]"],
     """%f = arith.constant false
        %t = arith.constant true
        %e = tensor.empty(%n) : tensor<?xi1>
        %g = tensor.empty(%m) : tensor<?xi1>
        %e0 = linalg.fill ins(%f : i1) outs(%e : tensor<?xi1>) -> tensor<?xi1>
        %g0 = linalg.fill ins(%t : i1) outs(%g : tensor<?xi1>) -> tensor<?xi1>
        %any = linalg.reduce { arith.ori } ins(%x : tensor<?x?xi1>) outs(%e0 : tensor<?xi1>) dimensions = [1]
        %all = linalg.reduce { arith.andi } ins(%x : tensor<?x?xi1>) outs(%g0 : tensor<?xi1>) dimensions = [0]""",
     lambda a: [a["x"].any(1), a["x"].all(0)], *NM)
case("argmax", ["x: ?x?xf32 [n, m]"], ["v: ?xf32 [n]", "i: ?xi64 [n]"],
     """%low = arith.constant 0xFF800000 : f32
        %z = arith.constant 0 : i64
        %e = tensor.empty(%n) : tensor<?xf32>
        %g = tensor.empty(%n) : tensor<?xi64>
        %e0 = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
        %g0 = linalg.fill ins(%z : i64) outs(%g : tensor<?xi64>) -> tensor<?xi64>
        %v, %i = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%e0, %g0 : tensor<?xf32>, tensor<?xi64>) {
        ^bb0(%a: f32, %best: f32, %at: i64):
          %k = linalg.index 1 : index
          %ki = arith.index_cast %k : index to i64
          %more = arith.cmpf ogt, %a, %best : f32
          %1 = arith.select %more, %a, %best : f32
          %2 = arith.select %more, %ki, %at : i64
          linalg.yield %1, %2 : f32, i64
        } -> (tensor<?xf32>, tensor<?xi64>)""",
     lambda a: [a["x"].max(1), a["x"].argmax(1)], {"n": 3, "m": 5}, {"n": 1, "m": 1}, {"n": 0, "m": 4}, {"n": 40, "m": 300})
case("cumsum", ["x: ?x?xf32 [n, m]"], ["y: ?x?xf32 [n, m]"],
     """%z = arith.constant 0.0 : f32
        %e = tensor.empty(%n, %m) : tensor<?x?xf32>
        %g = tensor.empty(%n) : tensor<?xf32>
        %g0 = linalg.fill ins(%z : f32) outs(%g : tensor<?xf32>) -> tensor<?xf32>
        %y, %last = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x?xf32>) outs(%e, %g0 : tensor<?x?xf32>, tensor<?xf32>) {
        ^bb0(%a: f32, %o: f32, %sum: f32):
          %1 = arith.addf %a, %sum : f32
          linalg.yield %1, %1 : f32, f32
        } -> (tensor<?x?xf32>, tensor<?xf32>)""",
     lambda a: [a["x"].cumsum(1)], *NM)
case("cumsum-triangle", ["x: ?x?xi64 [n, m]"], ["y: ?x?xi64 [n, m]"],
     """%z = arith.constant 0 : i64
        %e = tensor.empty(%n, %m) : tensor<?x?xi64>
        %e0 = linalg.fill ins(%z : i64) outs(%e : tensor<?x?xi64>) -> tensor<?x?xi64>
        %y = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<?x?xi64>) outs(%e0 : tensor<?x?xi64>) {
        ^bb0(%a: i64, %o: i64):
          %i = linalg.index 1 : index
          %j = linalg.index 2 : index
          %in = arith.cmpi sle, %j, %i : index
          %t = arith.select %in, %a, %z : i64
          %1 = arith.addi %o, %t : i64
          linalg.yield %1 : i64
        } -> tensor<?x?xi64>""",
     lambda a: [a["x"].cumsum(1)], *NM)

KINDS = {"f32": ("mulf", "addf", "0.0"), "f64": ("mulf", "addf", "0.0"), "f16": ("mulf", "addf", "0.0"), "i32": ("muli", "addi", "0"), "i64": ("muli", "addi", "0")}


def contraction(name, left, right, out, element, einsum, sizes):
    """`left` and `right` and `out` are letters of loops."""
    loops = sorted(set(left + right))
    order = out + "".join(letter for letter in loops if letter not in out)
    maps = [f"({', '.join(order)}) -> ({', '.join(letters)})" for letters in (left, right, out)]
    shape = lambda letters: "".join("?x" for _ in letters) + element
    dims = lambda letters: f" [{', '.join(letters)}]" if letters else ""
    body = f"""%zero = arith.constant {KINDS[element][2]} : {element}
        %e = tensor.empty({', '.join('%' + d for d in out)}) : tensor<{shape(out)}>
        %e0 = linalg.fill ins(%zero : {element}) outs(%e : tensor<{shape(out)}>) -> tensor<{shape(out)}>
        %r = linalg.contract indexing_maps = [{', '.join(f'affine_map<{m}>' for m in maps)}] ins(%x, %y : tensor<{shape(left)}>, tensor<{shape(right)}>) outs(%e0 : tensor<{shape(out)}>) -> tensor<{shape(out)}>"""
    case(f"contract-{name}-{element}", [f"x: {shape(left)}{dims(left)}", f"y: {shape(right)}{dims(right)}"], [f"r: {shape(out)}{dims(out)}"], body,
         lambda a: [np.einsum(einsum, a["x"].astype(np.float64) if a["x"].dtype.kind == "f" else a["x"], a["y"].astype(a["x"].dtype)).astype(a["x"].dtype)], *sizes, verify=False,
         tolerance=2e-2 if element == "f16" else None, data=(lambda random, s: {n: random.integers(-9, 9, [s[d] for d in d_]).astype(NUMPY[element]) for n, d_ in (("x", left), ("y", right))}) if element[0] == "i" else None)


MNK = ({"m": 3, "n": 5, "k": 4}, {"m": 1, "n": 300, "k": 7}, {"m": 17, "n": 1, "k": 1}, {"m": 2, "n": 3, "k": 0}, {"m": 0, "n": 3, "k": 2})
BMNK = tuple({"b": 2, "h": 3, **s} for s in MNK)
for element in KINDS:
    contraction("matmul", "mk", "kn", "mn", element, "mk,kn->mn", MNK)
    contraction("transposed", "mk", "nk", "mn", element, "mk,nk->mn", MNK)
for element in ("f32", "f64"):
    contraction("batch", "bmk", "bkn", "bmn", element, "bmk,bkn->bmn", BMNK)
    contraction("heads", "bmhk", "bnhk", "bhmn", element, "bmhk,bnhk->bhmn", BMNK[:3])
    contraction("values", "bhmk", "bkhn", "bmhn", element, "bhmk,bkhn->bmhn", BMNK[:3])
    contraction("dot", "k", "k", "", element, "k,k->", ({"k": 5}, {"k": 0}, {"k": 1000}))
    contraction("vector", "mk", "k", "m", element, "mk,k->m", ({"m": 4, "k": 9}, {"m": 1, "k": 1}))
case("named-matmuls", ["x: ?x?x4xf32 [b, m]", "y: ?x4x?xf32 [b, n]", "w: 4x6xf32"], ["r: ?x?x?xf32 [b, m, n]", "q: ?x6xf32 [m]"],
     """%z = arith.constant 0.0 : f32
        %e = tensor.empty(%b, %m, %n) : tensor<?x?x?xf32>
        %e0 = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
        %r = linalg.batch_matmul ins(%x, %y : tensor<?x?x4xf32>, tensor<?x4x?xf32>) outs(%e0 : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
        %first = tensor.extract_slice %x[0, 0, 0] [1, %m, 4] [1, 1, 1] : tensor<?x?x4xf32> to tensor<?x4xf32>
        %g = tensor.empty(%m) : tensor<?x6xf32>
        %g0 = linalg.fill ins(%z : f32) outs(%g : tensor<?x6xf32>) -> tensor<?x6xf32>
        %q = linalg.matmul ins(%first, %w : tensor<?x4xf32>, tensor<4x6xf32>) outs(%g0 : tensor<?x6xf32>) -> tensor<?x6xf32>""",
     lambda a: [a["x"] @ a["y"], a["x"][0] @ a["w"]], {"b": 2, "m": 3, "n": 5}, {"b": 1, "m": 1, "n": 1}, verify=False)
case("convolution", ["x: ?x3x?x8xf32 [b, h]", "w: 5x3x2x3xf32"], ["r: ?x5x?x3xf32 [b, o]"],
     """%c3 = arith.constant 3 : index
        %s = arith.subi %h, %c2 : index
        %o = arith.addi %s, %c1 : index
        %z = arith.constant 0.0 : f32
        %e = tensor.empty(%b, %o) : tensor<?x5x?x3xf32>
        %e0 = linalg.fill ins(%z : f32) outs(%e : tensor<?x5x?x3xf32>) -> tensor<?x5x?x3xf32>
        %r = linalg.conv_2d_nchw_fchw {strides = dense<[1, 2]> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<?x3x?x8xf32>, tensor<5x3x2x3xf32>) outs(%e0 : tensor<?x5x?x3xf32>) -> tensor<?x5x?x3xf32>""",
     lambda a: [np.stack([np.stack([np.einsum("bcij,fcij->bf", a["x"][:, :, i:i + 2, 2 * j:2 * j + 3], a["w"]) for j in range(3)], -1) for i in range(a["x"].shape[2] - 1)], 2)],
     {"b": 2, "h": 6}, {"b": 1, "h": 2}, verify=False)

# ---- Softmax ---------------------------------------------------------------------------------------------------------------------------------------------


def softmax(x, axis):
    x = x.astype(np.float64)
    e = np.exp(x - x.max(axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis, keepdims=True)


for element in FLOATS:
    for axis in range(3):
        case(f"softmax-{element}-{axis}", [f"x: ?x?x?x{element} [b, n, m]"], [f"r: ?x?x?x{element} [b, n, m]"],
             f"%e = tensor.empty(%b, %n, %m) : tensor<?x?x?x{element}>\n%r = linalg.softmax dimension({axis}) ins(%x : tensor<?x?x?x{element}>) outs(%e : tensor<?x?x?x{element}>) -> tensor<?x?x?x{element}>",
             lambda a, axis=axis: [softmax(a["x"], axis).astype(a["x"].dtype)], {"b": 2, "n": 3, "m": 5}, {"b": 1, "n": 1, "m": 1}, {"b": 2, "n": 0, "m": 3}, verify=element != "f16")

# ---- Moves -----------------------------------------------------------------------------------------------------------------------------------------------

for element in ("f32", "i1", "i8", "i64", "f16"):
    shape = f"?x?x{element}"
    t = f"tensor<{shape}>"
    case(f"moves-{element}", [f"x: {shape} [n, m]", f"y: {shape} [n, m]"],
         [f"transposed: {shape} [m, n]", f"wide: ?x4x?x{element} [n, m]", f"both: {shape} [n2, m]", f"side: {shape} [n, m2]", f"padded: {shape} [p, q]", f"rest: {shape} [n, h]", f"flat: ?x{element} [nm]", f"row: ?x{element} [m]",
          f"split: ?x1x?x{element} [n, m]", f"put: {shape} [n2, m]", f"flipped: {shape} [n, m]"],
         f"""%e = tensor.empty(%m, %n) : {t}
            %transposed = linalg.transpose ins(%x : {t}) outs(%e : {t}) permutation = [1, 0]
            %f = tensor.empty(%n, %m) : tensor<?x4x?x{element}>
            %wide = linalg.broadcast ins(%x : {t}) outs(%f : tensor<?x4x?x{element}>) dimensions = [1]
            %both = tensor.concat dim(0) %x, %y : ({t}, {t}) -> {t}
            %side = tensor.concat dim(1) %x, %y : ({t}, {t}) -> {t}
            %v = arith.constant {'1.0' if element.startswith('f') else '1' if element != 'i1' else 'true'}{'' if element == 'i1' else ' : ' + element}
            %padded = tensor.pad %x low[1, 0] high[%c2, %n] {{
            ^bb0(%i: index, %j: index):
              tensor.yield %v : {element}
            }} : {t} to {t}
            %m1 = arith.ceildivui %m, %c2 : index
            %rest = tensor.extract_slice %x[0, 0] [%n, %m1] [1, 2] : {t} to {t}
            %flat = tensor.collapse_shape %x [[0, 1]] : {t} into tensor<?x{element}>
            %last = arith.subi %n, %c1 : index
            %row = tensor.extract_slice %x[%last, 0] [1, %m] [1, 1] : {t} to tensor<?x{element}>
            %split = tensor.expand_shape %x [[0, 1], [2]] output_shape [%n, 1, %m] : {t} into tensor<?x1x?x{element}>
            %put = tensor.insert_slice %y into %both[%n, 0] [%n, %m] [1, 1] : {t} into {t}
            %mlast = arith.subi %m, %c1 : index
            %flipped = tensor.extract_slice %x[0, %mlast] [%n, %m] [1, -1] : {t} to {t}""",
         lambda a: [a["x"].T, np.repeat(a["x"][:, None], 4, 1), np.concatenate([a["x"], a["y"]]), np.concatenate([a["x"], a["y"]], 1), np.pad(a["x"], ((1, 2), (0, len(a["x"]))), constant_values=1), a["x"][:, ::2],
                    a["x"].reshape(-1), a["x"][-1], a["x"][:, None], np.concatenate([a["x"], a["y"]]), a["x"][:, ::-1]], {"n": 3, "m": 5}, {"n": 1, "m": 1}, {"n": 2, "m": 8})
case("joined-slices", ["x: ?x?x6xf32 [n, m]"], ["r: ?x3xf32 [nm]", "q: ?xf32 [nmh]", "s: ?x2x3xf32 [nm]"],
     """%v = tensor.extract_slice %x[0, 0, 2] [%n, %m, 3] [1, 1, 1] : tensor<?x?x6xf32> to tensor<?x?x3xf32>
        %r = tensor.collapse_shape %v [[0, 1], [2]] : tensor<?x?x3xf32> into tensor<?x3xf32>
        %q = tensor.collapse_shape %v [[0, 1, 2]] : tensor<?x?x3xf32> into tensor<?xf32>
        %e = tensor.empty(%n, %m) : tensor<?x?x6xf32>
        %j = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x6xf32> into tensor<?x6xf32>
        %nm = arith.muli %n, %m : index
        %s = tensor.expand_shape %j [[0], [1, 2]] output_shape [%nm, 2, 3] : tensor<?x6xf32> into tensor<?x2x3xf32>""",
     lambda a: [a["x"][:, :, 2:5].reshape(-1, 3), a["x"][:, :, 2:5].reshape(-1), a["x"].reshape(-1, 2, 3)], {"n": 2, "m": 4}, {"n": 1, "m": 1}, {"n": 0, "m": 3})
case("transposes-3d", ["x: ?x?x?x2xf32 [b, n, h]"], ["r: ?x?x?x2xf32 [b, h, n]", "q: ?x?xf32 [bh, n2]"],
     """%e = tensor.empty(%b, %h, %n) : tensor<?x?x?x2xf32>
        %r = linalg.transpose ins(%x : tensor<?x?x?x2xf32>) outs(%e : tensor<?x?x?x2xf32>) permutation = [0, 2, 1, 3]
        %q = tensor.collapse_shape %r [[0, 1], [2, 3]] : tensor<?x?x?x2xf32> into tensor<?x?xf32>""",
     lambda a: [a["x"].transpose(0, 2, 1, 3), a["x"].transpose(0, 2, 1, 3).reshape(a["x"].shape[0] * a["x"].shape[2], -1)], {"b": 2, "n": 3, "h": 4}, {"b": 1, "n": 1, "h": 1})
case("open-groups", ["x: ?x?x4xf32 [n, m]", "y: ?xf32 [nm]"], ["r: ?x?xf32 [n, m]", "s: ?x?x?xf32 [m, n, h]", "t: ?x?x2xf32 [n, m]", "u: ?x2xf32 [nm]"],
     """%h = arith.addi %c1, %c1 : index
        %k = arith.muli %n, %m : index
        %r0 = tensor.expand_shape %y [[0, 1]] output_shape [%n, %m] : tensor<?xf32> into tensor<?x?xf32>
        %r = arith.addf %r0, %r0 : tensor<?x?xf32>
        %d = arith.addf %x, %x : tensor<?x?x4xf32>
        %d0 = tensor.collapse_shape %d [[0, 1, 2]] : tensor<?x?x4xf32> into tensor<?xf32>
        %n4 = arith.addi %h, %h : index
        %s0 = tensor.expand_shape %d0 [[0, 1, 2]] output_shape [%m, %n, %n4] : tensor<?xf32> into tensor<?x?x?xf32>
        %s = arith.negf %s0 : tensor<?x?x?xf32>
        %v = tensor.extract_slice %d[0, 0, 1] [%n, %m, 2] [1, 1, 1] : tensor<?x?x4xf32> to tensor<?x?x2xf32>
        %u = tensor.collapse_shape %v [[0, 1], [2]] : tensor<?x?x2xf32> into tensor<?x2xf32>
        %t = tensor.expand_shape %u [[0, 1], [2]] output_shape [%n, %m, 2] : tensor<?x2xf32> into tensor<?x?x2xf32>""",
     lambda a: [2 * a["y"].reshape(a["x"].shape[:2]), -2 * a["x"].reshape(a["x"].shape[1], a["x"].shape[0], 4), 2 * a["x"][:, :, 1:3], 2 * a["x"][:, :, 1:3].reshape(-1, 2)],
     {"n": 2, "m": 3, "nm": 6}, {"n": 1, "m": 1, "nm": 1}, {"n": 0, "m": 2, "nm": 0}, verify=False)
case("rank-0", ["x: 1x1xf32", "s: f32"], ["a: f32", "b: 1x1xf32", "c: f32", "d: 3xf32"],
     """%a = tensor.collapse_shape %x [] : tensor<1x1xf32> into tensor<f32>
        %b = tensor.expand_shape %s [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
        %c = arith.addf %a, %s : tensor<f32>
        %e = tensor.empty() : tensor<3xf32>
        %d = linalg.broadcast ins(%s : tensor<f32>) outs(%e : tensor<3xf32>) dimensions = [0]""",
     lambda a: [a["x"].reshape(()), a["s"].reshape(1, 1), a["x"].reshape(()) + a["s"], np.full(3, a["s"])], {})
case("made", ["x: ?xf32 [n]", "k: i64"], ["iota: ?xi64 [n]", "grid: ?x2xf32 [n]", "listed: 2x2xi64", "even: ?xf32 [n]"],
     """%iota = tensor.generate %n {
        ^bb0(%i: index):
          %1 = arith.index_cast %i : index to i64
          %2 = tensor.extract %k[] : tensor<i64>
          %3 = arith.addi %1, %2 : i64
          tensor.yield %3 : i64
        } : tensor<?xi64>
        %half = arith.constant 0.5 : f32
        %grid = tensor.splat %half[%n] : tensor<?x2xf32>
        %a = arith.constant 3 : i64
        %b = tensor.extract %k[] : tensor<i64>
        %listed = tensor.from_elements %a, %b, %b, %a : tensor<2x2xi64>
        %e = tensor.empty(%n) : tensor<?xf32>
     """ + generic(["(d0) -> (d0)"], ("parallel",), [], [("%e", "tensor<?xf32>")], "%i = linalg.index 0 : index\n%1 = arith.index_cast %i : index to i32\n%2 = arith.sitofp %1 : i32 to f32\nlinalg.yield %2 : f32", "tensor<?xf32>", "even"),
     lambda a: [np.arange(len(a["x"])) + a["k"], np.full((len(a["x"]), 2), 0.5, np.float32), np.array([[3, a["k"]], [a["k"], 3]]), np.arange(len(a["x"])).astype(np.float32)], {"n": 5}, {"n": 0})

# ---- Gathers and places that data decide -----------------------------------------------------------------------------------------------------------------

case("gather", ["x: ?x?xf32 [n, m]", "i: ?xi64 [k]"], ["rows: ?x?xf32 [k, m]", "columns: ?x?xf32 [n, k]"],
     """%e = tensor.empty(%k, %m) : tensor<?x?xf32>
        %f = tensor.empty(%n, %k) : tensor<?x?xf32>
     """ + generic(["(d0, d1) -> (d0)", "(d0, d1) -> (d0, d1)"], P2, [("%i", "tensor<?xi64>")], [("%e", "tensor<?x?xf32>")],
                   "%at = arith.index_cast %b0 : i64 to index\n%j = linalg.index 1 : index\n%1 = tensor.extract %x[%at, %j] : tensor<?x?xf32>\nlinalg.yield %1 : f32", "tensor<?x?xf32>", "rows") + "\n"
     + generic(["(d0, d1) -> (d1)", "(d0, d1) -> (d0, d1)"], P2, [("%i", "tensor<?xi64>")], [("%f", "tensor<?x?xf32>")],
               "%at = arith.index_cast %b0 : i64 to index\n%j = linalg.index 0 : index\n%1 = tensor.extract %x[%j, %at] : tensor<?x?xf32>\nlinalg.yield %1 : f32", "tensor<?x?xf32>", "columns"),
     lambda a: [a["x"][a["i"]], a["x"][:, a["i"]]], {"n": 3, "m": 4, "k": 6}, {"n": 1, "m": 1, "k": 1}, {"n": 3, "m": 3, "k": 0}, verify=False,
     data=lambda random, sizes: {"i": random.integers(0, min(sizes["n"], sizes["m"]), sizes["k"])})
case("data-decides-where", ["x: ?x?xf32 [n, m]", "y: ?xf32 [m]", "i: i64"], ["row: ?xf32 [m]", "changed: ?x?xf32 [n, m]"],
     """%v = tensor.extract %i[] : tensor<i64>
        %at = arith.index_cast %v : i64 to index
        %row = tensor.extract_slice %x[%at, 0] [1, %m] [1, 1] : tensor<?x?xf32> to tensor<?xf32>
        %changed = tensor.insert_slice %y into %x[%at, 0] [1, %m] [1, 1] : tensor<?xf32> into tensor<?x?xf32>""",
     lambda a: [a["x"][a["i"]], np.concatenate([a["x"][:a["i"]], a["y"][None], a["x"][a["i"] + 1:]])], {"n": 4, "m": 3}, {"n": 3, "m": 1}, verify=False, data=lambda random, sizes: {"i": np.array(2)})

# ---- Chains ----------------------------------------------------------------------------------------------------------------------------------------------

case("layer-norm", ["x: ?x?x8xf32 [b, n]", "w: 8xf32"], ["r: ?x?x8xf32 [b, n]"],
     """%z = arith.constant 0.0 : f32
        %eight = arith.constant 8.0 : f32
        %eps = arith.constant 1.0e-5 : f32
        %e1 = tensor.empty(%b, %n) : tensor<?x?xf32>
        %s0 = linalg.fill ins(%z : f32) outs(%e1 : tensor<?x?xf32>) -> tensor<?x?xf32>
        %s = linalg.reduce { arith.addf } ins(%x : tensor<?x?x8xf32>) outs(%s0 : tensor<?x?xf32>) dimensions = [2]
        %e = tensor.empty(%b, %n) : tensor<?x?x8xf32>
     """ + generic(["(a, b, c) -> (a, b, c)", "(a, b, c) -> (a, b)", "(a, b, c) -> (a, b, c)"], ("parallel",) * 3, [("%x", "tensor<?x?x8xf32>"), ("%s", "tensor<?x?xf32>")], [("%e", "tensor<?x?x8xf32>")],
                   "%1 = arith.divf %b1, %eight : f32\n%2 = arith.subf %b0, %1 : f32\nlinalg.yield %2 : f32", "tensor<?x?x8xf32>", "c") + "\n"
     + generic(["(a, b, c) -> (a, b, c)", "(a, b, c) -> (a, b)"], ("parallel", "parallel", "reduction"), [("%c", "tensor<?x?x8xf32>")], [("%s0", "tensor<?x?xf32>")],
               "%1 = arith.mulf %b0, %b0 : f32\n%2 = arith.addf %b1, %1 : f32\nlinalg.yield %2 : f32", "tensor<?x?xf32>", "v") + "\n"
     + generic(["(a, b, c) -> (a, b, c)", "(a, b, c) -> (a, b)", "(a, b, c) -> (c)", "(a, b, c) -> (a, b, c)"], ("parallel",) * 3,
               [("%c", "tensor<?x?x8xf32>"), ("%v", "tensor<?x?xf32>"), ("%w", "tensor<8xf32>")], [("%e", "tensor<?x?x8xf32>")],
               "%1 = arith.divf %b1, %eight : f32\n%2 = arith.addf %1, %eps : f32\n%3 = math.rsqrt %2 : f32\n%4 = arith.mulf %b0, %3 : f32\n%5 = arith.mulf %4, %b2 : f32\nlinalg.yield %5 : f32", "tensor<?x?x8xf32>"),
     lambda a: [((a["x"] - a["x"].mean(-1, keepdims=True)) / np.sqrt(a["x"].var(-1, keepdims=True) + 1e-5) * a["w"]).astype(np.float32)], {"b": 2, "n": 3}, {"b": 1, "n": 1}, {"b": 0, "n": 2})


@pytest.mark.parametrize("case", CASES, ids=repr)
def test_vocabulary(case, tmp_path):
    text = program(case.arguments, case.results, case.body, case.head)
    source, artifact = tmp_path / "case.mlir", tmp_path / "case.fovea"
    source.write_text(text)
    invoke("fovea", "compile", source, "-o", artifact).ok()
    random = np.random.default_rng(7)
    for number, sizes in enumerate(case.sizes):
        arrays = inputs(case, sizes, random)
        found = run(artifact, tmp_path / f"{number}.npz", arrays)
        with np.errstate(all="ignore"):
            expected = [np.asarray(e) for e in case.reference(arrays)]
        for (name, type_, _), array in zip(map(typed, case.results), expected, strict=True):
            check(found[f"out_{name}"], array, case.tolerance or TOLERANCE.get(type_[7:-1].split("x")[-1], 0), f"{name} at {sizes}")
    if case.verify:
        invoke("fovea", "verify", source, "--quiet").ok()


# ---- What ends a call ------------------------------------------------------------------------------------------------------------------------------------

FAULTS = {
    "index": (["x: ?xf32 [n]", "i: i64"], ["r: f32"],
              "%v = tensor.extract %i[] : tensor<i64>\n%at = arith.index_cast %v : i64 to index\n%1 = tensor.extract %x[%at] : tensor<?xf32>\n%r = tensor.from_elements %1 : tensor<f32>",
              lambda bad: {"x": np.arange(3, dtype=np.float32), "i": np.array(3 if bad else 2)}),
    "zero": (["x: ?xi32 [n]", "y: ?xi32 [n]"], ["r: ?xi32 [n]"], "%r = arith.divsi %x, %y : tensor<?xi32>",
             lambda bad: {"x": np.arange(3, dtype=np.int32), "y": np.array([1, 2, 0 if bad else 1], np.int32)}),
    "shift": (["x: ?xi32 [n]", "y: ?xi32 [n]"], ["r: ?xi32 [n]"], "%r = arith.shli %x, %y : tensor<?xi32>",
              lambda bad: {"x": np.arange(3, dtype=np.int32), "y": np.array([1, 2, 32 if bad else 31], np.int32)}),
    "sizes": (["x: ?xf32 [n]", "y: ?xf32 [m]"], ["r: ?xf32 [n]"], "%r = arith.addf %x, %y : tensor<?xf32>", lambda bad: {"x": np.ones(3, np.float32), "y": np.ones(4 if bad else 3, np.float32)}),
    "concat": (["x: ?x?xf32 [n, m]", "y: ?x?xf32 [k, l]"], ["r: ?x?xf32 [nk, m]"], "%r = tensor.concat dim(0) %x, %y : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>",
               lambda bad: {"x": np.ones((3, 2), np.float32), "y": np.ones((1, 3 if bad else 2), np.float32)}),
    "slice": (["x: ?xf32 [n]", "y: ?xf32 [m]"], ["r: ?xf32 [m]"], "%r = tensor.extract_slice %x[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>",
              lambda bad: {"x": np.ones(3, np.float32), "y": np.ones(4 if bad else 3, np.float32)}),
    "slice-then-sum": (["x: ?xf32 [n]", "y: ?xf32 [m]"], ["r: ?xf32 [m]"], "%s = tensor.extract_slice %x[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>\n%r = arith.addf %s, %y : tensor<?xf32>",
                       lambda bad: {"x": np.ones(3, np.float32), "y": np.ones(400000 if bad else 3, np.float32)}),
    "negative": (["x: ?xf32 [n]"], ["r: ?xf32 [k]"], "%five = arith.constant 5 : index\n%k = arith.subi %n, %five : index\n%h = arith.constant 1.0 : f32\n%r = tensor.splat %h[%k] : tensor<?xf32>",
                 lambda bad: {"x": np.ones(4 if bad else 5, np.float32)}),
    "expand": (["x: ?xf32 [n]"], ["r: ?x2xf32 [h]"], "%h = arith.divui %n, %c2 : index\n%r = tensor.expand_shape %x [[0, 1]] output_shape [%h, 2] : tensor<?xf32> into tensor<?x2xf32>",
               lambda bad: {"x": np.ones(5 if bad else 4, np.float32)}),
    "cast": (["x: ?xf32 [n]"], ["r: 4xf32"], "%c = tensor.cast %x : tensor<?xf32> to tensor<4xf32>\n%r = arith.addf %c, %c : tensor<4xf32>", lambda bad: {"x": np.ones(3 if bad else 4, np.float32)}),
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault(name, tmp_path):
    """One clear message and exit code 1; nothing is read or written outside of a tensor."""
    arguments, results, body, data = FAULTS[name]
    source, artifact = tmp_path / "case.mlir", tmp_path / "case.fovea"
    source.write_text(program(arguments, results, body))
    invoke("fovea", "compile", source, "-o", artifact).ok()
    run(artifact, tmp_path / "good.npz", data(False))
    np.savez(tmp_path / "bad.npz", **data(True))
    result = invoke("fovea", "run", artifact, "--quiet", "--inputs", tmp_path / "bad.npz", "--outputs", tmp_path / "out.npz")
    assert result.code == 1 and b"error" in result.err, str(result)
    assert not (tmp_path / "out.npz").exists()
