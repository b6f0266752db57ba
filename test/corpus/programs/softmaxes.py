# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One attention, and the softmax in all the ways it gets written: from exp, max and sum in any order, from logarithms, with the division late, in higher precision."""
import math

import torch
from torch import Tensor, nn
import torch.nn.functional as F

from case import Case, floats, keep


class Base(nn.Module):
    """Query, key and value from outside as [batch, heads, length, size]; subclasses say what becomes of the scores."""

    def forward(self, q: Tensor, k: Tensor, v: Tensor):
        scores = torch.matmul(q, k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
        return self.mix(scores, v)

    def mix(self, scores, v):
        return self.softmax(scores) @ v


class ExpMaxSum(Base):
    def softmax(self, x):
        x = x - torch.max(x, dim=-1, keepdim=True)[0]
        e = torch.exp(x)
        return e / torch.sum(e, dim=-1, keepdim=True)


class ExpAmax(Base):
    def softmax(self, x):
        e = (x - x.amax(-1, keepdim=True)).exp()
        return e * e.sum(-1, keepdim=True).reciprocal()


class DetachedMax(Base):
    def softmax(self, x):
        m = x.max(dim=-1, keepdim=True).values.detach()
        z = torch.exp(x - m)
        return torch.div(z, z.sum(dim=-1).unsqueeze(-1))


class WithoutMax(Base):
    def softmax(self, x):
        e = torch.exp(x)
        return e / e.sum(dim=-1, keepdim=True)


class NormalizedByL1(Base):
    def softmax(self, x):
        return F.normalize(torch.exp(x), p=1.0, dim=-1)


class ExpOfLogSoftmax(Base):
    def softmax(self, x):
        return F.log_softmax(x, dim=-1).exp()


class LogSumExp(Base):
    def softmax(self, x):
        return torch.exp(x - torch.logsumexp(x, dim=-1, keepdim=True))


class BaseTwo(Base):
    """exp2 with the logarithm's base folded into the scores, as fused kernels do."""

    def softmax(self, x):
        x = x * math.log2(math.e)
        p = torch.exp2(x - x.amax(-1, keepdim=True))
        return p / p.sum(-1, keepdim=True)


class LateDivision(Base):
    def mix(self, scores, v):
        e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        return torch.matmul(e, v) / e.sum(dim=-1, keepdim=True)


class LateDivisionByOnes(Base):
    """The sum as a product with ones beside the values."""

    def mix(self, scores, v):
        e = torch.exp(scores - scores.amax(dim=-1, keepdim=True))
        return (e @ v) / (e @ torch.ones_like(v[..., :1]))


class LateWithoutMax(Base):
    def mix(self, scores, v):
        e = scores.exp()
        numerator = torch.einsum("bhij,bhjd->bhid", e, v)
        denominator = torch.einsum("bhij->bhi", e)
        return numerator / denominator[..., None]


class Softmin(Base):
    def softmax(self, x):
        return F.softmin(-x, dim=3)


class Module(Base):
    def __init__(self):
        super().__init__()
        self.softmax = nn.Softmax(dim=-1)


class MiddleAxis(Base):
    """The scores turned over, and softmax over the rows."""

    def mix(self, scores, v):
        p = torch.softmax(scores.transpose(2, 3), dim=2)
        return torch.matmul(p.transpose(2, 3), v)


class MaskedByProduct(Base):
    """exp times a mask of ones and zeros; never a fill."""

    def forward(self, q, k, v, mask):
        scores = q @ k.transpose(2, 3) * 0.5
        e = torch.exp(scores - scores.amax(-1, keepdim=True)) * mask[:, None, None, :]
        return (e / e.sum(-1, keepdim=True)) @ v


class UpcastInHalf(nn.Module):
    """Half precision around, the softmax in f32."""

    def __init__(self, cast):
        super().__init__()
        self.cast = cast

    def forward(self, q, k, v):
        q, k, v = q.half(), k.half(), v.half()
        scores = torch.matmul(q, k.transpose(-1, -2)) * (1 / math.sqrt(q.shape[-1]))
        if self.cast == "argument":
            p = F.softmax(scores, dim=-1, dtype=torch.float32).to(q.dtype)
        elif self.cast == "method":
            p = torch.softmax(scores.float(), dim=-1).type_as(q)
        else:
            p = torch.softmax(scores, dim=-1)
        return torch.matmul(p, v).float()


class DoubleInside(Base):
    """A careful person: the softmax in f64."""

    def softmax(self, x):
        return torch.softmax(x.double(), -1).to(torch.float32)


q, k, v = floats("batch", 2, "queries", 8), floats("batch", 2, "keys", 8), floats("batch", 2, "keys", 8)
qkv = {"q": q, "k": k, "v": v}

CASES = [
    Case("softmax_exp_max_sum", lambda: ExpMaxSum(), qkv),
    Case("softmax_amax_reciprocal", lambda: ExpAmax(), qkv),
    Case("softmax_detached_max", lambda: DetachedMax(), qkv),
    Case("softmax_without_max", lambda: WithoutMax(), qkv),
    Case("softmax_l1_normalize", lambda: NormalizedByL1(), qkv),
    Case("softmax_exp_of_log_softmax", lambda: ExpOfLogSoftmax(), qkv),
    Case("softmax_logsumexp", lambda: LogSumExp(), qkv),
    Case("softmax_base_two", lambda: BaseTwo(), qkv, exports="dynamo18 dynamo20"),
    Case("softmax_late_division", lambda: LateDivision(), qkv),
    Case("softmax_late_division_by_ones", lambda: LateDivisionByOnes(), qkv),
    Case("softmax_late_without_max", lambda: LateWithoutMax(), qkv),
    Case("softmax_softmin", lambda: Softmin(), qkv),
    Case("softmax_module", lambda: Module(), {**qkv, "v": floats("batch", 2, "keys", 5)}),
    Case("softmax_middle_axis", lambda: MiddleAxis(), qkv),
    Case("softmax_masked_by_product", lambda: MaskedByProduct(), {**qkv, "mask": keep("batch", "keys", type="float32")}, [["dense"]]),
    Case("softmax_half_dtype_argument", lambda: UpcastInHalf("argument"), qkv, reference="f32", tolerance=5e-3),
    Case("softmax_half_float_method", lambda: UpcastInHalf("method"), qkv, reference="f32", tolerance=5e-3),
    Case("softmax_half_throughout", lambda: UpcastInHalf("none"), qkv, reference="f32", tolerance=5e-3),
    Case("softmax_double_inside", lambda: DoubleInside(), qkv, reference="f32"),
]
