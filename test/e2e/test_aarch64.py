# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code for another family of processors, run by qemu with the programs that the preset `aarch64` builds: against this machine's results, and refusals of what is for the other one."""
import pathlib
import struct
import subprocess

import numpy as np
import pytest

import programs
from programs import Result, emulate, invoke

LEVELS = ["aarch64", "aarch64-dotprod", "aarch64-i8mm"]
#: qemu's processors: the best level of those above that each has, and one with SVE.
PROCESSORS = {"cortex-a57": "aarch64", "neoverse-n1": "aarch64-dotprod", "max": "aarch64-i8mm"}
WEIGHTS = 4  # artifact/Format.h, SectionKind


def run_there(*arguments, cpu="max"):
    """fovea-run for aarch64."""
    command = [*emulate("fovea-run", cpu), *map(str, arguments)]
    return Result(command, subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=600))


def run_here(*arguments):
    command = [str(programs.BIN / "fovea-run"), *map(str, arguments)]
    return Result(command, subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=600))


def section(artifact, kind):
    """The bytes of a section, by the table of the header."""
    data = pathlib.Path(artifact).read_bytes()
    count, = struct.unpack_from("<I", data, 16)
    for number in range(count):
        found, offset, size = struct.unpack_from("<I4xQQ", data, 32 + 40 * number)
        if found == kind:
            return data[offset:offset + size]
    return b""


def logits(run, artifact, folder, ids=range(100, 133), **options):
    inputs, out = folder / "ids.npz", folder / "out.npz"
    np.savez(inputs, input_ids=np.array([list(ids)]))
    run("run", artifact, "--entry", "forward", "--inputs", inputs, "--outputs", out, **options).ok()
    return np.load(out)["logits"].astype(float)


@pytest.mark.parametrize("dtype", ["source", "f32", "int8", "int4"])
def test_weights_lie_alike(compiled, shakespeare, dtype):
    """One packed layout for all processors: the bytes are those of x86-64."""
    here, *there = (section(compiled(shakespeare, f"--target={target}", f"--dtype={dtype}", "--compute=f32"), WEIGHTS) for target in ["x86-64", *LEVELS])
    assert len(here) > 1 << 20 and all(each == here for each in there)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("flags, most", [
    (("--dtype=f32",), 2e-5), (("--compute=f32",), 2e-5), (("--compute=bf16", "--cache=bf16"), 2e-2), (("--dtype=int8", "--compute=int8", "--cache=f32"), 2e-2),
    (("--dtype=int8", "--compute=f32"), 2e-5), (("--dtype=int4", "--compute=int8", "--cache=f32"), 2e-2)], ids=lambda flags: "_".join(flags) if isinstance(flags, tuple) else None)
def test_a_decoder_agrees(compiled, shakespeare, tmp_path, level, flags, most):
    """Of 33 tokens and of one: with what x86-64 without extensions computes, whose roundings of bf16 and of rows are other ones."""
    here, there = (compiled(shakespeare, f"--target={target}", *flags) for target in ("x86-64", level))
    for ids in (range(100, 133), [7]):
        want, got = logits(run_here, here, tmp_path, ids), logits(run_there, there, tmp_path, ids)
        assert np.abs(got - want).max() <= most * np.abs(want).max()


@pytest.mark.parametrize("level", LEVELS)
def test_a_text_is_the_same(compiled, shakespeare, level):
    """Prompt, caches and steps of one token, by two threads."""
    here, there = (compiled(shakespeare, f"--target={target}", "--dtype=f32") for target in ("x86-64", level))
    arguments = ("--prompt", "ROMEO:\nWhat light", "-n", 24, "--temp", 0)
    assert run_there("generate", there, *arguments, "--threads", 2).ok().text == run_here("generate", here, *arguments).ok().text


@pytest.mark.parametrize("cpu, level", PROCESSORS.items())
def test_the_best_level_is_run(compiled, shakespeare, tmp_path, cpu, level):
    """To the bit what code for it alone computes."""
    flags = ("--dtype=int8", "--compute=int8", "--cache=f32")
    several, alone = (compiled(shakespeare, f"--target={target}", *flags) for target in ("aarch64-portable", level))
    assert np.array_equal(logits(run_there, several, tmp_path, cpu=cpu), logits(run_there, alone, tmp_path, cpu=cpu))


def test_drafts_are_refused_where_several_rows_round_otherwise(compiled, shakespeare):
    said = run_there("generate", compiled(shakespeare, "--target=aarch64-i8mm"), "--prompt", "a", "--draft", "ngram")
    assert said.code == 1 and not said.out and "cannot check drafts: its code multiplies several rows by BFMMLA" in said.err.decode(), str(said)


def test_a_processor_by_name(fovea, compiled, shakespeare, tmp_path):
    """LLVM's names are known, too; code for one with SVE may use it where loops are LLVM's."""
    want = logits(run_here, compiled(shakespeare, "--target=x86-64", "--dtype=f32"), tmp_path)
    artifact = compiled(shakespeare, "--target=neoverse-v1", "--dtype=f32")
    assert " sve" in fovea("inspect", artifact).ok().text
    got = logits(run_there, artifact, tmp_path)
    assert np.abs(got - want).max() <= 2e-5 * np.abs(want).max()
    refused = run_there("generate", artifact, "--prompt", "x", cpu="cortex-a57")
    assert refused.code != 0 and "which this one lacks; compile it for this machine or with --target=aarch64-portable" in refused.err.decode()


def test_the_other_family_is_refused(compiled, shakespeare):
    artifacts = {target: compiled(shakespeare, f"--target={target}") for target in ("x86-64", "aarch64")}
    here, there = (run("generate", artifacts[target], "--prompt", "x") for run, target in ((run_here, "aarch64"), (run_there, "x86-64")))
    assert here.code != 0 and "expects code for x86-64, got code for aarch64; compile it for this machine or with --target=portable" in here.err.decode()
    assert there.code != 0 and "expects code for aarch64, got code for x86-64; compile it for this machine or with --target=aarch64-portable" in there.err.decode()


@pytest.mark.parametrize("target, message", [
    ("aarch64,x86-64", "expects processors of one family, got 'aarch64' of aarch64 and 'x86-64' of x86-64"), ("aarch46", "did you mean 'aarch64'?"),
    ("portable,aarch64-portable", "expects processors of one family"), ("aarch64,aarch64-i8mm,aarch64-i8mm", "expects processors that differ in what code may use")])
def test_lists_that_make_no_sense(shakespeare, tmp_path, target, message):
    result = invoke("fovea", "compile", shakespeare, "-o", tmp_path / "a.fovea", f"--target={target}")
    assert result.code == 1 and message in result.err.decode() and not list(tmp_path.iterdir())


def test_mathematics_of_the_library(fovea, tmp_path):
    """Plain loops call it; a stub stands for it in the link, and the loader finds it."""
    source = tmp_path / "m.mlir"
    source.write_text("""func.func @forward(%x: tensor<7xf64> {fovea.name = "x"}) -> (tensor<7xf64> {fovea.name = "y"}) attributes {fovea.entry} {
  %power = math.powf %x, %x : tensor<7xf64>
  %y = math.atan %power : tensor<7xf64>
  return %y : tensor<7xf64>
}
""")
    x = np.linspace(0.1, 3, 7)
    np.savez(tmp_path / "in.npz", x=x)
    fovea("compile", source, "-o", tmp_path / "m.fovea", "--target=aarch64").ok()
    run_there("run", tmp_path / "m.fovea", "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
    assert np.allclose(np.load(tmp_path / "out.npz")["y"], np.arctan(x**x), rtol=1e-12)
