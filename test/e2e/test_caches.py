# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys and values that are kept in fewer bits: read and written by prefill and decode alone, so these are what is asked."""
import json

import numpy as np
import pytest

from programs import BIN, SHAKESPEARE


def decoded_loss(runtime, artifact, data, chunks=4):
    """Mean loss of a token of held-out text, each read by `decode` behind those before it, of some chunks that each begin anew."""
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(str(SHAKESPEARE / "tokenizer.json")).encode((data / "shakespeare-heldout.txt").read_text(), add_special_tokens=False).ids
    length = json.loads((data / "shakespeare-perplexity.json").read_text())["chunk"]
    model = runtime.Runtime(BIN.parent / "lib" / "libfovea-runtime.so", artifact, threads=2)
    loss = []
    for start in range(0, chunks * length, length):
        chunk = [0] + ids[start:start + length]
        model.reset()
        for token, expected in zip(chunk, chunk[1:]):
            model.set("decode", input_ids=np.array([[token]], dtype=np.int64))
            model.run("decode")
            logits = model.result("decode", "logits").reshape(-1).astype(np.float64)
            loss.append(np.logaddexp.reduce(logits) - logits[expected])
    model.close()
    return np.mean(loss)


@pytest.fixture(scope="module")
def expected_loss(runtime, compiled, shakespeare, data):
    return decoded_loss(runtime, compiled(shakespeare, "--compute=f32"), data)


@pytest.mark.parametrize("cache", ["bf16", "int8"])
@pytest.mark.parametrize("flags", [["--compute=f32"], ["--compute=bf16"], ["--dtype=int8", "--compute=int8"]], ids=lambda flags: flags[-1][10:])
def test_perplexity(runtime, compiled, shakespeare, data, expected_loss, cache, flags):
    assert abs(decoded_loss(runtime, compiled(shakespeare, f"--cache={cache}", *flags), data) - expected_loss) <= 3e-3


@pytest.mark.parametrize("flags, expected", [
    (["--compute=bf16"], "bf16"), (["--dtype=int8", "--compute=int8"], "bf16"), (["--dtype=int4", "--compute=int8"], "bf16"),
    (["--compute=bf16", "--dtype=f32"], "f32"), (["--compute=f32"], "f32"), (["--dtype=int8", "--compute=f32"], "f32"),
    (["--compute=bf16", "--cache=source"], "f32"), (["--compute=bf16", "--cache=f32"], "f32")])
def test_caches_are_of_what_linears_multiply(fovea, compiled, shakespeare, flags, expected):
    artifact = compiled(shakespeare, *flags)
    assert f"key_cache.0: cache 2x32 {expected}\n" in fovea("inspect", artifact).ok().text
    fovea("verify", artifact, "--source", shakespeare, *[flag for flag in flags if flag.startswith("--dtype")]).ok()


@pytest.mark.parametrize("flags", [
    ["--compute=f32"], ["--compute=bf16"], ["--dtype=int8", "--compute=int8"], ["--target=x86-64-v3"], ["--target=x86-64"], ["-O0"],
    ["--gpu=sm_80", "--device=emulator"], ["--gpu=sm_90a", "--device=emulator:late"]], ids=lambda flags: flags[0])
def test_integers_are_verified(fovea, shakespeare, flags):
    fovea("verify", shakespeare, "--cache=int8", *flags).ok()


@pytest.fixture(scope="module")
def integers(compiled, shakespeare):
    return compiled(shakespeare, "--cache=int8")


def test_an_artifact_says_what_its_caches_are(fovea, integers, shakespeare):
    text = fovea("inspect", integers).ok().text
    assert "key_cache.0: cache 2x32 i8" in text and "key_cache.0.scales: cache 2x1 f32" in text
    fovea("verify", integers, "--source", shakespeare).ok()


def test_no_launch_more_than_of_floats(fovea, compiled, integers, shakespeare):
    """Rows are quantised where they are made."""
    artifacts = (integers, compiled(shakespeare, "--cache=bf16"))
    steps = [[line for line in fovea("inspect", artifact).ok().text.splitlines() if line.startswith("entry decode")] for artifact in artifacts]
    assert steps[0] == steps[1] and len(steps[0]) == 1


@pytest.mark.parametrize("length", [1, 7, 40])
def test_bits_do_not_depend_on_threads_and_chunks(fovea_run, integers, length):
    """A prompt that is read in one piece or in many gives the same text: what is kept of a token is its own row, whatever stands beside it."""
    prompt = "ROMEO: what light through yonder window breaks? " * 8
    arguments = ("generate", integers, "--prompt", prompt[:length * 4], "-n", 24, "--temp", 0)
    assert fovea_run(*arguments, "--threads=1").ok().text == fovea_run(*arguments, "--threads=2").ok().text


def test_scales_go_with_what_was_before(runtime, integers):
    """A short text behind a long one, in one context, is as it is alone."""
    def read(model, tokens):
        model.reset()
        model.set("prefill", input_ids=np.array([tokens], dtype=np.int64))
        model.run("prefill")
        return model.result("prefill", "logits")

    model = runtime.Runtime(BIN.parent / "lib" / "libfovea-runtime.so", integers, threads=2)
    alone = read(model, [5, 6, 7])
    read(model, list(range(100, 400)))
    assert np.array_equal(read(model, [5, 6, 7]), alone)
    model.close()


def test_other_types_are_refused(fovea, shakespeare):
    result = fovea("compile", shakespeare, "--cache=int4", "-o", "/dev/null")
    assert result.code not in (0, 70) and "--cache" in result.err.decode() and "int8" in result.err.decode()
