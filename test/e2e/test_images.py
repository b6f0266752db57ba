# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Picture files on the command line: pixels bit by bit as `transformers` and Pillow give them, labels as the model does, and files that are no pictures."""
import json
import re

import numpy as np
import pytest
from PIL import Image

from pictures import PROCESSORS, checkpoint, processor_of, save_processor


def show_pixels(fovea, folder, path, channels=3):
    """IR text whose embedding of an image is its pixels, with the settings of the checkpoint in `folder`."""
    settings = re.search(r"fovea\.images = \{.*?\}", fovea("compile", folder, "--emit=import").ok().text).group()
    numbers = channels * 48 * 48
    image, flat = f"tensor<?x{channels}x48x48xf32>", f"tensor<?x{numbers}xf32>"
    path.write_text(f"""
module attributes {{{settings}}} {{
  func.func @embed(%x: {image} {{fovea.name = "pixel_values", fovea.dims = ["batch"]}}) -> ({flat} {{fovea.name = "embedding", fovea.dims = ["batch"]}}) attributes {{fovea.entry}} {{
    %y = tensor.collapse_shape %x [[0], [1, 2, 3]] : {image} into {flat}
    return %y : {flat}
  }}
}}
""")
    return path


@pytest.mark.long
@pytest.mark.parametrize("name", PROCESSORS)
def test_pixels_are_those_of_transformers(fovea, vision, pictures, tmp_path, name):
    folder = checkpoint(vision / "vit-Model" / "model", tmp_path / "model")
    save_processor(name, folder)
    found = json.loads(fovea("embed", show_pixels(fovea, folder, tmp_path / "pixels.mlir"), *pictures, "--json").ok().text)
    assert found["width"] == 3 * 48 * 48
    processor = processor_of(name)
    for path, pixels in zip(pictures, found["embeddings"], strict=True):
        expected = processor(Image.open(path), return_tensors="np")["pixel_values"][0]
        assert np.array_equal(np.array(pixels, np.float32), expected.ravel()), path.name


def test_grey_images(fovea, vision, pictures, tmp_path):
    """A model of one channel."""
    import transformers

    processor = transformers.ViTImageProcessorPil(size={"height": 48, "width": 48}, image_mean=[0.3], image_std=[0.2])
    folder = checkpoint(vision / "vit-Model-one-channel" / "model", tmp_path / "model")
    processor.save_pretrained(folder)
    model = show_pixels(fovea, folder, tmp_path / "pixels.mlir", channels=1)
    for path in (path for path in pictures if path.name.startswith("rgb")):
        found = np.array(fovea("embed", model, path).ok().text.split(), np.float32)
        assert np.array_equal(found, processor(Image.open(path).convert("L"), return_tensors="np")["pixel_values"].ravel())


@pytest.fixture(scope="session")
def classifier(vision, compiled, tmp_path_factory):
    """A classifier with the processor `clip`: its folder and its artifact."""
    folder = checkpoint(vision / "vit-ForImageClassification" / "model", tmp_path_factory.mktemp("classifier") / "model")
    save_processor("clip", folder)
    return folder, compiled(folder, "--compute=f32")


def test_classify(fovea_run, classifier, pictures, tmp_path):
    """Labels and probabilities of pictures, of an array of bytes, and of arrays as processors give them."""
    import torch
    import transformers

    folder, artifact = classifier
    model = transformers.AutoModelForImageClassification.from_pretrained(folder, dtype=torch.float64)
    processor = processor_of("clip")
    values = processor([Image.open(path) for path in pictures], return_tensors="np")["pixel_values"]
    with torch.no_grad():
        expected = model(pixel_values=torch.from_numpy(values).double()).logits.softmax(-1).numpy()
    np.save(tmp_path / "bytes.npy", np.asarray(Image.open(pictures[0]).convert("RGB")))
    np.save(tmp_path / "one.npy", values[1])
    np.save(tmp_path / "two.npy", values[2:4])
    given = [*pictures, tmp_path / "bytes.npy", tmp_path / "one.npy", tmp_path / "two.npy"]
    wanted = [*expected, processor_probabilities(model, processor, pictures[0]), expected[1], expected[2], expected[3]]
    found = json.loads(fovea_run("classify", artifact, *given, "--json").ok().text)["images"]
    lines = fovea_run("classify", artifact, *given, "--top", "0").ok().text.splitlines()
    assert [one["image"] for one in found] == [str(path) for path in [*given, given[-1]]]
    for one, line, probabilities in zip(found, lines, wanted, strict=True):
        scores = {score["label"]: score["score"] for score in one["scores"]}
        assert list(scores) == [model.config.id2label[i] for i in np.argsort(-probabilities)]
        assert np.abs([scores[model.config.id2label[i]] for i in range(3)] - probabilities).max() < 1e-5
        assert [float(word) for word in re.findall(r"\d\S*", line)] == pytest.approx([score["score"] for score in one["scores"]], rel=1e-3)


def processor_probabilities(model, processor, path):
    """Of what `path` shows, without its alpha."""
    import torch

    values = processor(Image.open(path).convert("RGB"), return_tensors="pt")["pixel_values"]
    with torch.no_grad():
        return model(pixel_values=values.double()).logits.softmax(-1).numpy()[0]


def test_standard_input_and_a_copied_artifact(fovea_run, classifier, pictures, tmp_path):
    """What a picture becomes is in the artifact."""
    _, artifact = classifier
    copied = tmp_path / "elsewhere.fovea"
    copied.write_bytes(artifact.read_bytes())
    there, here = fovea_run("classify", copied, "-", stdin=pictures[0].read_bytes()).ok().text, fovea_run("classify", artifact, pictures[0]).ok().text
    assert there == here and len(there.splitlines()) == 1


def test_inspect_says_what_pictures_become(fovea, classifier):
    assert "images: shortest edge 52 (bicubic), cropped to 48 x 48" in fovea("inspect", classifier[1]).ok().text
    images = json.loads(fovea("inspect", classifier[1], "--json").ok().text)["model"]["images"]
    assert images["shortest_edge"] == 52 and images["crop"] == [48, 48] and images["filter"] == "bicubic" and len(images["mean"]) == 3


@pytest.fixture
def broken(pictures, tmp_path):
    """Files that are no pictures a model can take, by name."""
    png, jpg = (next(path for path in pictures if path.name == name).read_bytes() for name in ("rgb-0.png", "rgb-0.jpg"))
    changed = bytearray(png)
    changed[len(png) // 2] ^= 0x55
    for name, content in {"cut.png": png[:-40], "cut.jpg": jpg[:len(jpg) // 2], "changed.png": changed, "empty.png": b"", "text.jpg": b"a cat", "head.png": png[:8], "head.jpg": jpg[:3]}.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder.png").mkdir()
    np.save(tmp_path / "doubles.npy", np.zeros((3, 48, 48)))
    np.save(tmp_path / "small.npy", np.zeros((3, 47, 48), np.float32))
    np.save(tmp_path / "flat.npy", np.zeros((48, 48), np.uint8))
    np.save(tmp_path / "none.npy", np.zeros((0, 48, 3), np.uint8))
    (tmp_path / "cut.npy").write_bytes((tmp_path / "small.npy").read_bytes()[:100])
    return tmp_path


@pytest.mark.parametrize("name, message", [
    ("cut.png", "is a broken PNG file: the file ends early"),
    ("head.png", "is a broken PNG file: the file ends early"),
    ("changed.png", "is a broken PNG file: "),
    ("cut.jpg", "is a broken JPEG file: Premature end of JPEG file"),
    ("head.jpg", "is a broken JPEG file: "),
    ("empty.png", "expects a PNG or JPEG file, or an array in a .npy file"),
    ("text.jpg", "expects a PNG or JPEG file, or an array in a .npy file"),
    ("folder.png", "expects a regular file, got a folder"),
    ("missing.png", "cannot be read: No such file or directory"),
    ("doubles.npy", "expects an array of bytes [height, width, 3], or of an image's numbers in f32"),
    ("flat.npy", "expects an array of bytes [height, width, 3], or of an image's numbers in f32"),
    ("none.npy", "expects from 1 to 178956970 pixels, got 48 x 0"),
    ("small.npy", "expects an array [3, 48, 48] or of several such, got [3, 47, 48]"),
    ("cut.npy", "has a header that goes past its end"),
])
def test_broken_files_are_named(fovea_run, classifier, broken, name, message):
    result = fovea_run("classify", classifier[1], broken / name)
    assert result.code == 1 and not result.out
    assert result.err.decode().startswith(f"fovea-run: error: {broken / name}: {message}") and len(result.err.splitlines()) == 1


def test_a_narrow_picture_does_not_become_a_huge_one(fovea_run, classifier, tmp_path):
    Image.new("RGB", (70000, 1)).save(tmp_path / "line.png")
    result = fovea_run("classify", classifier[1], tmp_path / "line.png")
    assert result.code == 1 and b"expects from 1 to 178956970 pixels, got 3640000 x 52" in result.err


def test_what_cannot_be_is_said(fovea, fovea_run, classifier, vision, encoders, compiled, pictures, tmp_path):
    _, artifact = classifier
    unsaid = compiled(vision / "vit-ForImageClassification" / "model", "--compute=f32")
    for wanted, code, *arguments in [
        ("cannot classify images: its source does not say how pictures are resized and normalised (it had no preprocessor_config.json); a .npy file in f32 is taken as it is", 1,
         "classify", unsaid, pictures[0]),
        ("cannot embed images: it has no entry that makes an embedding of an image", 1, "embed", artifact, pictures[0]),
        ("cannot classify images: its entry 'forward' takes no images", 1, "classify", compiled(encoders / "bert-ForSequenceClassification" / "model"), pictures[0]),
        ("expects texts or images, got both", 2, "classify", artifact, pictures[0], "--text", "a"),
        ("expects texts or images, got both", 2, "embed", artifact, pictures[0], "--text", "a"),
    ]:
        result = fovea_run(*arguments)
        assert result.code == code and wanted in result.err.decode(), result


@pytest.mark.parametrize("change, message", [
    (dict(size={"height": 48, "width": 40}), "size: expects 48 x 48, which the model's images have"),
    (dict(size=47), "size: expects 48 x 48, which the model's images have"),
    (dict(size={"shortest_edge": 48}), "size: expects 48 x 48, which the model's images have"),
    (dict(size={"shortest_edge": 48, "longest_edge": 60}), "size.longest_edge: expects shortest_edge alone"),
    (dict(size={"height": 48}), "size.width: is required, but missing"),
    (dict(size=[48]), "size: expects a height and a width"),
    (dict(do_center_crop=True, crop_size=47), "crop_size: expects 48 x 48"),
    (dict(resample=6), "resample: expects"),
    (dict(image_mean=[0.5, 0.5]), "image_mean: expects 3 numbers, one for each channel"),
    (dict(image_std=[0.5, 0, 0.5]), "image_std: expects numbers above 0"),
    (dict(image_processor_type="BeitImageProcessor"), "image_processor_type: expects one of BitImageProcessor, CLIPImageProcessor,"),
    (dict(do_pad=True), "do_pad: expects false"),
    (dict(do_flip=True), "do_flip: could change pixels and is not understood"),
])
def test_settings_that_do_not_fit_are_named(fovea, vision, tmp_path, change, message):
    settings = dict(image_processor_type="ViTImageProcessor", size={"height": 48, "width": 48}) | change
    folder = checkpoint(vision / "vit-Model" / "model", tmp_path / "model", preprocessor_config=settings)
    result = fovea("compile", folder, "-o", tmp_path / "out.fovea")
    assert result.code == 1 and f"{folder}/preprocessor_config.json: {message}" in result.err.decode() and not (tmp_path / "out.fovea").exists()
