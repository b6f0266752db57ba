# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random encoder-decoders of many families, exported by PyTorch's two exporters: the numbers are PyTorch's."""
import numpy as np
import pytest

from exporters import WAYS, compare, export, parameters
from translator_cases import CASES, FAMILIES, VOCABULARY, family_of

pytestmark = pytest.mark.long
# The exporter cannot view what its own attention gives in the shape that the model asks for.
EAGER = [("t5", "dynamo"), ("mt5", "dynamo")]  # a family, and a way
EXPORTED = [(name, way) for name in FAMILIES for way in WAYS]
# Weights of 16 bits make no other graph.
EVERY = [name for name in CASES if not name.endswith("bf16")]
NAMES = ["input_ids", "attention_mask", "decoder_input_ids"]


def make_logits(name, way):
    """What computes the logits."""
    import torch

    from make_translators import make_model

    model = make_model(name, seed=1)

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, decoder_input_ids):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, decoder_input_ids=decoder_input_ids, use_cache=False).logits

    if (family_of(name), way) in EAGER:
        model.set_attn_implementation("eager")
    return Logits().eval()


def make_inputs(batch, source, length):
    """Of several texts one is shorter."""
    ids, mask = np.random.default_rng(length).integers(0, VOCABULARY, (batch, source + length)), np.ones((batch, source), np.int64)
    mask[1:2, 17:] = 0
    return dict(zip(NAMES, [ids[:, :source], mask, ids[:, source:]]))


@pytest.mark.parametrize("name, way", parameters(EXPORTED, EVERY))
def test_numbers(fovea_run, compiled, tmp_path, name, way):
    logits = make_logits(name, way)
    axes = {key: {0: "batch", 1: "sequence" if key == "decoder_input_ids" else "source"} for key in NAMES}
    export(logits, make_inputs(2, 9, 7), tmp_path / "model.onnx", axes, way == "dynamo", {"source": 63, "sequence": 63}, result_axes=axes["decoder_input_ids"])
    for batch, source, length in [(1, 5, 3), (3, 40, 30)]:
        compare(fovea_run, compiled(tmp_path / "model.onnx"), logits, make_inputs(batch, source, length), tmp_path)
