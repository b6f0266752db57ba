# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--draft: guesses are checked by one step whose numbers are, to the bit, those of one token after the other, so texts are the same; several texts at once, likewise."""
import json
import shutil

import numpy as np
import pytest

from processor import skip_without
from programs import BIN


@pytest.fixture
def checks_drafts(request):
    """Several rows have the bits of one."""
    if request.config.getoption("--processor") == "aarch64-i8mm":
        pytest.skip("checks no drafts: BFMMLA, which multiplies several rows, rounds otherwise than products of one")


KINDS = {"f32": ["--compute=f32"], "bf16": ["--compute=bf16", "--target=x86-64-v4"], "bf16 caches": ["--compute=f32", "--cache=bf16"], "int8 caches": ["--compute=f32", "--cache=int8"],
         "int8": ["--dtype=int8", "--compute=int8"], "int4": ["--dtype=int4", "--compute=int8"], "int8 by floats": ["--dtype=int8", "--compute=f32"], "int4 by floats": ["--dtype=int4", "--compute=f32"],
         "avx2": ["--compute=f32", "--target=x86-64-v3"], "avx2 int8": ["--dtype=int8", "--target=x86-64-v3"], "sse": ["--compute=f32", "--target=x86-64"]}


class Model:
    def __init__(self, runtime, artifact, capacity=512):
        self.model = runtime.Runtime(BIN.parent / "lib" / "libfovea-runtime.so", artifact, threads=2, capacity=capacity)

    def run(self, entry, tokens):
        """Logits of rows of tokens, behind those before."""
        self.model.set(entry, input_ids=np.array(tokens, dtype=np.int64))
        self.model.run(entry)
        return self.model.result(entry, "logits")


def expect_same_bits(runtime, artifact, words, begins=(1, 5, 60, 250), rows=(2, 3, 5, 8), capacity=512):
    """Of steps of several tokens behind texts of some lengths."""
    random = np.random.default_rng(1)
    one, many = Model(runtime, artifact, capacity), Model(runtime, artifact, capacity)
    for begin in begins:
        for count in rows:
            if begin // 64 != (begin + count) // 64 or (begin + count) % 64 == 0:
                count = 2
            prompt, tokens = random.integers(3, words, (1, begin)), random.integers(3, words, (1, count))
            for model in (one, many):
                model.model.reset()
                model.run("prefill", prompt)
            alone = [one.run("decode", tokens[:, i:i + 1])[0] for i in range(count)]
            together = many.run("verify", tokens)[0]
            for i in range(count):
                assert np.array_equal(together[i], alone[i]), (begin, count, i)
            # And the caches: what comes next.
            assert np.array_equal(one.run("decode", [[7]]), many.run("decode", [[7]])), (begin, count)
    one.model.close()
    many.model.close()


def expect_same_rows(runtime, artifact, words, capacity=60):
    """Of several rows at once."""
    random = np.random.default_rng(1)
    one, many = Model(runtime, artifact, capacity), Model(runtime, artifact, capacity)
    for batch in (2, 4, 7):
        prompts = random.integers(3, words, (batch, 9))
        many.model.reset()
        logits = [many.run("prefill", prompts)] + [many.run("decode", prompts[:, i:i + 1]) for i in range(6)]
        for row in range(batch):
            one.model.reset()
            expected = [one.run("prefill", prompts[row:row + 1])] + [one.run("decode", prompts[row:row + 1, i:i + 1]) for i in range(6)]
            for step, (found, alone) in enumerate(zip(logits, expected)):
                assert np.array_equal(found[row], alone[0]), (batch, row, step)
    one.model.close()
    many.model.close()


@pytest.mark.parametrize("flags", KINDS.values(), ids=KINDS)
def test_several_tokens_have_the_bits_of_each(runtime, compiled, shakespeare, flags):
    for flag in flags:
        skip_without(flag.removeprefix("--target="))
    expect_same_bits(runtime, compiled(shakespeare, *flags), 2048)
    expect_same_rows(runtime, compiled(shakespeare, *flags), 2048)


@pytest.mark.parametrize("family", ["bloom", "gpt_neox", "falcon", "gemma2", "gemma3", "gptj", "mpt", "olmo2", "phi", "qwen3"])
def test_of_families(runtime, compiled, decoders, family):
    """Windows, soft caps, biases by distance: each of these is computed one query at a time."""
    expect_same_bits(runtime, compiled(decoders / family / "model", "--compute=f32"), 90, begins=(1, 5, 40), capacity=60)
    expect_same_rows(runtime, compiled(decoders / family / "model", "--compute=f32"), 90)


def test_columns_beyond_a_tile(runtime, compiled, decoders):
    """Of 48 columns, vectors of eight compute 64 where there is one row: the last two panels have the same products, which are fused with their sums all the same."""
    expect_same_bits(runtime, compiled(decoders / "mpt" / "model", "--compute=f32", "--target=x86-64-v3"), 90, begins=(1, 5, 40), capacity=60)


@pytest.mark.parametrize("family", ["mixtral", "gpt_oss"])
def test_rows_of_experts(runtime, compiled, decoders, family):
    expect_same_rows(runtime, compiled(decoders / family / "model", "--compute=f32"), 90)


def test_beyond_a_split_of_keys(runtime, compiled, decoders):
    """Keys of long texts are split in parts, whose number follows from the length."""
    expect_same_bits(runtime, compiled(decoders / "bloom" / "model", "--compute=f32"), 90, begins=(1000, 1016, 1030, 1100, 1545), rows=(3, 7), capacity=1700)


PROMPTS = ["ROMEO:\n", "To be, or not to be: that is the question:\nTo be, or not to be: that is", "KING RICHARD III:\nA horse! a horse! my kingdom for a horse!\n\nKING RICHARD III:\nA horse!"]


def write(program, artifact, prompt, *flags, count=80):
    return json.loads(program("generate", artifact, "--prompt", prompt, "-n", count, "--json", *flags).ok().text)


@pytest.mark.parametrize("chosen", [["--temp=0"], ["--temp=0.7", "--seed=3"], ["--temp=1", "--top-k=4", "--repeat-penalty=1.2", "--seed=5"]], ids=lambda flags: flags[0])
@pytest.mark.parametrize("prompt", PROMPTS, ids=range(len(PROMPTS)))
def test_texts_are_the_same(checks_drafts, fovea_run, compiled, shakespeare, shakespeare_artifact, prompt, chosen):
    """Guessed by the text itself, and by the same model with weights of four bits."""
    alone = write(fovea_run, shakespeare_artifact, prompt, *chosen)
    assert "draft_tokens" not in alone
    for draft in ("ngram", compiled(shakespeare, "--dtype=int4")):
        for tokens in (1, 4, 7):
            found = write(fovea_run, shakespeare_artifact, prompt, *chosen, "--draft", draft, "--draft-tokens", tokens)
            assert found["tokens"] == alone["tokens"] and found["text"] == alone["text"] and found["stop"] == alone["stop"]
            assert 0 <= found["accepted_tokens"] <= found["draft_tokens"]
            if draft != "ngram":
                assert found["draft_tokens"] >= 30
                if chosen == ["--temp=0"]:
                    assert found["accepted_tokens"] >= 20


def test_a_note_says_how_many_were_right(checks_drafts, fovea_run, shakespeare_artifact):
    said = fovea_run("generate", shakespeare_artifact, "--prompt", PROMPTS[2], "-n", 40, "--temp", 0, "--draft", "ngram").ok()
    assert "drafted tokens accepted" in said.err.decode()


def test_what_cannot_be_checked_is_refused(checks_drafts, fovea_run, compiled, shakespeare, shakespeare_artifact, decoders, minilm, tmp_path):
    def refuse(draft, *words, code=1, flags=()):
        said = fovea_run("generate", shakespeare_artifact, "--prompt", "a", "--draft", draft, *flags)
        assert said.code == code and not said.out and all(word in said.err.decode() for word in words), str(said)

    other = tmp_path / "other"
    shutil.copytree(shakespeare, other)
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    words = tokenizer["model"]["vocab"]
    first, second = [word for word, id in words.items() if id in (300, 301)]
    words[first], words[second] = words[second], words[first]
    (other / "tokenizer.json").write_text(json.dumps(tokenizer))
    refuse(compiled(other), "cannot draft text: expects the tokens of", "got another vocabulary")
    said = fovea_run("generate", compiled(decoders / "mixtral" / "model"), "--prompt", "a", "--draft", "ngram")
    assert said.code == 1 and "cannot check drafts: it has no entry that" in said.err.decode(), str(said)
    refuse(compiled(minilm), "cannot draft text: it has no entries that write it")
    refuse("nothing.fovea", "nothing.fovea")
    refuse("ngram", "--draft expects one prompt", code=2, flags=["--prompt", "b"])
    refuse("ngram", "--draft-tokens", code=2, flags=["--draft-tokens", "8"])


@pytest.mark.devices("emulator")
def test_a_device_is_refused(fovea_run, compiled, shakespeare, device, gpu_code):
    said = fovea_run("generate", compiled(shakespeare, *gpu_code), "--device", device, "--prompt", "a", "-n", 2, "--draft", "ngram")
    assert said.code == 1 and "cannot check drafts: expects a context on the CPU, got" in said.err.decode(), str(said)
