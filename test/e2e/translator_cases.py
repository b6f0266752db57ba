# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encoder-decoders of `transformers` and the configurations in which they are tested: tiny, with every option far from where it has no effect.

A case is named FAMILY or FAMILY-DIFFERENCE. FAMILIES has the class of a family's model and the configuration of its first case, CASES what each case changes in
it, OLDER the cases whose configuration is read as older versions of `transformers` wrote it, too.
"""
VOCABULARY = 2048  # the Shakespeare tokenizer's
START, END = 0, 1
TOKENS = {"vocab_size": VOCABULARY, "decoder_start_token_id": START, "eos_token_id": END, "pad_token_id": START}
BART = TOKENS | {"bos_token_id": None, "forced_eos_token_id": None, "d_model": 48, "max_position_embeddings": 64, **{
    f"{part}_{key}": size for part in ("encoder", "decoder") for key, size in {"layers": 2, "attention_heads": 4, "ffn_dim": 80}.items()}}
# Heads together larger than the hidden size; distances beyond the last bucket's in the longer of the inputs.
T5 = TOKENS | {"d_model": 48, "d_kv": 16, "d_ff": 80, "num_layers": 2, "num_heads": 4, "layer_norm_epsilon": 0.02, "relative_attention_max_distance": 24}
UNEVEN = {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 72}
SCALED = {"scale_embedding": True}

FAMILIES = {
    "marian": ("MarianMTModel", BART | SCALED | dict(activation_function="swish")),
    "bart": ("BartForConditionalGeneration", BART | dict(activation_function="gelu")),
    "mbart": ("MBartForConditionalGeneration", BART | SCALED | dict(activation_function="gelu")),
    "pegasus": ("PegasusForConditionalGeneration", BART | SCALED | dict(activation_function="relu")),
    "blenderbot": ("BlenderbotForConditionalGeneration", BART | SCALED | dict(activation_function="gelu", encoder_no_repeat_ngram_size=0)),
    "t5": ("T5ForConditionalGeneration", T5 | dict(feed_forward_proj="relu")),
    "mt5": ("MT5ForConditionalGeneration", T5 | dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
}
CASES = {
    **{family: {} for family in FAMILIES},
    "marian-relu": dict(activation_function="relu", scale_embedding=False),
    "marian-suppressed": dict(suppressed=[5, 7]),
    "marian-bf16": dict(dtype="bf16"),
    "bart-scaled": SCALED | dict(activation_function="gelu_new"),
    "bart-uneven": UNEVEN | dict(ends=[END, 9]),
    "blenderbot-uneven": UNEVEN,
    "t5-own-head": dict(feed_forward_proj="gated-gelu", tie_word_embeddings=False),  # version 1.1
    "t5-buckets": dict(relative_attention_num_buckets=8, relative_attention_max_distance=20, suppressed=[5, 7]),
    "t5-uneven": dict(num_layers=3, num_decoder_layers=1, feed_forward_proj="gated-silu"),
    "t5-bf16": dict(dtype="bf16"),
}
OLDER = [*(family for family in FAMILIES if family != "mt5"), "t5-own-head", "t5-uneven"]

# Of few tokens, and of some more.
TEXTS = ["Good night.", "Now is the winter of our discontent made glorious summer by this sun of York; and all the clouds that lour'd upon our house"]
NEW_TOKENS = 16


def search(beams, best, penalty=1.0, stopping="no", tokens=NEW_TOKENS):
    return {"beams": beams, "best": best, "penalty": penalty, "stopping": stopping, "tokens": tokens}


FEW = [search(4, 3), search(4, 3, 0.0, "never"), search(4, 3, 2.0, "yes"), search(2, 2, -1.0), search(5, 3, 1.0, "never")]
ALL = [search(4, 3, penalty, stopping) for penalty in (1.0, 0.0, 2.0, -1.0) for stopping in ("no", "yes", "never")]
ALL += [search(2, 2), search(5, 3), search(4, 3, tokens=5), search(3, 1, 0.6, "never", 1)]
THOROUGH = ["mbart", "t5", "t5-own-head"]


def searches(name):
    return ALL if name in THOROUGH else FEW


def family_of(name):
    return name.partition("-")[0]


def configuration(name):
    """The class of case `name`'s model, its configuration, the type of its stored weights, the tokens that end a text and those that are never written."""
    kind, settings = FAMILIES[family_of(name)]
    settings = settings | CASES[name]
    return kind, settings, settings.pop("dtype", "f32"), settings.pop("ends", [END]), settings.pop("suppressed", [])
