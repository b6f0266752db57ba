# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fill-mask, classify, tag and answer against `transformers` in f64 on the same tokens."""
import json
import shutil

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer

pytestmark = pytest.mark.long
MASKED, QUESTION, PASSAGE = "the king [MASK] of the [MASK] night", "speaking of kings?", "the king, speaking of the night, is a knight."


@pytest.fixture
def changed(encoders, tmp_path):
    """A copy of a model whose configuration says something else."""
    def change(name, **changes):
        shutil.copytree(encoders / name / "model", tmp_path / "model")
        path = tmp_path / "model" / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))
        return tmp_path / "model"
    return change


def expected(folder, head, *texts):
    """What the model gives for a row of one or two texts, and the row."""
    model = getattr(transformers, "AutoModel" + head).from_pretrained(folder, dtype=torch.float64).eval()
    row = Tokenizer.from_file(str(folder / "tokenizer.json")).encode(*texts)
    given = {"input_ids": torch.tensor([row.ids])}
    if getattr(model.config, "type_vocab_size", 1) > 1:
        given["token_type_ids"] = torch.tensor([row.type_ids])
    with torch.no_grad():
        return model(**given), row


def softmax(logits):
    return torch.softmax(torch.as_tensor(logits), -1).numpy()


@pytest.mark.parametrize("name", ["bert-ForMaskedLM", "roberta-ForMaskedLM", "modernbert-ForMaskedLM"])
def test_fill_mask(fovea_run, compiled, encoders, name):
    folder = encoders / name / "model"
    artifact = compiled(folder, "--compute=f32", "-O0")
    out, row = expected(folder, "ForMaskedLM", MASKED)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    (found,), = json.loads(fovea_run("fill-mask", artifact, "--text", MASKED, "--top", 3, "--json").ok().text).values()
    places = [place for place, token in enumerate(row.tokens) if token == "[MASK]"]
    assert len(places) == len(found["masks"]) == 2
    for place, candidates in zip(places, found["masks"]):
        wanted = softmax(out.logits[0, place])
        best = np.argsort(-wanted)[:3]
        assert [candidate["id"] for candidate in candidates] == best.tolist()
        assert [candidate["token"] for candidate in candidates] == [tokenizer.decode([token]) for token in best]
        np.testing.assert_allclose([candidate["probability"] for candidate in candidates], wanted[best], rtol=1e-3)
    lines = fovea_run("fill-mask", artifact, "--text", MASKED, "--top", 3).ok().text.split("\n")
    tokens = [[candidate["token"] for candidate in candidates] for candidates in found["masks"]]
    assert [line.partition(" ")[2] for line in lines] == [*tokens[0], "", *tokens[1], ""]
    result = fovea_run("fill-mask", artifact, "--text", "the king")
    assert result.code == 1 and b"expects a mask in the text" in result.err
    result = fovea_run("fill-mask", artifact, "--text", "the <x>", "--mask", "<x>")
    assert result.code == 1 and b"has no token '<x>'" in result.err


@pytest.mark.parametrize("name", ["bert-ForSequenceClassification", "roberta-ForSequenceClassification", "distilbert-ForSequenceClassification"])
def test_classify(fovea_run, compiled, encoders, name):
    folder = encoders / name / "model"
    artifact = compiled(folder, "--compute=f32", "-O0")
    pairs = [("the king", "of the night"), ("speaking", "kings")]
    for arguments, rows in [(["--text", "the king", "--text", "speaking"], [pair[:1] for pair in pairs]),
                            (["--text", "the king", "--pair", "of the night", "--text", "speaking", "--pair", "kings"], pairs)]:
        found = json.loads(fovea_run("classify", artifact, *arguments, "--json").ok().text)["texts"]
        lines = fovea_run("classify", artifact, *arguments).ok().text.splitlines()
        assert len(found) == len(lines) == 2
        for text, line, row in zip(found, lines, rows):
            wanted = softmax(expected(folder, "ForSequenceClassification", *row)[0].logits[0])
            scores = {score["label"]: score["score"] for score in text["scores"]}
            np.testing.assert_allclose([scores[label] for label in ("none", "some", "many")], wanted, atol=1e-5)
            assert line.split()[0] == text["scores"][0]["label"] == ("none", "some", "many")[wanted.argmax()]


@pytest.mark.parametrize("problem, function", [("multi_label_classification", lambda x: 1 / (1 + np.exp(-x))), ("regression", lambda x: x)])
def test_what_scores_mean(fovea_run, compiled, changed, problem, function):
    folder = changed("bert-ForSequenceClassification", problem_type=problem)
    scores = json.loads(fovea_run("classify", compiled(folder, "-O0"), "--text", "the king", "--json").ok().text)["texts"][0]["scores"]
    wanted = function(expected(folder, "ForSequenceClassification", "the king")[0].logits[0].numpy())
    np.testing.assert_allclose([score["score"] for score in scores], np.sort(wanted)[::-1], rtol=1e-4)


def test_tag(fovea_run, compiled, encoders, changed):
    folder = encoders / "bert-ForTokenClassification" / "model"
    out, row = expected(folder, "ForTokenClassification", PASSAGE)
    kept = [place for place, special in enumerate(row.special_tokens_mask) if not special]
    wanted = softmax(out.logits[0])[kept]
    best = wanted.argmax(-1)
    artifact = compiled(folder, "--compute=f32", "-O0")
    tokens = json.loads(fovea_run("tag", artifact, "--text", PASSAGE, "--json").ok().text)["texts"][0]["tokens"]
    assert [token["label"] for token in tokens] == [["none", "some", "many"][label] for label in best] and len(set(best)) > 1
    np.testing.assert_allclose([token["probability"] for token in tokens], wanted.max(-1), atol=1e-5)
    assert len(fovea_run("tag", artifact, "--text", PASSAGE).ok().text.splitlines()) == len(kept)

    folder = changed("bert-ForTokenClassification", id2label={"0": "O", "1": "B-X", "2": "I-X"})
    entities = json.loads(fovea_run("tag", compiled(folder, "--compute=f32", "-O0"), "--text", PASSAGE, "--json", "--entities").ok().text)["texts"][0]["entities"]
    groups = []
    for place, label in enumerate(best):
        if label and (label == 1 or place == 0 or not best[place - 1]):
            groups.append([])
        if label:
            groups[-1].append(place)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert [entity["text"] for entity in entities] == [tokenizer.decode([row.ids[kept[place]] for place in group]) for group in groups]
    assert {entity["label"] for entity in entities} == {"X"}


@pytest.mark.parametrize("name", ["bert-ForQuestionAnswering", "roberta-ForQuestionAnswering"])
def test_answer(fovea_run, compiled, encoders, tmp_path, name):
    folder = encoders / name / "model"
    artifact = compiled(folder, "--compute=f32", "-O0")
    out, row = expected(folder, "ForQuestionAnswering", QUESTION, PASSAGE)
    places = [place for place, sequence in enumerate(row.sequence_ids) if sequence == 1]
    start, end = (softmax(logits[0])[places] / softmax(logits[0])[places].sum() for logits in (out.start_logits, out.end_logits))
    scores = np.triu(np.outer(start, end)) - np.triu(np.outer(start, end), 15)
    first, last = np.unravel_index(scores.argmax(), scores.shape)
    found = json.loads(fovea_run("answer", artifact, "--question", QUESTION, "--passage", PASSAGE, "--json").ok().text)
    assert (found["first_token"], found["last_token"]) == (first, last)
    np.testing.assert_allclose(found["probability"], scores.max(), rtol=1e-3)
    text = Tokenizer.from_file(str(folder / "tokenizer.json")).decode([row.ids[place] for place in places[first:last + 1]])
    assert found["answer"] == text
    (tmp_path / "passage.txt").write_text(PASSAGE)
    assert fovea_run("answer", artifact, "--question", QUESTION, "--passage-file", tmp_path / "passage.txt").ok().text == text + "\n"
    # Longer than the model takes.
    result = fovea_run("answer", artifact, "--question", QUESTION, "--passage", PASSAGE * 9).ok()
    assert b"was cut" in result.err
    assert fovea_run("answer", artifact, "--question", QUESTION).code == 2


@pytest.mark.parametrize("verb, arguments, name, message", [
    ("classify", ["--text", "a"], "bert-ForMaskedLM", b"expects a model that classifies texts, got BertForMaskedLM"),
    ("tag", ["--text", "a"], "bert-ForSequenceClassification", b"expects a model that classifies tokens, got BertForSequenceClassification"),
    ("tag", ["--text", "a"], "bert-ForMaskedLM", b"does not name the 120 labels"),
    ("fill-mask", ["--text", "a"], "bert-ForTokenClassification", b"its scores are not the vocabulary's"),
    ("answer", ["--question", "a", "--passage", "b"], "bert-Model", b"expects a model that answers questions, got BertModel"),
])
def test_another_model(fovea_run, compiled, encoders, verb, arguments, name, message):
    result = fovea_run(verb, compiled(encoders / name / "model", "--compute=f32", "-O0"), *arguments)
    assert result.code == 1 and message in result.err and not result.out, str(result)


def test_labels_are_in_the_artifact(fovea, compiled, encoders):
    assert "labels: none, some, many" in fovea("inspect", compiled(encoders / "bert-ForSequenceClassification" / "model", "--compute=f32", "-O0")).ok().text


def test_a_pair_for_each_text(fovea_run, compiled, encoders):
    artifact = compiled(encoders / "bert-ForSequenceClassification" / "model", "--compute=f32", "-O0")
    assert fovea_run("classify", artifact).code == 2
    assert fovea_run("classify", artifact, "--text", "a", "--text", "b", "--pair", "c").code == 2
