# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention from before the Transformer and beside it: additive scores, reading memories, pooling by learned vectors, guards, gates, second readers of the maps."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from case import Case, drop, floats, ids, keep, lengths, padding


class Bahdanau(nn.Module):
    """score = v . tanh(W q + U k) (arXiv:1409.0473), for all queries at once."""

    def __init__(self, hidden=8):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(12, hidden), nn.Linear(10, hidden), nn.Linear(hidden, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query).unsqueeze(2) + self.Ua(keys).unsqueeze(1))).squeeze(-1)
        weights = F.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class BahdanauStep(Bahdanau):
    """One state of a decoder asks; padding of the source is hidden."""

    def forward(self, query, keys, mask):  # [batch, 12]
        scores = self.Va(torch.tanh(self.Wa(query.unsqueeze(1)) + self.Ua(keys)))
        scores = scores.squeeze(2).unsqueeze(1)
        scores = scores.masked_fill(mask.unsqueeze(1) == 0, -1e10)
        context = torch.bmm(F.softmax(scores, dim=-1), keys)
        return context.squeeze(1)


class BahdanauByVector(nn.Module):
    """The vector v as a parameter in an einsum; no biases."""

    def __init__(self):
        super().__init__()
        self.W, self.U = nn.Linear(16, 8, bias=False), nn.Linear(16, 8, bias=False)
        self.v = nn.Parameter(torch.randn(8))

    def forward(self, x):
        features = torch.tanh(self.W(x)[:, :, None, :] + self.U(x)[:, None, :, :])
        p = torch.einsum("bijd,d->bij", features, self.v).softmax(dim=2)
        return torch.einsum("bij,bjd->bid", p, x)


class LuongGeneral(nn.Module):
    """score = q W k (arXiv:1508.04025) over a source of given lengths, and the output layer behind it."""

    def __init__(self):
        super().__init__()
        self.W, self.out = nn.Linear(16, 12, bias=False), nn.Linear(28, 12)

    def forward(self, state, source, count):  # [batch, 12], [batch, keys, 16]
        score = torch.bmm(self.W(source), state.unsqueeze(2)).squeeze(2)
        mask = torch.arange(source.size(1)).unsqueeze(0) < count.unsqueeze(1)
        score = score.masked_fill(~mask, float("-inf"))
        align = torch.softmax(score, dim=1)
        context = torch.bmm(align.unsqueeze(1), source).squeeze(1)
        return torch.tanh(self.out(torch.cat([context, state], dim=1)))


class LearnedQuery(nn.Module):
    """A word's importance is its projection's product with a context vector (hierarchical attention)."""

    def __init__(self):
        super().__init__()
        self.word, self.context = nn.Linear(16, 8), nn.Parameter(torch.randn(8))

    def forward(self, h):
        u = torch.tanh(self.word(h))
        a = torch.softmax(torch.matmul(u, self.context), dim=1)
        return (a.unsqueeze(-1) * h).sum(dim=1)


class StructuredPooling(nn.Module):
    """r learned vectors read a sentence: softmax(W2 tanh(W1 H)) H (arXiv:1703.03130); the maps are returned for a penalty."""

    def __init__(self):
        super().__init__()
        self.ws1, self.ws2 = nn.Linear(16, 12, bias=False), nn.Linear(12, 3, bias=False)

    def forward(self, H, hidden):
        alphas = self.ws2(torch.tanh(self.ws1(H))).transpose(1, 2)
        alphas = F.softmax(alphas + -10000 * hidden.unsqueeze(1).float(), dim=-1)
        return torch.bmm(alphas, H), alphas


class Memory(nn.Module):
    """End-to-end memory (arXiv:1503.08895): two hops, each reads with one table and answers with the next."""

    def __init__(self, words=19, d=8):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(words, d) for _ in range(3)])

    def forward(self, story, question):  # [batch, sentences, words], [batch, words]
        u = self.tables[0](question).sum(1)
        for hop in range(2):
            m = self.tables[hop](story).sum(2)
            c = self.tables[hop + 1](story).sum(2)
            p = torch.softmax((m * u.unsqueeze(1)).sum(2), dim=1)
            u = u + (c * p.unsqueeze(2)).sum(1)
        return u


class Guarded(nn.Module):
    """Rows that are wholly hidden give zero: where(isnan), or the hidden rows overwritten afterwards."""

    def __init__(self, how):
        super().__init__()
        self.how, self.q, self.k, self.v = how, nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, x, keep):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / 8**0.5
        scores = scores.masked_fill(~keep, float("-inf"))
        p = torch.softmax(scores, dim=-1)
        if self.how == "isnan":
            p = torch.where(torch.isnan(p), torch.zeros_like(p), p)
        elif self.how == "overwritten":
            p = p.masked_fill(~keep, 0.0)
        else:
            p = torch.nan_to_num(p)
        return p @ self.v(x)


class Dropped(nn.Module):
    """Dropout before and after, which evaluation leaves out; probabilities are returned averaged over the heads."""

    def __init__(self):
        super().__init__()
        self.qkv, self.drop, self.out = nn.Linear(16, 48), nn.Dropout(0.5), nn.Linear(16, 16)

    def forward(self, x):
        B, S, _ = x.shape
        q, k, v = self.drop(self.qkv(x)).view(B, S, 3, 4, 4).permute(2, 0, 3, 1, 4)
        p = F.dropout(F.softmax(q @ k.transpose(-2, -1) * 0.5, dim=-1), 0.3, self.training)
        y = self.out((p @ v).transpose(1, 2).reshape(B, S, 16))
        return F.dropout(y, 0.1, self.training), p.mean(1)


class Gated(nn.Module):
    """The mixture times a sigmoid gate, and the gate's input the query."""

    def __init__(self):
        super().__init__()
        self.to_q, self.to_k, self.to_v, self.to_g = (nn.Linear(16, 16, bias=False) for _ in range(4))

    def forward(self, x, bias):
        q, k, v, g = (lin(x).unflatten(-1, (2, 8)) for lin in (self.to_q, self.to_k, self.to_v, self.to_g))
        logits = torch.einsum("bqhc,bkhc->bhqk", q / 8**0.5, k) + bias.permute(2, 0, 1)
        o = torch.einsum("bhqk,bkhc->bqhc", F.softmax(logits, -1), v)
        return (o * torch.sigmoid(g)).flatten(-2)


class TwoReaders(nn.Module):
    """One map of probabilities reads two values: nothing may be computed from half of it."""

    def forward(self, q, k, v, w):
        p = torch.softmax(q @ k.transpose(1, 2) * 0.4, -1)
        return p @ v, p @ w


class SoftCapped(nn.Module):
    """cap * tanh(scores / cap), then a temperature in the softmax; keys as parameters."""

    def __init__(self, slots=6):
        super().__init__()
        self.keys, self.values = nn.Parameter(torch.randn(slots, 16)), nn.Parameter(torch.randn(slots, 8))
        self.tau = 0.7

    def forward(self, x):
        scores = 3.0 * torch.tanh((x @ self.keys.t()) / 3.0)
        return F.softmax(scores / self.tau, dim=-1) @ self.values


class SinkOnes(nn.Module):
    """softmax-off-by-one: exp(x) / (1 + sum exp(x)), a sink of zero."""

    def forward(self, q, k, v):
        x = q @ k.transpose(-2, -1) / 8**0.5
        top = F.relu(x.amax(-1, keepdim=True))
        e = torch.exp(x - top)
        return (e / (e.sum(-1, keepdim=True) + torch.exp(-top))) @ v


class ZeroKey(nn.Module):
    """The same by a column of zeros that is cut off behind the softmax, per text with padding."""

    def forward(self, q, k, v, mask):
        x = q @ k.transpose(-2, -1) / 8**0.5
        x = x.masked_fill(~mask[:, None, None], float("-inf"))
        p = torch.softmax(F.pad(x, (1, 0), value=0.0), dim=-1)[..., 1:]
        return p @ v


class EdgeBias(nn.Module):
    """Pairs of nodes give scores their part by a projection (a graph Transformer): added and gated."""

    def __init__(self):
        super().__init__()
        self.pair, self.q, self.k, self.v = nn.Linear(5, 2), nn.Linear(16, 16), nn.Linear(16, 16), nn.Linear(16, 16)

    def forward(self, x, edges, adjacency):
        q, k, v = (lin(x).unflatten(-1, (2, 8)).transpose(1, 2) for lin in (self.q, self.k, self.v))
        scores = q @ k.transpose(-1, -2) / 8**0.5 + self.pair(edges).permute(0, 3, 1, 2)
        scores = torch.where(adjacency.unsqueeze(1) > 0, scores, torch.full_like(scores, -9e15))
        return (torch.softmax(scores, dim=3) @ v).transpose(1, 2).flatten(2)


class GraphAttention(nn.Module):
    """GAT (arXiv:1710.10903): leaky_relu(a1 . h_i + a2 . h_j) where there is an edge; a score without a product of query and key."""

    def __init__(self):
        super().__init__()
        self.W, self.a1, self.a2 = nn.Linear(16, 8, bias=False), nn.Linear(8, 1, bias=False), nn.Linear(8, 1, bias=False)

    def forward(self, x, adj):  # [nodes, 16], [nodes, nodes]
        h = self.W(x)
        e = F.leaky_relu(self.a1(h) + self.a2(h).T, 0.2)
        attention = torch.where(adj > 0, e, -9e15 * torch.ones_like(e))
        return F.elu(torch.softmax(attention, dim=1) @ h)


x = {"x": floats("batch", "length", 16)}
qkv = {"q": floats("batch", 2, "queries", 8), "k": floats("batch", 2, "keys", 8), "v": floats("batch", 2, "keys", 8)}

CASES = [
    Case("bahdanau", lambda: Bahdanau(), {"query": floats("batch", "queries", 12), "keys": floats("batch", "keys", 10)}, outputs=("context", "weights")),
    Case("bahdanau_step", lambda: BahdanauStep(), {"query": floats("batch", 12), "keys": floats("batch", "keys", 10), "mask": keep("batch", "keys", type="int64")}, [["dense"]]),
    Case("bahdanau_vector", lambda: BahdanauByVector(), x),
    Case("luong_general", lambda: LuongGeneral(), {"state": floats("batch", 12), "source": floats("batch", "keys", 16, scale=0.5), "count": lengths("keys", "batch")}, [["length"]]),
    Case("pool_learned_query", lambda: LearnedQuery(), {"h": floats("batch", "length", 16)}),
    Case("pool_structured", lambda: StructuredPooling(), {"H": floats("batch", "length", 16), "hidden": drop("batch", "length")}, [["dense"]], outputs=("output", "weights")),
    Case("memory_hops", lambda: Memory(), {"story": ids(19, "batch", "length", 4), "question": ids(19, "batch", 4)}, [[], []]),
    Case("guard_nan_to_num", lambda: Guarded("nan_to_num"), {**x, "keep": keep("batch", "length", "length", empty=True)}, [["dense"]], fill="zero"),
    Case("guard_isnan", lambda: Guarded("isnan"), {**x, "keep": keep("batch", "length", "length", empty=True)}, [["dense"]], fill="zero"),
    Case("guard_overwritten", lambda: Guarded("overwritten"), {**x, "keep": keep("batch", "length", "length", empty=True)}, [["dense"]], fill="zero"),
    Case("dropped_maps_averaged", lambda: Dropped(), x, outputs=("output", "map")),
    Case("gated_output", lambda: Gated(), {**x, "bias": floats("length", "length", 2)}),
    Case("two_readers_of_the_map", lambda: TwoReaders(), {"q": floats("batch", "queries", 8), "k": floats("batch", "keys", 8), "v": floats("batch", "keys", 8), "w": floats("batch", "keys", 5)},
         outputs=("first", "second")),
    Case("keys_are_parameters", lambda: SoftCapped(), x),
    Case("sink_off_by_one", lambda: SinkOnes(), qkv),
    Case("sink_zero_column", lambda: ZeroKey(), {**qkv, "mask": padding("batch", "keys")}, [["dense"]]),
    Case("graph_edge_bias", lambda: EdgeBias(), {**x, "edges": floats("batch", "length", "length", 5), "adjacency": keep("batch", "length", "length", type="float32")}, [["dense"]]),
    Case("graph_attention", lambda: GraphAttention(), {"x": floats("length", 16), "adj": keep("length", "length", type="float32")}, [], either=True),
]
