# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A deep-learning course's Transformer: one stacked projection with query, key and value of a head side by side, fills of -9e15, and the attention maps returned."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from case import Case, floats, keep


def scaled_dot_product(q, k, v, mask=None, fill=-9e15):
    d_k = q.size()[-1]
    attn_logits = torch.matmul(q, k.transpose(-2, -1))
    attn_logits = attn_logits / math.sqrt(d_k)
    if mask is not None:
        attn_logits = attn_logits.masked_fill(mask == 0, fill)
    attention = F.softmax(attn_logits, dim=-1)
    values = torch.matmul(attention, v)
    return values, attention


def expand_mask(mask):
    assert mask.ndim >= 2
    if mask.ndim == 3:
        mask = mask.unsqueeze(1)
    while mask.ndim < 4:
        mask = mask.unsqueeze(0)
    return mask


class MultiheadAttention(nn.Module):
    def __init__(self, input_dim, embed_dim, num_heads, fill=-9e15, return_attention=False):
        super().__init__()
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.qkv_proj = nn.Linear(input_dim, 3 * embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)
        self.fill, self.return_attention = fill, return_attention
        nn.init.xavier_uniform_(self.qkv_proj.weight, gain=2.0)

    def forward(self, x, mask=None):
        batch_size, seq_length, _ = x.size()
        if mask is not None:
            mask = expand_mask(mask)
        qkv = self.qkv_proj(x)
        qkv = qkv.reshape(batch_size, seq_length, self.num_heads, 3 * self.head_dim)
        qkv = qkv.permute(0, 2, 1, 3)
        q, k, v = qkv.chunk(3, dim=-1)
        values, attention = scaled_dot_product(q, k, v, mask=mask, fill=self.fill)
        values = values.permute(0, 2, 1, 3)
        values = values.reshape(batch_size, seq_length, self.embed_dim)
        o = self.o_proj(values)
        return (o, attention) if self.return_attention else o


class EncoderBlock(nn.Module):
    """Post-norm."""

    def __init__(self, input_dim, num_heads, dim_feedforward, dropout=0.1, **options):
        super().__init__()
        self.self_attn = MultiheadAttention(input_dim, input_dim, num_heads, **options)
        self.linear_net = nn.Sequential(nn.Linear(input_dim, dim_feedforward), nn.Dropout(dropout), nn.ReLU(inplace=True), nn.Linear(dim_feedforward, input_dim))
        self.norm1, self.norm2, self.dropout = nn.LayerNorm(input_dim), nn.LayerNorm(input_dim), nn.Dropout(dropout)

    def forward(self, x, mask=None):
        x = self.norm1(x + self.dropout(self.self_attn(x, mask=mask)))
        return self.norm2(x + self.dropout(self.linear_net(x)))


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, max_len=64):
        super().__init__()
        pe = torch.zeros(max_len, d_model)
        position = torch.arange(0, max_len, dtype=torch.float).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2).float() * (-math.log(10000.0) / d_model))
        pe[:, 0::2] = torch.sin(position * div_term)
        pe[:, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe.unsqueeze(0), persistent=False)

    def forward(self, x):
        return x + self.pe[:, :x.size(1)]


class Classifier(nn.Module):
    def __init__(self, input_dim=10, model_dim=16, num_heads=2, num_layers=2, num_classes=5, **options):
        super().__init__()
        self.input_net = nn.Sequential(nn.Dropout(0.1), nn.Linear(input_dim, model_dim))
        self.positional_encoding = PositionalEncoding(model_dim)
        self.layers = nn.ModuleList([EncoderBlock(model_dim, num_heads, 2 * model_dim, **options) for _ in range(num_layers)])
        self.output_net = nn.Sequential(nn.Linear(model_dim, model_dim), nn.LayerNorm(model_dim), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(model_dim, num_classes))

    def forward(self, x, mask=None):
        x = self.positional_encoding(self.input_net(x))
        for layer in self.layers:
            x = layer(x, mask=mask)
        return self.output_net(x)


x = {"x": floats("batch", "length", 16)}

CASES = [
    Case("tutorial_plain", lambda: MultiheadAttention(16, 16, 2), x),
    Case("tutorial_returns_maps", lambda: MultiheadAttention(16, 16, 4, return_attention=True), x, outputs=("output", "attention")),
    Case("tutorial_mask_2d", lambda: MultiheadAttention(16, 16, 2), {**x, "mask": keep("length", "length", type="int64")}, [["dense"]]),
    Case("tutorial_mask_3d", lambda: MultiheadAttention(16, 16, 2, fill=-1e10), {**x, "mask": keep("batch", "length", "length", type="float32")}, [["dense"]]),
    Case("tutorial_mask_4d", lambda: MultiheadAttention(16, 16, 2, fill=-1e20), {**x, "mask": keep("batch", 2, "length", "length")}, [["dense"]]),
    Case("tutorial_empty_rows", lambda: MultiheadAttention(16, 16, 2, return_attention=True), {**x, "mask": keep("batch", "length", "length", type="int64", empty=True)}, [["dense"]],
         outputs=("output", "attention"), fill="mean"),
    Case("tutorial_encoder_block", lambda: EncoderBlock(16, 4, 24), x),
    Case("tutorial_classifier", lambda: Classifier(), {"x": floats("batch", "length", 10)}, [[], []]),
    Case("tutorial_classifier_masked", lambda: Classifier(fill=-1e9), {"x": floats("batch", "length", 10), "mask": keep("length", "length", type="int32")}, [["dense"], ["dense"]]),
]
