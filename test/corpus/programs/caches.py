# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Continuing a text: past keys and values from outside, a block of new ones behind them, one token at a time, and positions that the caller gives."""
import math

import torch
from torch import nn
import torch.nn.functional as F

from case import Case, Input, floats, keep


class Cached(nn.Module):
    def __init__(self, dim=16, heads=2, kv_heads=2):
        super().__init__()
        self.heads, self.kv, self.d = heads, kv_heads, dim // heads
        self.wq, self.wo = nn.Linear(dim, dim, bias=False), nn.Linear(dim, dim, bias=False)
        self.wk, self.wv = nn.Linear(dim, kv_heads * self.d, bias=False), nn.Linear(dim, kv_heads * self.d, bias=False)

    def forward(self, x, past_k, past_v):
        B, T, _ = x.shape
        q = self.wq(x).view(B, T, self.heads, self.d).transpose(1, 2)
        k = torch.cat([past_k, self.wk(x).view(B, T, self.kv, self.d).transpose(1, 2)], dim=2)
        v = torch.cat([past_v, self.wv(x).view(B, T, self.kv, self.d).transpose(1, 2)], dim=2)
        if self.kv != self.heads:
            k_, v_ = k.repeat_interleave(self.heads // self.kv, dim=1), v.repeat_interleave(self.heads // self.kv, dim=1)
        else:
            k_, v_ = k, v
        return self.wo(self.attend(q, k_, v_, T, past_k.shape[2]).transpose(1, 2).reshape(B, T, -1)), k, v


class OffsetCausal(Cached):
    """Query i stands at past + i."""

    def attend(self, q, k, v, T, P):
        allowed = torch.arange(P + T)[None, :] <= (P + torch.arange(T))[:, None]
        scores = (q @ k.transpose(-1, -2)) / math.sqrt(self.d)
        return F.softmax(scores.masked_fill(~allowed, -1e9), dim=-1) @ v


class OffsetByTriu(Cached):
    """triu with diagonal past + 1 of -inf, or zeros in front of the triangle: the same."""

    def attend(self, q, k, v, T, P):
        mask = torch.full((T, T), float("-inf"))
        mask = torch.triu(mask, diagonal=1)
        mask = torch.hstack([torch.zeros((T, P)), mask])
        return F.softmax(torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d) + mask, dim=-1) @ v


class OffsetWindow(Cached):
    def attend(self, q, k, v, T, P):
        q_pos, k_pos = torch.arange(P, P + T).unsqueeze(-1), torch.arange(P + T)
        hidden = (k_pos > q_pos) | (k_pos < q_pos - 5)
        return F.softmax((q / math.sqrt(self.d)) @ k.transpose(2, 3) + hidden * -1e9, dim=-1) @ v


class OneToken(Cached):
    """No mask: one new token sees all."""

    def attend(self, q, k, v, T, P):
        return torch.softmax(torch.einsum("bhqd,bhkd->bhqk", q, k) * self.d**-0.5, -1) @ v


class OneTokenGrouped(nn.Module):
    """A cache as [batch, length, heads, size]; the group is an axis of the query, and there is no length of queries at all."""

    def forward(self, q, k, v, mask):  # q [batch, heads, size]
        B, H, D = q.shape
        q = q.view(B, 2, H // 2, D)
        scores = torch.einsum("bkgd,bskd->bkgs", q, k) / math.sqrt(D)
        scores = scores.masked_fill(mask[:, None, None, :] == 0, float("-inf"))
        return torch.einsum("bkgs,bskd->bkgd", scores.softmax(-1), v).reshape(B, H, D)


class StaticCache(nn.Module):
    """A cache of fixed size of which a prefix is in use; positions decide what may be seen."""

    def forward(self, q, k_cache, v_cache, position):
        scores = torch.matmul(q, k_cache.transpose(-1, -2)) * q.shape[-1]**-0.5
        seen = torch.arange(k_cache.shape[2])[None, None, :] <= position[:, :, None]
        return torch.softmax(scores.masked_fill(~seen[:, None], torch.finfo(torch.float32).min), -1) @ v_cache


class LeftPadded(nn.Module):
    """Positions counted from the first real token by a running sum; causal in positions, padding hidden."""

    def forward(self, q, k, v, mask):
        position = mask.long().cumsum(-1) - 1
        position = position.masked_fill(mask == 0, 1)
        scores = q @ k.transpose(-1, -2) * 0.35
        S = q.shape[2]
        causal = torch.tril(torch.ones(S, S, dtype=torch.bool))[None, None]
        scores = torch.where(causal & (mask != 0)[:, None, None, :], scores + 0.1 * position[:, None, None, :], torch.tensor(-1e9))
        return torch.softmax(scores, -1) @ v


def positions(*dims):
    """The next places after a start that differs by row."""
    return Input(dims, lambda random, shape, sizes: random.integers(0, 4, (shape[0], 1)) + torch.arange(shape[1]).numpy()[None])


x = {"x": floats("batch", "length", 16)}
past = {"past_k": floats("batch", 2, "past", 8), "past_v": floats("batch", 2, "past", 8)}
past_grouped = {"past_k": floats("batch", 2, "past", 4), "past_v": floats("batch", 2, "past", 4)}
outputs = ("output", "key", "value")

CASES = [
    Case("cache_offset_causal", lambda: OffsetCausal(), {**x, **past}, [["causal"]], outputs=outputs),
    Case("cache_offset_hstack", lambda: OffsetByTriu(), {**x, **past}, [["causal"]], outputs=outputs),
    Case("cache_offset_window", lambda: OffsetWindow(), {**x, **past}, [["causal", "window"]], outputs=outputs),
    Case("cache_grouped", lambda: OffsetCausal(heads=4, kv_heads=2), {**x, **past_grouped}, [["causal"]], outputs=outputs),
    Case("cache_one_token", lambda: OneToken(), {"x": floats("batch", 1, 16), **past}, outputs=outputs),
    Case("cache_one_token_grouped", lambda: OneTokenGrouped(), {"q": floats("batch", 4, 8), "k": floats("batch", "keys", 2, 8), "v": floats("batch", "keys", 2, 8),
                                                              "mask": keep("batch", "keys", type="int64")}, [["dense"]]),
    Case("cache_static", lambda: StaticCache(), {"q": floats("batch", 2, "queries", 8), "k_cache": floats("batch", 2, 16, 8), "v_cache": floats("batch", 2, 16, 8),
                                                "position": positions("batch", "queries")}, [["causal|dense"]]),
    Case("cache_left_padded", lambda: LeftPadded(), {"q": floats("batch", 2, "length", 8), "k": floats("batch", 2, "length", 8), "v": floats("batch", 2, "length", 8),
                                                    "mask": Input(("batch", "length"), lambda random, shape, sizes: torch.arange(shape[1]).numpy()[None] >= random.integers(0, 3, (shape[0], 1)))},
         [["causal", "dense"]], fill="mean"),
]
