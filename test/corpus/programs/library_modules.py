# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's own modules and its fused function with every argument: nn.MultiheadAttention, nn.TransformerEncoderLayer and its relatives, F.scaled_dot_product_attention."""
import torch
from torch import nn
import torch.nn.functional as F

from case import Case, drop, floats, keep


def livelier(module):
    """Larger weights than the modules' own, so that probabilities are not all alike."""
    for parameter in module.parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.4)
    return module


class MultiheadAttention(nn.Module):
    def __init__(self, weights=True, causal=False, **options):
        super().__init__()
        self.attention = livelier(nn.MultiheadAttention(16, 2, **options))
        self.weights, self.causal = weights, causal

    def forward(self, query, key, value, key_padding_mask=None):
        mask = None
        if self.causal:
            mask = torch.triu(torch.ones(query.shape[1], query.shape[1], dtype=torch.bool), diagonal=1)
        out, weights = self.attention(query, key, value, key_padding_mask=key_padding_mask, need_weights=self.weights, average_attn_weights=False, attn_mask=mask)
        return (out, weights) if self.weights else out


class SelfAttention(MultiheadAttention):
    def forward(self, x, key_padding_mask=None):
        return super().forward(x, x, x, key_padding_mask)


class EncoderLayer(nn.Module):
    """In training mode's code path: the fused one of evaluation cannot be exported."""

    def __init__(self, layers=1, **options):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 24, dropout=0.0, batch_first=True, **options)
        self.layers = livelier(nn.TransformerEncoder(layer, layers, enable_nested_tensor=False) if layers > 1 else layer)

    def forward(self, x, padding=None):
        return self.layers(x, src_key_padding_mask=padding)


class CausalEncoder(EncoderLayer):
    def forward(self, x):
        mask = torch.triu(torch.full((x.shape[1], x.shape[1]), float("-inf")), diagonal=1)
        return self.layers(x, mask, is_causal=True)


class DecoderLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = livelier(nn.TransformerDecoderLayer(16, 2, 24, dropout=0.0, batch_first=True, norm_first=True))

    def forward(self, target, memory):
        length = target.shape[1]
        return self.layer(target, memory, tgt_mask=torch.ones(length, length, dtype=torch.bool).triu(1))


class Fused(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.options = options

    def forward(self, q, k, v, mask=None):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)


class FusedFromProjection(nn.Module):
    def __init__(self, heads=4, kv=2, d=8):
        super().__init__()
        self.q, self.kv, self.o = nn.Linear(32, heads * d), nn.Linear(32, 2 * kv * d), nn.Linear(heads * d, 32)
        self.heads, self.groups, self.d = heads, kv, d

    def forward(self, x):
        b, s, _ = x.shape
        q = self.q(x).unflatten(-1, (self.heads, self.d)).transpose(1, 2)
        k, v = (t.transpose(1, 2) for t in self.kv(x).unflatten(-1, (2, self.groups, self.d)).unbind(2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        return self.o(y.transpose(1, 2).flatten(2))


class TopLeftCausal(nn.Module):
    """is_causal with more keys than queries is aligned at the top left: query i sees keys 0 to i, the last keys are never seen."""

    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


x = {"x": floats("batch", "length", 16)}
query = {"query": floats("batch", "queries", 16), "key": floats("batch", "keys", 16), "value": floats("batch", "keys", 16)}
qkv = {"q": floats("batch", 4, "queries", 8), "k": floats("batch", 4, "keys", 8), "v": floats("batch", 4, "keys", 8)}
grouped = {"q": floats("batch", 4, "queries", 8), "k": floats("batch", 2, "keys", 8), "v": floats("batch", 2, "keys", 8)}

CASES = [
    Case("mha_with_weights", lambda: MultiheadAttention(batch_first=True), query, outputs=("output", "weights")),
    Case("mha_without_weights", lambda: SelfAttention(weights=False, batch_first=True), x, exports="dynamo18 dynamo20"),
    Case("mha_key_padding", lambda: SelfAttention(weights=False, batch_first=True), {**x, "key_padding_mask": drop("batch", "length")}, [["dense"]], exports="dynamo18 dynamo20"),
    Case("mha_causal_weights", lambda: SelfAttention(causal=True, batch_first=True), x, [["causal"]], outputs=("output", "weights"), exports="dynamo18 dynamo20"),
    Case("mha_own_key_sizes", lambda: MultiheadAttention(weights=False, kdim=12, vdim=10), {"query": floats("queries", "batch", 16), "key": floats("keys", "batch", 12), "value": floats("keys", "batch", 10)}),
    Case("mha_bias_kv", lambda: SelfAttention(weights=False, add_bias_kv=True, batch_first=True), x),
    Case("encoder_layer", lambda: EncoderLayer(), x, exports="dynamo18 dynamo20"),
    Case("encoder_layer_pre_norm_padding", lambda: EncoderLayer(norm_first=True, activation="gelu"), {**x, "padding": drop("batch", "length")}, [["dense"]], exports="dynamo18 dynamo20"),
    Case("encoder_causal", lambda: CausalEncoder(layers=2), x, [["causal"]] * 2, exports="dynamo18 dynamo20"),
    Case("decoder_layer", lambda: DecoderLayer(), {"target": floats("batch", "queries", 16), "memory": floats("batch", "keys", 16)}, [["causal"], []], exports="dynamo18 dynamo20"),
    # The TorchScript exporter writes a length that nn.MultiheadAttention asked for as a number, so it is fixed here.
    Case("mha_fixed_length", lambda: SelfAttention(batch_first=True), {"x": floats("batch", 6, 16), "key_padding_mask": drop("batch", 6)}, [["dense"]], outputs=("output", "weights"), exports="ts14 ts18"),
    Case("encoder_fixed_length", lambda: CausalEncoder(layers=2, norm_first=True), {"x": floats("batch", 6, 16)}, [["causal"]] * 2, exports="ts14 ts17"),
    Case("fused_plain", lambda: Fused(scale=0.3), qkv),
    Case("fused_boolean_mask", lambda: Fused(), {**qkv, "mask": keep("batch", 1, "queries", "keys")}, [["dense"]]),
    Case("fused_empty_rows", lambda: Fused(), {**qkv, "mask": keep("batch", 4, "queries", "keys", empty=True)}, [["dense"]], fill="zero", exports="dynamo23"),
    Case("fused_float_mask", lambda: Fused(), {**qkv, "mask": floats("batch", 4, "queries", "keys")}),
    Case("fused_grouped", lambda: Fused(enable_gqa=True), grouped, exports="dynamo18 dynamo23"),
    Case("fused_grouped_projection", lambda: FusedFromProjection(), {"x": floats("batch", "length", 32)}, [["causal"]], exports="dynamo20 dynamo23"),
    Case("fused_causal_top_left", lambda: TopLeftCausal(), qkv, [["causal"]]),
    Case("fused_three_axes", lambda: Fused(is_causal=True), {"q": floats("batch", "length", 8), "k": floats("batch", "length", 8), "v": floats("batch", "length", 8)}, [["causal"]], exports="ts14 ts17"),
]
