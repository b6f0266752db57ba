# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random encoder-decoders of many families, exported by PyTorch's two exporters: the numbers are PyTorch's."""
import warnings

import numpy as np
import pytest

from translator_cases import FAMILIES, VOCABULARY

pytestmark = pytest.mark.long
# The exporter cannot view what its own attention gives in the shape that the model asks for.
EAGER = [("t5", "dynamo"), ("mt5", "dynamo")]
EXPORTED = [(name, way) for name in FAMILIES for way in ("dynamo", "script")]
NAMES = ["input_ids", "attention_mask", "decoder_input_ids"]


def export(name, way, path):
    """Gives what computes the logits."""
    import torch

    from make_translators import make_model

    torch.set_num_threads(1)  # so small that a second one only waits
    model = make_model(name, seed=1)

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, decoder_input_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=decoder_input_ids, use_cache=False).logits

    if (name, way) in EAGER:
        model.set_attn_implementation("eager")
    logits = Logits().eval()
    generator = torch.Generator().manual_seed(0)
    source, written = (torch.randint(0, VOCABULARY, (2, length), generator=generator) for length in (9, 7))
    axes = {key: {0: "batch", 1: "sequence" if key == "decoder_input_ids" else "source"} for key in NAMES}
    if way == "dynamo":
        dims = {"batch": torch.export.Dim("batch"), **{key: torch.export.Dim(key, max=63) for key in ("source", "sequence")}}
        dynamic = {"dynamic_shapes": {key: {axis: dims[dim] for axis, dim in names.items()} for key, names in axes.items()}, "verbose": False}
    else:
        dynamic = {"dynamic_axes": axes | {"logits": axes["decoder_input_ids"]}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(logits, (source, torch.ones_like(source), written), path, input_names=NAMES, output_names=["logits"], dynamo=way == "dynamo",
                          **dynamic)
    return logits


@pytest.mark.parametrize("name, way", EXPORTED)
def test_numbers(fovea_run, compiled, tmp_path, name, way):
    """Of several texts one is shorter."""
    import torch

    logits = export(name, way, tmp_path / "model.onnx")
    for batch, source, length in [(1, 5, 3), (3, 40, 30)]:
        ids, mask = np.random.default_rng(length).integers(0, VOCABULARY, (batch, source + length)), np.ones((batch, source), np.int64)
        inputs = dict(zip(NAMES, [ids[:, :source], mask, ids[:, source:]]))
        if batch > 1:
            mask[1, 17:] = 0
        np.savez(tmp_path / "in.npz", **inputs)
        fovea_run("run", compiled(tmp_path / "model.onnx"), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        with torch.no_grad():
            expected = logits(**{key: torch.from_numpy(array) for key, array in inputs.items()}).numpy()
        found = np.load(tmp_path / "out.npz")["logits"]
        assert np.abs(found - expected).max() <= 1e-4 * np.abs(expected).max(), f"{batch} x {source} x {length}"
