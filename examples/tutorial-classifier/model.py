# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A small Transformer encoder as one writes it while learning how it works: no library attention, one step a line, and the attention maps can be looked at."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


def scaled_dot_product(q, k, v, mask=None, fill=-9e15):
    """softmax(q k^T / sqrt(d)) v, and the softmax itself. Where `mask` is 0, the score is replaced by `fill`: so far below all others that exp of it is 0."""
    d_k = q.size()[-1]
    attn_logits = torch.matmul(q, k.transpose(-2, -1))
    attn_logits = attn_logits / math.sqrt(d_k)
    if mask is not None:
        attn_logits = attn_logits.masked_fill(mask == 0, fill)
    attention = F.softmax(attn_logits, dim=-1)
    values = torch.matmul(attention, v)
    return values, attention


def expand_mask(mask):
    """[queries, keys], [batch, queries, keys] or [batch, heads, queries, keys]; always the last of these at the end."""
    assert mask.ndim >= 2
    if mask.ndim == 3:
        mask = mask.unsqueeze(1)
    while mask.ndim < 4:
        mask = mask.unsqueeze(0)
    return mask


class MultiheadAttention(nn.Module):
    """One projection gives query, key and value of all heads, those of a head side by side."""

    def __init__(self, input_dim, embed_dim, num_heads, fill=-9e15):
        super().__init__()
        assert embed_dim % num_heads == 0
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.qkv_proj = nn.Linear(input_dim, 3 * embed_dim)
        self.o_proj = nn.Linear(embed_dim, embed_dim)
        self.fill = fill
        nn.init.xavier_uniform_(self.qkv_proj.weight, gain=2.0)

    def forward(self, x, mask=None, return_attention=False):
        batch_size, seq_length, _ = x.size()
        if mask is not None:
            mask = expand_mask(mask)
        qkv = self.qkv_proj(x)
        qkv = qkv.reshape(batch_size, seq_length, self.num_heads, 3 * self.head_dim)
        qkv = qkv.permute(0, 2, 1, 3)  # [batch, heads, length, 3 * head_dim]
        q, k, v = qkv.chunk(3, dim=-1)
        values, attention = scaled_dot_product(q, k, v, mask=mask, fill=self.fill)
        values = values.permute(0, 2, 1, 3)  # [batch, length, heads, head_dim]
        values = values.reshape(batch_size, seq_length, self.embed_dim)
        o = self.o_proj(values)
        return (o, attention) if return_attention else o


class EncoderBlock(nn.Module):
    """Post-norm: the norm stands behind each sum."""

    def __init__(self, input_dim, num_heads, dim_feedforward, dropout=0.1, **options):
        super().__init__()
        self.self_attn = MultiheadAttention(input_dim, input_dim, num_heads, **options)
        self.linear_net = nn.Sequential(nn.Linear(input_dim, dim_feedforward), nn.Dropout(dropout), nn.ReLU(inplace=True), nn.Linear(dim_feedforward, input_dim))
        self.norm1, self.norm2, self.dropout = nn.LayerNorm(input_dim), nn.LayerNorm(input_dim), nn.Dropout(dropout)

    def forward(self, x, mask=None, return_attention=False):
        attended, attention = self.self_attn(x, mask=mask, return_attention=True)
        x = self.norm1(x + self.dropout(attended))
        x = self.norm2(x + self.dropout(self.linear_net(x)))
        return (x, attention) if return_attention else x


class PositionalEncoding(nn.Module):
    """Sines at the even elements, cosines at the odd ones."""

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
    """Says a class for each element of a sequence: input projection, positions, encoder blocks, output net."""

    def __init__(self, input_dim=10, model_dim=16, num_heads=2, num_layers=2, num_classes=5, dropout=0.1, **options):
        super().__init__()
        self.input_net = nn.Sequential(nn.Dropout(dropout), nn.Linear(input_dim, model_dim))
        self.positional_encoding = PositionalEncoding(model_dim)
        self.layers = nn.ModuleList([EncoderBlock(model_dim, num_heads, 2 * model_dim, dropout, **options) for _ in range(num_layers)])
        self.output_net = nn.Sequential(nn.Linear(model_dim, model_dim), nn.LayerNorm(model_dim), nn.ReLU(inplace=True), nn.Dropout(dropout), nn.Linear(model_dim, num_classes))

    def forward(self, x, mask=None):
        return self.with_maps(x, mask)[0]

    def with_maps(self, x, mask=None):
        """The classes' scores, and of each block which element looked at which."""
        x = self.positional_encoding(self.input_net(x))
        maps = []
        for layer in self.layers:
            x, attention = layer(x, mask=mask, return_attention=True)
            maps.append(attention)
        return self.output_net(x), maps


class Reverse(nn.Module):
    """The task to learn: a row of digits, backwards. No element's answer depends on itself, so attention has to fetch it from elsewhere."""

    def __init__(self, **options):
        super().__init__()
        self.classifier = Classifier(input_dim=10, model_dim=32, num_heads=2, num_layers=1, num_classes=10, dropout=0.0, **options)

    def forward(self, digits, mask=None):
        scores, maps = self.classifier.with_maps(F.one_hot(digits, 10).float(), mask)
        return (scores.argmax(-1), scores, *maps)
