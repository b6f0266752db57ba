# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The encoder-decoder of "Attention Is All You Need" (arXiv:1706.03762) in the style of its line-by-line explanations: cloned projections, masks of ones and zeros."""
import copy
import math

import torch
import torch.nn as nn

from case import Case, floats, ids, keep


def clones(module, N):
    return nn.ModuleList([copy.deepcopy(module) for _ in range(N)])


def subsequent_mask(size):
    attn_shape = (1, size, size)
    subsequent = torch.triu(torch.ones(attn_shape), diagonal=1).type(torch.uint8)
    return subsequent == 0


def attention(query, key, value, mask=None, dropout=None):
    d_k = query.size(-1)
    scores = torch.matmul(query, key.transpose(-2, -1)) / math.sqrt(d_k)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    p_attn = scores.softmax(dim=-1)
    if dropout is not None:
        p_attn = dropout(p_attn)
    return torch.matmul(p_attn, value), p_attn


class MultiHeadedAttention(nn.Module):
    def __init__(self, h, d_model, dropout=0.1):
        super().__init__()
        self.d_k, self.h = d_model // h, h
        self.linears = clones(nn.Linear(d_model, d_model), 4)
        for linear in self.linears:
            nn.init.xavier_uniform_(linear.weight, gain=1.5)
        self.dropout = nn.Dropout(p=dropout)

    def forward(self, query, key, value, mask=None):
        if mask is not None:
            mask = mask.unsqueeze(1)
        nbatches = query.size(0)
        query, key, value = [lin(x).view(nbatches, -1, self.h, self.d_k).transpose(1, 2) for lin, x in zip(self.linears, (query, key, value))]
        x, self.attn = attention(query, key, value, mask=mask, dropout=self.dropout)
        x = x.transpose(1, 2).contiguous().view(nbatches, -1, self.h * self.d_k)
        return self.linears[-1](x)


class LayerNorm(nn.Module):
    """A norm by hand: the deviation of n - 1, and epsilon beside it."""

    def __init__(self, features, eps=1e-6):
        super().__init__()
        self.a_2, self.b_2, self.eps = nn.Parameter(torch.ones(features)), nn.Parameter(torch.zeros(features)), eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        std = x.std(-1, keepdim=True)
        return self.a_2 * (x - mean) / (std + self.eps) + self.b_2


class SublayerConnection(nn.Module):
    def __init__(self, size, dropout):
        super().__init__()
        self.norm, self.dropout = LayerNorm(size), nn.Dropout(dropout)

    def forward(self, x, sublayer):
        return x + self.dropout(sublayer(self.norm(x)))


class FeedForward(nn.Module):
    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_1, self.w_2 = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)

    def forward(self, x):
        return self.w_2(self.w_1(x).relu())


class DecoderLayer(nn.Module):
    def __init__(self, size, h):
        super().__init__()
        self.self_attn, self.src_attn, self.feed_forward = MultiHeadedAttention(h, size), MultiHeadedAttention(h, size), FeedForward(size, 2 * size)
        self.sublayer = clones(SublayerConnection(size, 0.1), 3)

    def forward(self, x, memory, src_mask, tgt_mask):
        m = memory
        x = self.sublayer[0](x, lambda x: self.self_attn(x, x, x, tgt_mask))
        x = self.sublayer[1](x, lambda x: self.src_attn(x, m, m, src_mask))
        return self.sublayer[2](x, self.feed_forward)


class CausalAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.attn = MultiHeadedAttention(2, 16)

    def forward(self, x):
        return self.attn(x, x, x, subsequent_mask(x.size(1)))


class TargetMask(nn.Module):
    """Padding and the future at once: `(tgt != pad) & subsequent_mask`."""

    def __init__(self, pad=0):
        super().__init__()
        self.embed, self.attn, self.pad = nn.Embedding(13, 16), MultiHeadedAttention(2, 16), pad

    def forward(self, tgt):
        x = self.embed(tgt) * math.sqrt(16)
        tgt_mask = (tgt != self.pad).unsqueeze(-2)
        tgt_mask = tgt_mask & subsequent_mask(tgt.size(-1)).type_as(tgt_mask)
        return self.attn(x, x, x, tgt_mask)


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = DecoderLayer(16, 2)

    def forward(self, x, memory, src_mask):
        return self.layer(x, memory, src_mask, subsequent_mask(x.size(1)))


class EncoderDecoder(nn.Module):
    def __init__(self, vocabulary=17, size=16, h=2):
        super().__init__()
        self.src_embed, self.tgt_embed = nn.Embedding(vocabulary, size), nn.Embedding(vocabulary, size)
        self.encoder, self.encoder_feed = MultiHeadedAttention(h, size), FeedForward(size, 2 * size)
        self.sublayer = clones(SublayerConnection(size, 0.1), 2)
        self.decoder, self.norm, self.generator = DecoderLayer(size, h), LayerNorm(size), nn.Linear(size, vocabulary)

    def forward(self, src, tgt):
        src_mask = (src != 0).unsqueeze(-2)
        memory = self.sublayer[0](self.src_embed(src), lambda x: self.encoder(x, x, x, src_mask))
        memory = self.sublayer[1](memory, self.encoder_feed)
        x = self.decoder(self.tgt_embed(tgt), memory, src_mask, subsequent_mask(tgt.size(1)))
        return torch.log_softmax(self.generator(self.norm(x)), dim=-1)


def tokens(*dims):
    """Ids of which none at the beginning of a row is the padding 0."""
    drawn = ids(17, *dims)
    sample = drawn.sample

    def with_start(random, shape, sizes):
        array = sample(random, shape, sizes)
        array[:, 0] = 1
        return array % 13

    drawn.sample = with_start
    return drawn


q, memory = floats("batch", "queries", 16), floats("batch", "keys", 16)

CASES = [
    Case("annotated_causal", lambda: CausalAttention(), {"x": floats("batch", "length", 16)}, [["causal"]]),
    Case("annotated_cross_attention", lambda: MultiHeadedAttention(4, 16), {"query": q, "key": memory, "value": floats("batch", "keys", 16)}),
    Case("annotated_source_mask", lambda: MultiHeadedAttention(2, 16), {"query": q, "key": memory, "value": memory, "mask": keep("batch", 1, "keys")}, [["dense"]]),
    Case("annotated_empty_source", lambda: MultiHeadedAttention(2, 16), {"query": q, "key": memory, "value": memory, "mask": keep("batch", 1, "keys", type="int32", empty=True)}, [["dense"]],
         fill="mean"),
    Case("annotated_target_mask", lambda: TargetMask(), {"tgt": tokens("batch", "length")}, [["causal", "dense"]]),
    Case("annotated_decoder_layer", lambda: Decoder(), {"x": q, "memory": memory, "src_mask": keep("batch", 1, "keys")}, [["causal"], ["dense"]]),
    Case("annotated_encoder_decoder", lambda: EncoderDecoder(), {"src": tokens("batch", "keys"), "tgt": tokens("batch", "queries")}, [["dense"], ["causal"], ["dense"]], outputs=("log_probabilities",)),
]
