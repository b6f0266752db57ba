# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random encoder-decoders of many families and their options: compiled code against `transformers` in f64, by parts and at once; texts that are searched
with one beam and with several; and on the emulator."""
import json
import shutil

import numpy as np
import pytest
from tokenizers import Tokenizer

from test_families import difference, run_entry
from translator_cases import CASES, END, FAMILIES, NEW_TOKENS, OLDER, TEXTS, configuration

pytestmark = pytest.mark.long
EVERY = pytest.mark.parametrize("name", CASES)


@pytest.fixture
def artifact(compiled, translators, name):
    """All in f32, as its references were computed."""
    return compiled(translators / name / "model", "--compute=f32")


@pytest.fixture(scope="module")
def marian(compiled, translators):
    return compiled(translators / "marian" / "model", "--compute=f32")


def load(folder, number):
    return [{key: array for key, array in np.load(folder / f"{kind}-{number}.npz").items()} for kind in ("inputs", "reference")]


def forward(fovea_run, artifact, inputs, tmp_path, *flags):
    np.savez(tmp_path / "in.npz", **inputs)
    return run_entry(fovea_run, artifact, "forward", tmp_path / "in.npz", tmp_path / "out.npz", *flags)


def compare(found, expected, mask, most):
    """States of places that are not read may be anything."""
    assert difference(found["logits"], expected["logits"]) <= most
    kept = mask == 1
    assert difference(found["encoder_last_hidden_state"][kept], expected["encoder_last_hidden_state"][kept]) <= most


def as_flags(search):
    return ["-n", search["tokens"], "--beams", search["beams"], "--n-best", search["best"], f"--length-penalty={search['penalty']}",
            "--early-stopping", search["stopping"]]


def translate(fovea_run, artifact, texts, *flags):
    given = [flag for text in texts for flag in ("--text", text)]
    return json.loads(fovea_run("translate", artifact, "--json", *given, *flags).ok().text)


def check_texts(found, expected, tokenizer):
    assert [(text["tokens"], text["ended"]) for text in found] == [(text["tokens"], text["ended"]) for text in expected]
    for text, right in zip(found, expected):
        assert abs(text["score"] - right["score"]) <= 1e-3 * max(1, abs(right["score"]))
        assert text["text"] == tokenizer.decode(right["tokens"])


@EVERY
@pytest.mark.parametrize("number", range(2))
def test_forward(fovea_run, artifact, translators, tmp_path, name, number):
    """The second of the texts is shorter: it ends early, or begins late."""
    inputs, expected = load(translators / name, number)
    compare(forward(fovea_run, artifact, inputs, tmp_path), expected, inputs["attention_mask"], 1e-4)


@pytest.mark.parametrize("name", [name for name in CASES if name.endswith("bf16")])
def test_forward_in_halves(fovea_run, compiled, translators, tmp_path, name):
    """What linears multiply rounded to bf16."""
    inputs, expected = load(translators / name, 0)
    compare(forward(fovea_run, compiled(translators / name / "model"), inputs, tmp_path), expected, inputs["attention_mask"], 4e-2)


@EVERY
def test_verify(fovea, artifact, translators, name):
    fovea("verify", artifact, "--source", translators / name / "model").ok()


@EVERY
def test_check_finds_nothing(fovea, translators, name):
    assert not fovea("check", translators / name / "model").ok().err


@pytest.mark.parametrize("name", OLDER)
def test_older_configurations_say_the_same(fovea, translators, tmp_path, name):
    graphs = []
    for folder in (name, f"{name}-older"):
        fovea("compile", translators / folder / "model", "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
        graphs.append((tmp_path / "graph.mlir").read_text().replace(f"{translators / folder}/", ""))
    graphs[1] = graphs[1].replace("T5WithLMHeadModel", "T5ForConditionalGeneration")  # its older name
    assert graphs[0] == graphs[1] and "fovea.attention" in graphs[0]


@EVERY
@pytest.mark.parametrize("number", range(2))
def test_parts(fovea_run, artifact, translators, tmp_path, name, number):
    """The source read once, what is written in parts, the last token by itself: as at once."""
    inputs, expected = load(translators / name, number)
    mask, ids = f"attention_mask={inputs['attention_mask'].tolist()}", inputs["decoder_input_ids"]
    given, length = ["--entry", "encode", "--input", f"input_ids={inputs['input_ids'].tolist()}", "--input", mask], ids.shape[1]
    for first, end, entry in [(0, 1, "prefill"), (1, length - 2, "prefill"), (length - 2, length - 1, "decode"), (length - 1, length, "decode")]:
        given += ["--entry", entry, "--input", f"decoder_input_ids={ids[:, first:end].tolist()}", "--input", mask]
        fovea_run("run", artifact, *given, "--outputs", tmp_path / "out.npz").ok()
        found = np.load(tmp_path / "out.npz")
        assert difference(found["logits"], expected["logits"][:, end - 1]) <= 1e-4, f"{end} tokens"
        assert (found["next_token"].ravel() == found["logits"].argmax(-1)).all()


@EVERY
def test_a_text_alone_is_as_in_a_batch(fovea_run, artifact, translators, tmp_path, name):
    """With what is not read at its end, and without."""
    inputs, _ = load(translators / name, 0)
    both = forward(fovea_run, artifact, inputs, tmp_path)
    kept = int(inputs["attention_mask"][1].sum())
    for length in (inputs["input_ids"].shape[1], kept):
        alone = {key: array[1:] if key == "decoder_input_ids" else array[1:, :length] for key, array in inputs.items()}
        found = forward(fovea_run, artifact, alone, tmp_path)
        assert difference(found["logits"], both["logits"][1:]) <= 1e-5
        assert difference(found["encoder_last_hidden_state"][:, :kept], both["encoder_last_hidden_state"][1:, :kept]) <= 1e-5


@EVERY
def test_greedy(fovea_run, artifact, translators, name):
    wanted = json.loads((translators / name / "translated.json").read_text())["greedy"]
    tokenizer = Tokenizer.from_file(str(translators / name / "model" / "tokenizer.json"))
    for found, expected, text in zip(translate(fovea_run, artifact, TEXTS, "-n", NEW_TOKENS), wanted, TEXTS):
        assert found["source"] == text and found["source_tokens"] == len(tokenizer.encode(text).ids)
        check_texts(found["texts"], [expected], tokenizer)


@EVERY
def test_beams(fovea_run, artifact, translators, name):
    tokenizer = Tokenizer.from_file(str(translators / name / "model" / "tokenizer.json"))
    for record in json.loads((translators / name / "translated.json").read_text())["beams"]:
        print(record["search"])
        for found, expected in zip(translate(fovea_run, artifact, TEXTS, *as_flags(record["search"])), record["texts"], strict=True):
            check_texts(found["texts"], expected, tokenizer)


# What is the same of all families ----------------------------------------------------------------------------------------------------------------------------


def edited(folder, tmp_path, **settings):
    """A copy of a model whose generation_config.json says something else."""
    shutil.copytree(folder, tmp_path / "model")
    path = tmp_path / "model" / "generation_config.json"
    config = json.loads(path.read_text()) | settings
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
    return tmp_path / "model"


def texts_of(record):
    return [[text["text"] for text in one["texts"]] for one in record]


def generated(folder, name, beams, **rules):
    """The best text of each source as `transformers` writes it, its end token left out."""
    import torch
    import transformers

    model = getattr(transformers, configuration(name)[0]).from_pretrained(folder, dtype=torch.float64).eval()
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    texts = []
    for text in TEXTS:
        ids = torch.tensor([tokenizer.encode(text).ids])
        with torch.no_grad():
            tokens = model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=NEW_TOKENS, num_beams=beams, do_sample=False, **rules)[0, 1:].tolist()
        ends = np.atleast_1d(model.generation_config.eos_token_id)
        texts.append(next((tokens[:i] for i, token in enumerate(tokens) if token in ends), tokens))
    return texts


# Marian's checkpoint writes short texts by one beam, long ones with repeated words by four.
RULES = [{"min_length": 13}, {"min_length": 13, "no_repeat_ngram_size": 1}, {"min_length": 13, "no_repeat_ngram_size": 2}, {"forced_bos_token_id": 77}]
FLAGS = {"min_length": lambda value: ["--min-tokens", value - 1], "no_repeat_ngram_size": lambda value: ["--no-repeat-ngram", value], "forced_bos_token_id": lambda value: ["--first-token", value]}


@pytest.mark.parametrize("beams", [1, 4])
def test_rules_of_texts_as_flags(fovea_run, marian, translators, beams):
    folder, texts = translators / "marian" / "model", []
    flags = ["-n", NEW_TOKENS, "--beams", beams, "--length-penalty=1.0"]
    for rules in [{}, *RULES]:
        found = translate(fovea_run, marian, TEXTS, *flags, *[flag for key, value in rules.items() for flag in FLAGS[key](value)])
        texts.append([one["texts"][0]["tokens"] for one in found])
        assert texts[-1] == generated(folder, "marian", beams, **rules), rules
    assert len({str(of_rules) for of_rules in texts}) >= 4


def test_rules_of_texts_beside_the_model(fovea_run, compiled, translators, tmp_path):
    """All of them, and an end that is forced; a flag takes one back."""
    rules = {"min_length": 9, "no_repeat_ngram_size": 2, "forced_bos_token_id": 77, "forced_eos_token_id": END}
    folder = edited(translators / "bart" / "model", tmp_path, **rules)
    artifact = compiled(folder, "--compute=f32")
    for beams in (1, 4):
        found = [one["texts"][0] for one in translate(fovea_run, artifact, TEXTS, "-n", NEW_TOKENS, "--beams", beams)]
        assert [text["tokens"] for text in found] == generated(folder, "bart", beams)
        assert all(text["ended"] and text["tokens"][0] == 77 for text in found)
    plain = translate(fovea_run, artifact, TEXTS, "-n", NEW_TOKENS, "--min-tokens", 0, "--no-repeat-ngram", 0, "--first-token", 78)
    assert all(one["texts"][0]["tokens"][0] == 78 for one in plain)
    refused(fovea_run("translate", artifact, "--text", "a", "--first-token", 1 << 20), 1, "expects a forced token below")


@pytest.mark.parametrize("flags", [[], ["--beams", 4, "--n-best", 2]])
def test_each_text_is_as_if_it_were_the_only_one(fovea_run, marian, flags):
    """A long one after a short one, and a short one after a long one."""
    texts = [TEXTS[0], TEXTS[1], TEXTS[0]]
    together = texts_of(translate(fovea_run, marian, texts, "-n", 8, *flags))
    assert together == [texts_of(translate(fovea_run, marian, [text], "-n", 8, *flags))[0] for text in texts]
    assert together[0] == together[2] != together[1]


def test_lines(fovea, fovea_run, marian, tmp_path):
    """By both programs: a line for each text of several, of a file's lines after those of the command line."""
    (tmp_path / "texts").write_text("".join(text + "\n" for text in TEXTS))
    flags = ["-n", 6, "--beams", 3, "--n-best", 3]
    expected = texts_of(translate(fovea_run, marian, [TEXTS[1], *TEXTS], *flags))
    lines = "".join(text + "\n" for texts in expected for text in texts)
    for program in (fovea, fovea_run):
        assert program("translate", marian, "--text", TEXTS[1], "--text-file", tmp_path / "texts", *flags).ok().text == lines


@pytest.mark.parametrize("name", ["t5"])
def test_fewer_tokens(fovea_run, artifact, translators, name):
    wanted = json.loads((translators / name / "translated.json").read_text())["greedy"]
    for count in (0, 1, 2, 7, NEW_TOKENS - 1):
        for found, expected in zip(translate(fovea_run, artifact, TEXTS, "-n", count), wanted):
            [text] = found["texts"]
            # With its end it may be one token longer.
            assert text["tokens"] == expected["tokens"][:count] and text["ended"] == (expected["ended"] and len(expected["tokens"]) < count)


def test_an_end_among_bad_words_is_written(fovea, fovea_run, translators, tmp_path):
    """`transformers` takes it out of them."""
    fovea("compile", edited(translators / "t5" / "model", tmp_path, bad_words_ids=[[END]]), "-o", tmp_path / "model.fovea", "--compute=f32").ok()
    wanted = json.loads((translators / "t5" / "translated.json").read_text())["greedy"]
    assert any(text["ended"] for text in wanted)
    for found, expected in zip(translate(fovea_run, tmp_path / "model.fovea", TEXTS, "-n", NEW_TOKENS), wanted):
        assert [(text["tokens"], text["ended"]) for text in found["texts"]] == [(expected["tokens"], expected["ended"])]


@pytest.mark.parametrize("name", ["mbart", "t5"])
def test_one_beam_is_greedy_however_a_search_ends(fovea_run, artifact, name):
    for penalty, stopping in [(1, "never"), (2, "never"), (-1, "no"), (0, "yes")]:
        found = translate(fovea_run, artifact, TEXTS, "-n", NEW_TOKENS, f"--length-penalty={penalty}", "--early-stopping", stopping)
        assert texts_of(found) == texts_of(translate(fovea_run, artifact, TEXTS, "-n", NEW_TOKENS)), (penalty, stopping)


def test_a_context_holds_as_many_tokens_as_the_longest_text(fovea_run, marian):
    """The first token takes a place, too."""
    for context in (4, 9):
        [found] = translate(fovea_run, marian, [TEXTS[0]], "--context", context)
        [expected] = translate(fovea_run, marian, [TEXTS[0]], "-n", context - 1)
        assert found["texts"] == expected["texts"]


def translate_there_and_here(fovea_run, artifact, device, *flags):
    there, here = (translate(fovea_run, artifact, TEXTS[:1], *flags, "--device", where)[0]["texts"] for where in (device, "cpu"))
    assert [text["tokens"] for text in there] == [text["tokens"] for text in here]
    assert np.allclose([text["score"] for text in there], [text["score"] for text in here], rtol=1e-3)


@pytest.mark.devices("emulator")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", FAMILIES)
def test_on_a_device(fovea_run, compiled, translators, tmp_path, device, gpu_code, chip, name):
    """As on the processor, and a few tokens of several beams."""
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    artifact = compiled(translators / name / "model", "--compute=f32", *code)
    inputs, _ = load(translators / name, 0)
    inputs["decoder_input_ids"] = inputs["decoder_input_ids"][:, :5]
    there, here = (forward(fovea_run, artifact, inputs, tmp_path, "--device", where) for where in (device, "cpu"))
    compare(there, here, inputs["attention_mask"], 1e-4)
    translate_there_and_here(fovea_run, artifact, device, "-n", 4, "--beams", 3, "--n-best", 3)


@pytest.mark.devices("emulator:late")
@pytest.mark.parametrize("name", ["mbart", "t5"])
def test_rows_change_places_before_they_are_read(fovea_run, compiled, translators, device, gpu_code, name):
    translate_there_and_here(fovea_run, compiled(translators / name / "model", "--compute=f32", *gpu_code), device, "-n", 6, "--beams", 4, "--n-best", 4)


# What is refused -------------------------------------------------------------------------------------------------------------------------------------------


def refused(result, code, *words):
    """That exit code, and one message on standard error, which holds `words`."""
    text = result.err.decode()
    assert result.code == code and not result.out and text.count("error:") == 1, str(result)
    assert all(word in text for word in words), str(result)


def test_other_models_do_not_translate(fovea_run, compiled, checkpoints):
    for name in ("gpt2", "bert"):
        result = fovea_run("translate", compiled(checkpoints / name / "model"), "--text", "Good night.")
        refused(result, 1, "cannot translate: it has no entry 'encode' (it is no encoder-decoder)")


def test_an_encoder_decoder_does_not_generate(fovea_run, marian):
    refused(fovea_run("generate", marian, "--prompt", "Good night.", "-n", 2), 1, "cannot generate text")


def test_no_more_texts_than_beams(fovea_run, marian):
    for beams, best in [(1, 2), (3, 4)]:
        result = fovea_run("translate", marian, "--text", "Good night.", "--beams", beams, "--n-best", best)
        refused(result, 2, f"at most as many texts as --beams, {beams}, got {best}")


def test_a_source_longer_than_the_context(fovea_run, marian, translators):
    tokens = len(Tokenizer.from_file(str(translators / "marian" / "model" / "tokenizer.json")).encode(TEXTS[1]).ids)
    refused(fovea_run("translate", marian, "--text", TEXTS[1], "--context", 8), 1, f"the source has {tokens} tokens; the context has room for 8")


def test_no_text(fovea_run, marian):
    refused(fovea_run("translate", marian), 2, "expects --text or --text-file")


def test_a_start_token_is_needed(fovea, fovea_run, translators, tmp_path):
    model = edited(translators / "t5" / "model", tmp_path, decoder_start_token_id=None)
    config = json.loads((model / "config.json").read_text())
    config.pop("decoder_start_token_id", None)
    (model / "config.json").write_text(json.dumps(config))
    fovea("compile", model, "-o", tmp_path / "model.fovea").ok()
    refused(fovea_run("translate", tmp_path / "model.fovea", "--text", "Good night."), 1, "cannot translate: it has no token to begin a text with")
