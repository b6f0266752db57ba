# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random models with an encoder of texts and one of images: compiled code against `transformers` in f64, each encoder by itself and both, and on the emulator."""
import json
import re

import numpy as np
import pytest

from programs import unexpected_plain_loops
from test_encoder_families import difference
from test_families import run_entry
from tower_cases import CASES, FAMILIES, TEXT

pytestmark = pytest.mark.long
# A model's tests one after the other, so that one process compiles it.
EVERY = pytest.mark.parametrize("name", CASES, scope="module")
BOTH = [name for name in CASES if name.startswith("clip-")]


@pytest.fixture
def artifact(compiled, towers, name):
    """All in f32, as its references were computed."""
    return compiled(towers / name / "model", "--compute=f32")


def kinds(folder):
    return sorted(path.stem.partition("-")[2] for path in folder.glob("inputs-*.npz"))


def compare(found, expected, given):
    """All outputs; of hidden states of texts what belongs to one."""
    assert sorted(found) == sorted(expected)
    for output in expected:
        mask = given["attention_mask"] if "attention_mask" in given else np.ones((0, 0))
        assert difference(found[output], expected[output], mask) <= 5e-5, output


@EVERY
def test_forward(fovea_run, artifact, towers, tmp_path, name):
    """Texts with padding on either side, one without its end, and images."""
    folder = towers / name
    assert kinds(folder)
    for kind in kinds(folder):
        given = folder / f"inputs-{kind}.npz"
        compare(run_entry(fovea_run, artifact, "forward", given, tmp_path / "out.npz"), np.load(folder / f"reference-{kind}.npz"), np.load(given))


@EVERY
def test_one_alone_is_as_with_others(fovea_run, artifact, towers, tmp_path, name):
    """The second text without its padding, and the second image."""
    kind = "images" if name.startswith("clipvision") else "right"
    given, expected = (np.load(towers / name / f"{what}-{kind}.npz") for what in ("inputs", "reference"))
    length = given["attention_mask"][1].sum() if "attention_mask" in given else 0
    np.savez(tmp_path / "in.npz", **{key: array[1:2] if key == "pixel_values" else array[1:2, :length] for key, array in given.items()})
    found = run_entry(fovea_run, artifact, "forward", tmp_path / "in.npz", tmp_path / "out.npz")
    for output in expected:
        wanted = expected[output][1:2]
        if output.startswith("logits"):
            wanted = wanted[:, 1:2]
        elif output == "last_hidden_state" and length:
            wanted = wanted[:, :length]
        assert found[output].shape == wanted.shape and np.abs(found[output] - wanted).max() <= 5e-5 * np.abs(expected[output]).max(), output


@pytest.mark.parametrize("name", BOTH)
def test_each_tower_by_itself(fovea_run, artifact, towers, tmp_path, name):
    given = np.load(towers / name / "inputs-right.npz")
    for entry, keys, reference in (("embed", ["input_ids", "attention_mask"], "text"), ("embed_image", ["pixel_values"], "image")):
        np.savez(tmp_path / "in.npz", **{key: given[key] for key in keys})
        found = run_entry(fovea_run, artifact, entry, tmp_path / "in.npz", tmp_path / "out.npz")["embedding"]
        expected = np.load(towers / name / f"embedding-{reference}.npz")["embedding"]
        assert found.shape == expected.shape and np.abs(found - expected).max() <= 5e-5 * np.abs(expected).max()


@pytest.mark.parametrize("name", [f"{family}-ModelWithProjection" for family in ("cliptext", "clipvision")])
def test_a_tower_alone_embeds(fovea_run, artifact, towers, tmp_path, name):
    kind, output = ("right", "text_embeds") if "text" in name else ("images", "image_embeds")
    found = run_entry(fovea_run, artifact, "embed", towers / name / f"inputs-{kind}.npz", tmp_path / "out.npz")["embedding"]
    expected = np.load(towers / name / f"reference-{kind}.npz")[output]
    assert np.abs(found - expected).max() <= 5e-5 * np.abs(expected).max()


@EVERY
def test_verify_and_check(fovea, artifact, towers, name):
    fovea("verify", artifact, "--source", towers / name / "model").ok()
    assert not fovea("check", towers / name / "model").ok().err


@pytest.mark.parametrize("name", [name for name in CASES if "gelu" not in name])
def test_no_kernel_is_plain_loops(fovea, artifact, name):
    """But for those that find a text's greatest token, a comparison for each token. (Patches of 8 x 8 pixels are too small for other kernels.)"""
    assert unexpected_plain_loops(fovea, artifact) == ([] if name.startswith("clipvision") else ["generic"])


@pytest.mark.parametrize("name", ["clip-Model"])
def test_attentions_are_fused(fovea, artifact, name):
    """Those of texts with both of their masks."""
    fusion = json.loads(fovea("inspect", artifact, "--json").ok().text)
    assert [entry["name"] for entry in fusion["entries"]] == ["forward", "embed", "embed_image"]
    report = fovea("inspect", artifact).ok().text
    assert re.findall(r"^fused +(\w+)\.encoder\.layers\.\d\.self_attn +(.+?)  ", report, re.MULTILINE) == [("text_model", "dense, causal")] * 2 + [("vision_model", "-")] * 3


@pytest.mark.devices("emulator")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_on_a_device(fovea_run, compiled, towers, tmp_path, device, gpu_code, chip):
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    artifact = compiled(towers / "clip-Model" / "model", "--compute=f32", *code)
    given = towers / "clip-Model" / "inputs-right.npz"
    there, here = (run_entry(fovea_run, artifact, "forward", given, tmp_path / "out.npz", "--device", where) for where in (device, "cpu"))
    for output in here:
        assert difference(there[output], here[output], np.load(given)["attention_mask"]) <= 1e-4, output


def changed(folder, tmp_path, change):
    """The checkpoint of `folder` with a part of its configuration changed."""
    (tmp_path / "model").mkdir()
    for name in ("model.safetensors", "tokenizer.json"):
        (tmp_path / "model" / name).symlink_to(folder / "model" / name)
    config = json.loads((folder / "model" / "config.json").read_text())
    for key, value in change.items():
        config[key] = config[key] | value if isinstance(value, dict) and isinstance(config.get(key), dict) else value
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    return tmp_path / "model"


def test_older_configurations_say_the_same(fovea, towers, tmp_path):
    """A part that is there twice, of which the second counts, and keys of before."""
    source = towers / "clip-Model"
    besides = dict(add_cross_attention=False, is_decoder=False, pruned_heads={}, tie_word_embeddings=True)
    older = changed(source, tmp_path, dict(text_config=dict(hidden_size=99, dropout=0.0) | besides, text_config_dict=TEXT | besides, vision_config=besides,
                                           vision_config_dict=None, torch_dtype="float32"))
    graphs = [fovea("compile", folder, "--emit=graph").ok().text.replace(str(folder), "") for folder in (source / "model", older)]
    assert graphs[0] == graphs[1] and "fovea.attention" in graphs[0]


def test_older_names_of_tensors(fovea, fovea_run, towers, compiled, tmp_path):
    """Towers by themselves were stored with the prefix that they have in the whole."""
    from safetensors.numpy import load_file, save_file

    source = towers / "cliptext-Model"
    folder = changed(source, tmp_path, {})
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    save_file({f"text_model.{name}": tensor for name, tensor in tensors.items()} | {"text_model.embeddings.position_ids": np.arange(40)[None]}, folder / "model.safetensors")
    compare(run_entry(fovea_run, compiled(folder, "--compute=f32"), "forward", source / "inputs-right.npz", tmp_path / "out.npz"),
            np.load(source / "reference-right.npz"), np.load(source / "inputs-right.npz"))


@pytest.mark.parametrize("name, change, message", [
    ("clip-Model", dict(text_config=dict(num_attention_heads=5)), "config.json: text_config.hidden_size: expects a multiple of num_attention_heads, 5, got 48"),
    ("clip-Model", dict(vision_config=dict(patch_size=7)), "config.json: vision_config.patch_size: expects a side of squares that divides image_size, 48 x 48, got 7"),
    ("clip-Model", dict(text_config=dict(hidden_act="mish")), "config.json: text_config.hidden_act: expects"),
    ("clip-Model", dict(text_config=dict(rope_theta=3.0)), "config.json: text_config.rope_theta: could change numbers and is not understood"),
    ("clip-Model", dict(vision_config=None), "config.json: vision_config: is required, but missing"),
    ("clip-Model", dict(projection_dim=21), "tensor \"text_projection.weight\": expects shape [21, 48] as the configuration says, got [20, 48]"),
    ("clip-Model", dict(text_config=dict(eos_token_id=[3, 4])), "config.json: text_config.eos_token_id: expects"),
    ("clip-Model", dict(vision_config=dict(num_hidden_layers=4)), "vision_model.encoder.layers.3.layer_norm1.weight"),
    ("clipvision-Model", dict(image_size=32), "embeddings.position_embedding.weight\": expects shape [5, 64] as the configuration says, got [10, 64]"),
    ("cliptext-Model", dict(architectures=["CLIPTextModelForTokens"]), "architectures: expects one of CLIPTextModel, CLIPTextModelWithProjection"),
])
def test_what_does_not_fit_is_named(fovea, towers, tmp_path, name, change, message):
    result = fovea("compile", changed(towers / name, tmp_path, change), "-o", tmp_path / "out.fovea")
    assert result.code == 1 and message in result.err.decode() and not (tmp_path / "out.fovea").exists(), result
