# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What has a softmax, or looks like attention, and is none: each says why fusing it would be wrong or mean nothing."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from case import Case, floats, no_attention


class OverHeads(nn.Module):
    """Heads compete for each pair: a row over keys does not sum to one."""

    def forward(self, q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=1) @ v


class OverQueries(nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=2) @ v


class OverBatch(nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=0) @ v


class OverQueriesThenKeys(nn.Module):
    """Slots compete for inputs, then each slot takes the weighted mean of its own (arXiv:2006.15055)."""

    def __init__(self, slots=4):
        super().__init__()
        self.slots = nn.Parameter(torch.randn(slots, 8))
        self.k, self.v = nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, x):
        attn = F.softmax(torch.einsum("sd,bjd->bsj", self.slots, self.k(x)) * 8**-0.5, dim=1) + 1e-8
        attn = attn / attn.sum(dim=-1, keepdim=True)
        return torch.einsum("bsj,bjd->bsd", attn, self.v(x))


class LinearAttention(nn.Module):
    """softmax(q) (softmax(k)^T v) (arXiv:1812.01243): no map over keys exists."""

    def forward(self, q, k, v):
        q, k = q.softmax(dim=-1), k.softmax(dim=-2)
        return q @ (k.transpose(-1, -2) @ v)


class KernelAttention(nn.Module):
    """elu + 1 features, normalised by their sum (arXiv:2006.16236): no exponential."""

    def forward(self, q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        scores = q @ k.transpose(-1, -2)
        return (scores / scores.sum(-1, keepdim=True)) @ v


class SigmoidAttention(nn.Module):
    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) / math.sqrt(8)
        return torch.sigmoid(scores - math.log(9.0)) @ v


class ReluAttention(nn.Module):
    def forward(self, q, k, v):
        scores = F.relu(q @ k.transpose(-1, -2) / math.sqrt(8))
        return (scores / k.shape[2]) @ v


class SquaredScores(nn.Module):
    """Like a softmax, but the square of the scores in place of the exponential."""

    def forward(self, q, k, v):
        scores = (q @ k.transpose(-1, -2)).square()
        return (scores / (scores.sum(-1, keepdim=True) + 1e-6)) @ v


class Sparsemax(nn.Module):
    """The projection onto the simplex (arXiv:1602.02068), by sorting."""

    def forward(self, q, k, v):
        z = q @ k.transpose(-1, -2) / math.sqrt(8)
        ordered = torch.sort(z, dim=-1, descending=True).values
        count = torch.arange(1, 10, dtype=z.dtype)
        support = (1 + count * ordered > ordered.cumsum(-1)).to(z.dtype)
        size = support.sum(-1, keepdim=True)
        tau = ((ordered * support).sum(-1, keepdim=True) - 1) / size
        return torch.clamp(z - tau, min=0) @ v


class Classifier(nn.Module):
    """Probabilities of classes, and nothing behind them."""

    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(16, 16), nn.Linear(16, 5)

    def forward(self, x):
        return torch.softmax(self.out(torch.relu(self.hidden(x))), dim=-1)


class MapOnly(nn.Module):
    """The map itself is asked for: there are no values."""

    def forward(self, q, k):
        return torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=-1)


class Router(nn.Module):
    """A mixture of three experts: the weights multiply the experts' outputs for the same token, not a sum over tokens."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(16, 3), nn.ModuleList([nn.Linear(16, 16) for _ in range(3)])

    def forward(self, x):
        weights = torch.softmax(self.gate(x), dim=-1)
        outputs = torch.stack([torch.relu(expert(x)) for expert in self.experts], dim=-1)
        return (outputs * weights.unsqueeze(-2)).sum(-1)


class MixtureOfSoftmaxes(nn.Module):
    """Several distributions over a vocabulary, mixed (arXiv:1711.03953)."""

    def __init__(self):
        super().__init__()
        self.prior, self.latent, self.decoder = nn.Linear(16, 3), nn.Linear(16, 24), nn.Linear(8, 11)

    def forward(self, x):
        prior = torch.softmax(self.prior(x), -1)
        latent = torch.tanh(self.latent(x)).unflatten(-1, (3, 8))
        return (torch.softmax(self.decoder(latent), -1) * prior.unsqueeze(-1)).sum(-2)


class ChannelAttention(nn.Module):
    """Squeeze and excite with a softmax over channels."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Linear(16, 4), nn.Linear(4, 16)

    def forward(self, x):
        weights = torch.softmax(self.up(torch.relu(self.down(x.mean(1)))), dim=-1)
        return x * weights.unsqueeze(1)


class TwiceSoftmax(nn.Module):
    """A softmax of a softmax: the inner has no product behind it, and between the product and the outer stands a reduction."""

    def forward(self, q, k, v):
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=-1)
        return torch.softmax(p.mean(1), dim=-1) @ v


class WrongAxisOfValue(nn.Module):
    """The product runs over the queries: p^T v."""

    def forward(self, q, k, v):
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=-1)
        return p.transpose(-1, -2) @ v


class TalkingHeads(nn.Module):
    """Heads are mixed by a matrix before the softmax and after it (arXiv:2003.02436): no score of one head alone."""

    def __init__(self):
        super().__init__()
        self.before, self.after = nn.Parameter(torch.randn(2, 2)), nn.Parameter(torch.randn(2, 2))

    def forward(self, q, k, v):
        scores = torch.einsum("bhij,hg->bgij", q @ k.transpose(-1, -2) / math.sqrt(8), self.before)
        p = torch.einsum("bhij,hg->bgij", scores.softmax(-1), self.after)
        return p @ v


class SharpenedMap(nn.Module):
    """The map is squared between the softmax and the values and does not sum to one any more."""

    def forward(self, q, k, v):
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=-1)
        return (p * p) @ v


class WrongSum(nn.Module):
    """exp over keys, but divided by the sum over queries: one letter from attention."""

    def forward(self, q, k, v):
        e = torch.exp(q @ k.transpose(-1, -2) / math.sqrt(8))
        return (e / e.sum(dim=-2, keepdim=True)) @ v


class OtherScores(nn.Module):
    """The exponentials of one product divided by the sum of another's."""

    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) / math.sqrt(8)
        return (torch.exp(scores) / torch.exp(2 * scores).sum(-1, keepdim=True)) @ v


class CumulativeMap(nn.Module):
    """A running sum over the keys of the probabilities (monotonic alignment) before the values."""

    def forward(self, q, k, v):
        p = torch.softmax(q @ k.transpose(-1, -2) / math.sqrt(8), dim=-1)
        return torch.cumsum(p, dim=-1) @ v


class ConvolvedScores(nn.Module):
    """A convolution over the scores: a score depends on its neighbours."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1)

    def forward(self, q, k, v):
        return torch.softmax(self.conv(q @ k.transpose(-1, -2) / math.sqrt(8)), dim=-1) @ v


class OverPairs(nn.Module):
    """A softmax over queries and keys together."""

    def forward(self, q, k, v):
        scores = q @ k.transpose(-1, -2) / math.sqrt(8)
        p = torch.softmax(scores.flatten(2), dim=-1).view(scores.shape)
        return p @ v


class CrossCovariance(nn.Module):
    """Channels look at channels (arXiv:2106.09681): the product runs over the dynamic number of tokens, which no static head size can hold."""

    def forward(self, q, k, v):  # [batch, heads, size, length]
        q, k = F.normalize(q, dim=-1), F.normalize(k, dim=-1)
        return torch.softmax(q @ k.transpose(-2, -1) * 3.0, dim=-1) @ v


qk = {"q": floats("batch", 2, "queries", 8), "k": floats("batch", 2, "keys", 8)}
qkv = {**qk, "v": floats("batch", 2, "keys", 8)}
nine = {"q": floats("batch", 2, "queries", 8), "k": floats("batch", 2, 9, 8), "v": floats("batch", 2, 9, 8)}
x = {"x": floats("batch", "length", 16)}

CASES = [
    no_attention("softmax over the heads", "not_over_heads", lambda: OverHeads(), qkv),
    no_attention("softmax over the queries", "not_over_queries", lambda: OverQueries(), qkv),
    no_attention("softmax over the batch", "not_over_batch", lambda: OverBatch(), qkv),
    no_attention("softmax over slots, then divided by the sum over keys", "not_slots", lambda: OverQueriesThenKeys(), x),
    no_attention("softmax over features; no map", "not_linear", lambda: LinearAttention(), qkv),
    no_attention("no exponential", "not_kernel", lambda: KernelAttention(), qkv),
    no_attention("no exponential", "not_sigmoid", lambda: SigmoidAttention(), qkv),
    no_attention("no exponential", "not_relu", lambda: ReluAttention(), qkv),
    no_attention("no exponential", "not_squared", lambda: SquaredScores(), qkv),
    no_attention("a projection, not a softmax", "not_sparsemax", lambda: Sparsemax(), nine),
    no_attention("no product behind the softmax", "not_classifier", lambda: Classifier(), x),
    no_attention("no product behind the softmax", "not_map_only", lambda: MapOnly(), qk),
    no_attention("weights of the same token's experts", "not_router", lambda: Router(), x),
    no_attention("a mixture of distributions", "not_mixture_of_softmaxes", lambda: MixtureOfSoftmaxes(), x),
    no_attention("weights of channels", "not_channels", lambda: ChannelAttention(), x),
    no_attention("scores are not a product", "not_softmax_of_softmax", lambda: TwiceSoftmax(), {**qk, "v": floats("batch", "keys", 8)}),
    no_attention("the product runs over the queries", "not_wrong_axis_of_value", lambda: WrongAxisOfValue(),
                 {"q": floats("batch", 2, "length", 8), "k": floats("batch", 2, "length", 8), "v": floats("batch", 2, "length", 8)}),
    no_attention("heads are mixed on both sides of the softmax", "not_talking_heads", lambda: TalkingHeads(), qkv),
    Case("not_sharpened", lambda: SharpenedMap(), qkv),  # an attention whose probability region squares
    no_attention("divided by the sum over the queries", "not_wrong_sum", lambda: WrongSum(), qkv),
    no_attention("divided by the sum of other numbers", "not_other_scores", lambda: OtherScores(), qkv),
    no_attention("a running sum behind the softmax", "not_cumulative", lambda: CumulativeMap(), qkv),
    no_attention("scores depend on their neighbours", "not_convolved", lambda: ConvolvedScores(), qkv),
    no_attention("softmax over pairs", "not_over_pairs", lambda: OverPairs(), qkv),
    no_attention("the product runs over a dynamic axis", "not_cross_covariance", lambda: CrossCovariance(),
                 {"q": floats("batch", 2, 8, "length"), "k": floats("batch", 2, 8, "length"), "v": floats("batch", 2, 8, "length")}),
]
