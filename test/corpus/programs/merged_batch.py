# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Batch and heads in one axis, time before batch: attention over bmm and baddbmm as sequence toolkits of the first years have it."""
import torch
from torch import nn
import torch.nn.functional as F

from case import Case, drop, floats, padding


class TimeFirst(nn.Module):
    """[time, batch, channels]; the key padding mask fills with -inf in a view of four axes."""

    def __init__(self, embed_dim=16, num_heads=2):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, embed_dim // num_heads
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(embed_dim, embed_dim) for _ in range(4))
        self.scaling = self.head_dim**-0.5

    def forward(self, query, key, key_padding_mask=None, attn_mask=None):
        tgt_len, bsz, embed_dim = query.size()
        q = self.q_proj(query) * self.scaling
        k, v = self.k_proj(key), self.v_proj(key)
        q = q.contiguous().view(tgt_len, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        k = k.contiguous().view(-1, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        v = v.contiguous().view(-1, bsz * self.num_heads, self.head_dim).transpose(0, 1)
        src_len = k.size(1)
        attn_weights = torch.bmm(q, k.transpose(1, 2))
        if attn_mask is not None:
            attn_weights += attn_mask.unsqueeze(0)
        if key_padding_mask is not None:
            attn_weights = attn_weights.view(bsz, self.num_heads, tgt_len, src_len)
            attn_weights = attn_weights.masked_fill(key_padding_mask.unsqueeze(1).unsqueeze(2).to(torch.bool), float("-inf"))
            attn_weights = attn_weights.view(bsz * self.num_heads, tgt_len, src_len)
        attn_probs = F.softmax(attn_weights, dim=-1, dtype=torch.float32).type_as(attn_weights)
        attn = torch.bmm(attn_probs, v)
        attn = attn.transpose(0, 1).contiguous().view(tgt_len, bsz, embed_dim)
        return self.out_proj(attn)


class TimeFirstCausal(TimeFirst):
    """The triangle of -inf is made with `fill_with_neg_inf` and triu."""

    def forward(self, x, encoder_padding_mask=None):
        dim = x.size(0)
        future = torch.triu(torch.full([dim, dim], float("-inf")), 1)
        return super().forward(x, x, encoder_padding_mask, future)


class Baddbmm(nn.Module):
    """The product added to a bias and scaled in one call."""

    def __init__(self, heads=2, d=8):
        super().__init__()
        self.query_key_value = nn.Linear(16, 3 * heads * d)
        self.heads, self.d = heads, d

    def forward(self, x, bias):
        batch, length, _ = x.shape
        fused = self.query_key_value(x).view(batch, length, self.heads, 3, self.d)
        q, k, v = fused[..., 0, :], fused[..., 1, :], fused[..., 2, :]
        q = q.transpose(1, 2).reshape(batch * self.heads, length, self.d)
        k = k.permute(0, 2, 3, 1).reshape(batch * self.heads, self.d, length)
        v = v.transpose(1, 2).reshape(batch * self.heads, length, self.d)
        scores = torch.baddbmm(bias.expand(batch, self.heads, length, length).reshape(batch * self.heads, length, length), q, k, beta=1.0, alpha=self.d**-0.5)
        context = torch.bmm(F.softmax(scores, dim=-1), v)
        return context.view(batch, self.heads, length, self.d).permute(0, 2, 1, 3).reshape(batch, length, self.heads * self.d)


class HeadsInTheBatch(nn.Module):
    """torch.cat(torch.split(...), dim=0): heads become further rows of the batch; the padding mask is tiled as often and fills with -2**32 + 1."""

    def __init__(self, num_units=16, num_heads=4):
        super().__init__()
        self.num_heads, self.num_units = num_heads, num_units
        self.Q_proj = nn.Sequential(nn.Linear(num_units, num_units), nn.ReLU())
        self.K_proj = nn.Sequential(nn.Linear(num_units, num_units), nn.ReLU())
        self.V_proj = nn.Sequential(nn.Linear(num_units, num_units), nn.ReLU())

    def forward(self, queries, keys, key_masks):
        Q, K, V = self.Q_proj(queries), self.K_proj(keys), self.V_proj(keys)
        Q_ = torch.cat(torch.chunk(Q, self.num_heads, dim=2), dim=0)
        K_ = torch.cat(torch.chunk(K, self.num_heads, dim=2), dim=0)
        V_ = torch.cat(torch.chunk(V, self.num_heads, dim=2), dim=0)
        outputs = torch.bmm(Q_, K_.permute(0, 2, 1))
        outputs = outputs / (K_.size()[-1]**0.5)
        masks = key_masks.repeat(self.num_heads, 1).unsqueeze(1).expand_as(outputs)
        outputs = torch.where(masks, outputs, torch.ones_like(outputs) * (-2**32 + 1))
        outputs = torch.softmax(outputs, dim=-1)
        outputs = torch.bmm(outputs, V_)
        outputs = torch.cat(torch.chunk(outputs, self.num_heads, dim=0), dim=2)
        return outputs + queries


class HeadsBeforeBatch(nn.Module):
    """[heads * batch, length, size], with the heads outermost, by permute and view; the mask repeated."""

    def __init__(self, n_head=2, d_k=8):
        super().__init__()
        self.n_head, self.d_k = n_head, d_k
        self.w_qs, self.w_ks, self.w_vs = (nn.Linear(16, n_head * d_k) for _ in range(3))
        self.temperature, self.fc = d_k**0.5, nn.Linear(n_head * d_k, 16)
        self.softmax, self.dropout, self.layer_norm = nn.Softmax(dim=2), nn.Dropout(0.1), nn.LayerNorm(16)

    def forward(self, q, mask):
        n_head, d_k = self.n_head, self.d_k
        sz_b, len_q, _ = q.size()
        residual = q
        k = self.w_ks(q).view(sz_b, len_q, n_head, d_k).permute(2, 0, 1, 3).contiguous().view(-1, len_q, d_k)
        v = self.w_vs(q).view(sz_b, len_q, n_head, d_k).permute(2, 0, 1, 3).contiguous().view(-1, len_q, d_k)
        q = self.w_qs(q).view(sz_b, len_q, n_head, d_k).permute(2, 0, 1, 3).contiguous().view(-1, len_q, d_k)
        mask = mask.unsqueeze(1).expand(-1, len_q, -1).repeat(n_head, 1, 1)
        attn = torch.bmm(q, k.transpose(1, 2)) / self.temperature
        attn = attn.masked_fill(mask, -float("inf"))
        output = torch.bmm(self.dropout(self.softmax(attn)), v)
        output = output.view(n_head, sz_b, len_q, d_k).permute(1, 2, 0, 3).contiguous().view(sz_b, len_q, -1)
        return self.layer_norm(self.dropout(self.fc(output)) + residual), attn


def not_(mask):
    sample = mask.sample
    mask.sample = lambda *arguments: ~sample(*arguments)
    return mask


CASES = [
    Case("merged_time_first", lambda: TimeFirst(), {"query": floats("queries", "batch", 16), "key": floats("keys", "batch", 16)}),
    Case("merged_time_first_padding", lambda: TimeFirst(), {"query": floats("queries", "batch", 16), "key": floats("keys", "batch", 16), "key_padding_mask": not_(padding("batch", "keys"))},
         [["dense"]]),
    Case("merged_time_first_causal", lambda: TimeFirstCausal(), {"x": floats("length", "batch", 16)}, [["causal"]]),
    Case("merged_time_first_causal_padding", lambda: TimeFirstCausal(), {"x": floats("length", "batch", 16), "padding": not_(padding("batch", "length"))}, [["causal", "dense"]]),
    Case("merged_baddbmm", lambda: Baddbmm(), {"x": floats("batch", "length", 16), "bias": floats(2, 1, "length")}),
    Case("merged_heads_in_batch", lambda: HeadsInTheBatch(), {"queries": floats("batch", "queries", 16), "keys": floats("batch", "keys", 16), "key_masks": padding("batch", "keys")},
         [["dense"]], exports="ts13 ts17"),
    Case("merged_heads_before_batch", lambda: HeadsBeforeBatch(), {"q": floats("batch", "length", 16), "mask": drop("batch", "length")}, [["dense"]], outputs=("output", "scores")),
]
