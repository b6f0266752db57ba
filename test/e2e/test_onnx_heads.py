# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of models that score texts or pictures, with the files beside them that optimum writes: their folder is a model, and commands say of it what they say of the checkpoint."""
import json
import os
import shutil

import numpy as np
import pytest

from pictures import save_processor
from test_encoder_families_onnx import export

pytestmark = pytest.mark.long
TEXT = "the king of the night speaks"
#: What is asked, by checkpoint.
ASKED = {
    "bert-ForSequenceClassification": ["classify", "--text", TEXT, "--text", "night"],
    "bert-ForTokenClassification": ["tag", "--text", TEXT],
    "bert-ForQuestionAnswering": ["answer", "--question", "the king", "--passage", TEXT],
    "distilbert-ForSequenceClassification": ["classify", "--text", TEXT],
    "roberta-ForMaskedLM": ["fill-mask", "--text", "the [MASK] speaks"],
    "vit-ForImageClassification": ["classify"],
}


def export_folder(source, folder):
    """A graph of the checkpoint `source`, and copies of the files beside its weights."""
    import transformers

    config = json.loads((source / "config.json").read_text())
    model = getattr(transformers, config["architectures"][0]).from_pretrained(source).eval()
    ids = np.full((2, 9), 7)
    texts = {"input_ids": ids, "attention_mask": np.ones_like(ids)} | ({"token_type_ids": np.zeros_like(ids)} if config["model_type"] == "bert" else {})
    export(model, {"pixel_values": np.zeros((2, 3, 48, 48), np.float32)} if "image_size" in config else texts, "script", folder / "model.onnx")
    for path in source.iterdir():
        if path.suffix != ".safetensors":
            shutil.copy(path, folder)


@pytest.fixture(scope="module")
def exported(tmp_path_factory, encoders, vision):
    """The checkpoint and the folder of its graph, by name."""
    made = {}

    def make(name):
        if name not in made:
            source, folder = (vision if name.startswith("vit") else encoders) / name / "model", tmp_path_factory.mktemp(name)
            if name.startswith("vit"):
                source = shutil.copytree(source, tmp_path_factory.mktemp(name) / "model")
                save_processor("vit", source)
            export_folder(source, folder)
            made[name] = (source, folder)
        return made[name]

    return make


def close(a, b):
    """Whether two results of --json agree, numbers up to 1e-5."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return abs(a - b) <= 1e-5 if isinstance(a, float) else a == b


@pytest.mark.parametrize("name", ASKED)
def test_as_the_checkpoint(fovea, exported, pictures, name):
    source, folder = exported(name)
    verb, *arguments = ASKED[name]
    if name.startswith("vit"):
        arguments += pictures[:3]
    file, ours, theirs = (json.loads(fovea(verb, model, *arguments, "--compute=f32", "--json").ok().text) for model in (folder / "model.onnx", folder, source))
    assert close(ours, theirs) and close(file, theirs), (file, ours, theirs)


def test_a_long_text_is_cut_as_the_checkpoint_cuts_it(fovea, exported):
    """RoBERTa's positions begin behind the padding's row."""
    source, folder = exported("roberta-ForMaskedLM")
    text = "the [MASK] " + "king " * 200
    ours, theirs = (fovea("fill-mask", model, "--text", text, "--compute=f32", "--json").ok() for model in (folder, source))
    assert b"was cut" in ours.err and b"was cut" in theirs.err
    assert close(json.loads(ours.text), json.loads(theirs.text))


def with_config(folder, to, text):
    shutil.copytree(folder, to)
    (to / "config.json").write_text(text)
    return to


@pytest.mark.parametrize("change, note", [
    (lambda config: config | {"id2label": {"0": "a"}}, None),
    (lambda config: config | {"id2label": {"1": "a", "2": "b"}}, "id2label: expects an object with the name of each label"),
    (lambda config: config | {"problem_type": 3}, "problem_type: expects"),
    (lambda config: [], "config.json: expects"),
])
def test_a_configuration_that_does_not_fit_is_told_and_not_needed(fovea, exported, tmp_path, change, note):
    folder = exported("bert-ForSequenceClassification")[1]
    config = json.loads((folder / "config.json").read_text())
    other = with_config(folder, tmp_path / "model", json.dumps(change(config)))
    result = fovea("compile", other, "-o", tmp_path / "out.fovea").ok()
    assert (note is None) == (b"note" not in result.err) and (note or "").encode() in result.err, result
    if "problem_type" not in (note or ""):
        result = fovea("classify", tmp_path / "out.fovea", "--text", TEXT)
        assert result.code == 1 and b"its source does not name the" in result.err, result


def test_a_checkpoint_counts_before_a_graph_beside_it(fovea, exported, tmp_path):
    source, folder = exported("bert-ForSequenceClassification")
    shutil.copytree(source, tmp_path / "model")
    (tmp_path / "model" / "model.onnx").write_bytes(b"no graph")
    assert "BertForSequenceClassification" in fovea("check", tmp_path / "model").ok().text
    assert "ONNX" in fovea("check", folder).ok().text


def test_changed_labels_are_another_model(fovea, exported, tmp_path):
    """The cache of models looks at what stands beside a graph."""
    folder = exported("bert-ForSequenceClassification")[1]
    config = json.loads((folder / "config.json").read_text())
    first = with_config(folder, tmp_path / "model", json.dumps(config))
    count = len(config["id2label"])
    cache = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    assert "other" not in fovea("classify", first, "--text", TEXT, env=cache).ok().text
    (first / "config.json").write_text(json.dumps(config | {"id2label": {str(i): f"other{i}" for i in range(count)}}))
    assert "other" in fovea("classify", first, "--text", TEXT, env=cache).ok().text


def test_verify(fovea, exported):
    for name in ("bert-ForSequenceClassification", "vit-ForImageClassification"):
        fovea("verify", exported(name)[1]).ok()


def test_arrays_are_taken_as_they_are(fovea, exported, pictures, tmp_path):
    """Without settings of pictures an array is classified, and a picture is refused."""
    folder = shutil.copytree(exported("vit-ForImageClassification")[1], tmp_path / "model")
    (folder / "preprocessor_config.json").unlink()
    np.save(tmp_path / "image.npy", np.zeros((3, 48, 48), np.float32))
    assert fovea("classify", folder, tmp_path / "image.npy").ok().text
    result = fovea("classify", folder, pictures[0])
    assert result.code == 1 and b"does not say how pictures are resized and normalised" in result.err, result
