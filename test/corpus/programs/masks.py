# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One attention and every mask: triangles, windows, lengths, prefixes, documents, global tokens, from comparisons, triangular buffers and sums, with every fill."""
import torch
from torch import nn

from case import Case, documents, drop, floats, keep, lengths


class Masked(nn.Module):
    """q, k, v as [batch, heads, length, size]; `allowed` makes the mask, `hide` puts it on the scores."""
    fill = float("-inf")

    def forward(self, q, k, v, *given):
        scores = torch.matmul(q, k.transpose(-1, -2)) * q.shape[-1]**-0.5
        scores = self.hide(scores, self.allowed(q.shape[2], k.shape[2], *given))
        return torch.matmul(torch.softmax(scores, -1), v)

    def hide(self, scores, allowed):
        return scores.masked_fill(~allowed, self.fill)


class CausalByCompare(Masked):
    fill = -1e9

    def allowed(self, Sq, Sk):
        return torch.arange(Sk)[None, :] <= torch.arange(Sq)[:, None]


class CausalByTrilWhere(Masked):
    def allowed(self, Sq, Sk):
        return torch.ones(Sq, Sk, dtype=torch.bool).tril()

    def hide(self, scores, allowed):
        return torch.where(allowed, scores, -1e10)


class CausalByAddition(Masked):
    """(1 - tril) * -1e9, added."""

    def allowed(self, Sq, Sk):
        return torch.tril(torch.ones(Sq, Sk))

    def hide(self, scores, allowed):
        return scores + (1 - allowed) * -1e9


class CausalByProduct(Masked):
    """The first GPT: w * b - 1e4 * (1 - b)."""

    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.tril(torch.ones(32, 32)).view(1, 1, 32, 32))

    def allowed(self, Sq, Sk):
        return self.b[:, :, :Sq, :Sk]

    def hide(self, scores, b):
        return scores * b - 1e4 * (1 - b)


class CausalStrict(Masked):
    """Only keys before the query; the first row is empty, and -inf makes NaN, which is guarded."""

    def forward(self, q, k, v):
        S = q.shape[2]
        scores = q @ k.transpose(-1, -2) / 3
        scores = scores.masked_fill(torch.ones(S, S).triu(0).bool(), float("-inf"))
        return torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0) @ v


class CausalFromTheEnd(Masked):
    """Anti-causal: a reader from right to left."""

    def allowed(self, Sq, Sk):
        return torch.arange(Sq).unsqueeze(1) <= torch.arange(Sk).unsqueeze(0)


class BottomRight(Masked):
    """More keys than queries: the last query sees all."""

    def allowed(self, Sq, Sk):
        return torch.ones(Sq, Sk, dtype=torch.bool).tril(diagonal=Sk - Sq)


class Window(Masked):
    def allowed(self, Sq, Sk):
        distance = torch.arange(Sq)[:, None] - torch.arange(Sk)[None, :]
        return distance.abs() <= 2


class WindowByTriangles(Masked):
    """A band: tril of triu of ones."""
    fill = -9e15

    def allowed(self, Sq, Sk):
        return torch.tril(torch.triu(torch.ones(Sq, Sk), -3), 1) > 0


class CausalWindow(Masked):
    def allowed(self, Sq, Sk):
        i, j = torch.arange(Sq)[:, None], torch.arange(Sk)[None, :]
        return (j <= i) & (i - j < 4)


class CausalWindowByTriangles(Masked):
    """Ones below the diagonal without the ones far below it."""

    def allowed(self, Sq, Sk):
        ones = torch.ones(Sq, Sk)
        return (torch.tril(ones) - torch.tril(ones, -4)).bool()


class Lengths(Masked):
    fill = -1e20

    def allowed(self, Sq, Sk, count):
        return (torch.arange(Sk)[None, :] < count[:, None])[:, None, None, :]


class LengthsByAddition(Masked):
    """0 where allowed and -1e9 elsewhere, by where, added."""

    def allowed(self, Sq, Sk, count):
        return torch.arange(Sk).expand(count.shape[0], Sk) >= count.unsqueeze(1)

    def hide(self, scores, hidden):
        return scores + torch.where(hidden, -1e9, 0.0)[:, None, None]


class CausalLengths(Masked):
    def allowed(self, Sq, Sk, count):
        k_pos = torch.arange(Sk)
        inside = k_pos.view(1, 1, 1, -1) < count.view(-1, 1, 1, 1)
        return torch.logical_and(inside, k_pos <= torch.arange(Sq).unsqueeze(-1))


class LengthsBothSides(Masked):
    """Padding queries see nothing, so their rows are empty: -1e9 makes them the mean."""
    fill = -1e9

    def allowed(self, Sq, Sk, count):
        inside = torch.arange(Sk)[None] < count[:, None]
        return inside[:, None, :, None] & inside[:, None, None, :]


class Prefix(Masked):
    """The prompt is read as a whole, the answer from left to right."""

    def allowed(self, Sq, Sk, prefix):
        j = torch.arange(Sk)
        return (j[None, :] <= torch.arange(Sq)[:, None]) | (j[None, None, None, :] < prefix[:, None, None, None])


class FixedPrefix(Masked):
    """A causal buffer whose first three columns are open."""

    def __init__(self):
        super().__init__()
        mask = torch.tril(torch.ones(32, 32))
        mask[:, :3] = 1
        self.register_buffer("mask", mask)

    def allowed(self, Sq, Sk):
        return self.mask[:Sq, :Sk] != 0


class Segments(Masked):
    def allowed(self, Sq, Sk, segment):
        return segment[:, None, :, None] == segment[:, None, None, :]


class CausalSegments(Masked):
    """Packed documents, as multiplication of comparisons."""
    fill = torch.finfo(torch.float32).min

    def allowed(self, Sq, Sk, segment):
        same = torch.eq(segment.unsqueeze(1), segment.unsqueeze(2)).float()
        return (same * torch.ones(Sq, Sk).tril()).unsqueeze(1) > 0.5


class CrossSegments(Masked):
    """Queries and keys have ids of their own, from not-equal."""

    def forward(self, q, k, v, query_segment, key_segment):
        scores = torch.matmul(q, k.transpose(-1, -2)) * 0.4
        hidden = query_segment.unsqueeze(-1).ne(key_segment.unsqueeze(-2)).unsqueeze(1)
        return torch.matmul(torch.softmax(scores.masked_fill(hidden, -1e9), -1), v)


class Chunks(Masked):
    """Blocks of four along the sequence: i // 4 == j // 4."""

    def allowed(self, Sq, Sk):
        return (torch.arange(Sq) // 4)[:, None] == (torch.arange(Sk) // 4)[None, :]


class GlobalAndWindow(Masked):
    """A window, and two tokens that see all and are seen by all."""

    def allowed(self, Sq, Sk):
        i, j = torch.arange(Sq)[:, None], torch.arange(Sk)[None, :]
        return ((i - j).abs() <= 1) | (i < 2) | (j < 2)


class GlobalWindowPadding(Masked):
    def allowed(self, Sq, Sk, keep):
        i, j = torch.arange(Sq)[:, None], torch.arange(Sk)[None, :]
        near = torch.abs(i - j) < 3
        return (near | (i < 1) | (j < 1))[None, None] & keep[:, None, None, :]


class AttentionSinkTokens(Masked):
    """A causal window that never loses the first tokens: streaming with sinks."""

    def allowed(self, Sq, Sk):
        i, j = torch.arange(Sq)[:, None], torch.arange(Sk)[None, :]
        return (j <= i) & ((i - j < 3) | (j < 2))


class Strided(Masked):
    """Every third key before the query: places whose remainders are alike, as segments are."""

    def allowed(self, Sq, Sk):
        i, j = torch.arange(Sq)[:, None], torch.arange(Sk)[None, :]
        return (j <= i) & ((i - j) % 3 == 0)


class Given(Masked):
    """A boolean from the caller, of two to four axes."""

    def allowed(self, Sq, Sk, mask):
        return mask


class GivenHidden(Masked):
    """A byte mask where 1 means hidden, added as a large number."""

    def forward(self, q, k, v, hidden):
        logits = torch.matmul(q, k.transpose(-2, -1)) / 8**0.5
        logits = logits + hidden.unsqueeze(1).float() * -1e30
        return torch.softmax(logits, dim=-1) @ v


class FromTokens(Masked):
    """Padding found where the ids are zero, as a product of both sides; the diagonal stays."""
    fill = -1e9

    def allowed(self, Sq, Sk, ids):
        real = ids.ne(0)
        eye = torch.arange(Sq)[:, None] == torch.arange(Sk)
        return ((real.unsqueeze(2) & real.unsqueeze(1)) | eye).unsqueeze(1)


class DifferentPerHead(Masked):
    """Two heads causal, two heads not: the mask is no function of the places alone."""

    def allowed(self, Sq, Sk):
        causal = torch.arange(Sk)[None, :] <= torch.arange(Sq)[:, None]
        whole = torch.tensor([True, True, False, False])
        return whole[:, None, None] | causal


class ScoresReturned(nn.Module):
    """The masked scores are an output too, a second reader of what would otherwise never be written."""

    def forward(self, q, k, v):
        S = q.shape[2]
        scores = torch.matmul(q, k.transpose(2, 3)) / 8**0.5
        masked = scores.masked_fill(torch.triu(torch.ones(S, S, dtype=torch.bool), 1), -1e4)
        return torch.matmul(masked.softmax(-1), v), scores


class Twice(nn.Module):
    """Padding filled first and the triangle afterwards, with other numbers."""

    def forward(self, q, k, v, pad):
        S = q.shape[2]
        scores = q @ k.transpose(2, 3)
        scores = scores.masked_fill(pad[:, None, None, :], float("-inf"))
        scores = scores + torch.full((S, S), -1e9).triu(1)
        return scores.softmax(3) @ v


def qkv(queries, keys, heads=2):
    return {"q": floats("batch", heads, queries, 8), "k": floats("batch", heads, keys, 8), "v": floats("batch", heads, keys, 8)}


self_, cross = qkv("length", "length"), qkv("queries", "keys")
count = {"lengths": lengths("length", "batch")}

CASES = [
    Case("causal_by_compare", lambda: CausalByCompare(), self_, [["causal"]]),
    Case("causal_by_tril_where", lambda: CausalByTrilWhere(), self_, [["causal"]]),
    Case("causal_by_addition", lambda: CausalByAddition(), self_, [["causal"]]),
    Case("causal_by_product", lambda: CausalByProduct(), self_, [["causal"]]),
    Case("causal_strict_guarded", lambda: CausalStrict(), self_, [["causal|window"]], fill="zero"),
    Case("causal_from_the_end", lambda: CausalFromTheEnd(), self_, [["causal|window"]]),
    Case("causal_bottom_right", lambda: BottomRight(), cross, [["causal"]]),
    Case("window_by_distance", lambda: Window(), self_, [["window"]]),
    Case("window_by_triangles", lambda: WindowByTriangles(), self_, [["window"]]),
    Case("window_causal", lambda: CausalWindow(), self_, [["causal", "window"]]),
    Case("window_causal_by_triangles", lambda: CausalWindowByTriangles(), self_, [["causal", "window"]]),
    Case("lengths_by_compare", lambda: Lengths(), {**cross, "lengths": lengths("keys", "batch")}, [["length"]]),
    Case("lengths_empty", lambda: Lengths(), {**cross, "lengths": lengths("keys", "batch", empty=True)}, [["length"]], fill="mean"),
    Case("lengths_by_addition", lambda: LengthsByAddition(), {**self_, **count}, [["length"]]),
    Case("lengths_causal", lambda: CausalLengths(), {**self_, **count}, [["causal", "length"]]),
    Case("lengths_both_sides", lambda: LengthsBothSides(), {**self_, **count}, [["length|dense"]], fill="mean"),
    Case("prefix_by_compare", lambda: Prefix(), {**self_, "prefix": lengths("length", "batch")}, [["prefix"]]),
    Case("prefix_fixed", lambda: FixedPrefix(), self_, [["prefix"]]),
    Case("segments", lambda: Segments(), {**self_, "segment": documents("batch", "length")}, [["segment"]]),
    Case("segments_causal", lambda: CausalSegments(), {**self_, "segment": documents("batch", "length")}, [["causal", "segment"]]),
    Case("segments_cross", lambda: CrossSegments(), {**cross, "query_segment": documents("batch", "queries"), "key_segment": documents("batch", "keys")}, [["segment"]], fill="mean",
         reference="f32"),
    Case("segments_by_division", lambda: Chunks(), self_, [["segment|dense"]]),
    Case("global_and_window", lambda: GlobalAndWindow(), self_, [["global", "window"]]),
    Case("global_window_padding", lambda: GlobalWindowPadding(), {**self_, "keep": keep("batch", "length")}, [["global", "window", "dense"]]),
    Case("window_with_sink_tokens", lambda: AttentionSinkTokens(), self_, [["causal", "window", "length|prefix|global"]]),
    Case("strided", lambda: Strided(), self_, [["causal", "dense|segment"]]),
    Case("given_2d", lambda: Given(), {**cross, "mask": keep("queries", "keys")}, [["dense"]]),
    Case("given_3d", lambda: Given(), {**cross, "mask": keep(2, "queries", "keys")}, [["dense"]]),
    Case("given_4d_empty", lambda: Given(), {**cross, "mask": keep("batch", 1, "queries", "keys", empty=True)}, [["dense"]], fill="nan"),
    Case("given_hidden", lambda: GivenHidden(), {**cross, "hidden": drop("batch", "queries", "keys")}, [["dense"]]),
    Case("given_tokens", lambda: FromTokens(), {**self_, "ids": keep("batch", "length", type="int64")}, [["dense", "window?", "causal?"]]),
    Case("causal_for_some_heads", lambda: DifferentPerHead(), qkv("length", "length", 4), [["causal", "dense"]]),
    Case("causal_scores_returned", lambda: ScoresReturned(), self_, [["causal"]], outputs=("output", "scores")),
    Case("causal_filled_twice", lambda: Twice(), {**self_, "pad": drop("batch", "length")}, [["causal", "dense"]]),
]
