# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights of int8 and int4: the numbers are those of the rule, computed again here; compiled code computes what the interpreter
does, from every reader; the trained model stays what it was as far as so many bits allow."""
import json
import re

import numpy as np
import pytest

from programs import ROOT
from test_compute import check_logits
from test_shakespeare import held_out_loss

TYPES = pytest.mark.parametrize("dtype", ["int8", "int4"])

PROGRAM = """
fovea.weight @w : tensor<{n}x{k}x{type}> = #fovea.stored<"model.safetensors", "w", tensor<{n}x{k}x{type}>>
func.func @forward(%x: tensor<?x{k}xf32> {{fovea.name = "x", fovea.dims = ["rows"]}})
    -> (tensor<?x{n}xf32> {{fovea.name = "y", fovea.dims = ["rows"]}}) attributes {{fovea.entry}} {{
  %w = fovea.weight_ref @w : tensor<{n}x{k}x{type}>
  %y = fovea.linear %x, %w : tensor<?x{k}xf32>, tensor<{n}x{k}x{type}> -> tensor<?x{n}xf32>
  return %y : tensor<?x{n}xf32>
}}
"""


def write_program(folder, weight, type="f32"):
    n, k = weight.shape
    header = json.dumps({"w": {"dtype": type.upper(), "shape": [n, k], "data_offsets": [0, weight.nbytes]}}).encode()
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + weight.tobytes())
    path = folder / "program.mlir"
    path.write_text(PROGRAM.format(n=n, k=k, type=type))
    return path


def run(fovea_run, artifact, folder, entry="forward", **inputs):
    np.savez(folder / "in.npz", **inputs)
    fovea_run("run", artifact, "--entry", entry, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz").ok()
    return dict(np.load(folder / "out.npz"))


def rounded_int8(weight):
    scale = np.abs(weight).max(1, keepdims=True) / np.float32(127)
    return np.rint(np.divide(weight, scale, out=np.zeros_like(weight), where=scale != 0)) * scale


def test_int8_is_the_rule(fovea, fovea_run, tmp_path):
    """Identity times the weight gives the weight: sizes that no panel and no vector divides, and a row of zeros."""
    weight = np.random.default_rng(1).standard_normal((37, 29)).astype(np.float32)
    weight[5] = 0
    artifact = tmp_path / "a.fovea"
    result = fovea("compile", write_program(tmp_path, weight), "--dtype=int8", "-o", artifact, "--report", tmp_path / "report.json").ok()
    assert "1 matrices are int8" in result.err.decode()
    assert json.loads((tmp_path / "report.json").read_text())["quantized"] == {"int8": 1, "int4": 0, "float": 0}
    y = run(fovea_run, artifact, tmp_path, x=np.eye(29, dtype=np.float32))["y"]
    np.testing.assert_allclose(y.T, rounded_int8(weight), rtol=1e-6, atol=1e-7)


def test_int4_is_near(fovea, fovea_run, tmp_path):
    """Each group has at most 16 values, of which zero is one, and none is further off than half a step of the coarsest scale."""
    weight = np.random.default_rng(2).standard_normal((21, 96)).astype(np.float32)
    weight[3, 32:64] = 0
    artifact = tmp_path / "a.fovea"
    fovea("compile", write_program(tmp_path, weight), "--dtype=int4", "--compute=f32", "-o", artifact).ok()
    text = fovea("inspect", artifact).ok().text
    assert "w: 21x96 i4, fovea.panels<16, interleave = 4>" in text and "w.scales: 21x3 f16, fovea.panels<16>" in text
    y = run(fovea_run, artifact, tmp_path, x=np.eye(96, dtype=np.float32))["y"].T
    assert (y[3, 32:64] == 0).all()
    groups, got = weight.reshape(-1, 32), y.reshape(-1, 32)
    assert all(len(np.unique(group)) <= 16 for group in got)
    coarsest = np.abs(groups).max(1, keepdims=True) / 7
    # The extreme itself may be cut off: of nine steps one is past the range.
    assert (np.abs(got - groups) <= np.maximum(coarsest / 2, np.abs(groups).max(1, keepdims=True) / 9 * 1.01)).all()
    assert np.sqrt(np.mean((got - groups) ** 2)) < 0.09 * np.sqrt(np.mean(groups**2))


def test_int4_of_no_whole_groups_is_int8(fovea, tmp_path):
    weight = np.ones((4, 48), dtype=np.float32)
    result = fovea("compile", write_program(tmp_path, weight), "--dtype=int4", "-o", tmp_path / "a.fovea").ok()
    assert "1 matrices are int8 and 0 int4" in result.err.decode()


@TYPES
@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_weight_that_is_no_number(fovea, tmp_path, dtype, value):
    weight = np.ones((8, 32), dtype=np.float32)
    weight[6, 31] = value
    result = fovea("compile", write_program(tmp_path, weight), f"--dtype={dtype}", "-o", tmp_path / "a.fovea")
    assert result.code == 1, str(result)
    message = result.err.decode()
    assert "expects finite weights" in message and "in row 6 of a weight read from 'w'" in message
    assert not (tmp_path / "a.fovea").exists()


@TYPES
@pytest.mark.parametrize("shape", [(37, 32), (16, 64), (5, 30), (1, 96)])
@pytest.mark.parametrize("flags", [(), ("--gpu=sm_80", "-O0", "--device=emulator")], ids=["cpu", "sm_80"])
def test_code_agrees(fovea, tmp_path, dtype, shape, flags):
    """Also through the layout that a GPU reads."""
    weight = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    fovea("verify", write_program(tmp_path, weight), f"--dtype={dtype}", *flags).ok()


@TYPES
@pytest.mark.devices("emulator", "emulator:late")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("n, k", [(150, 96), (256, 192)])
def test_many_rows_on_a_device(compiled, fovea_run, tmp_path, device, dtype, chip, element, n, k):
    """Where integers become numbers on their way to tensor cores; of f16, 256 outputs are wgmma's on sm_90a, and a producer's."""
    weight = np.random.default_rng(4).standard_normal((n, k)).astype(np.float32)
    path = write_program(tmp_path, weight)
    path.write_text(path.read_text().replace(f"tensor<?x{k}xf32>", f"tensor<?x?x{k}x{element}>").replace(f"tensor<?x{n}xf32>", f"tensor<?x?x{n}x{element}>")
                    .replace('["rows"]', '["batch", "rows"]'))
    artifact = compiled(path, f"--dtype={dtype}", f"--gpu={chip}", *(["--compute=f32"] if element == "f32" else []))
    x = np.random.default_rng(5).standard_normal((1, 133, k)).astype(np.float32 if element == "f32" else np.float16)
    found = {}
    for where in ("cpu", device):
        np.savez(tmp_path / "in.npz", x=x)
        fovea_run("run", artifact, "--device", where, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        found[where] = np.load(tmp_path / "out.npz")["y"].astype(np.float64)
    assert np.abs(found["cpu"]).max() > 5
    # In f16 a device rounds what a scale of a group makes of its integers.
    bound = 2e-6 if element == "f32" else 2e-3
    assert np.abs(found["cpu"] - found[device]).max() <= bound * np.abs(found["cpu"]).max()


@TYPES
def test_no_inputs(fovea, tmp_path, dtype):
    """A matrix of no columns has no groups."""
    fovea("compile", write_program(tmp_path, np.zeros((4, 0), dtype=np.float32)), f"--dtype={dtype}", "-o", tmp_path / "a.fovea").ok()


def test_int4_is_for_linears(fovea, tmp_path):
    (tmp_path / "program.mlir").write_text("""
fovea.weight @q : tensor<40x96xi4> = #fovea.quantize<#fovea.stored<"model.safetensors", "w", tensor<40x96xf32>>, i4, f16, group = 32>
func.func @forward() -> (tensor<40x96xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %q = fovea.weight_ref @q : tensor<40x96xi4>
  %y = arith.sitofp %q : tensor<40x96xi4> to tensor<40x96xf32>
  return %y : tensor<40x96xf32>
}
""")
    result = fovea("compile", tmp_path / "program.mlir", "-o", tmp_path / "a.fovea")
    assert result.code == 1 and "'arith.sitofp' op expects a type that others than linears read as operand 0, got 'tensor<40x96xi4>'" in result.err.decode()
    assert not (tmp_path / "a.fovea").exists()


def test_casting_leaves_scales_alone(fovea, tmp_path):
    """They are what the integers were rounded by."""
    path = write_program(tmp_path, np.ones((40, 96), dtype=np.float32))
    fovea("compile", path, "--dtype=int4", "--dump-ir", tmp_path / "ir", "-o", tmp_path / "a.fovea").ok()
    graph, = (tmp_path / "ir").glob("*graph*")
    (tmp_path / "ir" / "model.safetensors").write_bytes((tmp_path / "model.safetensors").read_bytes())
    fovea("compile", graph, "--dtype=bf16", "-o", tmp_path / "b.fovea").ok()
    assert "w.scales: 40x3 f16" in fovea("inspect", tmp_path / "b.fovea").ok().text


@pytest.mark.parametrize("dtype", ["int8", "int4", "bf16", "f32"])
@pytest.mark.parametrize("model", ["blocks/llama.mlir", "tutorial-classifier/reverse.onnx", "models/shakespeare-llama"])
def test_every_reader(fovea, dtype, model):
    fovea("verify", ROOT / "examples" / model, f"--dtype={dtype}").ok()


def test_products_of_onnx_become_linears_before_they_are_cast(fovea, tmp_path):
    """The keys of this model are made of a table of positions, which keeps its type: it is no weight of a linear."""
    model = ROOT / "test" / "corpus" / "models" / "deberta_disentangled.ts13.onnx"
    result = fovea("compile", model, "--dtype=bf16", "-o", tmp_path / "a.fovea").ok()
    assert re.search(r"note: --dtype=bf16: weights that other ops read than linears, norms and embeddings keep their type: 1 \(", result.err.decode())
    assert sorted(set(re.findall(r"linear \[\d+, \d+\] bf16", fovea("inspect", tmp_path / "a.fovea").ok().text))) == ["linear [32, 16] bf16", "linear [48, 16] bf16"]
    fovea("verify", model, "--dtype=bf16").ok()


@TYPES
@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("n, k", [(37, 30), (64, 96)])
def test_tied_table(fovea, fovea_run, tmp_path, gpu_code, device, dtype, n, k):
    """A table that is a head is int8, and gives the rows of the rule; a number outside of it is a fault."""
    weight = np.random.default_rng(7).standard_normal((n, k)).astype(np.float32)
    path = write_program(tmp_path, weight)
    path.write_text(f"""
fovea.weight @w : tensor<{n}x{k}xf32> = #fovea.stored<"model.safetensors", "w", tensor<{n}x{k}xf32>>
func.func @forward(%i: tensor<?x?xi64> {{fovea.name = "i", fovea.dims = ["texts", "words"]}})
    -> (tensor<?x?x{k}xf32> {{fovea.name = "x", fovea.dims = ["texts", "words"]}}, tensor<?x?x{n}xf32> {{fovea.name = "y", fovea.dims = ["texts", "words"]}}) attributes {{fovea.entry}} {{
  %w = fovea.weight_ref @w : tensor<{n}x{k}xf32>
  %x = fovea.embedding %i, %w : tensor<?x?xi64>, tensor<{n}x{k}xf32> -> tensor<?x?x{k}xf32>
  %y = fovea.linear %x, %w : tensor<?x?x{k}xf32>, tensor<{n}x{k}xf32> -> tensor<?x?x{n}xf32>
  return %x, %y : tensor<?x?x{k}xf32>, tensor<?x?x{n}xf32>
}}
""")
    artifact = tmp_path / "a.fovea"
    result = fovea("compile", path, f"--dtype={dtype}", "--compute=f32", "-o", artifact, *gpu_code).ok()
    assert "1 matrices are int8 and 0 int4" in result.err.decode()
    ids = np.array([[0, n - 1, 5, 5, 17]], dtype=np.int64)
    np.savez(tmp_path / "in.npz", i=ids)
    fovea_run("run", artifact, "--device", device, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
    found = np.load(tmp_path / "out.npz")
    table = rounded_int8(weight)
    np.testing.assert_allclose(found["x"], table[ids], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(found["y"], table[ids].astype(float) @ table.astype(float).T, rtol=2e-5, atol=2e-5)
    np.savez(tmp_path / "in.npz", i=ids + n)
    assert fovea_run("run", artifact, "--device", device, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").code == 1


@pytest.mark.parametrize("dtype, least, agreeing", [("int8", 0.9995, 0.97), ("int4", 0.99, 0.88)])
def test_logits_stay_near(fovea_run, compiled, shakespeare, shakespeare_artifact, tmp_path, dtype, least, agreeing):
    artifact = compiled(shakespeare, f"--dtype={dtype}", "--compute=bf16")
    assert artifact.stat().st_size < shakespeare_artifact.stat().st_size * 0.7
    check_logits(fovea_run, artifact, shakespeare_artifact, tmp_path, least, agreeing)


@pytest.mark.parametrize("dtype, most", [("int8", 0.002), ("int4", 0.01)])
def test_perplexity(fovea_run, compiled, shakespeare, data, tmp_path, dtype, most):
    """The promise of docs/rationale/accuracy.md: how far the logarithm of perplexity may be off."""
    loss, expected = held_out_loss(fovea_run, compiled(shakespeare, f"--dtype={dtype}", "--compute=bf16"), data, tmp_path)
    assert abs(loss - expected) <= most, np.exp(loss)


@pytest.mark.devices("cpu", "emulator")
@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("n, k, group", [(33, 64, 32), (7, 10, 10), (130, 96, 2)])
def test_int4_row_by_row(fovea, tmp_path, gpu_code, device, n, k, group, element):
    """A weight that is packed already, without panels: two neighbours of a row share a byte."""
    path = write_program(tmp_path, np.random.default_rng(6).standard_normal((n, k)).astype(np.float32))
    stored = f'#fovea.stored<"model.safetensors", "w", tensor<{n}x{k}xf32>>, i4, f16, group = {group}'
    weight, scales, x, y = f"tensor<{n}x{k}xi4>", f"tensor<{n}x{k // group}xf16>", f"tensor<?x{k}x{element}>", f"tensor<?x{n}x{element}>"
    path.write_text(f"""
fovea.weight @w : {weight} = #fovea.pack<#fovea.quantize<{stored}>>
fovea.weight @w.scales : {scales} = #fovea.pack<#fovea.quantization_scales<{stored}>>
func.func @forward(%x: {x} {{fovea.name = "x", fovea.dims = ["rows"]}}) -> ({y} {{fovea.name = "y", fovea.dims = ["rows"]}}) attributes {{fovea.entry}} {{
  %w = fovea.weight_ref @w : {weight}
  %s = fovea.weight_ref @w.scales : {scales}
  %y = fovea.linear %x, %w scales(%s : {scales}) : {x}, {weight} -> {y}
  return %y : {y}
}}
""")
    fovea("verify", path, *gpu_code, f"--device={device}").ok()
    assert "#fovea.loops" not in fovea("compile", path, "--emit=kernels", "-o", "-").ok().text
