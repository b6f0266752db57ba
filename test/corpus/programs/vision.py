# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention over images: shifted windows with a table of relative positions, axial, non-local and squeeze forms, patches, latents, pooling by a learned query."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

from case import Case, floats


def window_partition(x, window_size):
    B, H, W, C = x.shape
    x = x.view(B, H // window_size, window_size, W // window_size, window_size, C)
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, window_size, window_size, C)


def window_reverse(windows, window_size, H, W):
    x = windows.view(-1, H // window_size, W // window_size, window_size, window_size, windows.shape[-1])
    return x.permute(0, 1, 3, 2, 4, 5).contiguous().view(-1, H, W, windows.shape[-1])


class WindowAttention(nn.Module):
    """Attention in windows with a bias looked up by relative place (arXiv:2103.14030)."""

    def __init__(self, dim=16, window_size=2, num_heads=2):
        super().__init__()
        self.num_heads, self.scale = num_heads, (dim // num_heads)**-0.5
        self.relative_position_bias_table = nn.Parameter(torch.randn((2 * window_size - 1)**2, num_heads))
        coords = torch.stack(torch.meshgrid([torch.arange(window_size), torch.arange(window_size)], indexing="ij")).flatten(1)
        relative = (coords[:, :, None] - coords[:, None, :]).permute(1, 2, 0).contiguous() + window_size - 1
        relative[:, :, 0] *= 2 * window_size - 1
        self.register_buffer("relative_position_index", relative.sum(-1))
        self.qkv, self.proj, self.softmax = nn.Linear(dim, dim * 3), nn.Linear(dim, dim), nn.Softmax(dim=-1)

    def forward(self, x, mask=None):
        B_, N, C = x.shape
        qkv = self.qkv(x).reshape(B_, N, 3, self.num_heads, C // self.num_heads).permute(2, 0, 3, 1, 4)
        q, k, v = qkv[0], qkv[1], qkv[2]
        q = q * self.scale
        attn = q @ k.transpose(-2, -1)
        bias = self.relative_position_bias_table[self.relative_position_index.view(-1)].view(N, N, -1).permute(2, 0, 1).contiguous()
        attn = attn + bias.unsqueeze(0)
        if mask is not None:
            nW = mask.shape[0]
            attn = attn.view(B_ // nW, nW, self.num_heads, N, N) + mask.unsqueeze(1).unsqueeze(0)
            attn = attn.view(-1, self.num_heads, N, N)
        attn = self.softmax(attn)
        x = (attn @ v).transpose(1, 2).reshape(B_, N, C)
        return self.proj(x)


class SwinBlock(nn.Module):
    def __init__(self, shift=0, size=4, window=2):
        super().__init__()
        self.attn, self.norm, self.shift, self.size, self.window = WindowAttention(window_size=window), nn.LayerNorm(16), shift, size, window
        self.register_buffer("attn_mask", None)
        if shift:
            image = torch.zeros(1, size, size, 1)
            slices = (slice(0, -window), slice(-window, -shift), slice(-shift, None))
            for number, (h, w) in enumerate([(h, w) for h in slices for w in slices]):
                image[:, h, w, :] = number
            windows = window_partition(image, window).view(-1, window * window)
            mask = windows.unsqueeze(1) - windows.unsqueeze(2)
            self.attn_mask = mask.masked_fill(mask != 0, -100.0).masked_fill(mask == 0, 0.0)

    def forward(self, x):  # [batch, size * size, channels]
        B, L, C = x.shape
        shortcut = x
        x = self.norm(x).view(B, self.size, self.size, C)
        if self.shift:
            x = torch.roll(x, shifts=(-self.shift, -self.shift), dims=(1, 2))
        windows = window_partition(x, self.window).view(-1, self.window * self.window, C)
        windows = self.attn(windows, mask=self.attn_mask)
        x = window_reverse(windows.view(-1, self.window, self.window, C), self.window, self.size, self.size)
        if self.shift:
            x = torch.roll(x, shifts=(self.shift, self.shift), dims=(1, 2))
        return shortcut + x.view(B, L, C)


class AxialAttention(nn.Module):
    """Along rows or along columns of a channel-last image; the other axis is part of the batch."""

    def __init__(self, axis, heads=2, d=8):
        super().__init__()
        self.qkv, self.axis, self.heads, self.d = nn.Linear(16, 3 * heads * d), axis, heads, d

    def forward(self, x):  # [batch, height, width, channels]
        if self.axis == "columns":
            x = x.transpose(1, 2)
        B, R, S, _ = x.shape
        q, k, v = self.qkv(x).view(B, R, S, 3, self.heads, self.d).permute(3, 0, 1, 4, 2, 5)
        p = torch.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(self.d), dim=-1)
        out = torch.matmul(p, v).transpose(2, 3).flatten(-2)
        return out.transpose(1, 2) if self.axis == "columns" else out


class AxialByEinsum(nn.Module):
    """Columns by subscripts alone: the rows' axis stays where it is."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(16, 8), nn.Linear(16, 8), nn.Linear(16, 8)

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        energy = torch.einsum("bhwc,bgwc->bwhg", q, k)
        return torch.einsum("bwhg,bgwc->bhwc", torch.softmax(energy / 8**0.5, dim=3), v)


class NonLocalBlock(nn.Module):
    """Non-local means as a layer (arXiv:1711.07971): 1x1 convolutions, [B, HW, C'] x [B, C', HW]."""

    def __init__(self, channels=16, inter=8):
        super().__init__()
        self.theta, self.phi, self.g, self.W = nn.Conv2d(channels, inter, 1), nn.Conv2d(channels, inter, 1), nn.Conv2d(channels, inter, 1), nn.Conv2d(inter, channels, 1)
        self.inter = inter

    def forward(self, x):
        batch_size = x.size(0)
        g_x = self.g(x).view(batch_size, self.inter, -1).permute(0, 2, 1)
        theta_x = self.theta(x).view(batch_size, self.inter, -1).permute(0, 2, 1)
        phi_x = self.phi(x).view(batch_size, self.inter, -1)
        f = torch.matmul(theta_x, phi_x)
        y = torch.matmul(F.softmax(f, dim=-1), g_x)
        y = y.permute(0, 2, 1).contiguous().view(batch_size, self.inter, *x.size()[2:])
        return self.W(y) + x


class GanAttention(nn.Module):
    """out = value x attention^T (arXiv:1805.08318): the values stand on the left, channels first; gamma as a weight of the residual."""

    def __init__(self, in_dim=16):
        super().__init__()
        self.query_conv, self.key_conv, self.value_conv = nn.Conv2d(in_dim, 8, 1), nn.Conv2d(in_dim, 8, 1), nn.Conv2d(in_dim, in_dim, 1)
        self.gamma, self.softmax = nn.Parameter(torch.full((1,), 0.7)), nn.Softmax(dim=-1)

    def forward(self, x):
        m_batchsize, C, width, height = x.size()
        proj_query = self.query_conv(x).view(m_batchsize, -1, width * height).permute(0, 2, 1)
        proj_key = self.key_conv(x).view(m_batchsize, -1, width * height)
        energy = torch.bmm(proj_query, proj_key)
        attention = self.softmax(energy)
        proj_value = self.value_conv(x).view(m_batchsize, -1, width * height)
        out = torch.bmm(proj_value, attention.permute(0, 2, 1))
        return self.gamma * out.view(m_batchsize, C, width, height) + x


class ChannelsFirstHeads(nn.Module):
    """[batch, heads, size, pixels], as diffusion models have it; both scales folded into query and key."""

    def __init__(self, n_heads=2, ch=8):
        super().__init__()
        self.n_heads, self.ch = n_heads, ch
        self.norm, self.qkv, self.proj_out = nn.GroupNorm(4, 16), nn.Conv1d(16, 3 * n_heads * ch, 1), nn.Conv1d(n_heads * ch, 16, 1)

    def forward(self, x):
        b, c, *spatial = x.shape
        x = x.reshape(b, c, -1)
        qkv = self.qkv(self.norm(x))
        bs, width, length = qkv.shape
        q, k, v = qkv.reshape(bs * self.n_heads, self.ch * 3, length).split(self.ch, dim=1)
        scale = 1 / math.sqrt(math.sqrt(self.ch))
        weight = torch.einsum("bct,bcs->bts", q * scale, k * scale)
        weight = torch.softmax(weight.float(), dim=-1).type(weight.dtype)
        a = torch.einsum("bts,bcs->bct", weight, v)
        return (x + self.proj_out(a.reshape(bs, -1, length))).reshape(b, c, *spatial)


class PatchTransformer(nn.Module):
    """Patches by convolution, a class token, learned places, one block (arXiv:2010.11929); q, k, v by unbind."""

    def __init__(self, dim=16, heads=2):
        super().__init__()
        self.patch, self.cls, self.pos = nn.Conv2d(3, dim, 4, 4), nn.Parameter(torch.randn(1, 1, dim)), nn.Parameter(0.3 * torch.randn(1, 5, dim))
        self.norm1, self.norm2, self.heads = nn.LayerNorm(dim), nn.LayerNorm(dim), heads
        self.qkv, self.proj = nn.Linear(dim, 3 * dim), nn.Linear(dim, dim)
        self.mlp, self.head = nn.Sequential(nn.Linear(dim, 32), nn.GELU(), nn.Linear(32, dim)), nn.Linear(dim, 7)

    def attend(self, x):
        B, N, C = x.shape
        q, k, v = self.qkv(x).reshape(B, N, 3, self.heads, C // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        attn = (q * (C // self.heads)**-0.5) @ k.transpose(-2, -1)
        return self.proj((attn.softmax(dim=-1) @ v).transpose(1, 2).reshape(B, N, C))

    def forward(self, image):
        x = self.patch(image).flatten(2).transpose(1, 2)
        x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), dim=1) + self.pos
        x = x + self.attend(self.norm1(x))
        x = x + self.mlp(self.norm2(x))
        return self.head(x[:, 0])


class LatentAttention(nn.Module):
    """Learned latents read the input, then each other (arXiv:2103.03206)."""

    def __init__(self, latents=5, dim=16, heads=2):
        super().__init__()
        self.latents, self.heads = nn.Parameter(torch.randn(latents, dim)), heads
        self.norm_latents, self.norm_input = nn.LayerNorm(dim), nn.LayerNorm(10)
        self.q, self.k, self.v, self.o = nn.Linear(dim, dim), nn.Linear(10, dim), nn.Linear(10, dim), nn.Linear(dim, dim)
        self.self_qkv = nn.Linear(dim, 3 * dim)

    def attend(self, q, k, v):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (q, k, v))
        p = torch.softmax(q @ k.transpose(-1, -2) / q.shape[-1]**0.5, dim=-1)
        return (p @ v).transpose(1, 2).flatten(2)

    def forward(self, inputs):
        x = self.latents.unsqueeze(0).expand(inputs.shape[0], -1, -1)
        i = self.norm_input(inputs)
        x = x + self.o(self.attend(self.q(self.norm_latents(x)), self.k(i), self.v(i)))
        return x + self.attend(*self.self_qkv(x).chunk(3, dim=-1))


class AttentionPool(nn.Module):
    """The mean asks, all places and the mean answer; one row comes out."""

    def __init__(self, dim=16, heads=4):
        super().__init__()
        self.q, self.k, self.v, self.c, self.heads = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, 9), heads

    def forward(self, x):  # [batch, channels, height, width]
        x = x.flatten(start_dim=2).permute(2, 0, 1)
        x = torch.cat([x.mean(dim=0, keepdim=True), x], dim=0)
        L, B, C = x.shape
        q = self.q(x[:1]).view(1, B * self.heads, C // self.heads).transpose(0, 1)
        k, v = (lin(x).view(L, B * self.heads, C // self.heads).transpose(0, 1) for lin in (self.k, self.v))
        p = torch.softmax(torch.bmm(q * (C // self.heads)**-0.5, k.transpose(1, 2)), dim=-1)
        return self.c(torch.bmm(p, v).transpose(0, 1).reshape(B, C))


class SetAttentionBlock(nn.Module):
    """Heads cut by split along the last axis and laid along the batch; the query is added to the result (arXiv:1810.00825)."""

    def __init__(self, dim_V=16, num_heads=2):
        super().__init__()
        self.dim_V, self.num_heads = dim_V, num_heads
        self.fc_q, self.fc_k, self.fc_v, self.fc_o = (nn.Linear(dim_V, dim_V) for _ in range(4))
        self.I = nn.Parameter(torch.randn(1, 3, dim_V))

    def mab(self, Q, K):
        Q, K, V = self.fc_q(Q), self.fc_k(K), self.fc_v(K)
        dim_split = self.dim_V // self.num_heads
        Q_, K_, V_ = torch.cat(Q.split(dim_split, 2), 0), torch.cat(K.split(dim_split, 2), 0), torch.cat(V.split(dim_split, 2), 0)
        A = torch.softmax(Q_.bmm(K_.transpose(1, 2)) / math.sqrt(self.dim_V), 2)
        O = Q_ + A.bmm(V_)
        O = torch.cat([O[:O.size(0) // 2], O[O.size(0) // 2:]], 2)
        return O + F.relu(self.fc_o(O))

    def forward(self, X):
        return self.mab(X, self.mab(self.I.repeat(X.size(0), 1, 1), X))


image = {"x": floats("batch", "height", "width", 16)}
first = {"x": floats("batch", 16, "height", "width", scale=0.7)}

CASES = [
    Case("swin_windows", lambda: WindowAttention(), {"x": floats("frames", 4, 16)}),
    Case("swin_block", lambda: SwinBlock(), {"x": floats("batch", 16, 16)}),
    Case("swin_shifted", lambda: SwinBlock(shift=1), {"x": floats("batch", 16, 16)}, exports="ts17 dynamo18"),
    Case("axial_rows", lambda: AxialAttention("rows"), image),
    Case("axial_columns", lambda: AxialAttention("columns"), image),
    Case("axial_by_einsum", lambda: AxialByEinsum(), image),
    Case("non_local", lambda: NonLocalBlock(), first),
    Case("gan_values_left", lambda: GanAttention(), first),
    Case("diffusion_channels_first", lambda: ChannelsFirstHeads(), first),
    Case("patch_transformer", lambda: PatchTransformer(), {"image": floats("batch", 3, 8, 8)}),
    Case("latents", lambda: LatentAttention(), {"inputs": floats("batch", "length", 10)}, [[], []]),
    Case("pool_by_mean", lambda: AttentionPool(), first),
    Case("set_attention", lambda: SetAttentionBlock(), {"X": floats("batch", "length", 16)}, [[], []], exports="ts15"),
]
