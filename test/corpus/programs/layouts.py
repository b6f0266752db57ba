# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How heads come out of projections and go back: stacked in three orders, separate, one matrix for each head, groups repeated in four ways, values of another size."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from case import Case, floats


def attend(q, k, v):
    return torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1]), dim=-1) @ v


class Stacked(nn.Module):
    """One matrix for query, key and value; `order` says how its rows are sorted."""

    def __init__(self, order, heads=2, d=8):
        super().__init__()
        self.w, self.order, self.h, self.d = nn.Linear(16, 3 * heads * d), order, heads, d

    def cut(self, x):
        B, S, _ = x.shape
        y = self.w(x)
        if self.order == "3hd by select":
            y = y.view(B, S, 3, self.h, self.d).transpose(1, 3)
            return y.select(2, 0), y.select(2, 1), y.select(2, 2)
        if self.order == "h3d by slices":
            y = y.view(B, S, self.h, 3 * self.d).transpose(1, 2)
            return y[..., :self.d], y[..., self.d:2 * self.d], y[..., 2 * self.d:]
        if self.order == "hd3 by unbind":
            return y.view(B, S, self.h, self.d, 3).permute(4, 0, 2, 1, 3).unbind(0)
        if self.order == "3hd by tensor_split":
            return (t.unflatten(2, (self.h, self.d)).swapaxes(1, 2) for t in y.tensor_split(3, dim=2))
        if self.order == "3hd by index":
            y = y.reshape(B, S, 3, self.h, self.d).permute(2, 0, 3, 1, 4)
            return y[0], y[1], y[2]
        k, q, v = y.split(self.h * self.d, dim=-1)  # the key first
        return tuple(t.reshape(B, S, self.h, self.d).permute(0, 2, 1, 3) for t in (q, k, v))

    def forward(self, x):
        q, k, v = self.cut(x)
        y = attend(q, k, v)
        return y.transpose(1, 2).reshape(x.shape[0], x.shape[1], self.h * self.d)


class HeadByHead(nn.Module):
    """A loop over heads that slices one projection, unrolled by the exporter; the results concatenated."""

    def __init__(self, heads=3, d=8):
        super().__init__()
        self.q, self.k, self.v, self.h, self.d = nn.Linear(16, heads * d), nn.Linear(16, heads * d), nn.Linear(16, heads * d), heads, d

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        heads = []
        for h in range(self.h):
            cut = slice(h * self.d, (h + 1) * self.d)
            heads.append(attend(q[:, :, cut], k[:, :, cut], v[:, :, cut]))
        return torch.cat(heads, dim=2)


class MatrixPerHead(nn.Module):
    """[heads, features, size] parameters and broadcast products."""

    def __init__(self, heads=2, d=8):
        super().__init__()
        self.wq, self.wk, self.wv = (nn.Parameter(torch.randn(heads, 16, d) * 0.3) for _ in range(3))
        self.wo = nn.Parameter(torch.randn(heads, d, 16) * 0.3)

    def forward(self, x):
        x = x.unsqueeze(1)
        y = attend(x @ self.wq, x @ self.wk, x @ self.wv)
        return (y @ self.wo).sum(1)


class Repeated(nn.Module):
    """Four query heads, two of keys and values, made equal in number in several ways."""

    def __init__(self, way, heads=4, kv=2, d=8):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, heads * d, bias=False), nn.Linear(16, kv * d, bias=False), nn.Linear(16, kv * d, bias=False)
        self.way, self.h, self.kv, self.d = way, heads, kv, d
        self.register_buffer("which", torch.arange(kv).repeat_interleave(heads // kv))
        self.register_buffer("turn", torch.arange(kv).repeat(heads // kv))

    def repeat(self, t):  # [batch, kv, length, size]
        n = self.h // self.kv
        if self.way == "repeat_interleave":
            return t.repeat_interleave(n, dim=1)
        if self.way == "expand":
            B, _, S, D = t.shape
            return t.unsqueeze(2).expand(-1, -1, n, -1, -1).reshape(B, self.h, S, D)
        if self.way == "index_select":
            return torch.index_select(t, 1, self.which)
        if self.way == "stack":
            return torch.stack([t] * n, dim=2).flatten(1, 2)
        if self.way == "heads one by one":
            return torch.cat([t[:, i // n].unsqueeze(1) for i in range(self.h)], dim=1)
        if self.way == "turns by repeat":
            return t.repeat(1, n, 1, 1)
        return t[:, self.turn]

    def forward(self, x):
        B, S, _ = x.shape
        q = self.q(x).view(B, S, self.h, self.d).transpose(1, 2)
        k, v = (self.repeat(lin(x).view(B, S, self.kv, self.d).transpose(1, 2)) for lin in (self.k, self.v))
        return attend(q, k, v).transpose(1, 2).flatten(2)


class RepeatedLengthFirst(nn.Module):
    """Repeated while the heads still stand behind the length."""

    def forward(self, q, k, v):  # [batch, length, heads, size]
        k, v = (t[:, :, :, None].expand(-1, -1, -1, 2, -1).flatten(2, 3) for t in (k, v))
        q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
        return attend(q, k, v).transpose(1, 2)


class BroadcastKeys(nn.Module):
    """One head of keys and values; matmul repeats it by broadcasting."""

    def forward(self, q, k, v):  # [batch, heads, length, size], [batch, length, size]
        return attend(q, k[:, None], v[:, None])


class SharedKeyValue(nn.Module):
    """One projection is key and value at once."""

    def __init__(self):
        super().__init__()
        self.q, self.kv = nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        q, kv = (lin(x).unflatten(-1, (2, 8)).transpose(1, 2) for lin in (self.q, self.kv))
        return attend(q, kv, kv).transpose(1, 2).flatten(2)


class TransposedResult(nn.Module):
    """Everything the other way round: (V^T P^T)^T."""

    def forward(self, q, k, v):  # [batch, size, length]
        scores = torch.einsum("bdi,bdj->bji", q, k) / math.sqrt(q.shape[1])
        return v @ torch.softmax(scores, dim=1)


class ValueWider(nn.Module):
    """Keys of one size, values of another; the product of query and key as a sum of elementwise products."""

    def forward(self, q, k, v):
        scores = (q.unsqueeze(-2) * k.unsqueeze(-3)).sum(-1) * 0.3
        return torch.softmax(scores, dim=-1) @ v


class BatchOfSets(nn.Module):
    """Five axes: a batch of groups of sequences."""

    def forward(self, q, k, v):  # [batch, frames, heads, length, size]
        return torch.matmul(F.softmax(torch.matmul(q * 0.25, k.transpose(-1, -2)), -1), v)


class TwoStreams(nn.Module):
    """Text and image tokens joined for one attention and parted again."""

    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(16, 48), nn.Linear(16, 48)

    def forward(self, text, image):
        n = text.shape[1]
        y = torch.cat((self.a(text), self.b(image)), dim=1)
        q, k, v = (t.unflatten(-1, (2, 8)).transpose(1, 2) for t in y.chunk(3, -1))
        out = attend(q, k, v).transpose(1, 2).flatten(2)
        return out[:, :n], out[:, n:]


x = {"x": floats("batch", "length", 16)}

CASES = [
    *[Case(f"stacked_{order.replace(' ', '_')}", lambda order=order: Stacked(order), x)
      for order in ("3hd by select", "h3d by slices", "hd3 by unbind", "3hd by tensor_split", "3hd by index", "key first")],
    Case("heads_by_loop", lambda: HeadByHead(), x, [[], [], []]),
    Case("heads_by_matrix", lambda: MatrixPerHead(), x),
    *[Case(f"grouped_{way.replace(' ', '_')}", lambda way=way: Repeated(way), x)
      for way in ("repeat_interleave", "expand", "index_select", "stack", "heads one by one", "turns by repeat", "turns by index")],
    Case("grouped_length_first", lambda: RepeatedLengthFirst(), {"q": floats("batch", "queries", 4, 8), "k": floats("batch", "keys", 2, 8), "v": floats("batch", "keys", 2, 8)}),
    Case("grouped_broadcast", lambda: BroadcastKeys(), {"q": floats("batch", 3, "queries", 8), "k": floats("batch", "keys", 8), "v": floats("batch", "keys", 8)}),
    Case("shared_key_value", lambda: SharedKeyValue(), x),
    Case("transposed_result", lambda: TransposedResult(), {"q": floats("batch", 8, "queries"), "k": floats("batch", 8, "keys"), "v": floats("batch", 6, "keys")}),
    Case("product_by_hand", lambda: ValueWider(), {"q": floats("batch", "queries", 8), "k": floats("batch", "keys", 8), "v": floats("batch", "keys", 12)}),
    Case("five_axes", lambda: BatchOfSets(), {"q": floats("batch", "frames", 2, "queries", 8), "k": floats("batch", "frames", 2, "keys", 8), "v": floats("batch", "frames", 2, "keys", 8)}),
    Case("two_streams", lambda: TwoStreams(), {"text": floats("batch", "queries", 16), "image": floats("batch", "keys", 16)}, outputs=("text_out", "image_out")),
]
