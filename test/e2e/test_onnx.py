# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What PyTorch exports, by both of its exporters, is imported with dynamic sizes; the reference interpreter gives what PyTorch gives."""
import math

import numpy as np
import pytest
import torch
import torch.nn as nn
import torch.nn.functional as F

from exporters import write_onnx
from onnx_cases import difference, interpret

BATCH, LENGTH, WIDTH, HEADS = 2, 5, 32, 4


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down, self.norm = nn.Linear(WIDTH, 48), nn.Linear(48, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        return self.norm(x + self.down(F.gelu(self.up(x))))


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def heads(self, x):
        return x.view(x.shape[0], x.shape[1], HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, x):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        scores = q @ k.transpose(-1, -2) / math.sqrt(WIDTH // HEADS)
        keep = torch.tril(torch.ones(x.shape[1], x.shape[1])).bool()
        weights = scores.masked_fill(~keep, -1e9).softmax(-1)
        return self.out((weights @ v).transpose(1, 2).reshape(x.shape))


class Sdpa(Attention):
    def forward(self, x):
        q, k, v = self.heads(self.query(x)), self.heads(self.key(x)), self.heads(self.value(x))
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(x.shape))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(WIDTH, HEADS, 64, batch_first=True), 2, enable_nested_tensor=False)

    def forward(self, x):
        return self.layers(x)


MODULES = {module.__name__: module for module in (Mlp, Attention, Sdpa, Encoder)}


def export(module, folder, dynamo, opset):
    path = folder / "model.onnx"
    x = torch.randn(BATCH, LENGTH, WIDTH)
    names = dict(input_names=["x"], output_names=["y"], opset_version=opset, dynamo=dynamo)
    sizes = {0: "batch", 1: "sequence"}
    if dynamo:
        dims = tuple({axis: torch.export.Dim.AUTO for axis in sizes} for _ in range(1))
        write_onnx(module, (x,), path, dynamic_shapes=dims, external_data=False, **names)
    else:
        write_onnx(module, (x,), path, dynamic_axes={"x": sizes}, **names)
    return path


@pytest.mark.parametrize("dynamo,opset", [(False, 14), (False, 17), (True, 18), (True, 23)])
@pytest.mark.parametrize("name", MODULES)
def test_exported_module(name, dynamo, opset, tmp_path):
    torch.manual_seed(0)
    module = MODULES[name]().eval()
    path = export(module, tmp_path, dynamo, opset)
    # The older exporter writes the traced length into PyTorch's own encoder.
    fixed = name == "Encoder" and not dynamo
    for batch, length in ((3, LENGTH if fixed else 4), (1, LENGTH if fixed else 9)):
        x = torch.randn(batch, length, WIDTH)
        with torch.no_grad():
            expected = module(x).numpy()
        result, = interpret(path, {"x": x.numpy()}, tmp_path)
        assert difference(result, expected) < 2e-6
