# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attentions of published models, shortened: relative shifts, latents, disentangled and gated places, masks as model code adds them."""
import math

import torch
from torch import nn, einsum
import torch.nn.functional as F

from case import Case, floats, keep, padding


class Rms(nn.Module):
    def __init__(self, n, eps=1e-6):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.rand(n) + .5), eps

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps))


class RelativeShift(nn.Module):
    """Bidirectional relative shift over 2 T - 1 places, as conformers have it (arXiv:2005.08100)."""

    def __init__(self, n_head=2, n_feat=16):
        super().__init__()
        self.d_k, self.h = n_feat // n_head, n_head
        self.linear_q, self.linear_k, self.linear_v, self.linear_out = (nn.Linear(n_feat, n_feat) for _ in range(4))
        self.linear_pos = nn.Linear(n_feat, n_feat, bias=False)
        self.pos_bias_u, self.pos_bias_v = nn.Parameter(torch.randn(n_head, self.d_k) * .3), nn.Parameter(torch.randn(n_head, self.d_k) * .3)

    def rel_shift(self, x):
        zero_pad = torch.zeros((*x.size()[:3], 1), device=x.device, dtype=x.dtype)
        x_padded = torch.cat([zero_pad, x], dim=-1)
        x_padded = x_padded.view(*x.size()[:2], x.size(3) + 1, x.size(2))
        return x_padded[:, :, 1:].view_as(x)[:, :, :, :x.size(-1) // 2 + 1]

    def forward(self, x, pos_emb):
        n_batch = x.size(0)
        q = self.linear_q(x).view(n_batch, -1, self.h, self.d_k)
        k = self.linear_k(x).view(n_batch, -1, self.h, self.d_k).transpose(1, 2)
        v = self.linear_v(x).view(n_batch, -1, self.h, self.d_k).transpose(1, 2)
        p = self.linear_pos(pos_emb).view(pos_emb.size(0), -1, self.h, self.d_k).transpose(1, 2)
        q_u = (q + self.pos_bias_u).transpose(1, 2)
        q_v = (q + self.pos_bias_v).transpose(1, 2)
        ac = torch.matmul(q_u, k.transpose(-2, -1))
        bd = self.rel_shift(torch.matmul(q_v, p.transpose(-2, -1)))
        scores = (ac + bd) / math.sqrt(self.d_k)
        attn = torch.softmax(scores, dim=-1)
        x = torch.matmul(attn, v)
        return self.linear_out(x.transpose(1, 2).contiguous().view(n_batch, -1, self.h * self.d_k))


class RelativeShiftOfSines(RelativeShift):
    """The same with a table of sines computed for the length."""

    def forward(self, x):
        T = x.shape[1]
        pos = torch.arange(T - 1, -T, -1.0)
        ang = pos[:, None] * torch.exp(torch.arange(0, 16, 2) * -(math.log(10000.0) / 16))
        pe = torch.stack([ang.sin(), ang.cos()], -1).flatten(1)[None]
        return super().forward(x, pe)


class ShiftBySelect(nn.Module):
    """[i, b, n, d] by subscripts, the shift by a reshape and index_select (arXiv:1906.08237)."""

    def __init__(self, d=16, n=2, dh=8):
        super().__init__()
        self.q, self.k, self.v, self.r, self.o = (nn.Parameter(torch.randn(d, n, dh) * .3) for _ in range(5))
        self.rw, self.rr = nn.Parameter(torch.randn(n, dh) * .3), nn.Parameter(torch.randn(n, dh) * .3)
        self.scale = 1 / dh**.5

    def forward(self, h):  # [i, b, d]
        S = h.shape[0]
        fs = torch.arange(S, -S, -1.0)
        inv = 1 / torch.pow(10000, torch.arange(0, 16, 2.0) / 16)
        sinu = einsum("i,d->id", fs, inv)
        pos = torch.cat([sinu.sin(), sinu.cos()], -1)[:, None, :].expand(-1, h.shape[1], -1)
        q, k, v = (einsum("ibh,hnd->ibnd", h, w) for w in (self.q, self.k, self.v))
        kr = einsum("ibh,hnd->ibnd", pos, self.r)
        ac = einsum("ibnd,jbnd->bnij", q + self.rw, k)
        bd = einsum("ibnd,jbnd->bnij", q + self.rr, kr)
        x = bd.reshape(bd.shape[0], bd.shape[1], bd.shape[3], bd.shape[2])[:, :, 1:, :]
        bd = torch.index_select(x.reshape(bd.shape[0], bd.shape[1], bd.shape[2], bd.shape[3] - 1), 3, torch.arange(S))
        p = F.softmax((ac + bd) * self.scale, dim=3)
        return einsum("ibnd,hnd->ibh", einsum("bnij,jbnd->ibnd", p, v), self.o)


class GatedDistance(nn.Module):
    """A bias by distance, multiplied by a gate of the query (arXiv:2110.13900)."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.h, self.hd = h, d // h
        self.rel = nn.Embedding(9, h)
        self.gru, self.const = nn.Linear(d // h, 8), nn.Parameter(torch.ones(1, h, 1, 1))
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))

    def forward(self, x):
        b, n, _ = x.shape
        rp = torch.arange(n)[None] - torch.arange(n)[:, None]
        pb = self.rel(rp.clamp(-4, 4) + 4).permute(2, 0, 1).unsqueeze(0).repeat(b, 1, 1, 1).view(b * self.h, n, n)
        g = x.view(b, n, self.h, -1).permute(0, 2, 1, 3)
        g = self.gru(g).view(g.shape[:-1] + (2, 4)).sum(-1)
        a, bb = torch.sigmoid(g).chunk(2, dim=-1)
        gate = (a * (bb * self.const - 1.0) + 2.0).view(b * self.h, -1, 1)
        pb = gate * pb
        q, k, v = (l(x).view(b, n, self.h, self.hd).transpose(1, 2) for l in (self.q, self.k, self.v))
        s = q @ k.transpose(-1, -2) * self.hd**-.5 + pb.view(b, self.h, n, n)
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


class Latent(nn.Module):
    """Latent attention: a part without and a part with rotary, one rotary key for all heads (arXiv:2405.04434)."""

    def __init__(self, dim=16, heads=2, kv_rank=6, nope=8, rope=4, vd=8):
        super().__init__()
        self.h, self.nope, self.rope, self.vd = heads, nope, rope, vd
        self.q_proj = nn.Linear(dim, heads * (nope + rope), bias=False)
        self.kv_a = nn.Linear(dim, kv_rank + rope, bias=False)
        self.kv_norm = Rms(kv_rank, eps=1e-6)
        self.kv_b = nn.Linear(kv_rank, heads * (nope + vd), bias=False)
        self.o = nn.Linear(heads * vd, dim, bias=False)

    def forward(self, x):
        b, s, _ = x.shape
        q = self.q_proj(x).view(b, s, self.h, self.nope + self.rope).transpose(1, 2)
        q_nope, q_pe = torch.split(q, [self.nope, self.rope], dim=-1)
        ckv = self.kv_a(x)
        ckv, k_pe = torch.split(ckv, [ckv.shape[-1] - self.rope, self.rope], dim=-1)
        k_pe = k_pe.view(b, s, 1, self.rope).transpose(1, 2)
        kv = self.kv_b(self.kv_norm(ckv)).view(b, s, self.h, self.nope + self.vd).transpose(1, 2)
        k_nope, v = torch.split(kv, [self.nope, self.vd], dim=-1)
        t = torch.arange(s, dtype=torch.float32)
        fr = torch.outer(t, 1.0 / (10000**(torch.arange(0, self.rope, 2).float() / self.rope)))
        emb = torch.cat((fr, fr), dim=-1)
        cos, sin = emb.cos(), emb.sin()
        rot = lambda u: torch.cat((-u[..., self.rope // 2:], u[..., :self.rope // 2]), -1)
        il = lambda u: u.view(*u.shape[:-1], self.rope // 2, 2).transpose(-1, -2).reshape(u.shape)
        q_pe, k_pe = il(q_pe), il(k_pe)
        q_pe, k_pe = q_pe * cos + rot(q_pe) * sin, k_pe * cos + rot(k_pe) * sin
        qs = torch.cat([q_nope, q_pe], -1)
        ks = torch.cat([k_nope, k_pe.expand(-1, self.h, -1, -1)], -1)
        w = torch.matmul(qs, ks.transpose(2, 3)) * (self.nope + self.rope)**-0.5
        w = w + torch.full((s, s), torch.finfo(w.dtype).min).triu(1)
        w = F.softmax(w, dim=-1, dtype=torch.float32).to(q.dtype)
        return self.o(torch.matmul(w, v).transpose(1, 2).reshape(b, s, -1))


class LatentAbsorbed(Latent):
    """The same as its inference has it: scores are a sum of two products, latents are keys and values."""

    def forward(self, x):
        b, s, _ = x.shape
        q = self.q_proj(x).view(b, s, self.h, self.nope + self.rope)
        q_nope, q_pe = q.split([self.nope, self.rope], -1)
        ckv, k_pe = self.kv_a(x).split([self.kv_norm.weight.shape[0], self.rope], -1)
        ckv = self.kv_norm(ckv)
        wkv = self.kv_b.weight.view(self.h, -1, ckv.shape[-1])
        q_nope = torch.einsum("bshd,hdc->bshc", q_nope, wkv[:, :self.nope])
        scores = (torch.einsum("bshc,btc->bsht", q_nope, ckv) + torch.einsum("bshr,btr->bsht", q_pe, k_pe)) * (self.nope + self.rope)**-0.5
        scores = scores + torch.full((s, s), float("-inf")).triu_(1).unsqueeze(1)
        scores = scores.softmax(dim=-1, dtype=torch.float32).type_as(x)
        y = torch.einsum("bsht,btc->bshc", scores, ckv)
        y = torch.einsum("bshc,hdc->bshd", y, wkv[:, -self.vd:])
        return self.o(y.flatten(2))


class Difference(nn.Module):
    """The difference of two attentions (arXiv:2410.05258)."""

    def __init__(self, dim=16):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, 16), nn.Linear(dim, 16), nn.Linear(dim, 16)
        self.lam = nn.Parameter(torch.tensor(0.5))

    def forward(self, x):
        q1, q2 = self.q(x).chunk(2, -1)
        k1, k2 = self.k(x).chunk(2, -1)
        v = self.v(x)
        a1 = F.scaled_dot_product_attention(q1, k1, v, is_causal=True)
        a2 = F.scaled_dot_product_attention(q2, k2, v, is_causal=True)
        return a1 - self.lam * a2


class Disentangled(nn.Module):
    """Content to place and place to content by gather; batch and heads merged; overwritten probabilities (arXiv:2006.03654)."""

    def __init__(self, dim=16, heads=2, span=4):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)
        self.rel = nn.Embedding(2 * span, dim)
        self.h, self.span = heads, span

    def tr(self, x):
        x = x.view(x.shape[:-1] + (self.h, -1))
        return x.permute(0, 2, 1, 3).contiguous().view(-1, x.size(1), x.size(-1))

    def forward(self, hidden, attention_mask):
        S = hidden.size(1)
        q, k, v = self.tr(self.q(hidden)), self.tr(self.k(hidden)), self.tr(self.v(hidden))
        scale = math.sqrt(q.size(-1) * 3)
        scores = torch.bmm(q, k.transpose(-1, -2) / scale)
        rp = (torch.arange(S)[:, None] - torch.arange(S)[None, :])
        rel = self.rel.weight[None]
        pk = self.tr(self.k(rel)).repeat(hidden.size(0), 1, 1)
        pq = self.tr(self.q(rel)).repeat(hidden.size(0), 1, 1)
        c2p = torch.bmm(q, pk.transpose(-1, -2))
        c2p_pos = torch.clamp(rp + self.span, 0, self.span * 2 - 1)
        c2p = torch.gather(c2p, -1, c2p_pos[None].expand(q.size(0), S, S))
        scores = scores + c2p / scale
        p2c = torch.bmm(k, pq.transpose(-1, -2))
        p2c_pos = torch.clamp(-rp + self.span, 0, self.span * 2 - 1)
        p2c = torch.gather(p2c, -1, p2c_pos[None].expand(q.size(0), S, S)).transpose(-1, -2)
        scores = scores + p2c / scale
        scores = scores.view(-1, self.h, S, S)
        m = attention_mask.unsqueeze(1).unsqueeze(2)
        m = m * m.squeeze(-2).unsqueeze(-1)
        rmask = ~(m.to(torch.bool))
        p = scores.masked_fill(rmask, torch.finfo(torch.float32).min).softmax(-1)
        p = p.masked_fill(rmask, 0.0)
        ctx = torch.bmm(p.view(-1, S, S), v)
        return ctx.view(-1, self.h, S, ctx.size(-1)).permute(0, 2, 1, 3).contiguous().flatten(2)


class CosineWindows(nn.Module):
    """Cosine attention, clamped learned temperature, continuous bias of places by an MLP (arXiv:2111.09883)."""

    def __init__(self, dim=16, heads=2, ws=2):
        super().__init__()
        self.heads, self.ws = heads, ws
        self.logit_scale = nn.Parameter(torch.log(10 * torch.ones((heads, 1, 1))))
        self.cpb_mlp = nn.Sequential(nn.Linear(2, 12), nn.ReLU(inplace=False), nn.Linear(12, heads, bias=False))
        c = torch.arange(-(ws - 1), ws, dtype=torch.float32)
        t = torch.stack(torch.meshgrid([c, c], indexing='ij')).permute(1, 2, 0).contiguous().unsqueeze(0) * 8 / (ws - 1 + 1e-9)
        self.register_buffer("relative_coords_table", torch.sign(t) * torch.log2(torch.abs(t) + 1.0) / math.log2(8))
        co = torch.stack(torch.meshgrid([torch.arange(ws), torch.arange(ws)], indexing='ij')).flatten(1)
        r = (co[:, :, None] - co[:, None, :]).permute(1, 2, 0).contiguous() + ws - 1
        r[:, :, 0] *= 2 * ws - 1
        self.register_buffer("relative_position_index", r.sum(-1))
        self.qkv = nn.Linear(dim, dim * 3, bias=False)
        self.q_bias, self.v_bias = nn.Parameter(torch.randn(dim)), nn.Parameter(torch.randn(dim))
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        qkv_bias = torch.cat((self.q_bias, torch.zeros_like(self.v_bias), self.v_bias))
        qkv = F.linear(x, self.qkv.weight, qkv_bias).reshape(B_, N, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.unbind(0)
        attn = F.normalize(q, dim=-1) @ F.normalize(k, dim=-1).transpose(-2, -1)
        logit_scale = torch.clamp(self.logit_scale, max=math.log(1. / 0.01)).exp()
        attn = attn * logit_scale
        table = self.cpb_mlp(self.relative_coords_table).view(-1, self.heads)
        bias = table[self.relative_position_index.view(-1)].view(N, N, -1).permute(2, 0, 1).contiguous()
        attn = attn + (16 * torch.sigmoid(bias)).unsqueeze(0)
        if mask is not None:
            nW = mask.shape[0]
            attn = attn.view(B_ // nW, nW, self.heads, N, N) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.heads, N, N)
        attn = attn.softmax(-1)
        return self.proj((attn @ v).transpose(1, 2).reshape(B_, N, C))


class RowsAndColumns(nn.Module):
    """Relative places apart for rows and columns, added in five dimensions (arXiv:2304.02643)."""

    def __init__(self, dim=16, num_heads=2, size=(4, 3)):
        super().__init__()
        self.num_heads, head_dim = num_heads, dim // num_heads
        self.scale = head_dim**-0.5
        self.qkv, self.proj = nn.Linear(dim, dim * 3), nn.Linear(dim, dim)
        self.rel_pos_h = nn.Parameter(torch.randn(2 * size[0] - 1, head_dim))
        self.rel_pos_w = nn.Parameter(torch.randn(2 * size[1] - 1, head_dim))
        self.size = size

    def get(self, n, rel):
        c = torch.arange(n)[:, None] - torch.arange(n)[None, :] + (n - 1)
        return rel[c.long()]

    def forward(self, x):
        B, H, W, _ = x.shape
        qkv = self.qkv(x).reshape(B, H * W, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = qkv.reshape(3, B * self.num_heads, H * W, -1).unbind(0)
        attn = (q * self.scale) @ k.transpose(-2, -1)
        Rh, Rw = self.get(H, self.rel_pos_h), self.get(W, self.rel_pos_w)
        r_q = q.reshape(B * self.num_heads, H, W, q.shape[-1])
        rel_h = torch.einsum("bhwc,hkc->bhwk", r_q, Rh)
        rel_w = torch.einsum("bhwc,wkc->bhwk", r_q, Rw)
        attn = (attn.view(-1, H, W, H, W) + rel_h[:, :, :, :, None] + rel_w[:, :, :, None, :]).view(-1, H * W, H * W)
        attn = attn.softmax(dim=-1)
        x = (attn @ v).view(B, self.num_heads, H, W, -1).permute(0, 2, 3, 1, 4).reshape(B, H, W, -1)
        return self.proj(x)


class PairBias(nn.Module):
    """Rows of a pair representation, whose own projection is a bias (Nature 596, 583); gated."""

    def __init__(self, c=16, h=2, d=8):
        super().__init__()
        self.norm = nn.LayerNorm(c)
        self.b = nn.Linear(c, h, bias=False)
        self.q, self.k, self.v = (nn.Linear(c, h * d, bias=False) for _ in range(3))
        self.g, self.o = nn.Linear(c, h * d), nn.Linear(h * d, c)
        self.h, self.d = h, d

    def forward(self, z, mask):  # [*, I, J, C], [*, I, J]
        z = self.norm(z)
        mask_bias = (1e9 * (mask - 1))[..., :, None, None, :]
        tri = self.b(z).permute(0, 3, 1, 2).unsqueeze(-4)
        q, k, v = (l(z).view(*z.shape[:-1], self.h, -1).transpose(-2, -3) for l in (self.q, self.k, self.v))
        q = q / math.sqrt(self.d)
        a = torch.matmul(q, k.transpose(-1, -2))
        for bias in (mask_bias, tri):
            a = a + bias
        o = torch.matmul(F.softmax(a, -1), v).transpose(-2, -3)
        g = torch.sigmoid(self.g(z)).view(*z.shape[:-1], self.h, -1)
        return self.o((o * g).flatten(-2))


class BlockSparse(nn.Module):
    """Globals, neighbours and random blocks as one fixed matrix (arXiv:2007.14062)."""

    def __init__(self, n=16, block=2):
        super().__init__()
        nb = n // block
        g = torch.Generator().manual_seed(3)
        blk = torch.zeros(nb, nb, dtype=torch.bool)
        blk[0], blk[:, 0] = True, True
        for i in range(nb):
            for j in (i - 1, i, i + 1):
                blk[i, j % nb] = True
            blk[i, torch.randint(0, nb, (2,), generator=g)] = True
        self.register_buffer("m", blk.repeat_interleave(block, 0).repeat_interleave(block, 1))
        self.qkv = nn.Linear(16, 48)

    def forward(self, x):
        B, T, C = x.shape
        q, k, v = self.qkv(x).view(B, T, 3, 2, 8).permute(2, 0, 3, 1, 4)
        s = q @ k.transpose(-1, -2) / 8**.5
        s = torch.where(self.m, s, torch.tensor(-65504.0))
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


class TwoMasksAdded(nn.Module):
    """A causal and a padding mask, both of the lowest number and added; then cut at it (arXiv:2205.01068)."""

    def __init__(self, d=16, h=2):
        super().__init__()
        self.h, self.hd, self.scaling = h, d // h, (d // h)**-.5
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(d, d) for _ in range(4))

    def shape(self, t, n, b):
        return t.view(b, n, self.h, self.hd).transpose(1, 2).contiguous()

    def forward(self, x, attention_mask):
        b, n, d = x.size()
        mask = torch.full((n, n), torch.tensor(torch.finfo(torch.float32).min))
        c = torch.arange(mask.size(-1))
        mask.masked_fill_(c < (c + 1).view(mask.size(-1), 1), 0)
        mask = mask[None, None, :, :].expand(b, 1, n, n)
        e = 1.0 - attention_mask[:, None, None, :].expand(b, 1, n, n).to(torch.float32)
        e = e.masked_fill(e.to(torch.bool), torch.finfo(torch.float32).min)
        am = e + mask
        q = self.q_proj(x) * self.scaling
        k, v = self.shape(self.k_proj(x), -1, b), self.shape(self.v_proj(x), -1, b)
        ps = (b * self.h, -1, self.hd)
        q, k, v = self.shape(q, n, b).view(*ps), k.view(*ps), v.view(*ps)
        w = torch.bmm(q, k.transpose(1, 2))
        w = w.view(b, self.h, n, n) + am
        w = torch.max(w, torch.tensor(torch.finfo(w.dtype).min)).view(b * self.h, n, n)
        w = F.softmax(w, dim=-1)
        o = torch.bmm(w, v).view(b, self.h, n, self.hd).transpose(1, 2).reshape(b, n, d)
        return self.out_proj(o)


class Prefix(nn.Module):
    """Learned keys and values before those of the tokens (arXiv:2101.00190)."""

    def __init__(self, p=3):
        super().__init__()
        self.pk, self.pv = nn.Parameter(torch.randn(1, 2, p, 8)), nn.Parameter(torch.randn(1, 2, p, 8))
        self.qkv, self.p = nn.Linear(16, 48), p

    def forward(self, x):
        b, n, _ = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, 2, 8).permute(2, 0, 3, 1, 4)
        k, v = torch.cat([self.pk.expand(b, -1, -1, -1), k], 2), torch.cat([self.pv.expand(b, -1, -1, -1), v], 2)
        m = torch.ones(n, n + self.p, dtype=torch.bool).tril(diagonal=self.p)
        s = (q @ k.transpose(-1, -2)) / math.sqrt(8)
        s = s.masked_fill(m.logical_not(), float("-inf"))
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2)


x16 = {"x": floats("batch", "length", 16)}
padded = {"attention_mask": padding("batch", "length", type="int64")}

CASES = [
    Case("conformer_shift", lambda: RelativeShift(), {**x16, "pos_emb": floats(1, "span", 16)}, sizes={"span": (13, 23)}, exports="ts14 dynamo18"),
    Case("conformer_shift_sines", lambda: RelativeShiftOfSines(), x16, exports="ts17 dynamo20"),
    Case("shift_by_select", lambda: ShiftBySelect(), {"h": floats("length", "batch", 16)}, exports="ts13 dynamo18"),
    Case("gated_distance", lambda: GatedDistance(), x16, exports="ts14 dynamo21"),
    Case("latent_keys", lambda: Latent(), x16, [["causal"]], exports="ts18 dynamo20"),
    Case("latent_keys_absorbed", lambda: LatentAbsorbed(), x16, [["causal"]], exports="ts14 dynamo18"),
    Case("difference_of_two", lambda: Difference(), x16, [["causal"], ["causal"]], exports="ts14"),
    Case("disentangled_overwritten", lambda: Disentangled(), {"hidden": floats("batch", "length", 16), **padded}, [["dense|length|segment"]], fill="zero", exports="ts15 dynamo18"),
    Case("cosine_windows", lambda: CosineWindows(), {"x": floats("frames", 4, 16)}, exports="ts16 dynamo18"),
    Case("rows_and_columns", lambda: RowsAndColumns(), {"x": floats("batch", 4, 3, 16)}, exports="ts17 dynamo23"),
    Case("pair_bias", lambda: PairBias(), {"z": floats("batch", "height", "height", 16), "mask": keep("batch", "height", "height", type="float32")}, [["dense"]], exports="ts14 dynamo20"),
    Case("block_sparse", lambda: BlockSparse(), {"x": floats("batch", 16, 16)}, [["dense"]], exports="ts15 dynamo18"),
    Case("two_masks_added", lambda: TwoMasksAdded(), {**x16, **padded}, [["causal", "dense|length"]], exports="ts17 dynamo23"),
    Case("prefix_of_keys", lambda: Prefix(), x16, [["causal"]], exports="ts14 dynamo18"),
]
