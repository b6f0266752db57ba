# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the programs of text/*.mlir, written by hand over linalg, arith and tensor, should give: the same in a few lines of PyTorch each."""
import torch
from torch import nn

from case import Case, documents, floats, keep, lengths, no_attention


class Attention(nn.Module):
    """Four axes; `score` gets the scaled scores, the places of queries and keys, and what the program takes besides q, k, v."""

    def __init__(self, score=lambda x, i, j: x, scale=1.0, axis=-1):
        super().__init__()
        self.score, self.scale, self.axis = score, scale, axis

    def probabilities(self, q, k, *rest):
        x = self.scale * q @ k.transpose(-1, -2)
        i, j = torch.arange(q.shape[-2])[:, None], torch.arange(k.shape[-2])[None, :]
        return torch.softmax(self.score(x, i, j, *rest), self.axis)

    def forward(self, q, k, v, *rest):
        return self.probabilities(q, k, *rest) @ v


class WithMaps(Attention):
    def forward(self, q, k, v, *rest):
        return super().forward(q, k, v, *rest), self.probabilities(q, k, *rest)


class ChannelLast(Attention):
    def forward(self, q, k, v):
        return super().forward(*(t.transpose(1, 2) for t in (q, k, v))).transpose(1, 2)


class Grouped(nn.Module):
    def forward(self, q, k, v):
        return torch.einsum("bkgij,bjkd->bikgd", torch.einsum("bikgd,bjkd->bkgij", q, k).softmax(-1), v)


class Additive(nn.Module):
    def forward(self, q, k, v, w):
        return (torch.tanh(q[:, :, None] + k[:, None]) @ w).softmax(-1) @ v


class NotNormalized(nn.Module):
    def forward(self, q, k, v):
        return torch.exp(q @ k.transpose(-1, -2) * 0.1) @ v


def segments(x, i, j, segment):
    same = segment[:, :, None] == segment[:, None, :]
    return x.masked_fill(~(same & (j <= i))[:, None], float("-inf"))


def alibi(x, i, j):
    return 4 * torch.tanh(x / 4) + torch.tensor([0.5, 0.125], dtype=x.dtype).view(2, 1, 1) * (j - i)


def length(x, i, j, lengths):
    return x.masked_fill((j >= lengths[:, None, None])[:, None], -1e20)


def inputs(*shape, **more):
    return {"q": floats("batch", *shape, "queries", 8), "k": floats("batch", *shape, "keys", 8), "v": floats("batch", *shape, "keys", 8), **more}


qkv = inputs(2)
self_ = {name: floats("batch", 2, "length", 8) for name in "qkv"}

CASES = [
    Case("text_contract_softmax", lambda: Attention(scale=0.35), qkv),
    Case("text_all_generic", lambda: Attention(scale=0.35), qkv),
    Case("text_late_division", lambda: Attention(), qkv),
    Case("text_matmul", lambda: Attention(), {"q": floats("queries", 8), "k": floats("keys", 8), "v": floats("keys", 6)}),
    Case("text_batch_matmul_reduce", lambda: Attention(), inputs()),
    Case("text_channel_last_causal", lambda: ChannelLast(lambda x, i, j: x.masked_fill(j > i, float("-inf")), 0.35), {name: floats("batch", "length", 2, 8) for name in "qkv"}, [["causal"]]),
    Case("text_window", lambda: Attention(lambda x, i, j: x.masked_fill((i - j > 2) | (i - j < -1), -1e9)), self_, [["window"]]),
    Case("text_lengths", lambda: Attention(length, 0.35), {**qkv, "lengths": lengths("keys", "batch", empty=True)}, [["length"]], fill="mean"),
    Case("text_segments_causal", lambda: Attention(segments), {**self_, "segment": documents("batch", "length")}, [["causal", "segment"]]),
    Case("text_alibi_soft_cap", lambda: Attention(alibi), qkv),
    Case("text_dense_mask_maps", lambda: WithMaps(lambda x, i, j, mask: x.masked_fill(~mask[:, None], -9e15)), {**qkv, "mask": keep("batch", "queries", "keys")}, [["dense"]],
         outputs=("output", "weights")),
    Case("text_grouped", lambda: Grouped(), {"q": floats("batch", "queries", 2, 3, 8), "k": floats("batch", "keys", 2, 8), "v": floats("batch", "keys", 2, 8)}),
    Case("text_additive", lambda: Additive(), inputs(w=floats(8))),
    no_attention("softmax over the queries", "text_not_over_queries", lambda: Attention(axis=-2), qkv),
    no_attention("nothing divides the exponentials", "text_not_normalized", lambda: NotNormalized(), qkv),
]
