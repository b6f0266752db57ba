# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What no tile holds: norms and softmax of rows that are too long, open or along another axis, and operands that lie with gaps. Compiled code, for a processor and
for a GPU on the emulator, against the interpreter."""
import json

import pytest


def name_dims(dims):
    return f", fovea.dims = {json.dumps(dims.split())}" if dims else ""


def write(path, arguments, result, body):
    """Arguments by name, as the result a type and the names of its open sizes: {"x": ("tensor<?x4xf32>", "n")}."""
    ports = ", ".join(f'%{name}: {type} {{fovea.name = "{name}"{name_dims(dims)}}}' for name, (type, dims) in arguments.items())
    type, dims = result
    path.write_text(f"""func.func @forward({ports}) -> ({type} {{fovea.name = "y"{name_dims(dims)}}}) attributes {{fovea.entry}} {{
{body}
  return %y : {type}
}}
""")
    return path


def check(fovea, model, device, gpu_code, ops={}):
    """Both agree, and the groups have so many of these ops."""
    fovea("verify", model, *gpu_code, f"--device={device}", "--length=1,3").ok()
    ir = fovea("compile", model, "--emit=fused", "-o", "-").ok().text
    for op, count in ops.items():
        assert ir.count(f"{op} ") == count, ir


NORMS = {
    "layer_norm": ("fovea.layer_norm %x weight(%w : tensor<{n}xf32>) bias(%b : tensor<{n}xf32>) eps(1.0e-5)", 3),
    "rms_norm": ("fovea.rms_norm %x weight(%w : tensor<{n}xf32>) offset(1.0) eps(1.0e-5)", 2),
    "gated_norm": ("fovea.gated_norm %x gate(%x) weight(%w : tensor<{n}xf32>) eps(1.0e-5)", 2),
    "l2_norm": ("fovea.l2_norm %x eps(1.0e-5)", 2),
}


@pytest.mark.parametrize("element", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("norm", NORMS)
def test_norms_of_long_rows(fovea, tmp_path, norm, element):
    n = 131_072 + 3
    type, (op, loops) = f"tensor<?x{n}x{element}>", NORMS[norm]
    arguments = {"x": (type, "rows"), "w": (f"tensor<{n}xf32>", ""), "b": (f"tensor<{n}xf32>", "")}
    model = write(tmp_path / "norm.mlir", arguments, (type, "rows"), f"  %y = {op.format(n=n)} : {type}")
    check(fovea, model, "cpu", [], {"linalg.generic": loops, f"fovea.{norm}": 0})


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("element", ["f32", "f16", "f64"])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_softmax_along_any_axis(fovea, tmp_path, axis, element, device, gpu_code):
    type = f"tensor<?x5x?x{element}>"
    body = f"""  %0 = arith.constant 0 : index
  %2 = arith.constant 2 : index
  %m = tensor.dim %x, %0 : {type}
  %n = tensor.dim %x, %2 : {type}
  %e = tensor.empty(%m, %n) : {type}
  %y = linalg.softmax dimension({axis}) ins(%x : {type}) outs(%e : {type}) -> {type}"""
    model = write(tmp_path / "softmax.mlir", {"x": (type, "m n")}, (type, "m n"), body)
    check(fovea, model, device, gpu_code, {"linalg.generic": 4, "linalg.softmax": 0})


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("element", ["f32", "bf16", "f64"])
def test_elements_of_open_sizes_are_tiles(fovea, tmp_path, element, device, gpu_code):
    type = f"tensor<?x?x?x{element}>"
    body = f"""  %a = fovea.activation silu %x : {type}
  %b = arith.mulf %a, %x : {type}
  %y = fovea.glu gelu_tanh %b, %x : {type}"""
    model = write(tmp_path / "elements.mlir", {"x": (type, "l m n")}, (type, "l m n"), body)
    check(fovea, model, device, gpu_code)
    fovea("compile", model, "-o", tmp_path / "elements.fovea").ok()
    assert "no kernel falls back to plain loops" in fovea("inspect", tmp_path / "elements.fovea").ok().text


WITH_GAPS = {
    "fovea.rms_norm": "fovea.rms_norm %v eps(1.0e-5) : tensor<?x4x{e}>",
    "fovea.activation": "fovea.activation silu %v : tensor<?x4x{e}>",
    "fovea.linear": "fovea.linear %v, %w : tensor<?x4x{e}>, tensor<4x4xf32> -> tensor<?x4x{e}>",
}


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("op", WITH_GAPS)
def test_operands_with_gaps_are_copied(fovea, tmp_path, op, element, device, gpu_code):
    """Each second column lies in no matrix."""
    type = f"tensor<?x4x{element}>"
    body = f"""  %0 = arith.constant 0 : index
  %n = tensor.dim %x, %0 : tensor<?x8x{element}>
  %v = tensor.extract_slice %x[0, 1] [%n, 4] [1, 2] : tensor<?x8x{element}> to {type}
  %y = {WITH_GAPS[op].format(e=element)}"""
    model = write(tmp_path / "gaps.mlir", {"x": (f"tensor<?x8x{element}>", "n"), "w": ("tensor<4x4xf32>", "")}, (type, "n"), body)
    check(fovea, model, device, gpu_code)
    kernels = fovea("compile", model, "--emit=kernels", "-o", "-").ok().text
    assert "fovea.launch @copy_0" in kernels and "#fovea.loops" not in kernels


@pytest.mark.devices("cpu", "emulator")
def test_weights_that_are_constants_are_tiles(fovea, tmp_path, device, gpu_code):
    type = "tensor<?x4xf32>"
    body = f"""  %w = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %z = fovea.layer_norm %x weight(%w : tensor<4xf32>) bias(%c : tensor<4xf32>) eps(1.0e-5) : {type}
  %y = fovea.rms_norm %z weight(%c : tensor<4xf32>) eps(1.0e-5) : {type}"""
    model = write(tmp_path / "constants.mlir", {"x": (type, "n")}, (type, "n"), body)
    check(fovea, model, device, gpu_code)
    fovea("compile", model, "-o", tmp_path / "constants.fovea").ok()
    assert "no kernel falls back to plain loops" in fovea("inspect", tmp_path / "constants.fovea").ok().text


ONE_ROW = {
    "fovea.linear": ("8", "4", "fovea.linear %x, %w : tensor<8x{e}>, tensor<4x8xf32> -> tensor<4x{e}>"),
    "fovea.layer_norm": ("8", "8", "fovea.layer_norm %x eps(1.0e-5) : tensor<8x{e}>"),
    "fovea.gated_norm": ("8", "8", "fovea.gated_norm %x gate(%x) weight(%g : tensor<8xf32>) eps(1.0e-5) : tensor<8x{e}>"),
    "linalg.softmax": ("8", "8", "linalg.softmax dimension(0) ins(%x : tensor<8x{e}>) outs(%x : tensor<8x{e}>) -> tensor<8x{e}>"),
    "fovea.activation": ("", "", "fovea.activation silu %x : tensor<{e}>"),
    "fovea.glu": ("", "", "fovea.glu silu %x, %x : tensor<{e}>"),
}


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("element", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("op", ONE_ROW)
def test_one_row_without_an_axis(fovea, tmp_path, op, element, device, gpu_code):
    size, result, text = ONE_ROW[op]
    type = lambda size: f"tensor<{size}{'x' if size else ''}{element}>"
    model = write(tmp_path / "row.mlir", {"x": (type(size), ""), "w": ("tensor<4x8xf32>", ""), "g": ("tensor<8xf32>", "")}, (type(result), ""), f"  %y = {text.format(e=element)}")
    check(fovea, model, device, gpu_code, {op: 1})
    fovea("compile", model, "-o", tmp_path / "row.fovea").ok()
    assert "no kernel falls back to plain loops" in fovea("inspect", tmp_path / "row.fovea").ok().text


@pytest.mark.devices("cpu", "emulator")
def test_an_embedding_of_one_id(fovea, tmp_path, device, gpu_code):
    body = "  %y = fovea.embedding %x, %t : tensor<i64>, tensor<4x8xf32> -> tensor<8xf32>"
    model = write(tmp_path / "id.mlir", {"x": ("tensor<i64>", ""), "t": ("tensor<4x8xf32>", "")}, ("tensor<8xf32>", ""), body)
    check(fovea, model, device, gpu_code, {"fovea.embedding": 1})


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("batch", ["?", "1"])
@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_rotations_of_open_heads(fovea, tmp_path, pairing, batch, device, gpu_code):
    type = "tensor<?x?x?x8xf32>"
    body = f"  %y = fovea.rope {pairing} %x at(%p : tensor<{batch}x?xi32>) dim(6) theta(1.0e4) : {type}"
    positions = (f"tensor<{batch}x?xi32>", "s" if batch == "1" else "b s")
    model = write(tmp_path / "rope.mlir", {"x": (type, "b s h"), "p": positions}, (type, "b s h"), body)
    check(fovea, model, device, gpu_code, {"fovea.rope": 1})


CONSTANTS = {
    "ids": ("tensor<?x4xf32>", "tensor<3x4xf32>", """  %c = arith.constant dense<[1, 0, 1]> : tensor<3xi64>
  %t = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %y = fovea.embedding %c, %t : tensor<3xi64>, tensor<2x4xf32> -> tensor<3x4xf32>"""),
    "positions": ("tensor<?x3x2x4xf32>", "tensor<?x3x2x4xf32>", """  %c = arith.constant dense<[[7, 1, 4]]> : tensor<1x3xi32>
  %y = fovea.rope half %x at(%c : tensor<1x3xi32>) dim(4) theta(1.0e4) : tensor<?x3x2x4xf32>"""),
    "rows": ("tensor<?x4xf32>", "tensor<2x4xf32>", """  %c = arith.constant dense<[[1.0, 2.0, 3.0, 5.0], [5.0, 4.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %y = fovea.l2_norm %c eps(1.0e-5) : tensor<2x4xf32>"""),
    "softmax": ("tensor<?x4xf32>", "tensor<2x4xf32>", """  %c = arith.constant dense<[[1.0, 2.0, 3.0, 5.0], [5.0, 4.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %y = linalg.softmax dimension(1) ins(%c : tensor<2x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>"""),
    "gate": ("tensor<2x4xf32>", "tensor<2x4xf32>", """  %c = arith.constant dense<[[1.0, 2.0, 3.0, 5.0], [5.0, 4.0, 7.0, 8.0]]> : tensor<2x4xf32>
  %y = fovea.glu silu %c, %x : tensor<2x4xf32>"""),
    "one number": ("tensor<2x4xf32>", "tensor<2x4xf32>", """  %c = arith.constant dense<3.0> : tensor<2x4xf32>
  %y = fovea.glu silu %c, %x : tensor<2x4xf32>"""),
    "product": ("tensor<?x4xf32>", "tensor<1x2xf32>", """  %c = arith.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %w = arith.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xi8>
  %s = arith.constant dense<[0.5, 0.25]> : tensor<2xf32>
  %y = fovea.linear %c, %w scales(%s : tensor<2xf32>) : tensor<1x4xf32>, tensor<2x4xi8> -> tensor<1x2xf32>"""),
    "mask": ("tensor<?x3x2x4xf32>", "tensor<?x3x2x4xf32>", """  %c = arith.constant dense<[[1, 1, 2]]> : tensor<1x3xi32>
  %m = fovea.mask_segment %c, %c : tensor<1x3xi32>, tensor<1x3xi32>
  %y = fovea.attention %x, %x, %x mask(%m) : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32>"""),
}


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("name", CONSTANTS)
def test_operands_that_are_constants(fovea, tmp_path, name, device, gpu_code):
    x, y, body = CONSTANTS[name]
    model = write(tmp_path / "constants.mlir", {"x": (x, "n" if "?" in x else "")}, (y, "n" if "?" in y else ""), body)
    check(fovea, model, device, gpu_code)


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("element, kept", [("f32", "f32"), ("f32", "bf16"), ("bf16", "f32"), ("bf16", "bf16"), ("f64", "f32"), ("f64", "bf16"), ("f64", "f64")])
def test_caches_of_any_floats(fovea, tmp_path, element, kept, device, gpu_code):
    type, cache = f"tensor<?x?x2x8x{element}>", f"!fovea.cache<{{}}, 2x8x{kept}>"
    key, value = cache.format("key"), cache.format("value")
    body = f"""  %0 = arith.constant 0 : index
  %1 = arith.constant 1 : index
  %b = tensor.dim %x, %0 : {type}
  %s = tensor.dim %x, %1 : {type}
  %ek = fovea.cache_create %b, %s : {key}
  %ev = fovea.cache_create %b, %s : {value}
  %k = fovea.cache_append %ek, %x : {key}, {type}
  %v = fovea.cache_append %ev, %x : {value}, {type}
  %y = fovea.attention %x, %k, %v : {type}, {key}, {value} -> {type}"""
    model = write(tmp_path / "cache.mlir", {"x": (type, "b s")}, (type, "b s"), body)
    check(fovea, model, device, gpu_code)
