# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code for several processors in one artifact, of which the runtime takes the best that the machine has."""
import numpy as np
import pytest

from processor import has

ARGUMENTS = ("--prompt", "ROMEO:\nWhat light", "-n", 12, "--temp", 0)


def run(fovea_run, artifact, folder):
    ids, out = folder / "ids.npz", folder / "out.npz"
    np.savez(ids, input_ids=np.arange(100, 133)[None])
    fovea_run("run", artifact, "--entry", "forward", "--inputs", ids, "--outputs", out).ok()
    return np.load(out)["logits"]


@pytest.mark.parametrize("dtype", ["source", "int8"])
@pytest.mark.parametrize("targets, expected", [
    ("x86-64,x86-64-v3", "x86-64-v3"), ("x86-64-v3,x86-64-v4,x86-64", "x86-64-v4"), ("graniterapids,x86-64-v3", "x86-64-v3")])
def test_the_best_is_run(fovea_run, compiled, shakespeare, tmp_path, targets, expected, dtype):
    """To the bit what code for it alone computes."""
    if not has("avx512vl" if expected.endswith("4") else "avx2") or (targets.startswith("granite") and has("amx_fp16")):
        pytest.skip("this machine has others")
    flags = (f"--dtype={dtype}", "--compute=int8")
    several, alone = (compiled(shakespeare, f"--target={target}", *flags) for target in (targets, expected))
    assert np.array_equal(run(fovea_run, several, tmp_path), run(fovea_run, alone, tmp_path))


def test_portable_has_code_for_each_level(fovea, fovea_run, compiled, shakespeare):
    """Level avx512bf16 has the code of avx512vnni, where nothing multiplies bf16."""
    artifact = compiled(shakespeare, "--target=portable", "--dtype=int8", "--cache=f32")
    text = fovea("inspect", artifact).ok().text
    names = [line.split()[2] for line in text.splitlines() if line.startswith("code for ")]
    assert names == ["amx", "avx512vnni", "avx512", "avxvnni", "avx2"]
    assert "processor needs: SSE2" in text
    want = fovea_run("generate", compiled(shakespeare, "--dtype=int8", "--compute=int8", "--cache=f32"), *ARGUMENTS).ok().text
    assert fovea_run("generate", artifact, *ARGUMENTS).ok().text == want


def test_the_same_code_is_kept_once(fovea, compiled, shakespeare):
    """Of a model without integers code with VNNI is the code without."""
    text = fovea("inspect", compiled(shakespeare, "--target=portable")).ok().text
    assert "code for avx512 " in text and "vnni (" not in text


@pytest.mark.parametrize("flags, message", [
    (["--target=haswell,x86-64-v3"], "expects processors that differ in what code may use, got 'haswell' and 'x86-64-v3'"),
    (["--target=x86-64,nonesuch"], "unknown target 'nonesuch'"), (["--target=x86-64,"], "unknown target ''"),
    (["--target=portable", "--emit=asm"], "--emit=asm is of one processor, got portable")])
def test_lists_that_make_no_sense(fovea, shakespeare, tmp_path, flags, message):
    result = fovea("compile", shakespeare, "-o", tmp_path / "a.fovea", *flags)
    assert result.code == 1 and message in result.err.decode() and not list(tmp_path.iterdir())
