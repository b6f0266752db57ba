# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random decoders of many families, exported by PyTorch's two exporters: the numbers are PyTorch's. What an exporter writes wrongly is refused."""
import numpy as np
import pytest

from decoder_cases import CASES, FAMILIES, VOCABULARY, configuration
from exporters import WAYS, parameters, write_onnx

pytestmark = pytest.mark.long
REFUSED = {
    # It gives the rotated halves and the queries the sizes of others; ONNX Runtime refuses the file in the same place.
    ("cohere", "script"): "self_attn/Reshape: Reshape: expects a shape of 64 elements, got [batch, sequence, 2, 16]",
    # It writes PyTorch's own number of bf16, which is that of another type in ONNX.
    ("falcon-alibi", "script"): "Cast: not supported: casts to complex128; expects bool, integers, float16, bfloat16, float or double",
}
UNEXPORTED = {
    # Neither exporter has words for numbers of two parts, which turn its queries and keys.
    ("deepseek_v2", "dynamo"): "complex", ("deepseek_v2", "script"): "polar", ("deepseek_v2-lite", "dynamo"): "complex", ("deepseek_v2-lite", "script"): "polar",
    # It has no word for taking over the one or the other set of frequencies.
    ("phi3-longrope", "script"): "aten::copy", ("phi3-partial", "script"): "aten::copy",
}
EXPORTED = [(name, way) for name in [*FAMILIES, "falcon-alibi"] for way in WAYS]
# Weights of 16 bits make no other graph.
EVERY = [name for name in CASES if not name.endswith("bf16")]


def make_decoder(name):
    from make_decoders import make_model

    return make_model(*configuration(name)[:2], seed=1)


def export(model, way, path):
    """Gives what computes the logits. By `dynamo` of token ids alone, as graphs mostly are; `script` has a mask, too, without which `transformers` looks for several texts
    in one by an op that this exporter does not know."""
    import torch

    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("batched_mm")  # weights gathered for each token: what ONNX has words for

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask=None):
            return self.model(input_ids=input_ids, attention_mask=attention_mask, use_cache=False).logits

    logits = Logits().eval()
    ids = torch.randint(0, VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(0))
    inputs = {"input_ids": ids} if way == "dynamo" else {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    axes = {0: "batch", 1: "sequence"}
    dynamic = {"dynamic_shapes": {"input_ids": {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=127)}}} if way == "dynamo" else \
        {"dynamic_axes": {key: axes for key in [*inputs, "logits"]}}
    write_onnx(logits, tuple(inputs.values()), path, input_names=list(inputs), output_names=["logits"], dynamo=way == "dynamo", **dynamic)
    return logits


def compare_logits(fovea_run, compiled, tmp_path, model, way):
    """Where there is a mask, one text of several is shorter."""
    import torch

    logits = export(model, way, tmp_path / "model.onnx")
    for batch, length in [(1, 5), (3, 30)]:
        ids = np.random.default_rng(length).integers(0, VOCABULARY, (batch, length))
        kept = np.ones_like(ids)
        if way == "script" and batch > 1:
            kept[1, 17:] = 0
        np.savez(tmp_path / "in.npz", input_ids=ids, **({"attention_mask": kept} if way == "script" else {}))
        fovea_run("run", compiled(tmp_path / "model.onnx"), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        with torch.no_grad():
            expected = logits(torch.from_numpy(ids)).numpy()
        found = np.load(tmp_path / "out.npz")["logits"]
        assert np.abs(found - expected)[kept == 1].max() <= 1e-4 * np.abs(expected).max(), f"{batch} x {length}"


@pytest.mark.parametrize("name, way", parameters(EXPORTED, EVERY, {*REFUSED, *UNEXPORTED}))
def test_numbers(fovea_run, compiled, tmp_path, name, way):
    compare_logits(fovea_run, compiled, tmp_path, make_decoder(name), way)


@pytest.mark.parametrize("name, way", REFUSED)
def test_wrong_files_are_refused(fovea, tmp_path, name, way):
    export(make_decoder(name), way, tmp_path / "model.onnx")
    result = fovea("compile", tmp_path / "model.onnx", "-o", tmp_path / "out.fovea")
    assert result.code == 1 and REFUSED[name, way] in result.err.decode() and not (tmp_path / "out.fovea").exists()


@pytest.mark.parametrize("name, way", [(name, way) for name, way in UNEXPORTED if (name, way) in EXPORTED])
def test_what_exporters_refuse(tmp_path, name, way):
    """Stands here so that it is tested as soon as they do."""
    with pytest.raises(Exception, match=UNEXPORTED[name, way]):
        export(make_decoder(name), way, tmp_path / "model.onnx")
