# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention as somebody writes it who thinks in einsum: every order of axes, the causal mask by triu(j - i + 1), fills of the type's minimum."""
import torch
from torch import einsum, nn
import torch.nn.functional as F

from case import Case, floats, keep


def split_heads(t, h):
    b, n, _ = t.shape
    return t.reshape(b, n, h, -1).permute(0, 2, 1, 3)


def merge_heads(t):
    b, h, n, d = t.shape
    return t.permute(0, 2, 1, 3).reshape(b, n, h * d)


class Attention(nn.Module):
    def __init__(self, dim, heads=4, dim_head=8, causal=False):
        super().__init__()
        self.heads, self.scale, self.causal = heads, dim_head**-0.5, causal
        inner = heads * dim_head
        self.to_q = nn.Linear(dim, inner, bias=False)
        self.to_kv = nn.Linear(dim, inner * 2, bias=False)
        self.to_out = nn.Sequential(nn.Linear(inner, dim), nn.Dropout(0.0))

    def forward(self, x, context=None, mask=None):
        context = x if context is None else context
        q, k, v = (split_heads(t, self.heads) for t in (self.to_q(x), *self.to_kv(context).chunk(2, dim=-1)))
        sim = einsum("b h i d, b h j d -> b h i j", q, k) * self.scale
        mask_value = -torch.finfo(sim.dtype).max
        if mask is not None:
            sim = sim.masked_fill(~mask[:, None, None, :], mask_value)
        if self.causal:
            i, j = sim.shape[-2:]
            causal_mask = torch.ones((i, j), device=x.device, dtype=torch.bool).triu(j - i + 1)
            sim = sim.masked_fill(causal_mask, mask_value)
        attn = sim.softmax(dim=-1)
        out = einsum("b h i j, b h j d -> b h i d", attn, v)
        return self.to_out(merge_heads(out))


class HeadsStayInPlace(nn.Module):
    """bihd,bjhd->bhij: nothing is transposed."""

    def __init__(self, order):
        super().__init__()
        self.qkv = nn.Linear(16, 3 * 16)
        self.order = order

    def forward(self, x):
        q, k, v = self.qkv(x).reshape(x.shape[0], x.shape[1], 3, 2, 8).unbind(2)
        if self.order == "bhij":
            p = torch.softmax(torch.einsum("bihd,bjhd->bhij", q, k) / 8**0.5, -1)
            return torch.einsum("bhij,bjhd->bihd", p, v).flatten(2)
        if self.order == "bijh":  # the heads last, the softmax over axis 2
            p = torch.softmax(torch.einsum("bihd,bjhd->bijh", q, k) / 8**0.5, 2)
            return torch.einsum("bijh,bjhd->bihd", p, v).flatten(2)
        if self.order == "hbij":  # the heads first
            p = torch.softmax(torch.einsum("bihd,bjhd->hbij", q, k) / 8**0.5, -1)
            return torch.einsum("hbij,bjhd->bihd", p, v).flatten(2)
        p = torch.softmax(torch.einsum("bihd,bjhd->bhji", q, k) / 8**0.5, 2)  # keys before queries, softmax over the keys
        return torch.einsum("bhji,bjhd->bihd", p, v).flatten(2)


class MultiQuery(nn.Module):
    """One head of keys and values for all queries (arXiv:1911.02150)."""

    def __init__(self, h=4, d=8):
        super().__init__()
        self.P_q, self.P_k, self.P_v, self.P_o = (nn.Parameter(0.3 * torch.randn(shape)) for shape in [(h, 16, d), (16, d), (16, d), (h, 16, d)])

    def forward(self, X, M):
        Q = torch.einsum("bnd,hdk->bhnk", X, self.P_q)
        K = torch.einsum("bmd,dk->bmk", M, self.P_k)
        V = torch.einsum("bmd,dv->bmv", M, self.P_v)
        weights = F.softmax(torch.einsum("bhnk,bmk->bhnm", Q, K), dim=-1)
        O = torch.einsum("bhnm,bmv->bhnv", weights, V)
        return torch.einsum("bhnv,hdv->bnd", O, self.P_o)


class GroupedFiveAxes(nn.Module):
    """Groups as an axis of their own: keys and values are never repeated."""

    def __init__(self, groups=2, kv=2, d=8):
        super().__init__()
        self.g, self.kv, self.d = groups, kv, d
        self.q, self.k, self.v = nn.Linear(16, groups * kv * d), nn.Linear(16, kv * d), nn.Linear(16, kv * d)

    def forward(self, x):
        b, n, _ = x.shape
        q = self.q(x).view(b, n, self.kv, self.g, self.d)
        k, v = self.k(x).view(b, n, self.kv, self.d), self.v(x).view(b, n, self.kv, self.d)
        scores = torch.einsum("bikgd,bjkd->bkgij", q, k) * self.d**-0.5
        mask = torch.arange(n)[:, None] >= torch.arange(n)
        scores = torch.where(mask, scores, torch.tensor(float("-inf")))
        out = torch.einsum("bkgij,bjkd->bikgd", scores.softmax(-1), v)
        return out.reshape(b, n, -1)


class GroupOutermost(nn.Module):
    """As GroupedFiveAxes, but query head h reads key head h % kv: the groups are the outer axis."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 32), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.q(x).view(b, n, 2, 2, 8), self.k(x).view(b, n, 2, 8), self.v(x).view(b, n, 2, 8)
        p = (torch.einsum("bigkd,bjkd->bgkij", q, k) / 8**0.5).softmax(-1)
        return torch.einsum("bgkij,bjkd->bigkd", p, v).reshape(b, n, 32)


class NullKey(nn.Module):
    """A learned key and value in front of the others, always allowed."""

    def __init__(self):
        super().__init__()
        self.null_kv = nn.Parameter(torch.randn(2, 8))
        self.to_q, self.to_kv = nn.Linear(16, 32, bias=False), nn.Linear(16, 16, bias=False)

    def forward(self, x, mask):
        b = x.shape[0]
        q = split_heads(self.to_q(x), 4) * 8**-0.5
        k, v = self.to_kv(x).chunk(2, dim=-1)
        nk, nv = self.null_kv[:, None, None, :].expand(2, b, 1, 8).unbind(0)
        k, v = torch.cat((nk, k), dim=1), torch.cat((nv, v), dim=1)
        sim = einsum("b h i d, b j d -> b h i j", q, k)
        mask = F.pad(mask.float(), (1, 0), value=1.0).bool()
        sim = sim.masked_fill(~mask[:, None, None, :], -torch.finfo(sim.dtype).max)
        return merge_heads(einsum("b h i j, b j d -> b h i d", sim.softmax(-1), v))


class CosineSimilarity(nn.Module):
    """Query and key of length one, a learned scale for each head, a residual gate (arXiv:2010.04245)."""

    def __init__(self, heads=2, dim_head=8):
        super().__init__()
        self.to_qkv, self.to_gate = nn.Linear(16, 48, bias=False), nn.Linear(16, 16)
        self.scale = nn.Parameter(torch.tensor([3.0, 7.0]).reshape(heads, 1, 1))
        self.heads = heads

    def forward(self, x):
        q, k, v = map(lambda t: split_heads(t, self.heads), self.to_qkv(x).chunk(3, dim=-1))
        q, k = map(lambda t: F.normalize(t, dim=-1), (q, k))
        attn = (einsum("bhid,bhjd->bhij", q, k) * self.scale).softmax(dim=-1)
        out = merge_heads(einsum("bhij,bhjd->bhid", attn, v))
        return out * self.to_gate(x).sigmoid()


x = {"x": floats("batch", "length", 16)}

CASES = [
    Case("einsum_plain", lambda: Attention(16), x),
    Case("einsum_causal", lambda: Attention(16, heads=2, causal=True), x, [["causal"]]),
    Case("einsum_context", lambda: Attention(16), {"x": floats("batch", "queries", 16), "context": floats("batch", "keys", 16), "mask": keep("batch", "keys")}, [["dense"]]),
    Case("einsum_causal_longer_keys", lambda: Attention(16, causal=True), {"x": floats("batch", "queries", 16), "context": floats("batch", "keys", 16)}, [["causal"]]),
    Case("einsum_bhij", lambda: HeadsStayInPlace("bhij"), x),
    Case("einsum_bijh", lambda: HeadsStayInPlace("bijh"), x),
    Case("einsum_hbij", lambda: HeadsStayInPlace("hbij"), x),
    Case("einsum_bhji", lambda: HeadsStayInPlace("bhji"), x),
    Case("einsum_multi_query", lambda: MultiQuery(), {"X": floats("batch", "queries", 16), "M": floats("batch", "keys", 16)}),
    Case("einsum_grouped", lambda: GroupedFiveAxes(), x, [["causal"]]),
    Case("einsum_group_outermost", lambda: GroupOutermost(), x),
    Case("einsum_null_key", lambda: NullKey(), {**x, "mask": keep("batch", "length")}, [["dense"]]),
    Case("einsum_cosine", lambda: CosineSimilarity(), x),
]
