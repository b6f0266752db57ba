# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoder families of `transformers` and the configurations in which they are tested: tiny, with every option far from where it has no effect.

A case is named FAMILY or FAMILY-DIFFERENCE. FAMILIES has the prefix of a family's classes and the configuration of its first case, CASES what each case
changes in it, OLDER the cases whose configuration is read as older versions of `transformers` wrote it, too.
"""
VOCABULARY = 2048  # the Shakespeare tokenizer's
# No text ends early.
TOKENS = {"vocab_size": VOCABULARY, "bos_token_id": 0, "eos_token_id": None, "pad_token_id": None}
SIZES = TOKENS | {"num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 128}
# Heads of 16 elements: together more than the hidden size where a configuration can say so, else as many.
NARROW = SIZES | {"hidden_size": 48, "head_dim": 16, "num_key_value_heads": 2, "intermediate_size": 80}
SQUARE = SIZES | {"hidden_size": 64, "intermediate_size": 80}
GROUPED = SQUARE | {"num_key_value_heads": 2}
# Large enough to be missed.
RMS, NORM, LAYER_NORM = {"rms_norm_eps": 0.02}, {"layer_norm_eps": 0.02}, {"layer_norm_epsilon": 0.02}


def rotary(theta=500.0, kind="default", **parameters):
    return {"rope_theta": theta, "rope_type": kind, **parameters}


def longrope(pairs, **parameters):
    """Only the longer of the inputs passes what the model was trained with: text that does while it is generated finds keys with other angles in caches."""
    return {"original_max_position_embeddings": 40, "rope_parameters": rotary(
        kind="longrope", short_factor=[1.0 + 0.1 * i for i in range(pairs)], long_factor=[1.5 + 0.7 * i for i in range(pairs)], **parameters)}


ROTARY = {"rope_parameters": rotary()}
EXPERTS = {"num_local_experts": 8, "num_experts_per_tok": 3}
SLIDING, FULL = "sliding_attention", "full_attention"

# Latents, what of a head is rotated and what is not, and values: each of a size of its own.
LATENT = SQUARE | RMS | dict(
    num_hidden_layers=3, kv_lora_rank=32, q_lora_rank=24, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=20, n_routed_experts=8, num_experts_per_tok=3,
    n_shared_experts=2, moe_intermediate_size=28, first_k_dense_replace=1, routed_scaling_factor=1.5)
MAGNITUDES = rotary(kind="yarn", factor=4.0, original_max_position_embeddings=32, beta_fast=32.0, beta_slow=1.0, mscale=0.7, mscale_all_dim=1.3)

FAMILIES = {
    "mistral": ("Mistral", NARROW | RMS | ROTARY | dict(sliding_window=8)),
    "qwen2": ("Qwen2", GROUPED | RMS | ROTARY),
    "qwen3": ("Qwen3", NARROW | RMS | ROTARY),
    "gemma": ("Gemma", NARROW | RMS | ROTARY),
    "gemma2": ("Gemma2", NARROW | RMS | ROTARY | dict(sliding_window=8, query_pre_attn_scalar=9, attn_logit_softcapping=5.0, final_logit_softcapping=3.0)),
    "gemma3": ("Gemma3", NARROW | RMS | dict(
        num_hidden_layers=4, sliding_window=8, layer_types=[SLIDING, SLIDING, FULL, SLIDING], query_pre_attn_scalar=9,
        rope_parameters={FULL: rotary(5000.0, "linear", factor=8.0), SLIDING: rotary(50.0)})),
    "phi3": ("Phi3", GROUPED | RMS | ROTARY),
    "phi": ("Phi", GROUPED | NORM | dict(rope_parameters=rotary(partial_rotary_factor=0.5))),
    "olmo2": ("Olmo2", GROUPED | RMS | ROTARY),
    "olmo3": ("Olmo3", GROUPED | RMS | dict(
        num_hidden_layers=4, sliding_window=8, rope_parameters={SLIDING: rotary(500000.0), FULL: rotary(
            500000.0, "yarn", factor=8.0, original_max_position_embeddings=16, attention_factor=1.2, beta_fast=32.0, beta_slow=1.0)})),
    "smollm3": ("SmolLM3", GROUPED | RMS | ROTARY | dict(num_hidden_layers=3, no_rope_layers=[1, 0, 1])),
    "gpt_neox": ("GPTNeoX", SQUARE | NORM | dict(rope_parameters=rotary(partial_rotary_factor=0.25))),
    "gptj": ("GPTJ", TOKENS | LAYER_NORM | dict(n_positions=128, n_embd=64, n_layer=2, n_head=4, n_inner=80, rotary_dim=8)),
    "bloom": ("Bloom", TOKENS | LAYER_NORM | dict(hidden_size=64, n_layer=2, n_head=4)),
    "mpt": ("Mpt", TOKENS | LAYER_NORM | dict(d_model=48, n_layers=2, n_heads=4, max_seq_len=128)),
    "falcon": ("Falcon", SIZES | LAYER_NORM | ROTARY | dict(hidden_size=64, ffn_hidden_size=80)),
    "starcoder2": ("Starcoder2", GROUPED | ROTARY | dict(norm_epsilon=0.02)),
    "stablelm": ("StableLm", GROUPED | NORM | dict(rope_parameters=rotary(partial_rotary_factor=0.25))),
    "opt": ("OPT", SIZES | dict(hidden_size=64, ffn_dim=80)),
    "cohere": ("Cohere", GROUPED | NORM | ROTARY | dict(logit_scale=0.3)),
    "granite": ("Granite", GROUPED | RMS | ROTARY | dict(embedding_multiplier=3.0, logits_scaling=2.5, residual_multiplier=0.7, attention_multiplier=0.4)),
    "mixtral": ("Mixtral", NARROW | RMS | ROTARY | EXPERTS),
    "olmoe": ("Olmoe", GROUPED | RMS | ROTARY | dict(num_experts=8, num_experts_per_tok=3)),
    "qwen2_moe": ("Qwen2Moe", GROUPED | RMS | ROTARY | dict(
        num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32, shared_expert_intermediate_size=48)),
    "qwen3_moe": ("Qwen3Moe", NARROW | RMS | ROTARY | dict(num_experts=8, num_experts_per_tok=3, moe_intermediate_size=32, norm_topk_prob=True)),
    "granitemoe": ("GraniteMoe", GROUPED | RMS | ROTARY | EXPERTS | dict(
        embedding_multiplier=3.0, logits_scaling=2.5, residual_multiplier=0.7, attention_multiplier=0.4)),
    "deepseek_v2": ("DeepseekV2", LATENT | dict(rope_parameters=MAGNITUDES, topk_method="group_limited_greedy", n_group=4, topk_group=2)),
    "deepseek_v3": ("DeepseekV3", LATENT | ROTARY | dict(n_group=4, topk_group=2)),
    "glm4_moe": ("Glm4Moe", GROUPED | RMS | dict(
        rope_parameters=rotary(partial_rotary_factor=0.5), num_hidden_layers=3, head_dim=24, n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=1,
        moe_intermediate_size=28, first_k_dense_replace=1, routed_scaling_factor=1.5, n_group=2, topk_group=1, use_qk_norm=True)),
    "gpt_oss": ("GptOss", NARROW | RMS | EXPERTS | dict(sliding_window=8, swiglu_limit=0.4, rope_parameters=rotary(
        kind="yarn", factor=4.0, original_max_position_embeddings=32, truncate=False, beta_fast=32.0, beta_slow=1.0))),
}

CASES = {
    **{family: {} for family in FAMILIES},
    "mistral-no-window": dict(sliding_window=None),
    "mistral-bf16": dict(dtype="bf16"),
    "qwen2-tied": dict(tie_word_embeddings=True),
    "qwen2-windows": dict(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, max_window_layers=1),
    "qwen3-biases": dict(attention_bias=True),
    "qwen3-windows": dict(num_hidden_layers=3, use_sliding_window=True, sliding_window=8, max_window_layers=2),
    "gemma2-bf16": dict(dtype="bf16"),
    "gemma3-pattern": dict(num_hidden_layers=7, layer_types=None),  # each sixth sees everything
    "phi3-longrope": longrope(8),
    "phi3-partial": longrope(4, partial_rotary_factor=0.5),
    "phi3-window": dict(sliding_window=8),
    "smollm3-windows": dict(use_sliding_window=True, sliding_window=8),  # where nothing is rotated
    "gpt_neox-sequential": dict(use_parallel_residual=False),
    "gpt_neox-no-biases": dict(attention_bias=False),
    "gpt_neox-bf16": dict(dtype="bf16"),
    "bloom-six-heads": dict(hidden_size=96, n_head=6),
    "mpt-six-heads": dict(n_heads=6, attn_config=dict(softmax_scale=0.2)),
    "falcon-40b": dict(new_decoder_architecture=True, num_kv_heads=2),
    "falcon-11b": dict(new_decoder_architecture=True, num_kv_heads=2, num_ln_in_parallel_attn=1),
    "falcon-alibi": dict(alibi=True, multi_query=False, parallel_attn=False, bias=True),
    "mixtral-window": dict(sliding_window=8, num_experts_per_tok=1),
    "mixtral-odd": dict(intermediate_size=37, num_local_experts=5, num_experts_per_tok=5),
    "mixtral-bf16": dict(dtype="bf16"),
    "qwen2_moe-mixed": dict(num_hidden_layers=4, mlp_only_layers=[1], decoder_sparse_step=2, norm_topk_prob=True, qkv_bias=False),
    "qwen3_moe-plain": dict(norm_topk_prob=False, decoder_sparse_step=2, attention_bias=True),
    "olmoe-normalized": dict(norm_topk_prob=True),
    "deepseek_v2-lite": dict(rope_parameters=rotary(), q_lora_rank=None, topk_method="greedy", n_group=None, topk_group=None, attention_bias=True, mlp_bias=True),
    "deepseek_v2-bf16": dict(dtype="bf16"),
    "deepseek_v3-magnitudes": dict(rope_parameters=MAGNITUDES, norm_topk_prob=False, attention_bias=True, rope_interleave=False),
    "deepseek_v3-all-groups": dict(q_lora_rank=None, n_group=1, topk_group=1, num_hidden_layers=2, first_k_dense_replace=0),
    "deepseek_v3-six-heads": dict(hidden_size=96, num_attention_heads=6, v_head_dim=24, n_routed_experts=12, n_group=3),
    "glm4_moe-uneven": dict(num_attention_heads=6),  # of 24 elements, width 64
    "deepseek_v3-all-chosen": dict(n_group=4, topk_group=4, num_hidden_layers=2),
    "glm4_moe-plain": dict(use_qk_norm=False, attention_bias=True, n_group=1),
    "gpt_oss-bf16": dict(dtype="bf16"),
    "starcoder2-window": dict(sliding_window=8, tie_word_embeddings=False),
    "stablelm-parallel": dict(use_parallel_residual=True, use_qkv_bias=True),
}
OLDER = ["qwen2", "qwen2-windows", "gemma", "gemma2", "gemma3-pattern", "phi3-longrope", "phi", "olmo3", "gpt_neox", "gptj", "bloom", "mpt", "falcon", "stablelm",
         "opt"]

PROMPT = [0, 860, 27, 200, 463, 1253, 326, 269, 531, 32, 952, 1149]
NEW_TOKENS = 24


def family_of(name):
    return name.partition("-")[0]


def configuration(name):
    """The prefix of the classes of case `name`, its configuration and the type of its stored weights."""
    prefix, settings = FAMILIES[family_of(name)]
    settings = settings | CASES[name]
    return prefix, settings, settings.pop("dtype", "f32")
