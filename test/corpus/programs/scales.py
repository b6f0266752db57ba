# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the scale of the scores can stand: on the query, the key, both, the scores, in a divisor, in the softmax's temperature, in a parameter; and forms of few axes."""
import math

import numpy as np
import torch
import torch.nn as nn

from case import Case, floats


class OneHead(nn.Module):
    """[batch, length, features], a single head, three separate projections."""

    def __init__(self, features=16, d=8):
        super().__init__()
        self.w_q, self.w_k, self.w_v = (nn.Linear(features, d) for _ in range(3))
        self.d = d

    def project(self, x):
        return self.w_q(x), self.w_k(x), self.w_v(x)

    def forward(self, x):
        q, k, v = self.project(x)
        return torch.bmm(torch.softmax(self.score(q, k), dim=2), v)


class OnQuery(OneHead):
    def score(self, q, k):
        q = q * (self.d**-0.5)
        return torch.bmm(q, k.transpose(1, 2))


class OnKey(OneHead):
    def score(self, q, k):
        return q @ (k / np.sqrt(self.d)).transpose(1, 2)


class OnBoth(OneHead):
    """The fourth root on each side, so that half precision does not overflow."""

    def score(self, q, k):
        scale = 1 / math.sqrt(math.sqrt(self.d))
        return torch.einsum("btc,bsc->bts", q * scale, k * scale)


class BySquareRootTensor(OneHead):
    def score(self, q, k):
        return torch.bmm(q, k.permute(0, 2, 1)) / torch.sqrt(torch.tensor(self.d, dtype=torch.float32))


class ShapeOfKey(OneHead):
    """The size asked of the tensor while it runs."""

    def score(self, q, k):
        dim_k = torch.tensor(k.shape[-1]).to(q.dtype)
        return torch.bmm(q, k.transpose(1, 2)).div(dim_k.sqrt())


class Temperature(OneHead):
    def __init__(self):
        super().__init__()
        self.temperature = nn.Parameter(torch.tensor(1.7))

    def score(self, q, k):
        return torch.bmm(q, k.transpose(1, 2)) / self.temperature.abs()


class ByLength(OneHead):
    """Attention that grows with the logarithm of the length, so that entropy does not (arXiv:2202.12172)."""

    def score(self, q, k):
        n = torch.ones_like(k[0, :, 0]).sum()
        return torch.bmm(q, k.transpose(1, 2)) * (torch.log(n) / math.sqrt(self.d))


class NoScale(nn.Module):
    """Two axes: one text, one head."""

    def forward(self, q, k, v):
        return torch.mm(torch.softmax(torch.mm(q, k.t()), dim=1), v)


class TwoAxesSelf(nn.Module):
    """x @ x.T as in a first lesson."""

    def forward(self, inputs):
        attn_scores = inputs @ inputs.T
        attn_weights = torch.softmax(attn_scores, dim=-1)
        return attn_weights @ inputs


class TwoAxesTrainable(nn.Module):
    def __init__(self, d_in=16, d_out=8):
        super().__init__()
        self.W_query = nn.Parameter(torch.rand(d_in, d_out) - 0.5)
        self.W_key = nn.Parameter(torch.rand(d_in, d_out) - 0.5)
        self.W_value = nn.Parameter(torch.rand(d_in, d_out) - 0.5)

    def forward(self, x):
        keys, queries, values = x @ self.W_key, x @ self.W_query, x @ self.W_value
        attn_weights = torch.softmax(queries @ keys.T / keys.shape[-1]**0.5, dim=-1)
        return attn_weights @ values


class LearnedPerHead(nn.Module):
    """The logarithm of a temperature for each head, capped at 100 (arXiv:2111.09883)."""

    def __init__(self, heads=4, d=8):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.log(10 * torch.rand(heads, 1, 1) + 0.5))
        self.proj = nn.Conv1d(16, 3 * heads * d, 1)
        self.heads, self.d = heads, d

    def forward(self, x):  # channels first: [batch, channels, length]
        B, _, N = x.shape
        q, k, v = self.proj(x).view(B, 3, self.heads, self.d, N).transpose(3, 4).unbind(1)
        attn = nn.functional.normalize(q, dim=-1) @ nn.functional.normalize(k, dim=-1).transpose(-2, -1)
        attn = attn * torch.clamp(self.logit_scale, max=math.log(1. / 0.01)).exp()
        return (attn.softmax(dim=-1) @ v).transpose(2, 3).reshape(B, self.heads * self.d, N)


class NormalizedQueryKey(nn.Module):
    """RMSNorm of query and key for each head, by hand, before the product (QK-norm)."""

    def __init__(self, heads=2, d=8):
        super().__init__()
        self.qkv = nn.Linear(16, 3 * heads * d, bias=False)
        self.q_gain, self.k_gain = nn.Parameter(1 + torch.rand(d)), nn.Parameter(1 + torch.rand(d))
        self.heads, self.d = heads, d

    @staticmethod
    def norm(x, gain):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * gain

    def forward(self, x):
        B, S, _ = x.shape
        q, k, v = (t.view(B, S, self.heads, self.d).transpose(1, 2) for t in self.qkv(x).split(self.heads * self.d, -1))
        q, k = self.norm(q, self.q_gain), self.norm(k, self.k_gain)
        return (torch.softmax(q @ k.transpose(-1, -2) / self.d, -1) @ v).transpose(1, 2).flatten(-2)


x = {"x": floats("batch", "length", 16)}

CASES = [
    Case("scale_on_query", lambda: OnQuery(), x),
    Case("scale_on_key", lambda: OnKey(), x),
    Case("scale_on_both", lambda: OnBoth(), x),
    Case("scale_by_square_root_tensor", lambda: BySquareRootTensor(), x),
    Case("scale_of_shape", lambda: ShapeOfKey(), x),
    Case("scale_temperature", lambda: Temperature(), x),
    Case("scale_by_length", lambda: ByLength(), x),
    Case("scale_none_two_axes", lambda: NoScale(), {"q": floats("queries", 8), "k": floats("keys", 8), "v": floats("keys", 6)}),
    Case("two_axes_self", lambda: TwoAxesSelf(), {"inputs": floats("length", 8, scale=0.6)}),
    Case("two_axes_trainable", lambda: TwoAxesTrainable(), {"x": floats("length", 16)}),
    Case("scale_learned_per_head", lambda: LearnedPerHead(), {"x": floats("batch", 16, "length")}),
    Case("scale_normalized_query_key", lambda: NormalizedQueryKey(), x),
]
