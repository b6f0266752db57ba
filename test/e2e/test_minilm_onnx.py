# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MiniLM as PyTorch exports it, by both exporters, is what its checkpoint is: the same kernels, the same numbers."""
import re

import numpy as np
import pytest

from exporters import write_onnx

pytestmark = pytest.mark.long
NAMES = ["input_ids", "attention_mask", "token_type_ids"]


def export(minilm, folder, dynamo, element="float32"):
    import torch
    import transformers

    class LastHiddenState(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = transformers.AutoModel.from_pretrained(minilm, add_pooling_layer=False).to(getattr(torch, element))

        def forward(self, input_ids, attention_mask, token_type_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).last_hidden_state

    model = LastHiddenState().eval()
    ids = torch.full((2, 9), 1000)
    mask = torch.ones_like(ids)
    mask[1, 6:] = 0
    path = folder / "model.onnx"
    if dynamo:
        sizes = {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=512)}
        write_onnx(model, (ids, mask, torch.zeros_like(ids)), path, input_names=NAMES, output_names=["last_hidden_state"],
                   dynamic_shapes={name: sizes for name in NAMES}, dynamo=True)
    else:
        axes = {name: {0: "batch", 1: "sequence"} for name in [*NAMES, "last_hidden_state"]}
        write_onnx(model, (ids, mask, torch.zeros_like(ids)), path, input_names=NAMES, output_names=["last_hidden_state"],
                   dynamic_axes=axes, opset_version=17, dynamo=False)
    return path


@pytest.fixture(scope="module", params=["script", "dynamo"])
def exported(request, compiled, minilm, tmp_path_factory):
    return compiled(export(minilm, tmp_path_factory.mktemp(request.param), request.param == "dynamo"))


def kernels(fovea, artifact):
    """The lines of `forward`'s kernels: how often each runs, what it computes, its schedule."""
    text = fovea("inspect", artifact).ok().text
    forward = re.search(r"^entry forward .*?(?=^\S|\Z)", text, re.MULTILINE | re.DOTALL).group(0)
    lines = [line.strip() for line in forward.splitlines() if re.match(r" +\d+ x ", line)]
    assert len(lines) > 5, text
    return lines


def test_kernels(fovea, compiled, minilm, exported):
    """But for splits of keys, which only a model that says how long texts may be can do without."""
    whole = [[re.sub(r"_\d+:|, split = \[\d+, \d+\]", "", line) for line in kernels(fovea, artifact) if "attention_merge" not in line]
             for artifact in (exported, compiled(minilm))]
    assert whole[0] == whole[1]


def run(fovea_run, artifact, folder, inputs):
    np.savez(folder / "in.npz", **inputs)
    fovea_run("run", artifact, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--entry", "forward").ok()
    return np.load(folder / "out.npz")["last_hidden_state"]


def make_inputs(batch, length):
    random = np.random.default_rng(length)
    mask = np.ones((batch, length), np.int64)
    for row in range(1, batch):
        mask[row, length - 3 * row:] = 0
    ids = random.integers(1000, 20000, mask.shape)
    return {"input_ids": ids, "attention_mask": mask, "token_type_ids": random.integers(0, 2, mask.shape)}


@pytest.mark.parametrize("batch, length", [(1, 7), (3, 33), (2, 128)])
def test_numbers(fovea_run, compiled, minilm, exported, tmp_path, batch, length):
    inputs = make_inputs(batch, length)
    mask = inputs["attention_mask"]
    found, expected = (run(fovea_run, artifact, tmp_path, inputs) for artifact in (exported, compiled(minilm)))
    assert np.abs(found - expected).max() <= 1e-5 * np.abs(expected).max()

    def embedding(states):
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)

    assert (embedding(found) * embedding(expected)).sum(1).min() >= 0.99999


@pytest.mark.parametrize("element, tolerance", [("float16", 4e-3), ("bfloat16", 4e-2)])
def test_half_precision(fovea, fovea_run, compiled, minilm, tmp_path, element, tolerance):
    """A model in half precision has the kernels of one in f32: each layer four products with all that is around them, and attention."""
    artifact = compiled(export(minilm, tmp_path, True, element))
    lines = [line for line in kernels(fovea, artifact) if line.startswith("6 x")]
    computed = {line.split(": ", 1)[1].split(", #fovea")[0] for line in lines}  # by schedules for one row and for more
    assert len(computed) == 5 and sum("linear [" in one for one in computed) == 4 and sum("attention " in one for one in computed) == 1, lines
    assert not any("#fovea.loops" in line for line in lines), lines
    inputs = make_inputs(3, 33)
    found, expected = (run(fovea_run, one, tmp_path, inputs).astype(np.float64) for one in (artifact, compiled(minilm)))
    assert np.abs(found - expected)[inputs["attention_mask"] > 0].max() <= tolerance * np.abs(expected).max()
