# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random encoders of many families with all their heads: compiled code against `transformers` in f64, with padding on either side, and on the emulator."""
import re

import numpy as np
import pytest

from encoder_cases import CASES, FAMILIES, OLDER
from test_families import run_entry

pytestmark = pytest.mark.long
# A model's tests one after the other, so that one process compiles it.
EVERY = pytest.mark.parametrize("name", CASES, scope="module")
SENTENCES = [name for name in CASES if name.endswith("sentences")]


@pytest.fixture
def artifact(compiled, encoders, name):
    """All in f32, as its references were computed."""
    return compiled(encoders / name / "model", "--compute=f32")


def difference(found, expected, mask):
    """The largest difference against the largest value expected, of what belongs to a text: all of it, or at the places that are kept."""
    assert found.shape == expected.shape
    if found.shape[:2] == mask.shape and found.ndim > 1:
        found, expected = found[mask != 0], expected[mask != 0]
    assert np.isfinite(found).all()
    return np.abs(found - expected).max() / np.abs(expected).max()


def belongs(name, kind, output):
    """Of what is said of a text by its first place there is nothing to compare where that is padding without a neighbour that is none."""
    return not (name == "modernbert-ForSequenceClassification" and kind == "left")


@EVERY
@pytest.mark.parametrize("kind", ["right", "left", "alone"])
def test_forward(fovea_run, artifact, encoders, tmp_path, name, kind):
    folder = encoders / name
    expected = np.load(folder / f"reference-{kind}.npz")
    mask = np.load(folder / f"inputs-{kind}.npz")["attention_mask"]
    found = run_entry(fovea_run, artifact, "forward", folder / f"inputs-{kind}.npz", tmp_path / "out.npz")
    # A model of sentences says nothing by heads.
    outputs = ["last_hidden_state"] if name in SENTENCES else list(expected)
    assert sorted(found) == sorted(outputs)
    for output in outputs:
        if belongs(name, kind, output):
            assert difference(found[output], expected[output], mask) <= 1e-4, output


@EVERY
def test_a_text_alone_is_as_in_a_batch(fovea_run, artifact, encoders, tmp_path, name):
    """The second text, whose padding is cut away."""
    given = np.load(encoders / name / "inputs-right.npz")
    length = given["attention_mask"][1].sum()
    np.savez(tmp_path / "in.npz", **{key: array[1:2, :length] for key, array in given.items()})
    alone = run_entry(fovea_run, artifact, "forward", tmp_path / "in.npz", tmp_path / "out.npz")
    batch = run_entry(fovea_run, artifact, "forward", encoders / name / "inputs-right.npz", tmp_path / "out.npz")
    for output in alone:
        expected = batch[output][1:2]
        expected = expected[:, :length] if expected.shape[:2] == (1, given["attention_mask"].shape[1]) else expected
        assert np.abs(alone[output] - expected).max() <= 1e-5 * np.abs(expected).max(), output


@pytest.mark.parametrize("name", SENTENCES)
@pytest.mark.parametrize("kind", ["right", "left", "alone"])
def test_embed(fovea_run, artifact, encoders, tmp_path, name, kind):
    folder = encoders / name
    expected = np.load(folder / f"embedding-{kind}.npz")["embedding"]
    found = run_entry(fovea_run, artifact, "embed", folder / f"inputs-{kind}.npz", tmp_path / "out.npz")["embedding"]
    assert found.shape == expected.shape and np.abs(found - expected).max() <= 1e-4


@EVERY
def test_verify(fovea, artifact, encoders, name):
    fovea("verify", artifact, "--source", encoders / name / "model").ok()


@EVERY
def test_check_finds_nothing(fovea, encoders, name):
    fovea("check", encoders / name / "model").ok()


@EVERY
def test_no_kernel_is_plain_loops(fovea, artifact, name):
    """But for the sums by which RoBERTa counts positions."""
    loops = re.findall(r"fallbacks to plain loops \((\d+)\)", fovea("inspect", artifact).ok().text)
    assert loops == (["1"] if re.match("roberta|xlmroberta|camembert|mpnet", name) else [])


@pytest.mark.parametrize("name", OLDER)
def test_older_configurations_say_the_same(fovea, encoders, tmp_path, name):
    graphs = []
    for folder in (name, f"{name}-older"):
        fovea("compile", encoders / folder / "model", "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
        graphs.append((tmp_path / "graph.mlir").read_text().replace(f"{encoders / folder}/", ""))
    assert graphs[0] == graphs[1] and "fovea.attention" in graphs[0]


@pytest.mark.devices("emulator")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", [f"{family}-{heads[-1]}" for family, (_, _, heads) in FAMILIES.items()])
def test_on_a_device(fovea_run, compiled, encoders, tmp_path, device, gpu_code, chip, name):
    """As on the processor."""
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    artifact = compiled(encoders / name / "model", "--compute=f32", *code)
    given = encoders / name / "inputs-right.npz"
    there, here = (run_entry(fovea_run, artifact, "forward", given, tmp_path / "out.npz", "--device", where) for where in (device, "cpu"))
    mask = np.load(given)["attention_mask"]
    for output in here:
        assert difference(there[output], here[output], mask) <= 1e-4, output
