# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""linalg.reduce with every combiner over every choice of axes, at sizes around those of vectors, against numpy: NaN goes through maximumf and is passed over by maxnumf."""
import itertools
import math

import numpy as np
import pytest

from programs import invoke

# The neutral element, and what numpy calls it.
FLOATS = {"addf": (0.0, np.add), "mulf": (1.0, np.multiply), "maximumf": (-math.inf, np.maximum), "minimumf": (math.inf, np.minimum), "maxnumf": (-math.inf, np.fmax), "minnumf": (math.inf, np.fmin)}
INTEGERS = {"addi": (0, np.add), "muli": (1, np.multiply), "maxsi": (-2**31, np.maximum), "minsi": (2**31 - 1, np.minimum), "maxui": (0, np.maximum), "minui": (-1, np.minimum), "andi": (-1, np.bitwise_and),
            "ori": (0, np.bitwise_or), "xori": (0, np.bitwise_xor)}
ELEMENTS = {"f16": (np.float16, FLOATS), "f32": (np.float32, FLOATS), "f64": (np.float64, FLOATS), "i32": (np.int32, INTEGERS)}
SHAPES = ([9, 4], *(pytest.param(shape, marks=pytest.mark.long) for shape in ([7, 2, 4], [2, 9, 4], [8, 4], [1, 4], [3, 5], [15, 3])))


def literal(value, element):
    if value in (math.inf, -math.inf):
        bits = np.array(value, ELEMENTS[element][0]).view(f"u{int(element[1:]) // 8}")
        return f"{int(bits):#X}".replace("X", "x")
    return str(value)


def reductions(shape):
    """Name, element type, combiner and axes of each."""
    every = [axes for count in range(1, len(shape) + 1) for axes in itertools.combinations(range(len(shape)), count)]
    return [(f"{combiner}_{element}_{''.join(map(str, axes))}", element, combiner, axes) for element, (_, combiners) in ELEMENTS.items() for combiner in combiners for axes in every]


def typed(shape, element):
    return f"tensor<{''.join(f'{size}x' for size in shape)}{element}>"


def program(shape):
    lines, results = [], []
    for name, element, combiner, axes in reductions(shape):
        result = typed([size for axis, size in enumerate(shape) if axis not in axes], element)
        start = literal(ELEMENTS[element][1][combiner][0], element)
        lines += [f"%{name}_0 = arith.constant {start} : {element}",
                  f"%{name}_e = tensor.empty() : {result}",
                  f"%{name}_f = linalg.fill ins(%{name}_0 : {element}) outs(%{name}_e : {result}) -> {result}",
                  f"%{name} = linalg.reduce {{ arith.{combiner} }} ins(%{element} : {typed(shape, element)}) outs(%{name}_f : {result}) dimensions = [{', '.join(map(str, axes))}]"]
        results.append((name, result))
    arguments = ", ".join(f'%{element}: {typed(shape, element)} {{fovea.name = "{element}"}}' for element in ELEMENTS)
    ports = ", ".join(f'{result} {{fovea.name = "{name}"}}' for name, result in results)
    lines.append(f"return {', '.join('%' + name for name, _ in results)} : {', '.join(result for _, result in results)}")
    return f"func.func @main({arguments}) -> ({ports}) attributes {{fovea.entry}} {{\n  " + "\n  ".join(lines) + "\n}\n"


def numbers(shape, kind):
    """Ascending, so that the last place of every axis has the greatest; descending; with NaN here and there, and every first one of the last axis."""
    count = math.prod(shape)
    step = np.arange(count).reshape(shape)
    floats = 1 + (count - step if kind == "descending" else step) / 1024
    integers = (step - count // 2) * 0x01234567 * (-1 if kind == "descending" else 1)
    if kind == "nan":
        floats = np.where((step % 5 == 3) | (step % shape[-1] == 0), np.nan, floats)
    return {element: (floats if element[0] == "f" else integers.astype(np.int64)).astype(type_) for element, (type_, _) in ELEMENTS.items()}


def expect(array, element, combiner, axes):
    start, fold = ELEMENTS[element][1][combiner]
    if combiner in ("maxui", "minui"):
        return fold.reduce(array.view(np.uint32), axis=axes).view(np.int32)
    wide = array.astype(np.float64) if element[0] == "f" else array
    return fold.reduce(wide, axis=axes, dtype=wide.dtype, initial=start)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape)))
@pytest.mark.devices("cpu", "emulator")
def test_reductions(shape, device, gpu_code, tmp_path):
    source, artifact = tmp_path / "reductions.mlir", tmp_path / "reductions.fovea"
    source.write_text(program(shape))
    invoke("fovea", "compile", source, "-o", artifact, *gpu_code).ok()
    for kind in ("ascending", "descending", "nan"):
        arrays = numbers(shape, kind)
        np.savez(tmp_path / "in.npz", **arrays)
        invoke("fovea", "run", artifact, "--quiet", "--device", device, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        found = np.load(tmp_path / "out.npz")
        for name, element, combiner, axes in reductions(shape):
            bound = {"f16": 2e-2, "f32": 2e-6, "f64": 1e-14}[element] if combiner in ("addf", "mulf") else 0
            np.testing.assert_allclose(found[name], expect(arrays[element], element, combiner, axes), rtol=bound, err_msg=f"{name} of {kind} numbers")
