# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Labels of pictures by comparing them with texts, and embeddings of both, on the command line: as `transformers` says."""
import json

import numpy as np
import pytest
from PIL import Image

from pictures import checkpoint, processor_of, save_processor

pytestmark = pytest.mark.long
LABELS = ["the king", "a night", "speaking of the king, the night", "k"]


@pytest.fixture(scope="module", params=["clip-Model", "clip-Model-legacy"])
def pair(request, towers, compiled, tmp_path_factory):
    """A model with the processor `clip`: its folder, and its artifact in f32."""
    folder = checkpoint(towers / request.param / "model", tmp_path_factory.mktemp("pair") / "model")
    save_processor("clip", folder)
    return folder, compiled(folder, "--compute=f32")


def reference(folder, pictures, texts):
    """Logits [images, texts], and the embeddings of both."""
    import tokenizers
    import torch
    import transformers

    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding()
    rows = tokenizer.encode_batch(texts)
    given = {"input_ids": torch.tensor([row.ids for row in rows]), "attention_mask": torch.tensor([row.attention_mask for row in rows])}
    values = torch.from_numpy(processor_of("clip")([Image.open(path) for path in pictures], return_tensors="np")["pixel_values"]).double()
    model = transformers.CLIPModel.from_pretrained(folder, dtype=torch.float64)
    with torch.no_grad():
        return (model(**given, pixel_values=values).logits_per_image.numpy(), model.get_image_features(values).pooler_output.numpy(), model.get_text_features(**given).pooler_output.numpy())


def scores_of(image):
    return {score["label"]: score["score"] for score in image["scores"]}


@pytest.mark.parametrize("template", ["{}", "the {} of"])
def test_labels_of_pictures(fovea_run, pair, pictures, template):
    folder, artifact = pair
    logits = reference(folder, pictures, [template.replace("{}", label) for label in LABELS])[0]
    expected = np.exp(logits - logits.max(-1, keepdims=True))
    expected /= expected.sum(-1, keepdims=True)
    assert expected.max() < 0.999 and np.ptp(expected, axis=0).max() > 0.01  # something to tell
    arguments = [word for label in LABELS for word in ("--label", label)]
    found = json.loads(fovea_run("classify", artifact, *pictures, *arguments, "--template", template, "--json").ok().text)["images"]
    lines = fovea_run("classify", artifact, *pictures, *arguments, "--template", template).ok().text.splitlines()
    for image, line, path, probabilities in zip(found, lines, pictures, expected, strict=True):
        assert image["image"] == str(path)
        assert [score["label"] for score in image["scores"]] == [LABELS[i] for i in np.argsort(-probabilities)]
        assert np.abs([scores_of(image)[label] for label in LABELS] - probabilities).max() < 1e-5
        assert line.startswith(LABELS[probabilities.argmax()] + " 0.")


def test_several_images_of_one_array(fovea_run, pair, pictures, tmp_path):
    """As by themselves."""
    values = processor_of("clip")([Image.open(path) for path in pictures[:3]], return_tensors="np")["pixel_values"]
    np.save(tmp_path / "three.npy", values)
    labels = ["--label", LABELS[0], "--label", LABELS[1], "--json"]
    together, alone = (json.loads(fovea_run("classify", pair[1], *given, *labels).ok().text)["images"] for given in ([tmp_path / "three.npy"], pictures[:3]))
    assert len(together) == 3
    for one, other in zip(together, alone):
        assert np.abs(np.array([scores_of(one)[label] - scores_of(other)[label] for label in LABELS[:2]])).max() < 1e-6


def test_embeddings(fovea_run, pair, pictures):
    folder, artifact = pair
    _, images, texts = reference(folder, pictures, LABELS)
    for expected, arguments in ((images, pictures), (texts, [word for text in LABELS for word in ("--text", text)])):
        found = json.loads(fovea_run("embed", artifact, *arguments, "--json").ok().text)
        assert found["width"] == 20 and np.abs(np.array(found["embeddings"]) - expected).max() < 1e-4 * np.abs(expected).max()


def test_what_cannot_be_is_said(fovea_run, pair, towers, compiled, pictures, vision, tmp_path):
    artifact, picture = pair[1], pictures[0]
    images_alone = compiled(towers / "clipvision-Model" / "model", "--compute=f32")
    for wanted, code, *arguments in [
        ("its entry takes 'input_ids' besides; what may be on an image is named by --label", 1, "classify", artifact, picture),
        ("expects images beside --label", 2, "classify", artifact, "--label", "a"),
        ("expects a --template with {} where the label stands, got a photo", 2, "classify", artifact, picture, "--label", "a", "--template", "a photo"),
        ("cannot compare images with labels: expects a model that compares images with texts, got CLIPVisionModel", 1, "classify", images_alone, picture, "--label", "a"),
        ("cannot embed images: it has no entry that makes an embedding of an image", 1, "embed", images_alone, picture),
        ("its entry takes 'pixel_values', which is not made of a text", 1, "classify", artifact, "--text", "a"),
    ]:
        result = fovea_run(*arguments)
        assert result.code == code and wanted in result.err.decode() and not result.out, result


def test_a_tower_alone_embeds(fovea_run, towers, compiled, pictures, tmp_path):
    folder = checkpoint(towers / "clipvision-ModelWithProjection" / "model", tmp_path / "model")
    save_processor("clip", folder)
    assert len(fovea_run("embed", compiled(folder, "--compute=f32"), pictures[0]).ok().text.split()) == 20
