# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What fovea.Model says of a model's heads, in Python, is what the command line's verbs say, which are tested against `transformers`."""
import json
import pathlib
import sys

import numpy as np
import pytest

from pictures import PROCESSORS, checkpoint, processor_of, save_processor
from programs import ROOT
from test_chat import artifact as chatting, model  # noqa: F401  fixtures
from test_images import classifier  # noqa: F401
from test_text_verbs import MASKED, PASSAGE, QUESTION

pytestmark = pytest.mark.long
TEXTS = ["the king speaks", "the night"]


@pytest.fixture(scope="module")
def load(this_processor):
    sys.path.insert(0, str(ROOT / "build" / "python"))
    try:
        import fovea
    finally:
        sys.path.pop(0)
    return fovea.load


def same(found, expected):
    """Numbers nearly, as others may have been summed in another order; all else exactly."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            same(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
    elif isinstance(expected, float):
        assert found == pytest.approx(expected, rel=1e-5)
    else:
        assert found == expected


def labels(scored):
    return {each["label"]: each["score"] for each in scored}


@pytest.mark.parametrize("name", ["bert-ForMaskedLM", "roberta-ForMaskedLM", "modernbert-ForMaskedLM"])
def test_fill_mask(fovea_run, compiled, encoders, load, name):
    artifact = compiled(encoders / name / "model", "--compute=f32", "-O0")
    (record,), = json.loads(fovea_run("fill-mask", artifact, "--text", MASKED, "--top", 3, "--json").ok().text).values()
    same(load(artifact).fill_mask(MASKED, top=3), record["masks"])
    with pytest.raises(ValueError, match="expects a mask"):
        load(artifact).fill_mask("the king")


@pytest.mark.parametrize("name", ["bert-ForSequenceClassification", "bert-ForSequenceClassification-two", "roberta-ForSequenceClassification"])
def test_classify(fovea_run, compiled, encoders, load, name):
    artifact = compiled(encoders / name / "model", "--compute=f32", "-O0")
    given = [word for text in TEXTS for word in ("--text", text)]
    record = json.loads(fovea_run("classify", artifact, *given, "--json").ok().text)["texts"]
    same(load(artifact).classify(TEXTS), [labels(each["scores"]) for each in record])
    record = json.loads(fovea_run("classify", artifact, "--text", TEXTS[0], "--pair", TEXTS[1], "--json").ok().text)["texts"]
    same(load(artifact).classify(*TEXTS), labels(record[0]["scores"]))


@pytest.mark.parametrize("entities", [False, True])
def test_tag(fovea_run, compiled, encoders, load, entities):
    artifact = compiled(encoders / "bert-ForTokenClassification" / "model", "--compute=f32", "-O0")
    (record,), = json.loads(fovea_run("tag", artifact, "--text", PASSAGE, "--json", *(["--entities"] if entities else [])).ok().text).values()
    same(load(artifact).tag(PASSAGE, entities), record["entities" if entities else "tokens"])


@pytest.mark.parametrize("longest", [1, 4, 15])
def test_answer(fovea_run, compiled, encoders, load, longest):
    artifact = compiled(encoders / "bert-ForQuestionAnswering" / "model", "--compute=f32", "-O0")
    record = json.loads(fovea_run("answer", artifact, "--question", QUESTION, "--passage", PASSAGE, "--longest", longest, "--json").ok().text)
    same(load(artifact).answer(QUESTION, PASSAGE, longest), {key: record[key] for key in ("answer", "probability")})


def test_images(fovea_run, classifier, pictures, load, tmp_path):  # noqa: F811
    """Files, arrays of bytes and pictures of Pillow."""
    from PIL import Image

    artifact, image_model = classifier[1], load(classifier[1])
    assert pictures
    for path in pictures:
        record = json.loads(fovea_run("classify", artifact, path, "--json").ok().text)["images"]
        same(image_model.classify(path), labels(record[0]["scores"]))
        same(image_model.classify(str(path)), labels(record[0]["scores"]))
    plain = Image.fromarray(np.random.default_rng(1).integers(0, 256, (37, 53, 3), dtype=np.uint8))
    plain.save(tmp_path / "plain.png")
    expected = image_model.classify(tmp_path / "plain.png")
    same(image_model.classify(plain), expected)
    same(image_model.classify(np.asarray(plain)), expected)
    same(image_model.classify([plain, pathlib.Path(pictures[0])])[0], expected)
    for wrong in (np.zeros((4, 4)), np.zeros((4, 4, 2), np.uint8), tmp_path / "nothing.png", 3):
        with pytest.raises(ValueError, match="expects|nothing.png"):
            image_model.classify(wrong)


@pytest.mark.parametrize("name", PROCESSORS)
def test_pixels(vision, compiled, pictures, load, tmp_path, name):
    """Bit by bit those of transformers' processors."""
    from PIL import Image

    folder = checkpoint(vision / "vit-Model" / "model", tmp_path / "model")
    save_processor(name, folder)
    found, processor = load(compiled(folder, "--compute=f32", "-O0")), processor_of(name)
    for path in pictures:
        assert np.array_equal(found.preprocess(path), processor(Image.open(path), return_tensors="np")["pixel_values"])


def test_chat(fovea_run, chatting, load):  # noqa: F811
    said = "What is the king?"
    expected = fovea_run("chat", chatting, "--temp", 0, "-n", 12, "--quiet", stdin=said.encode()).ok().text
    assert str(load(chatting).chat(said, max_tokens=12, temperature=0)).strip() == expected.strip()


def test_translate(fovea_run, compiled, translators, load):
    from translator_cases import TEXTS as sources

    artifact = compiled(translators / "marian" / "model", "--compute=f32")
    text = load(artifact).translate(sources[0], max_tokens=12)
    assert text == fovea_run("translate", artifact, "--text", sources[0], "-n", 12).ok().text.rstrip("\n")
    record = json.loads(fovea_run("translate", artifact, "--text", sources[0], "-n", 12, "--beams", 4, "--n-best", 3, "--json").ok().text)
    found = load(artifact).translate(sources[0], max_tokens=12, beams=4, count=3)
    same([{"text": each["text"], "score": each["score"]} for each in found], [{"text": each["text"], "score": each["score"]} for each in record[0]["texts"]])


def test_transcribe(fovea_run, compiled, speech, translators, load, tmp_path):
    """Two clips, one behind the other: in the language that is found, and in one that is chosen."""
    from speech_cases import LANGUAGES, NEW_TOKENS
    from test_speech_families import wav

    artifact = compiled(speech / "whisper" / "model", "--compute=f32")
    samples = np.load(speech / "whisper" / "inputs.npz")["samples"].ravel().astype(np.float32)
    (tmp_path / "both.wav").write_bytes(wav(samples.astype("<f4").tobytes()))
    model = load(artifact)
    for choices in ({}, {"language": "yue", "task": "translate"}):
        flags = [f"--{name}={value}" for name, value in choices.items()]
        record = json.loads(fovea_run("transcribe", artifact, tmp_path / "both.wav", "-n", NEW_TOKENS, "--json", *flags).ok().text)
        record = record[0] if isinstance(record, list) else record
        assert model.transcribe(samples, max_tokens=NEW_TOKENS, **choices) == record["text"] and record["text"]
    clip = samples[:len(samples) // 2]
    assert model.translate(clip, max_tokens=NEW_TOKENS, language="yue") == model.translate(clip, max_tokens=NEW_TOKENS, language="yue", count=1)[0]["text"]
    for call, message in [(lambda: model.transcribe(samples, language="Klingon"), f"language: expects one of {', '.join(sorted(LANGUAGES))}, got 'Klingon'"),
                          (lambda: model.translate(clip, voice="low"), "expects choices of language, task, got voice"),
                          (lambda: model.transcribe(samples.reshape(2, -1)), r"sound: expects samples of one channel, \[samples\], got \[2, "),
                          (lambda: load(compiled(translators / "marian" / "model", "--compute=f32")).transcribe(samples), "cannot transcribe: expects a model that reads sound")]:
        with pytest.raises(ValueError, match=message):
            call()
