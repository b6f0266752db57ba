# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A deep-learning course's Transformer: one stacked projection with query, key and value of a head side by side, fills of -9e15, and the attention maps returned.
The modules are those of examples/tutorial-classifier."""
import pathlib
import sys

from case import Case, floats, keep

sys.path.append(str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "tutorial-classifier"))
from model import Classifier, EncoderBlock, MultiheadAttention  # noqa: E402


class ReturnsMaps(MultiheadAttention):
    def forward(self, x, mask=None):
        return super().forward(x, mask, return_attention=True)


x = {"x": floats("batch", "length", 16)}

CASES = [
    Case("tutorial_plain", lambda: MultiheadAttention(16, 16, 2), x),
    Case("tutorial_returns_maps", lambda: ReturnsMaps(16, 16, 4), x, outputs=("output", "attention")),
    Case("tutorial_mask_2d", lambda: MultiheadAttention(16, 16, 2), {**x, "mask": keep("length", "length", type="int64")}, [["dense"]]),
    Case("tutorial_mask_3d", lambda: MultiheadAttention(16, 16, 2, fill=-1e10), {**x, "mask": keep("batch", "length", "length", type="float32")}, [["dense"]]),
    Case("tutorial_mask_4d", lambda: MultiheadAttention(16, 16, 2, fill=-1e20), {**x, "mask": keep("batch", 2, "length", "length")}, [["dense"]]),
    Case("tutorial_empty_rows", lambda: ReturnsMaps(16, 16, 2), {**x, "mask": keep("batch", "length", "length", type="int64", empty=True)}, [["dense"]],
         outputs=("output", "attention"), fill="mean"),
    Case("tutorial_encoder_block", lambda: EncoderBlock(16, 4, 24), x),
    Case("tutorial_classifier", lambda: Classifier(), {"x": floats("batch", "length", 10)}, [[], []]),
    Case("tutorial_classifier_masked", lambda: Classifier(fill=-1e9), {"x": floats("batch", "length", 10), "mask": keep("length", "length", type="int32")}, [["dense"], ["dense"]]),
]
