# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attention blocks as libraries of pretrained models have them: extended masks of -10000 or the type's minimum, repeated heads, rotary tables, soft caps, sinks."""
import math

import torch
from torch import nn
import torch.nn.functional as F

from case import Case, floats, ids, keep, padding


class BertSelfAttention(nn.Module):
    def __init__(self, hidden_size=16, heads=2, minimum=None):
        super().__init__()
        self.num_attention_heads, self.attention_head_size, self.all_head_size = heads, hidden_size // heads, hidden_size
        self.query, self.key, self.value = (nn.Linear(hidden_size, hidden_size) for _ in range(3))
        self.dropout, self.minimum = nn.Dropout(0.1), minimum

    def transpose_for_scores(self, x):
        new_x_shape = x.size()[:-1] + (self.num_attention_heads, self.attention_head_size)
        return x.view(*new_x_shape).permute(0, 2, 1, 3)

    def forward(self, hidden_states, attention_mask):
        extended = attention_mask[:, None, None, :].to(dtype=hidden_states.dtype)
        extended = (1.0 - extended) * (-10000.0 if self.minimum is None else self.minimum)
        query_layer = self.transpose_for_scores(self.query(hidden_states))
        key_layer = self.transpose_for_scores(self.key(hidden_states))
        value_layer = self.transpose_for_scores(self.value(hidden_states))
        attention_scores = torch.matmul(query_layer, key_layer.transpose(-1, -2))
        attention_scores = attention_scores / math.sqrt(self.attention_head_size)
        attention_scores = attention_scores + extended
        attention_probs = nn.functional.softmax(attention_scores, dim=-1)
        attention_probs = self.dropout(attention_probs)
        context_layer = torch.matmul(attention_probs, value_layer)
        context_layer = context_layer.permute(0, 2, 1, 3).contiguous()
        return context_layer.view(*(context_layer.size()[:-2] + (self.all_head_size,)))


class DistilAttention(BertSelfAttention):
    """The scale on the query, the mask expanded to the scores, the fill the type's minimum."""

    def forward(self, x, mask):
        bs, q_length, dim = x.size()
        mask_reshp = (bs, 1, 1, x.size(1))
        q, k, v = (self.transpose_for_scores(lin(x)) for lin in (self.query, self.key, self.value))
        q = q / math.sqrt(self.attention_head_size)
        scores = torch.matmul(q, k.transpose(2, 3))
        mask = (mask == 0).view(mask_reshp).expand_as(scores)
        scores = scores.masked_fill(mask, torch.tensor(torch.finfo(torch.float32).min))
        weights = self.dropout(nn.functional.softmax(scores, dim=-1))
        return torch.matmul(weights, v).transpose(1, 2).contiguous().view(bs, -1, dim)


class Gpt2Attention(nn.Module):
    """The bias buffer sliced between past and present, torch.where with the type's minimum; a matrix as [inputs, outputs]."""

    def __init__(self, embed_dim=16, heads=2, positions=32):
        super().__init__()
        self.register_buffer("bias", torch.tril(torch.ones((positions, positions), dtype=torch.bool)).view(1, 1, positions, positions), persistent=False)
        self.heads, self.head_dim, self.split_size = heads, embed_dim // heads, embed_dim
        self.weight, self.offset = nn.Parameter(torch.randn(embed_dim, 3 * embed_dim) * 0.3), nn.Parameter(torch.zeros(3 * embed_dim))

    def forward(self, hidden_states, past_key, past_value):
        size_out = hidden_states.size()[:-1] + (3 * self.split_size,)
        qkv = torch.addmm(self.offset, hidden_states.view(-1, hidden_states.size(-1)), self.weight).view(size_out)
        query, key, value = qkv.split(self.split_size, dim=2)
        shape = (hidden_states.shape[0], -1, self.heads, self.head_dim)
        query, key, value = query.view(shape).transpose(1, 2), key.view(shape).transpose(1, 2), value.view(shape).transpose(1, 2)
        key, value = torch.cat((past_key, key), dim=-2), torch.cat((past_value, value), dim=-2)
        attn_weights = torch.matmul(query, key.transpose(-1, -2))
        attn_weights = attn_weights / torch.full([], value.size(-1)**0.5, dtype=attn_weights.dtype)
        query_length, key_length = query.size(-2), key.size(-2)
        causal_mask = self.bias[:, :, key_length - query_length:key_length, :key_length]
        mask_value = torch.full([], torch.finfo(attn_weights.dtype).min, dtype=attn_weights.dtype)
        attn_weights = torch.where(causal_mask, attn_weights.to(attn_weights.dtype), mask_value)
        attn_weights = nn.functional.softmax(attn_weights, dim=-1).type(value.dtype)
        out = torch.matmul(attn_weights, value).permute(0, 2, 1, 3).contiguous()
        return out.view(out.size()[:-2] + (self.heads * self.head_dim,)), key, value


def rotate_half(x):
    x1, x2 = x[..., :x.shape[-1] // 2], x[..., x.shape[-1] // 2:]
    return torch.cat((-x2, x1), dim=-1)


def repeat_kv(hidden_states, n_rep):
    batch, num_key_value_heads, slen, head_dim = hidden_states.shape
    if n_rep == 1:
        return hidden_states
    hidden_states = hidden_states[:, :, None, :, :].expand(batch, num_key_value_heads, n_rep, slen, head_dim)
    return hidden_states.reshape(batch, num_key_value_heads * n_rep, slen, head_dim)


class LlamaAttention(nn.Module):
    """Rotary by cosine and sine tables from position ids, repeated heads, a causal mask of the type's minimum added together with the padding."""

    def __init__(self, hidden=32, heads=4, kv_heads=2, window=None, softcap=None, sinks=False, padded=True):
        super().__init__()
        self.heads, self.kv_heads, self.d = heads, kv_heads, hidden // heads
        self.q_proj, self.o_proj = nn.Linear(hidden, hidden, bias=False), nn.Linear(hidden, hidden, bias=False)
        self.k_proj, self.v_proj = (nn.Linear(hidden, kv_heads * self.d, bias=False) for _ in range(2))
        self.register_buffer("inv_freq", 1.0 / (10000.0**(torch.arange(0, self.d, 2, dtype=torch.int64).float() / self.d)), persistent=False)
        self.window, self.softcap, self.padded = window, softcap, padded
        self.sinks = nn.Parameter(torch.randn(heads)) if sinks else None

    def rotary(self, x, position_ids):
        inv_freq_expanded = self.inv_freq[None, :, None].expand(position_ids.shape[0], -1, 1)
        freqs = (inv_freq_expanded @ position_ids[:, None, :].to(x.dtype)).transpose(1, 2)
        emb = torch.cat((freqs, freqs), dim=-1)
        return emb.cos(), emb.sin()

    def causal_mask(self, x, attention_mask):
        length = x.shape[1]
        min_dtype = torch.finfo(torch.float32).min
        if self.window is None:
            mask = torch.full((length, length), fill_value=min_dtype, dtype=x.dtype)
            mask = torch.triu(mask, diagonal=1)
            mask = mask[None, None, :, :].expand(x.shape[0], 1, -1, -1)
        else:
            place = torch.arange(length)
            hidden = (place[None, :] > place[:, None]) | (place[None, :] <= place[:, None] - self.window)
            mask = torch.zeros((length, length), dtype=x.dtype).masked_fill(hidden, min_dtype)[None, None]
        if attention_mask is None:
            return mask
        padding = attention_mask[:, None, None, :].eq(0)
        return mask.masked_fill(padding, min_dtype)

    def forward(self, hidden_states, attention_mask=None):
        bsz, q_len, _ = hidden_states.size()
        q = self.q_proj(hidden_states).view(bsz, q_len, -1, self.d).transpose(1, 2)
        k = self.k_proj(hidden_states).view(bsz, q_len, -1, self.d).transpose(1, 2)
        v = self.v_proj(hidden_states).view(bsz, q_len, -1, self.d).transpose(1, 2)
        cos, sin = self.rotary(v, torch.arange(q_len).unsqueeze(0))
        cos, sin = cos.unsqueeze(1), sin.unsqueeze(1)
        q, k = (q * cos) + (rotate_half(q) * sin), (k * cos) + (rotate_half(k) * sin)
        k, v = repeat_kv(k, self.heads // self.kv_heads), repeat_kv(v, self.heads // self.kv_heads)
        attn_weights = torch.matmul(q, k.transpose(2, 3)) / math.sqrt(self.d)
        if self.softcap is not None:
            attn_weights = torch.tanh(attn_weights / self.softcap) * self.softcap
        attn_weights = attn_weights + self.causal_mask(hidden_states, attention_mask)
        if self.sinks is not None:
            sinks = self.sinks.reshape(1, -1, 1, 1).expand(bsz, -1, q_len, -1)
            combined_logits = torch.cat([attn_weights, sinks], dim=-1)
            combined_logits = combined_logits - combined_logits.max(dim=-1, keepdim=True).values
            attn_weights = F.softmax(combined_logits, dim=-1, dtype=combined_logits.dtype)[..., :-1]
        else:
            attn_weights = nn.functional.softmax(attn_weights, dim=-1).to(q.dtype)
        attn_output = torch.matmul(attn_weights, v).transpose(1, 2).contiguous()
        return self.o_proj(attn_output.reshape(bsz, q_len, -1))


class T5Attention(nn.Module):
    """No scale, relative buckets from a table; bidirectional or causal with an additive mask."""

    def __init__(self, is_decoder, heads=2, d=8, buckets=8, max_distance=20):
        super().__init__()
        self.is_decoder, self.n_heads, self.d, self.buckets, self.max_distance = is_decoder, heads, d, buckets, max_distance
        self.q, self.k, self.v, self.o = (nn.Linear(16, heads * d, bias=False) for _ in range(4))
        self.relative_attention_bias = nn.Embedding(buckets, heads)

    def bucket(self, relative_position):
        relative_buckets, num_buckets = 0, self.buckets
        if not self.is_decoder:
            num_buckets //= 2
            relative_buckets += (relative_position > 0).to(torch.long) * num_buckets
            relative_position = torch.abs(relative_position)
        else:
            relative_position = -torch.min(relative_position, torch.zeros_like(relative_position))
        max_exact = num_buckets // 2
        is_small = relative_position < max_exact
        large = max_exact + (torch.log(relative_position.float() / max_exact) / math.log(self.max_distance / max_exact) * (num_buckets - max_exact)).to(torch.long)
        large = torch.min(large, torch.full_like(large, num_buckets - 1))
        relative_buckets += torch.where(is_small, relative_position, large)
        return relative_buckets

    def forward(self, hidden_states, mask):
        B, S, _ = hidden_states.shape
        q, k, v = (lin(hidden_states).view(B, -1, self.n_heads, self.d).transpose(1, 2) for lin in (self.q, self.k, self.v))
        scores = torch.matmul(q, k.transpose(3, 2))
        context_position = torch.arange(S, dtype=torch.long)[:, None]
        memory_position = torch.arange(S, dtype=torch.long)[None, :]
        values = self.relative_attention_bias(self.bucket(memory_position - context_position))
        position_bias = values.permute([2, 0, 1]).unsqueeze(0)
        extended = mask[:, None, None, :]
        if self.is_decoder:
            causal = torch.arange(S)[None, None, :].repeat(B, S, 1) <= torch.arange(S)[None, :, None]
            extended = causal[:, None, :, :].to(mask.dtype) * extended
        position_bias = position_bias + (1.0 - extended) * torch.finfo(torch.float32).min
        scores = scores + position_bias
        attn_weights = nn.functional.softmax(scores.float(), dim=-1).type_as(scores)
        attn_output = torch.matmul(attn_weights, v).transpose(1, 2).contiguous().view(B, -1, self.n_heads * self.d)
        return self.o(attn_output)


class GPTJAttention(nn.Module):
    """One buffer of sines and cosines side by side, gathered at the positions; every two elements of a part of the head turn; a boolean triangle."""

    def __init__(self, heads=2, d=8, rotary_dim=4, positions=32):
        super().__init__()
        self.n_heads, self.d, self.rotary_dim = heads, d, rotary_dim
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(heads * d, heads * d, bias=False) for _ in range(4))
        inv_freq = 1.0 / (10000 ** (torch.arange(0, rotary_dim, 2, dtype=torch.int64) / rotary_dim))
        sinusoid = torch.einsum("i , j -> i j", torch.arange(positions, dtype=torch.int64).float(), inv_freq).float()
        self.register_buffer("embed_positions", torch.cat((torch.sin(sinusoid), torch.cos(sinusoid)), dim=1))
        self.register_buffer("bias", torch.tril(torch.ones((positions, positions), dtype=torch.bool)).view(1, 1, positions, positions))

    @staticmethod
    def rotate_every_two(x):
        x1, x2 = x[:, :, :, ::2], x[:, :, :, 1::2]
        return torch.stack((-x2, x1), dim=-1).flatten(-2)

    def turn(self, tensor, sin, cos):
        sin = torch.repeat_interleave(sin[:, :, None, :], 2, 3)
        cos = torch.repeat_interleave(cos[:, :, None, :], 2, 3)
        return (tensor * cos) + (self.rotate_every_two(tensor) * sin)

    def forward(self, hidden_states):
        B, S, _ = hidden_states.shape
        q, k, v = (lin(hidden_states).view(B, S, self.n_heads, self.d) for lin in (self.q_proj, self.k_proj, self.v_proj))
        position_ids = torch.arange(S).unsqueeze(0).repeat(B, 1)
        embed_positions = self.embed_positions.repeat(B, 1, 1)
        sincos = torch.gather(embed_positions, 1, position_ids.unsqueeze(-1).repeat(1, 1, embed_positions.shape[-1]))
        sin, cos = torch.split(sincos, sincos.shape[-1] // 2, dim=-1)
        q, k = (torch.cat([self.turn(x[..., : self.rotary_dim], sin, cos), x[..., self.rotary_dim :]], dim=-1) for x in (q, k))
        q, k, v = (x.permute(0, 2, 1, 3) for x in (q, k, v))
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.d**0.5
        scores = torch.where(self.bias[:, :, :S, :S], scores, torch.finfo(torch.float32).min)
        attn_output = torch.matmul(nn.functional.softmax(scores, dim=-1), v)
        return self.out_proj(attn_output.permute(0, 2, 1, 3).contiguous().view(B, S, self.n_heads * self.d))


class NeoXAttention(nn.Module):
    """Query, key and value of each head side by side in one projection; a part of the head turns by halves."""

    def __init__(self, heads=2, d=8, rotary_dim=4):
        super().__init__()
        self.n_heads, self.d, self.rotary_dim = heads, d, rotary_dim
        self.query_key_value, self.dense = nn.Linear(heads * d, 3 * heads * d), nn.Linear(heads * d, heads * d)
        self.register_buffer("inv_freq", 1.0 / (10000 ** (torch.arange(0, rotary_dim, 2).float() / rotary_dim)))

    def turn(self, x, cos, sin):
        rot, rest = x[..., : self.rotary_dim], x[..., self.rotary_dim :]
        half = self.rotary_dim // 2
        rotated = torch.cat((-rot[..., half:], rot[..., :half]), dim=-1)
        return torch.cat((rot * cos + rotated * sin, rest), dim=-1)

    def forward(self, hidden_states):
        B, S, _ = hidden_states.shape
        qkv = self.query_key_value(hidden_states).view(B, S, self.n_heads, 3 * self.d).transpose(1, 2)
        q, k, v = qkv.chunk(3, dim=-1)
        freqs = torch.arange(S).float()[:, None] * self.inv_freq[None, :]
        angles = torch.cat((freqs, freqs), dim=-1)
        q, k = (self.turn(x, angles.cos(), angles.sin()) for x in (q, k))
        scores = torch.matmul(q, k.transpose(2, 3)) * self.d**-0.5
        causal = torch.full((S, S), torch.finfo(torch.float32).min).triu(1)
        attn = nn.functional.softmax(scores + causal[None, None], dim=-1)
        return self.dense(torch.matmul(attn, v).transpose(1, 2).reshape(B, S, -1))


class BloomAttention(nn.Module):
    """ALiBi from the padding mask's running sum, baddbmm, query and key of a head interleaved with the value; masked_fill with the type's minimum."""

    def __init__(self, heads=4, d=8):
        super().__init__()
        self.query_key_value, self.dense = nn.Linear(32, 3 * heads * d), nn.Linear(heads * d, 32)
        self.heads, self.d, self.inv_norm_factor = heads, d, 1.0 / math.sqrt(d)
        self.register_buffer("slopes", torch.pow(2.0**(-8.0 / heads), torch.arange(1, heads + 1).float()), persistent=False)

    def forward(self, hidden_states, attention_mask):
        batch_size, q_length, _ = hidden_states.shape
        arange_tensor = ((attention_mask.cumsum(dim=-1) - 1) * attention_mask)[:, None, :]
        alibi = (self.slopes[..., None] * arange_tensor).reshape(batch_size * self.heads, 1, q_length)
        fused_qkv = self.query_key_value(hidden_states).view(batch_size, q_length, self.heads, 3, self.d)
        query_layer = fused_qkv[..., 0, :].transpose(1, 2).reshape(batch_size * self.heads, q_length, self.d)
        key_layer = fused_qkv[..., 1, :].permute(0, 2, 3, 1).reshape(batch_size * self.heads, self.d, q_length)
        value_layer = fused_qkv[..., 2, :].transpose(1, 2).reshape(batch_size * self.heads, q_length, self.d)
        matmul_result = alibi.baddbmm(batch1=query_layer, batch2=key_layer, beta=1.0, alpha=self.inv_norm_factor)
        attention_scores = matmul_result.view(batch_size, self.heads, q_length, q_length)
        hidden = torch.arange(q_length)[None, :] > torch.arange(q_length)[:, None]
        hidden = hidden[None, None] | (attention_mask[:, None, None, :] < 0.5)
        attn_weights = torch.masked_fill(attention_scores, hidden, torch.finfo(torch.float32).min)
        probs = F.softmax(attn_weights, dim=-1).view(batch_size * self.heads, q_length, q_length)
        context_layer = torch.bmm(probs, value_layer).view(batch_size, self.heads, q_length, self.d)
        return self.dense(context_layer.transpose(1, 2).reshape(batch_size, q_length, -1))


class DisentangledAttention(nn.Module):
    """Content to position and position to content added to the scores (arXiv:2006.03654): products with a table, gathered by relative distance."""

    def __init__(self, heads=2, d=8, span=16):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(16, heads * d) for _ in range(3))
        self.rel, self.heads, self.d, self.span = nn.Parameter(0.5 * torch.randn(2 * span, heads * d)), heads, d, span

    def split(self, x):
        return x.view(*x.shape[:-1], self.heads, self.d).transpose(-3, -2)

    def forward(self, x):
        B, S, _ = x.shape
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        scale = 1 / math.sqrt(self.d * 3)
        place = torch.arange(S)
        relative_pos = (place[:, None] - place[None, :]).clamp(-self.span, self.span - 1) + self.span
        pos_key, pos_query = self.split(self.k(self.rel[:, :16])), self.split(self.q(self.rel[:, :16]))
        scores = torch.matmul(q, k.transpose(-1, -2) * scale)
        c2p = torch.matmul(q, pos_key.transpose(-1, -2) * scale)
        c2p = torch.gather(c2p, -1, relative_pos.expand(B, self.heads, S, S))
        p2c = torch.matmul(k, pos_query.transpose(-1, -2) * scale)
        p2c = torch.gather(p2c, -1, relative_pos.t().expand(B, self.heads, S, S)).transpose(-1, -2)
        scores = scores + c2p + p2c
        context = torch.matmul(torch.softmax(scores, dim=-1), v)
        return context.transpose(1, 2).flatten(2)


class ClipTextAttention(nn.Module):
    """The causal mask as a stored buffer of -inf, added; heads merged into the batch."""

    def __init__(self, width=16, heads=2, context=32):
        super().__init__()
        self.in_proj, self.out_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.heads, self.d = heads, width // heads
        mask = torch.empty(context, context)
        mask.fill_(float("-inf"))
        mask.triu_(1)
        self.register_buffer("attn_mask", mask)

    def forward(self, x):
        B, S, W = x.shape
        q, k, v = self.in_proj(x).view(B, S, 3, self.heads, self.d).permute(2, 0, 3, 1, 4).reshape(3, B * self.heads, S, self.d)
        w = torch.bmm(q * self.d**-0.5, k.transpose(1, 2)) + self.attn_mask[:S, :S]
        return self.out_proj(torch.bmm(w.softmax(-1), v).view(B, self.heads, S, self.d).transpose(1, 2).reshape(B, S, W))


class FalconAttention(nn.Module):
    """All query heads and one of keys and values in one projection."""

    def __init__(self, heads=4, d=8):
        super().__init__()
        self.query_key_value, self.heads, self.d = nn.Linear(32, (heads + 2) * d, bias=False), heads, d

    def forward(self, x):
        B, S, _ = x.shape
        fused = self.query_key_value(x).view(B, S, self.heads + 2, self.d)
        q, k, v = fused[..., :-2, :], fused[..., [-2], :], fused[..., [-1], :]
        q = q.transpose(1, 2).reshape(B, self.heads, S, self.d)
        k, v = k.transpose(1, 2).reshape(B, 1, S, self.d), v.transpose(1, 2).reshape(B, 1, S, self.d)
        return F.scaled_dot_product_attention(q, k, v, None, 0.0, is_causal=True).permute(0, 2, 1, 3).reshape(B, S, self.heads * self.d)


x16, x32 = {"hidden_states": floats("batch", "length", 16)}, {"hidden_states": floats("batch", "length", 32)}
mask = {"attention_mask": padding("batch", "length", type="int64")}
past = {"past_key": floats("batch", 2, "past", 8), "past_value": floats("batch", 2, "past", 8)}

CASES = [
    Case("bert_minus_10000", lambda: BertSelfAttention(), {**x16, **mask}, [["dense"]]),
    Case("bert_minimum", lambda: BertSelfAttention(minimum=torch.finfo(torch.float32).min), {**x16, **mask}, [["dense"]]),
    Case("bert_empty_text", lambda: BertSelfAttention(), {**x16, "attention_mask": padding("batch", "length", type="int64", empty=True)}, [["dense"]], fill="raw", tolerance=2e-3),
    Case("distil_attention", lambda: DistilAttention(), {**x16, "mask": keep("batch", "length", type="float32")}, [["dense"]]),
    Case("gpt2_past", lambda: Gpt2Attention(), {**x16, **past}, [["causal"]], outputs=("output", "present_key", "present_value")),
    Case("llama_attention", lambda: LlamaAttention(), x32, [["causal"]]),
    Case("llama_padded", lambda: LlamaAttention(), {**x32, **mask}, [["causal", "dense"]]),
    Case("mistral_window", lambda: LlamaAttention(window=3), x32, [["causal", "window"]]),
    Case("gemma_soft_cap", lambda: LlamaAttention(softcap=5.0, kv_heads=1), x32, [["causal"]]),
    Case("sinks_causal", lambda: LlamaAttention(sinks=True), x32, [["causal"]], exports="ts15 dynamo20"),
    Case("sinks_window", lambda: LlamaAttention(sinks=True, window=4, kv_heads=4), {**x32, **mask}, [["causal", "window", "dense"]]),
    Case("t5_encoder", lambda: T5Attention(False), {**x16, "mask": keep("batch", "length", type="float32")}, [["dense"]]),
    Case("gptj_sines_and_cosines", lambda: GPTJAttention(), x16, [["causal"]]),
    Case("neox_head_by_head", lambda: NeoXAttention(), x16, [["causal"]]),
    Case("t5_decoder", lambda: T5Attention(True), {**x16, "mask": keep("batch", "length", type="float32")}, [["causal", "dense"]]),
    Case("bloom_attention", lambda: BloomAttention(), {**x32, **mask}, [["causal", "dense"]]),
    Case("deberta_disentangled", lambda: DisentangledAttention(), {"x": floats("batch", "length", 16)}),
    Case("clip_text", lambda: ClipTextAttention(), {"x": floats("batch", "length", 16)}, [["causal"]]),
    Case("falcon_multi_query", lambda: FalconAttention(), {"x": floats("batch", "length", 32)}, [["causal"]]),
]
