# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of `transformers` that write what they hear, and the configurations in which they are tested: tiny, with clips of a second, and every option far from
where it has no effect.

A case is named FAMILY or FAMILY-DIFFERENCE, as in translator_cases.py.
"""
VOCABULARY = 2048  # the Shakespeare tokenizer's
START, END, PLAIN = 2000, 1, 2007  # PLAIN: no time stamps
LANGUAGES = {"en": 2001, "de": 2002, "fr": 2003, "yue": 2004}
TASKS = {"transcribe": 2005, "translate": 2006}
SUPPRESSED = list(range(START, PLAIN + 1))

SIZES = {"vocab_size": VOCABULARY, "d_model": 48, "num_mel_bins": 20, "max_source_positions": 50, "max_target_positions": 64, "decoder_start_token_id": START,
         "eos_token_id": END, "pad_token_id": 0, "bos_token_id": None, "suppress_tokens": None, "begin_suppress_tokens": None, **{
             f"{part}_{key}": size for part in ("encoder", "decoder") for key, size in {"layers": 2, "attention_heads": 4, "ffn_dim": 80}.items()}}
EXTRACTOR = {"feature_size": 20, "sampling_rate": 16000, "hop_length": 160, "chunk_length": 1, "n_fft": 400}

FAMILIES = {"whisper": ("Whisper", SIZES)}
CASES = {
    "whisper": {},
    "whisper-english": {"english": True},
    "whisper-uneven": {"encoder_layers": 3, "decoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 72, "activation_function": "relu"},
    # Of another rate, whose windows do not overlap by as much; an uneven number of hops.
    "whisper-windows": {"num_mel_bins": 40, "max_source_positions": 33,
                        "extractor": {"feature_size": 40, "sampling_rate": 8000, "hop_length": 120, "chunk_length": 1, "n_fft": 256}},
    # Windows that do not meet.
    "whisper-gaps": {"max_source_positions": 20, "extractor": EXTRACTOR | {"hop_length": 400, "n_fft": 320}},
    "whisper-bf16": {"dtype": "bf16"},
}
NEW_TOKENS = 12
SEARCHES = [{"num_beams": 4}, {"num_beams": 3, "length_penalty": 2.0, "early_stopping": True}, {"num_beams": 2, "length_penalty": 0.0, "early_stopping": "never"}]


def configuration(name):
    """The beginning of the class's name of case `name`, its configuration, its feature extractor's, the type of its stored weights, and whether it knows one
    language only."""
    prefix, settings = FAMILIES[name.partition("-")[0]]
    settings = settings | CASES[name]
    return prefix, settings, settings.pop("extractor", EXTRACTOR), settings.pop("dtype", "f32"), settings.pop("english", False)
