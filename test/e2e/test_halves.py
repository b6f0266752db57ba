# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activations of f16 and bf16: tile programs that compute in f32 and round where the source rounds. Right on every target of the
processor and on the emulator; no kernel falls back to plain loops."""
import pytest

TARGETS = [(), ("--target=x86-64",), ("--target=x86-64-v3",), ("--gpu=sm_80", "-O0", "--device=emulator"), ("--gpu=sm_90a", "-O0", "--device=emulator:late")]

PROGRAMS = {
    # A product with bias, activation and residual; both norms; one row for each text.
    "block": """
func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %r: !y {fovea.name = "r", fovea.dims = ["batch", "words"]},
                   %w: tensor<64x96xF> {fovea.name = "w"}, %b: !v {fovea.name = "b"}, %g: !v {fovea.name = "g"})
    -> (!y {fovea.name = "y", fovea.dims = ["batch", "words"]}, !y {fovea.name = "z", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %0 = fovea.linear %x, %w bias(%b : !v) : !x, tensor<64x96xF> -> !y
  %1 = fovea.activation gelu %0 : !y
  %2 = arith.addf %1, %r : !y
  %3 = fovea.layer_norm %2 weight(%g : !v) bias(%b : !v) eps(1.0e-5) : !y
  %4 = fovea.rms_norm %2 weight(%g : !v) eps(1.0e-5) : !y
  return %3, %4 : !y, !y
}
""",
    "many_columns": """
func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %w: tensor<200x96xF> {fovea.name = "w"}, %b: tensor<200xF> {fovea.name = "b"})
    -> (tensor<?x?x200xF> {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %y = fovea.linear %x, %w bias(%b : tensor<200xF>) : !x, tensor<200x96xF> -> tensor<?x?x200xF>
  return %y : tensor<?x?x200xF>
}
""",
    "one_row": """
func.func @forward(%x: tensor<?x1x96xF> {fovea.name = "x", fovea.dims = ["batch"]}, %w: tensor<65x96xF> {fovea.name = "w"})
    -> (tensor<?x1x65xF> {fovea.name = "y", fovea.dims = ["batch"]}) attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : tensor<?x1x96xF>, tensor<65x96xF> -> tensor<?x1x65xF>
  %1 = fovea.activation silu %0 : tensor<?x1x65xF>
  return %1 : tensor<?x1x65xF>
}
""",
    # Weights of f32 beside activations that are halves.
    "wide_weight": """
func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %w: tensor<64x96xf32> {fovea.name = "w"})
    -> (!y {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : !x, tensor<64x96xf32> -> !y
  return %0 : !y
}
""",
    # A norm without weight before a product is rounded; a gate of two halves of a product's columns.
    "gate": """
func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %w: tensor<128x96xF> {fovea.name = "w"})
    -> (!y {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %n = fovea.rms_norm %x eps(1.0e-5) : !x
  %p = fovea.linear %n, %w : !x, tensor<128x96xF> -> tensor<?x?x128xF>
  %a = tensor.extract_slice %p[0, 0, 0] [%batch, %words, 64] [1, 1, 1] : tensor<?x?x128xF> to !y
  %b = tensor.extract_slice %p[0, 0, 64] [%batch, %words, 64] [1, 1, 1] : tensor<?x?x128xF> to !y
  %y = fovea.glu silu %a, %b : !y
  return %y : !y
}
""",
    # Every step of these rounds: 2048 + 1 is 2048 in f16, so the sum is not what f32 gives. Up and down again.
    "elements": """
func.func @forward(%x: !y {fovea.name = "x", fovea.dims = ["batch", "words"]}, %r: !y {fovea.name = "r", fovea.dims = ["batch", "words"]})
    -> (!y {fovea.name = "y", fovea.dims = ["batch", "words"]}, tensor<?x?x64xf32> {fovea.name = "wide", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !y
  %words = tensor.dim %x, %c1 : !y
  %big = arith.constant 2048.0 : F
  %many = tensor.splat %big[%batch, %words] : !y
  %0 = arith.addf %x, %many : !y
  %1 = arith.subf %0, %many : !y
  %2 = arith.mulf %1, %r : !y
  %3 = arith.extf %2 : !y to tensor<?x?x64xf32>
  %4 = arith.addf %3, %3 : tensor<?x?x64xf32>
  %5 = arith.truncf %4 : tensor<?x?x64xf32> to !y
  %6 = arith.maximumf %5, %r : !y
  %7 = arith.negf %6 : !y
  return %7, %4 : !y, tensor<?x?x64xf32>
}
""",
    "rope": """
func.func @forward(%x: !x {fovea.name = "x", fovea.dims = ["batch", "words"]}, %w: tensor<64x96xF> {fovea.name = "w"})
    -> (tensor<?x?x2x32xF> {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !x
  %words = tensor.dim %x, %c1 : !x
  %p = fovea.linear %x, %w : !x, tensor<64x96xF> -> !y
  %h = tensor.expand_shape %p [[0], [1], [2, 3]] output_shape [%batch, %words, 2, 32] : !y into tensor<?x?x2x32xF>
  %places = fovea.positions from %c0 count %words : tensor<1x?xi32>
  %y = fovea.rope half %h at(%places : tensor<1x?xi32>) dim(32) theta(10000.0) : tensor<?x?x2x32xF>
  return %y : tensor<?x?x2x32xF>
}
""",
    # Only moved: the code generator would round bf16 by calls wherever ways meet.
    "cache": """
func.func @forward(%q: tensor<?x?x4x8xF> {fovea.name = "q", fovea.dims = ["batch", "words"]}, %k: tensor<?x?x2x8xF> {fovea.name = "k", fovea.dims = ["batch", "words"]})
    -> (tensor<?x?x4x8xF> {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %k, %c0 : tensor<?x?x2x8xF>
  %words = tensor.dim %k, %c1 : tensor<?x?x2x8xF>
  %keys = fovea.cache_create %batch, %words : !fovea.cache<key, 2x8xF>
  %values = fovea.cache_create %batch, %words : !fovea.cache<value, 2x8xF>
  %k1 = fovea.cache_append %keys, %k : !fovea.cache<key, 2x8xF>, tensor<?x?x2x8xF>
  %v1 = fovea.cache_append %values, %k : !fovea.cache<value, 2x8xF>, tensor<?x?x2x8xF>
  %o = fovea.attention %q, %k1, %v1 : tensor<?x?x4x8xF>, !fovea.cache<key, 2x8xF>, !fovea.cache<value, 2x8xF> -> tensor<?x?x4x8xF>
  return %o : tensor<?x?x4x8xF>
}
""",
    "softmax": """
func.func @forward(%x: !y {fovea.name = "x", fovea.dims = ["batch", "words"]}) -> (!y {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : !y
  %words = tensor.dim %x, %c1 : !y
  %empty = tensor.empty(%batch, %words) : !y
  %y = linalg.softmax dimension(2) ins(%x : !y) outs(%empty : !y) -> !y
  return %y : !y
}
""",
    "embedding": """
func.func @forward(%ids: tensor<?x?xi64> {fovea.name = "input_ids", fovea.dims = ["batch", "words"]}, %t: tensor<32x64xF> {fovea.name = "t"}, %g: !v {fovea.name = "g"})
    -> (!y {fovea.name = "y", fovea.dims = ["batch", "words"]}) attributes {fovea.entry} {
  %0 = fovea.embedding %ids, %t : tensor<?x?xi64>, tensor<32x64xF> -> !y
  %1 = arith.addf %0, %0 : !y
  %2 = fovea.layer_norm %1 weight(%g : !v) eps(1.0e-5) : !y
  return %2 : !y
}
""",
}


def write(path, name, element):
    types = "!x = tensor<?x?x96xF>\n!y = tensor<?x?x64xF>\n!v = tensor<64xF>\n"
    path.write_text((types + PROGRAMS[name]).replace("xF>", f"x{element}>").replace(" : F\n", f" : {element}\n"))
    return path


@pytest.mark.parametrize("element", ["f16", "bf16"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_halves_are_right_everywhere(fovea, tmp_path, name, element):
    model = write(tmp_path / "model.mlir", name, element)
    assert "no kernel falls back to plain loops" in fovea("inspect", model).ok().text
    for target in TARGETS:
        fovea("verify", model, "--quiet", *target).ok()


@pytest.mark.parametrize("chip, atom", [("sm_80", "mma.sync.aligned.m16n8k16.row.col.f32.F.F.f32"), ("sm_90a", "wgmma.mma_async.sync.aligned.m64n64k16.f32.F.F")])
@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_gpus_multiply_halves_as_they_are(fovea, tmp_path, chip, atom, element):
    model = write(tmp_path / "model.mlir", "block", element)
    fovea("compile", model, f"--gpu={chip}", "--emit=ptx", "-o", tmp_path / "code.ptx").ok()
    assert atom.replace("F", element) in (tmp_path / "code.ptx").read_text()
