# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random models that read images: compiled code against `transformers` in f64, and on the emulator."""
import json

import numpy as np
import pytest

from programs import unexpected_plain_loops
from test_families import difference, run_entry
from vision_cases import CASES, FAMILIES

pytestmark = pytest.mark.long
EVERY = pytest.mark.parametrize("name", CASES)


@pytest.fixture
def artifact(compiled, vision, name):
    """All in f32, as its references were computed."""
    return compiled(vision / name / "model", "--compute=f32")


def forward(fovea_run, artifact, images, tmp_path, *flags):
    np.savez(tmp_path / "in.npz", pixel_values=images)
    return run_entry(fovea_run, artifact, "forward", tmp_path / "in.npz", tmp_path / "out.npz", *flags)


@EVERY
def test_forward(fovea_run, artifact, vision, tmp_path, name):
    """Images together, and one alone."""
    images, expected = np.load(vision / name / "inputs.npz")["pixel_values"], np.load(vision / name / "reference.npz")
    found, alone = (forward(fovea_run, artifact, part, tmp_path) for part in (images, images[1:2]))
    assert sorted(found) == sorted(expected)
    for output in expected:
        assert difference(found[output], expected[output]) <= 2e-5, output
        assert difference(alone[output], expected[output][1:2]) <= 2e-5, output


@EVERY
def test_verify_and_check(fovea, artifact, vision, name):
    fovea("verify", artifact, "--source", vision / name / "model").ok()
    assert not fovea("check", vision / name / "model").ok().err


@pytest.mark.parametrize("name", [name for name in CASES if "small" not in name])
def test_no_kernel_is_plain_loops(fovea, artifact, name):
    assert not unexpected_plain_loops(fovea, artifact)


@pytest.mark.devices("emulator")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", [f"{family}-Model" for family in FAMILIES])
def test_on_a_device(fovea_run, compiled, vision, tmp_path, device, gpu_code, chip, name):
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    artifact = compiled(vision / name / "model", "--compute=f32", *code)
    images = np.load(vision / name / "inputs.npz")["pixel_values"]
    there, here = (forward(fovea_run, artifact, images, tmp_path, "--device", where) for where in (device, "cpu"))
    for output in here:
        assert difference(there[output], here[output]) <= 1e-4


@pytest.mark.parametrize("change, message", [
    (dict(patch_size=7), "patch_size: expects a side of squares that divides image_size, 48 x 48, got 7"),
    (dict(image_size=[48, 48, 48]), "image_size: expects an integer or two, height and width"),
    (dict(hidden_size=50), "hidden_size: expects a multiple of num_attention_heads, 4, got 50"),
    (dict(num_channels=4), "patch_embeddings.projection.weight\": expects shape [48, 4, 16, 16] as the configuration says, got [48, 3, 16, 16]"),
    (dict(pooler_act="relu"), "pooler_act: expects \"tanh\""),
    (dict(use_mask_token=True), "use_mask_token"),
])
def test_what_does_not_fit_is_named(fovea, vision, tmp_path, change, message):
    source, folder = vision / "vit-ForImageClassification" / "model", tmp_path / "model"
    folder.mkdir()
    (folder / "model.safetensors").symlink_to(source / "model.safetensors")
    (folder / "config.json").write_text(json.dumps(json.loads((source / "config.json").read_text()) | change))
    result = fovea("compile", folder, "-o", tmp_path / "out.fovea")
    assert result.code == 1 and message in result.err.decode() and not (tmp_path / "out.fovea").exists()
