# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention that knows places: rotary in three spellings, ALiBi, tables and buckets of distances, relative keys, shifted products, decays."""
import math

import torch
from torch import nn
import torch.nn.functional as F

from case import Case, floats


class Heads(nn.Module):
    """Projections around; subclasses turn q, k, v as [batch, heads, length, size] into the mixture."""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.qkv, self.out, self.heads, self.d = nn.Linear(dim, 3 * dim, bias=False), nn.Linear(dim, dim, bias=False), heads, dim // heads

    def forward(self, x):
        B, S, E = x.shape
        q, k, v = self.qkv(x).view(B, S, 3, self.heads, self.d).permute(2, 0, 3, 1, 4)
        return self.out(self.mix(q, k, v, S).transpose(1, 2).reshape(B, S, E))

    def mix(self, q, k, v, S):
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.d)
        return self.score(scores, S).softmax(-1) @ v


class RotateHalf(Heads):
    def tables(self, S):
        inv_freq = 10000 ** (-torch.arange(0, self.d, 2).float() / self.d)
        angle = torch.outer(torch.arange(S).float(), inv_freq)
        return torch.cat((angle, angle), -1)

    def turn(self, x, angle):
        half = x.shape[-1] // 2
        turned = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
        return x * angle.cos() + turned * angle.sin()

    def mix(self, q, k, v, S):
        angle = self.tables(S)
        q, k = self.turn(q, angle), self.turn(k, angle)
        return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(self.d), -1) @ v


class RotateHalfByChunks(RotateHalf):
    """The halves taken apart and put together, no sign change by concatenation."""

    def turn(self, x, angle):
        x1, x2 = x.chunk(2, dim=-1)
        cos, sin = angle.chunk(2, -1)[0].cos(), angle.chunk(2, -1)[0].sin()
        return torch.cat([x1 * cos - x2 * sin, x2 * cos + x1 * sin], dim=-1)


class Interleaved(RotateHalf):
    """Neighbours are a pair: every other element and stack, as GPT-J."""

    def tables(self, S):
        inv_freq = 10000 ** (-torch.arange(0, self.d, 2).float() / self.d)
        return torch.repeat_interleave(torch.outer(torch.arange(S).float(), inv_freq), 2, 1)

    def turn(self, x, angle):
        x1, x2 = x[..., ::2], x[..., 1::2]
        turned = torch.stack((-x2, x1), dim=-1).flatten(-2)
        return (x * angle.cos()) + (turned * angle.sin())


class InterleavedByView(RotateHalf):
    """Neighbours as the last axis of a view, complex multiplication written out."""

    def turn(self, x, angle):
        cos, sin = angle[..., :self.d // 2].cos(), angle[..., :self.d // 2].sin()
        a, b = x.reshape(*x.shape[:-1], -1, 2).unbind(-1)
        return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(3)


class Complex(Heads):
    """view_as_complex times polar: the frequencies are computed for all places beforehand."""

    def __init__(self):
        super().__init__()
        freqs = 1.0 / (10000.0**(torch.arange(0, self.d, 2)[:self.d // 2].float() / self.d))
        self.register_buffer("freqs_cis", torch.view_as_real(torch.polar(torch.ones(32, self.d // 2), torch.outer(torch.arange(32).float(), freqs))))

    def turn(self, x, freqs):
        x_ = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(x_ * torch.view_as_complex(freqs)).flatten(3)

    def mix(self, q, k, v, S):
        freqs = self.freqs_cis[:S]
        q, k = self.turn(q, freqs), self.turn(k, freqs)
        scores = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d)
        mask = torch.triu(torch.full((S, S), float("-inf")), diagonal=1)
        return torch.softmax(scores + mask, dim=-1) @ v


class PartialRotary(RotateHalf):
    """Only the first half of each head turns, as GPT-NeoX; cached tables sliced."""

    def __init__(self):
        super().__init__(dim=32)
        angle = torch.outer(torch.arange(40).float(), 1.0 / (10000**(torch.arange(0, 8, 2).float() / 8)))
        self.register_buffer("cos_cached", torch.cat((angle, angle), -1).cos())
        self.register_buffer("sin_cached", torch.cat((angle, angle), -1).sin())

    def mix(self, q, k, v, S):
        cos, sin = self.cos_cached[None, None, :S], self.sin_cached[None, None, :S]

        def turn(x):
            rot, rest = x[..., :8], x[..., 8:]
            rot = rot * cos + torch.cat((-rot[..., 4:], rot[..., :4]), -1) * sin
            return torch.cat((rot, rest), dim=-1)

        return F.scaled_dot_product_attention(turn(q), turn(k), v, is_causal=True)


class Alibi(Heads):
    """Distance times a slope for each head, causal (arXiv:2108.12409)."""

    def __init__(self):
        super().__init__(dim=32, heads=4)
        self.register_buffer("m", torch.tensor([2**(-8 / 4 * (h + 1)) for h in range(4)]).view(4, 1, 1))

    def score(self, scores, S):
        x = torch.arange(S)[None, :] - torch.arange(S)[:, None]
        scores = scores + self.m * x
        return scores.masked_fill(x > 0, float("-inf"))


class AlibiBothWays(Heads):
    """-slope |i - j| from a buffer of all distances, sliced."""

    def __init__(self):
        super().__init__()
        place = torch.arange(40)
        slopes = torch.tensor([0.5, 0.125])
        self.register_buffer("bias", -slopes[:, None, None] * (place[None, :] - place[:, None]).abs().float())

    def score(self, scores, S):
        return scores + self.bias[:, :S, :S].unsqueeze(0)


class DistanceTable(Heads):
    """A learned number for each head and clamped distance."""

    def __init__(self, reach=5):
        super().__init__()
        self.table, self.reach = nn.Parameter(torch.randn(2 * reach + 1, 2)), reach

    def score(self, scores, S):
        place = torch.arange(S)
        distance = torch.clamp(place[None] - place[:, None], -self.reach, self.reach) + self.reach
        return scores + self.table[distance].permute(2, 0, 1)


class DistanceEmbedding(DistanceTable):
    """The same by nn.Embedding, multiplied instead of added."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(11, 2)

    def score(self, scores, S):
        distance = (torch.arange(S).view(1, -1) - torch.arange(S).view(-1, 1)).clip(-5, 5) + 5
        return scores * self.embedding(distance).permute(2, 0, 1)


class Kerple(Heads):
    """Logarithmic decay with two learned numbers for each head (arXiv:2205.09921)."""

    def __init__(self):
        super().__init__()
        self.r1, self.r2 = nn.Parameter(torch.rand(2, 1, 1) + 0.5), nn.Parameter(torch.rand(2, 1, 1) + 0.5)

    def score(self, scores, S):
        distance = (torch.arange(S)[:, None] - torch.arange(S)[None, :]).abs().to(scores.dtype)
        return scores - self.r1 * torch.log1p(self.r2 * distance)


class Gaussian(Heads):
    """A bell around each query, as speech models add it."""

    def __init__(self):
        super().__init__()
        self.sigma = nn.Parameter(torch.tensor([1.5, 4.0]))

    def score(self, scores, S):
        d = torch.arange(S, dtype=torch.float32)
        d = (d.unsqueeze(0) - d.unsqueeze(1))**2
        return scores - d / (2 * self.sigma.view(2, 1, 1)**2)


class RelativeKeys(Heads):
    """Keys get a vector for their distance (arXiv:1803.02155): q . (k + a_ij)."""

    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(0.5 * torch.randn(11, 8))

    def mix(self, q, k, v, S):
        place = torch.arange(S)
        a = self.a[(place[None] - place[:, None]).clamp(-5, 5) + 5]
        scores = torch.einsum("bhid,bhjd->bhij", q, k) + torch.einsum("bhid,ijd->bhij", q, a)
        return torch.softmax(scores / math.sqrt(self.d), -1) @ v


class ShiftedRelative(Heads):
    """Transformer-XL: (q + u) . k + shift((q + v) . r), the shift by padding and reshaping (arXiv:1901.02860)."""

    def __init__(self):
        super().__init__()
        self.u, self.w, self.r_net = nn.Parameter(torch.randn(2, 1, 8) * 0.3), nn.Parameter(torch.randn(2, 1, 8) * 0.3), nn.Linear(16, 16, bias=False)

    def mix(self, q, k, v, S):
        place = torch.arange(S - 1, -1, -1.0)
        angle = torch.outer(place, 1 / (10000**(torch.arange(0.0, 16.0, 2.0) / 16)))
        r = self.r_net(torch.cat([angle.sin(), angle.cos()], dim=-1)).view(S, 2, 8).transpose(0, 1)
        AC = torch.matmul(q + self.u, k.transpose(-1, -2))
        BD = torch.matmul(q + self.w, r.transpose(-1, -2))
        B = BD.shape[0]
        BD = torch.cat([BD.new_zeros(B, 2, S, 1), BD], dim=-1).view(B, 2, S + 1, S)[:, :, 1:].reshape(B, 2, S, S)
        scores = (AC + BD) * (1 / math.sqrt(self.d))
        scores = scores.masked_fill(torch.ones(S, S).triu(1).bool()[None, None], -float("inf"))
        return torch.softmax(scores, dim=-1) @ v


class Sinusoids(nn.Module):
    """Places added to the input, computed for the length at hand, before one head."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, x):
        S = x.shape[1]
        place = torch.arange(S).unsqueeze(1) * torch.exp(torch.arange(0, 16, 2) * (-math.log(10000.0) / 16))
        x = x + torch.stack((place.sin(), place.cos()), dim=2).view(S, 16)
        return F.softmax(self.q(x) @ self.k(x).transpose(1, 2) / 8**0.5, dim=-1) @ self.v(x)


x16, x32 = {"x": floats("batch", "length", 16)}, {"x": floats("batch", "length", 32)}

CASES = [
    Case("rotary_rotate_half", lambda: RotateHalf(), x16, exports="ts14 dynamo18"),
    Case("rotary_chunks", lambda: RotateHalfByChunks(), x16),
    Case("rotary_interleaved", lambda: Interleaved(), x16),
    Case("rotary_interleaved_view", lambda: InterleavedByView(), x16),
    Case("rotary_complex", lambda: Complex(), x16, [["causal"]], exports="dynamo18 dynamo20"),
    Case("rotary_partial", lambda: PartialRotary(), x32, [["causal"]]),
    Case("alibi_causal", lambda: Alibi(), x32, [["causal"]]),
    Case("alibi_both_ways", lambda: AlibiBothWays(), x16),
    Case("distance_table", lambda: DistanceTable(), x16),
    Case("distance_embedding", lambda: DistanceEmbedding(), x16),
    Case("distance_kerple", lambda: Kerple(), x16),
    Case("distance_gaussian", lambda: Gaussian(), x16),
    Case("relative_keys", lambda: RelativeKeys(), x16),
    Case("relative_shifted", lambda: ShiftedRelative(), x16, [["causal"]]),
    Case("sinusoids", lambda: Sinusoids(), x16),
]
