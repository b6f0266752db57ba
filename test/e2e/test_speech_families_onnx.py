# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random models that write what they hear, exported by PyTorch's two exporters: from features on, as exporters see them, the numbers are PyTorch's."""
import numpy as np
import pytest

from exporters import WAYS, compare, export, parameters
from speech_cases import CASES, FAMILIES, VOCABULARY, configuration

pytestmark = pytest.mark.long
EXPORTED = [(name, way) for name in FAMILIES for way in WAYS]
# Weights of 16 bits make no other graph.
EVERY = [name for name in CASES if not name.endswith("bf16")]
# The exporter itself: its masks are made by torch.diff, which it does not know.
REFUSED = {(name, "script") for name in CASES}
NAMES = ["input_features", "decoder_input_ids"]


def make_logits(name):
    """What computes the logits."""
    import torch

    from make_speech import make_model

    model = make_model(name, seed=1)

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_features, decoder_input_ids):
            return self.model(input_features=input_features, decoder_input_ids=decoder_input_ids, use_cache=False).logits

    return Logits().eval()


def make_inputs(name, batch, length):
    random, settings = np.random.default_rng(length), configuration(name)[1]
    features = random.standard_normal((batch, settings["num_mel_bins"], 2 * settings["max_source_positions"])).astype(np.float32)
    return dict(zip(NAMES, [features, random.integers(0, VOCABULARY, (batch, length))]))


@pytest.mark.parametrize("name, way", parameters(EXPORTED, EVERY, REFUSED))
def test_numbers(fovea_run, compiled, tmp_path, name, way):
    logits = make_logits(name)
    axes = {"input_features": {0: "batch"}, "decoder_input_ids": {0: "batch", 1: "sequence"}}
    export(logits, make_inputs(name, 2, 7), tmp_path / "model.onnx", axes, way == "dynamo", {"sequence": 63}, result_axes=axes["decoder_input_ids"])
    for batch, length in [(1, 3), (3, 30)]:
        compare(fovea_run, compiled(tmp_path / "model.onnx"), logits, make_inputs(name, batch, length), tmp_path)
