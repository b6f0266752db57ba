# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random models that write what they hear, exported by PyTorch's two exporters: from features on, as exporters see them, the numbers are PyTorch's."""
import warnings

import numpy as np
import pytest

from speech_cases import FAMILIES, VOCABULARY, configuration

pytestmark = pytest.mark.long
EXPORTED = [(name, way) for name in FAMILIES for way in ("dynamo", "script")]
# The exporter itself: its masks are made by torch.diff, which it does not know.
REFUSED = {("whisper", "script")}
NAMES = ["input_features", "decoder_input_ids"]


def export(name, way, path):
    """Gives what computes the logits."""
    import torch

    from make_speech import make_model

    torch.set_num_threads(1)  # so small that a second one only waits
    model = make_model(name, seed=1)

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_features, decoder_input_ids):
            return self.model(input_features=input_features, decoder_input_ids=decoder_input_ids, use_cache=False).logits

    logits = Logits().eval()
    axes = {"input_features": {0: "batch"}, "decoder_input_ids": {0: "batch", 1: "sequence"}}
    if way == "dynamo":
        dims = {"batch": torch.export.Dim("batch"), "sequence": torch.export.Dim("sequence", max=63)}
        dynamic = {"dynamic_shapes": {key: {axis: dims[dim] for axis, dim in names.items()} for key, names in axes.items()}, "verbose": False}
    else:
        dynamic = {"dynamic_axes": axes | {"logits": axes["decoder_input_ids"]}}
    features, ids = make_inputs(name, 2, 7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(logits, (torch.from_numpy(features), torch.from_numpy(ids)), path, input_names=NAMES, output_names=["logits"], dynamo=way == "dynamo",
                          **dynamic)
    return logits


def make_inputs(name, batch, length):
    random, settings = np.random.default_rng(length), configuration(name)[1]
    features = random.standard_normal((batch, settings["num_mel_bins"], 2 * settings["max_source_positions"])).astype(np.float32)
    return features, random.integers(0, VOCABULARY, (batch, length))


@pytest.mark.parametrize("name, way", [case for case in EXPORTED if case not in REFUSED])
def test_numbers(fovea_run, compiled, tmp_path, name, way):
    import torch

    logits = export(name, way, tmp_path / "model.onnx")
    for batch, length in [(1, 3), (3, 30)]:
        inputs = dict(zip(NAMES, make_inputs(name, batch, length)))
        np.savez(tmp_path / "in.npz", **inputs)
        fovea_run("run", compiled(tmp_path / "model.onnx"), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        with torch.no_grad():
            expected = logits(**{key: torch.from_numpy(array) for key, array in inputs.items()}).numpy()
        found = np.load(tmp_path / "out.npz")["logits"]
        assert np.abs(found - expected).max() <= 1e-4 * np.abs(expected).max(), f"{batch} x {length}"
