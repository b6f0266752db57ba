# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small random models of transformers, exported by PyTorch: their norms, gates, rotary embeddings and attentions are found, and the numbers are PyTorch's."""
import collections
import re

import numpy as np
import pytest

import test_decoder_families_onnx
import test_encoder_families_onnx
from exporters import WAYS, parameters, write_onnx
from test_families import BERTS, GPT2S, LLAMAS

pytestmark = pytest.mark.long
SIZES = {"vocab_size": 97, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4, "max_position_embeddings": 128}

# What a model's graph holds, however often a layer is called.
FAMILIES = {
    "Llama": (dict(num_key_value_heads=2, **SIZES), {"attention": 1, "rope": 2, "glu": 1, "rms_norm": 3, "linear": 5}),
    "Gemma": (dict(num_key_value_heads=2, head_dim=64, **SIZES), {"attention": 1, "rope": 2, "glu": 1, "rms_norm": 3, "linear": 5}),
    "GPTNeoX": (dict(rotary_pct=0.5, **SIZES), {"attention": 1, "rope": 2, "activation": 1, "layer_norm": 3, "linear": 5}),
    "GPT2": (dict(vocab_size=97, n_embd=64, n_layer=3, n_head=4, n_positions=128), {"attention": 1, "position_learned": 1, "activation": 1, "layer_norm": 3, "linear": 5}),
}


@pytest.fixture(scope="module", params=FAMILIES)
def exported(request, tmp_path_factory):
    import torch
    import transformers

    configuration, found = FAMILIES[request.param]
    torch.manual_seed(0)
    model = getattr(transformers, request.param + ("LMHeadModel" if request.param == "GPT2" else "ForCausalLM"))(
        getattr(transformers, request.param + "Config")(**configuration))
    for parameter in model.parameters():
        if parameter.ndim == 1:
            torch.nn.init.normal_(parameter, 1, 0.2)

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids):
            return self.model(input_ids=input_ids, use_cache=False).logits

    logits = Logits().eval()
    ids = torch.randint(0, 97, (2, 9))
    path = tmp_path_factory.mktemp(request.param) / "model.onnx"
    write_onnx(logits, (ids,), path, input_names=["input_ids"], output_names=["logits"], dynamo=True,
               dynamic_shapes={"input_ids": {0: torch.export.Dim("batch"), 1: torch.export.Dim("sequence", max=127)}})
    return path, found, logits


def test_words(fovea, exported, tmp_path):
    path, found, _ = exported
    fovea("compile", path, "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
    words = collections.Counter(re.findall(r"= fovea\.(\w+) ", (tmp_path / "graph.mlir").read_text()))
    assert {word: words[word] for word in found} == found


@pytest.mark.parametrize("batch, length", [(1, 5), (3, 70)])
def test_numbers(fovea_run, compiled, exported, tmp_path, batch, length):
    import torch

    path, _, logits = exported
    ids = np.random.default_rng(length).integers(0, 97, (batch, length))
    np.savez(tmp_path / "in.npz", input_ids=ids)
    fovea_run("run", compiled(path), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
    with torch.no_grad():
        expected = logits(torch.from_numpy(ids)).numpy()
    assert np.abs(np.load(tmp_path / "out.npz")["logits"] - expected).max() <= 1e-4 * np.abs(expected).max()


EXPORTED = [(name, way) for name in ("llama-rope-default", "gpt2", "bert") for way in WAYS]
# How weights are stored and sentences pooled makes no other graph.
EVERY = [name for name in LLAMAS + GPT2S + BERTS if not any(word in name for word in ("older", "16", "sharded", "pool"))]

UNEXPORTED = {
    # Frequencies follow the greatest position that is in the data, on which this exporter cannot branch.
    ("llama-rope-dynamic", "dynamo"),
    # It has no word for taking over the one or the other set of frequencies (aten::copy).
    ("llama-rope-longrope", "script"),
}


@pytest.mark.parametrize("name, way", parameters(EXPORTED, EVERY, UNEXPORTED))
def test_checkpoints(fovea_run, compiled, checkpoints, tmp_path, name, way):
    import torch
    import transformers

    folder = checkpoints / name
    model = (transformers.AutoModel if name in BERTS else transformers.AutoModelForCausalLM).from_pretrained(folder / "model", dtype=torch.float32).eval()
    if name not in BERTS:
        test_decoder_families_onnx.compare_logits(fovea_run, compiled, tmp_path, model, way)
    else:
        inputs = [dict(np.load(path)) for path in sorted(folder.glob("inputs-*.npz"))]
        test_encoder_families_onnx.compare_outputs(fovea_run, compiled, tmp_path, way, model, *inputs)
