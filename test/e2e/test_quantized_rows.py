# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of inputs as integers of eight bits beside weights of integers (`--compute=int8`): exact where the rule says that nothing is
rounded, the interpreter's numbers elsewhere, at each level of instructions and on GPUs; what is no number stays none."""
import json

import numpy as np
import pytest

from processor import has
from programs import ROOT
from test_compute import check_logits
from test_quantised import run, write_program
from test_shakespeare import held_out_loss

TYPES = pytest.mark.parametrize("dtype", ["int8", "int4"])
HAS_AVX512 = has("avx512vl")
LEVELS = pytest.mark.parametrize("target", ["host", "x86-64-v2", "x86-64-v3"] + ["x86-64-v4"] * HAS_AVX512)


def compile_rows(fovea, folder, weight, dtype, *flags):
    artifact = folder / "a.fovea"
    fovea("compile", write_program(folder, weight), f"--dtype={dtype}", "--compute=int8", "-o", artifact, *flags).ok()
    return artifact


def whole_numbers(rng, rows, k):
    """Rows that are integers times a scale, so that rounding leaves them as they are."""
    integers = rng.integers(-127, 128, (rows, k))
    integers[np.arange(rows), rng.integers(0, k, rows)] = 127
    return (integers * np.exp2(rng.integers(-20, 20, (rows, 1)))).astype(np.float32)


@TYPES
@LEVELS
@pytest.mark.parametrize("n, k", [(37, 30), (48, 32), (131, 96), (16, 6), (130, 2080)])
def test_exact_rows(fovea, fovea_run, tmp_path, dtype, target, n, k):
    """Against the weights that the identity finds: one row, some, and more than a block of work has."""
    rng = np.random.default_rng(n)
    weight = rng.standard_normal((n, k)).astype(np.float32)
    artifact = compile_rows(fovea, tmp_path, weight, dtype, f"--target={target}")
    rounded = run(fovea_run, artifact, tmp_path, x=np.eye(k, dtype=np.float32))["y"].astype(float)
    assert 0.001 < np.abs(rounded.T - weight).max() < 0.6
    for rows in (1, 3, 8, 70, 300):
        x = whole_numbers(rng, rows, k)
        want = x.astype(float) @ rounded
        got = run(fovea_run, artifact, tmp_path, x=x)["y"]
        assert (np.abs(got - want).max(1) <= 1e-5 * np.abs(x.astype(float)).max(1) * np.sqrt(k)).all()


@TYPES
def test_rule(fovea, fovea_run, tmp_path, dtype):
    """Numbers between two integers, halves among them, become the nearest, of halves the even one."""
    k = 64
    artifact = compile_rows(fovea, tmp_path, np.eye(k, dtype=np.float32), dtype)
    scale = run(fovea_run, artifact, tmp_path, x=np.eye(k, dtype=np.float32))["y"].astype(float).diagonal()
    x = np.random.default_rng(3).uniform(-127, 127, (40, k)).astype(np.float32)
    x[:, 5], x[:, 6], x[:, 7], x[:, 8] = -127, 2.5, 3.5, -0.5
    got = run(fovea_run, artifact, tmp_path, x=x)["y"] / scale
    assert np.abs(got - np.rint(x)).max() < 1e-4


@TYPES
@LEVELS
def test_rows_that_are_no_numbers(fovea, fovea_run, tmp_path, dtype, target):
    """They spoil themselves alone; rows of zeros, and of numbers next to zero, are zero."""
    weight = np.random.default_rng(4).standard_normal((40, 64)).astype(np.float32)
    artifact = compile_rows(fovea, tmp_path, weight, dtype, f"--target={target}")
    x = np.random.default_rng(5).standard_normal((12, 64)).astype(np.float32)
    x[1, 7], x[3, 0], x[5, 63], x[7], x[8] = np.nan, np.inf, -np.inf, 0, 1e-38
    y = run(fovea_run, artifact, tmp_path, x=x)["y"]
    assert np.isnan(y[[1, 3, 5]]).all() and (y[[7, 8]] == 0).all()
    assert np.isfinite(y[[0, 2, 4, 6, 9, 10, 11]]).all()


@TYPES
@pytest.mark.parametrize("flags", [("--target=x86-64-v3",), ("-O0",), ("--gpu=sm_80", "-O0", "--device=emulator"),
                                   ("--gpu=sm_90a", "-O0", "--device=emulator")], ids=" ".join)
@pytest.mark.parametrize("shape", [(37, 32), (16, 64), (5, 30), (1, 96)])
def test_code_agrees(fovea, tmp_path, dtype, flags, shape):
    weight = np.random.default_rng(6).standard_normal(shape).astype(np.float32)
    fovea("verify", write_program(tmp_path, weight), f"--dtype={dtype}", "--compute=int8", *flags).ok()


@TYPES
@pytest.mark.parametrize("model", ["blocks/llama.mlir", "tutorial-classifier/reverse.onnx", "models/shakespeare-llama"])
def test_every_reader(fovea, dtype, model):
    fovea("verify", ROOT / "examples" / model, f"--dtype={dtype}", "--compute=int8").ok()


@pytest.mark.parametrize("dtype, least, agreeing", [("int8", 0.998, 0.94), ("int4", 0.99, 0.88)])
def test_logits_stay_near(fovea_run, compiled, shakespeare, shakespeare_artifact, tmp_path, dtype, least, agreeing):
    artifact = compiled(shakespeare, f"--dtype={dtype}", "--compute=int8")
    check_logits(fovea_run, artifact, shakespeare_artifact, tmp_path, least, agreeing)


@pytest.mark.parametrize("dtype, most", [("int8", 0.003), ("int4", 0.01)])
def test_perplexity(fovea_run, compiled, shakespeare, data, tmp_path, dtype, most):
    loss, expected = held_out_loss(fovea_run, compiled(shakespeare, f"--dtype={dtype}", "--compute=int8"), data, tmp_path)
    assert abs(loss - expected) <= most, np.exp(loss)


@TYPES
def test_report_and_artifact(fovea, shakespeare, tmp_path, dtype):
    """The report counts linears by what they multiply, and `verify` of an artifact asks it."""
    artifact, report = tmp_path / "a.fovea", tmp_path / "report.json"
    fovea("compile", shakespeare, f"--dtype={dtype}", "--compute=int8", "-o", artifact, f"--report={report}").ok()
    counts = json.loads(report.read_text())["compute"]
    assert counts == {"int8": 12, "bf16": 0}
    fovea("verify", artifact, "--source", shakespeare, f"--dtype={dtype}").ok()


@pytest.mark.parametrize("flags, expected", [
    (["--target=znver4"], True), (["--target=sapphirerapids"], True), (["--target=x86-64-v3", "--gpu=sm_80"], False),
    (["--target=x86-64-v4"], False), (["--target=icelake-server"], True), (["--target=alderlake"], True), (["--target=x86-64,alderlake"], True),
    (["--target=znver4", "--compute=bf16"], False), (["--target=portable"], True), (["--target=x86-64", "--compute=int8"], True)])
def test_auto_is_what_the_target_multiplies_faster(fovea, shakespeare, flags, expected):
    text = fovea("compile", shakespeare, "--dtype=int4", "--emit=graph", "-o", "-", *flags).ok().text
    assert ("quantize_rows" in text) == expected
