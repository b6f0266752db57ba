# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Architectures of GGUF files and the configurations in which they are tested: tiny, with every option far from where it has no effect."""
from decoder_cases import EXPERTS, FAMILIES, GROUPED, NARROW, RMS, ROTARY, longrope, rotary

LLAMA = NARROW | RMS | ROTARY

# The architecture, the prefix of the classes of `transformers`, the configuration, the type of matrices.
CASES = {
    "llama": ("llama", "Llama", LLAMA | dict(tie_word_embeddings=False, attention_bias=True), "F32"),
    "llama-3": ("llama", "Llama", LLAMA | dict(tie_word_embeddings=True, rope_parameters=rotary(
        kind="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)), "BF16"),
    "mistral": ("llama", "Mistral", LLAMA | dict(sliding_window=8, rope_parameters=rotary(kind="linear", factor=4.0)), "mixed"),
    "mixtral": ("llama", "Mixtral", LLAMA | EXPERTS, "F32"),
    "granite": ("granite", *FAMILIES["granite"], "F16"),
    "qwen2": ("qwen2", *FAMILIES["qwen2"], "F16"),
    "qwen2-moe": ("qwen2moe", *FAMILIES["qwen2_moe"], "F32"),
    "qwen3": ("qwen3", "Qwen3", NARROW | RMS | dict(rope_parameters=rotary(
        kind="yarn", factor=4.0, original_max_position_embeddings=32, beta_fast=16.0, beta_slow=2.0)), "F32"),
    "qwen3-moe": ("qwen3moe", *FAMILIES["qwen3_moe"], "F16"),
    "gemma": ("gemma", *FAMILIES["gemma"], "F32"),
    "gemma2": ("gemma2", *FAMILIES["gemma2"], "F32"),
    "gemma3": ("gemma3", *FAMILIES["gemma3"], "F16"),
    "phi2": ("phi2", *FAMILIES["phi"], "F32"),
    "phi3": ("phi3", *FAMILIES["phi3"], "F32"),
    "phi3-long": ("phi3", "Phi3", GROUPED | RMS | ROTARY | longrope(8), "F16"),
    "gpt2": ("gpt2", "GPT2", dict(vocab_size=2048, n_embd=64, n_layer=2, n_head=4, n_positions=128, n_inner=80, layer_norm_epsilon=0.02), "F16"),
    "bert": ("bert", "Bert", dict(vocab_size=2048, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=80, max_position_embeddings=128,
                                  layer_norm_eps=0.02), "F32"),
}
