# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What linears multiply: bf16 where their weights have no more bits, with sums and all else in f32. The promises of docs/rationale/accuracy.md."""
import json
import re

import numpy as np
import pytest

from processor import skip_without
from programs import DATA, ROOT
from test_shakespeare import held_out_loss

DECODER = ROOT / "examples" / "blocks" / "decoder.mlir"


@pytest.fixture(scope="module")
def rounded(compiled, shakespeare):
    return compiled(shakespeare, "--compute=bf16")


def logits(fovea_run, artifact, tmp_path, ids, *flags):
    np.savez(tmp_path / "in.npz", input_ids=np.array([ids], dtype=np.int64))
    fovea_run("run", artifact, "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", *flags).ok()
    return np.load(tmp_path / "out.npz")["logits"][0].astype(float)


def check_logits(fovea_run, artifact, reference, tmp_path, least, agreeing):
    """Of three texts, beside another artifact's: other numbers, the least cosine, and the share of equal most likely tokens."""
    for case in json.loads((DATA / "shakespeare-reference.json").read_text())[:3]:
        ids = case["prompt_ids"] + case["greedy_ids"]
        got, want = (logits(fovea_run, file, tmp_path, ids) for file in (artifact, reference))
        assert not np.array_equal(got, want)
        cosine = (want * got).sum(1) / np.linalg.norm(want, axis=1) / np.linalg.norm(got, axis=1)
        assert cosine.min() > least
        assert (want.argmax(1) == got.argmax(1)).mean() > agreeing


def test_logits_stay_near(fovea_run, rounded, shakespeare_artifact, tmp_path):
    check_logits(fovea_run, rounded, shakespeare_artifact, tmp_path, 0.9998, 0.97)


def test_perplexity(fovea_run, rounded, data, tmp_path):
    loss, expected = held_out_loss(fovea_run, rounded, data, tmp_path)
    assert abs(loss - expected) <= 5e-4, np.exp(loss)


@pytest.fixture(scope="module")
def short_caches(compiled, shakespeare):
    return compiled(shakespeare, "--compute=bf16", "--cache=bf16")


def test_caches_of_bf16(fovea, fovea_run, short_caches, shakespeare, data, tmp_path):
    """Keys and values rounded as they are appended, and attention in bf16: verified through prefill and decode, the perplexity next to that of f32, and half the memory."""
    fovea("verify", short_caches, "--source", shakespeare).ok()
    loss, expected = held_out_loss(fovea_run, short_caches, data, tmp_path)
    assert abs(loss - expected) <= 1e-3, np.exp(loss)
    text = fovea("inspect", short_caches).ok().text
    assert "bf16" in next(line for line in text.splitlines() if "key_cache.0" in line)


@pytest.mark.parametrize("gpu", ["sm_80", "sm_90a"])
def test_caches_of_bf16_on_a_gpu(fovea, shakespeare, gpu):
    fovea("verify", shakespeare, "--cache=bf16", f"--gpu={gpu}", "--device=emulator").ok()


def test_caches_of_bf16_alone(fovea, shakespeare):
    """Queries of f32 by keys that are widened."""
    fovea("verify", shakespeare, "--cache=bf16", "--compute=f32").ok()


def test_bits_do_not_depend_on_threads_and_lengths(fovea_run, rounded, tmp_path):
    """Rows are multiplied by pairs whether there is one or a tile of them; one after the other they are the same."""
    ids = list(range(100, 170))
    whole = logits(fovea_run, rounded, tmp_path, ids, "--threads=2")
    assert np.array_equal(whole, logits(fovea_run, rounded, tmp_path, ids, "--threads=1"))
    for count in (1, 7, 40):
        part = logits(fovea_run, rounded, tmp_path, ids[:count])
        assert np.abs(part - whole[:count]).max() <= 1.6e-2 * np.abs(whole).max()


@pytest.mark.parametrize("target", ["x86-64", "x86-64-v3", "x86-64-v4", "host"])
def test_every_level_rounds_the_same(fovea_run, compiled, shakespeare, rounded, tmp_path, target):
    """Where there is no instruction for pairs, inputs are rounded and widened again."""
    skip_without(target)
    ids = list(range(200, 233))
    got = logits(fovea_run, compiled(shakespeare, f"--target={target}", "--compute=bf16"), tmp_path, ids)
    want = logits(fovea_run, rounded, tmp_path, ids)
    assert np.abs(got - want).max() <= 1.6e-2 * np.abs(want).max()


def test_the_report_counts(fovea, shakespeare, tmp_path):
    report = tmp_path / "report.json"
    for flags, expected in [(["--compute=bf16"], True), (["--compute=bf16", "--dtype=int8"], True), (["--compute=f32"], False), (["--compute=bf16", "--dtype=f32"], False)]:
        fovea("compile", shakespeare, "-o", tmp_path / "a.fovea", f"--report={report}", *flags).ok()
        assert (json.loads(report.read_text()).get("compute", {}).get("bf16", 0) > 0) == expected


def test_casts_stand_in_the_graph(fovea, shakespeare):
    text = fovea("compile", shakespeare, "--emit=graph", "-o", "-", "--compute=bf16").ok().text
    assert "arith.truncf" in text and re.search(r"fovea.linear %\S+, %\S+ : tensor<\?x\?x192xbf16>, tensor<\d+x192xbf16> -> tensor<\?x\?x\d+xf32>", text)
    assert "arith.truncf" not in fovea("compile", shakespeare, "--emit=graph", "-o", "-", "--compute=f32").ok().text


@pytest.mark.parametrize("flags, expected", [
    (["--target=znver4"], True), (["--target=sapphirerapids"], True), (["--target=x86-64-v3", "--gpu=sm_80"], True),
    (["--target=cooperlake"], False), (["--target=x86-64-v4"], False), (["--target=x86-64"], False), (["--target=portable"], True)])
def test_auto_is_what_the_target_multiplies_faster(fovea, shakespeare, flags, expected):
    assert ("arith.truncf" in fovea("compile", shakespeare, "--emit=graph", "-o", "-", *flags).ok().text) == expected


@pytest.mark.parametrize("flags", [[], ["--compute=bf16"], ["--compute=f32"], ["--compute=bf16", "--dtype=int4"]])
def test_artifacts_are_verified_as_they_were_compiled(fovea, compiled, shakespeare, flags):
    dtype = [flag for flag in flags if "dtype" in flag]
    fovea("verify", compiled(shakespeare, *flags), "--source", shakespeare, "--length=5", *dtype).ok()


def test_cast_weights_are_multiplied_in_their_type(fovea, tmp_path):
    """f32 weights that become bf16 on the way, too."""
    report = tmp_path / "report.json"
    fovea("compile", DECODER, "--dtype=bf16", "--compute=bf16", "-o", tmp_path / "a.fovea", f"--report={report}").ok()
    assert json.loads(report.read_text())["compute"]["bf16"] > 0
    fovea("verify", DECODER, "--dtype=bf16").ok()


def test_gpus_round_the_same(fovea, fovea_run, shakespeare, rounded, tmp_path):
    fovea("compile", shakespeare, "--gpu=sm_80", "-O0", "-o", tmp_path / "gpu.fovea").ok()
    ids = list(range(300, 317))
    want = logits(fovea_run, rounded, tmp_path, ids)
    got = logits(fovea_run, tmp_path / "gpu.fovea", tmp_path, ids, "--device=emulator")
    assert np.abs(got - want).max() <= 1.6e-2 * np.abs(want).max()


def test_other_types_are_refused(fovea, shakespeare):
    result = fovea("compile", shakespeare, "--compute=f8", "-o", "/dev/null")
    assert result.code not in (0, 70) and "--compute" in result.err.decode() and "auto" in result.err.decode()
