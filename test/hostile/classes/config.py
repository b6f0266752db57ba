# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes that divide by zero, wrap or ask for all memory; JSON that is none."""
import json

from library import case
from seeds import CONFIG, checkpoint


def setting(folder, **values):
    model = checkpoint(folder)
    (model / "config.json").write_text(json.dumps({**CONFIG, **values}))
    return "model"


def text(folder, content):
    model = checkpoint(folder)
    (model / "config.json").write_bytes(content)
    return "model"


@case("1bit-MONSTER/1bit-MONSTER#694", "no heads: hidden size divided by zero", "model/config.json: num_attention_heads: expects an integer from 1 to 4096, got 0")
def heads_zero(folder):
    return setting(folder, num_attention_heads=0)


@case("ohdearquant/lattice#342", "no key heads: heads divided by zero", "model/config.json: num_key_value_heads: expects an integer from 1 to 4096, got 0")
def key_heads_zero(folder):
    return setting(folder, num_key_value_heads=0)


@case("ohdearquant/lattice#342", "heads that are no multiple of key heads: reads behind the keys", "model/config.json: num_key_value_heads: expects a divisor of num_attention_heads, 4, got 3")
def key_heads_that_do_not_divide(folder):
    return setting(folder, num_attention_heads=4, head_dim=2, num_key_value_heads=3)


@case("ohdearquant/lattice#342", "heads without elements", "model/config.json: head_dim: expects an integer from 1 to 1048576, got 0")
def head_size_zero(folder):
    return setting(folder, head_dim=0)


@case("ollama/ollama#17177", "three times as many layers wrap to two: writes behind the list", "model/config.json: num_hidden_layers: expects an integer from 1 to 1024, got 1431655766")
def layers_whose_number_wraps(folder):
    return setting(folder, num_hidden_layers=1431655766)


@case("maderix/ANE#45", "more layers than a fixed array has", "model/config.json: num_hidden_layers: expects an integer from 1 to 1024, got 1025")
def layers_more_than_there_can_be(folder):
    return setting(folder, num_hidden_layers=1025)


@case("maderix/ANE#45", "a width whose square wraps", "model/config.json: hidden_size: expects an integer from 1 to 1048576, got 8589934592")
def width_whose_square_wraps(folder):
    return setting(folder, hidden_size=1 << 33, intermediate_size=16)


@case("ggml-org/whisper.cpp#3674", "a vocabulary that is asked for before it is read", "model/config.json: vocab_size: expects an integer from 1 to 16777216, got 999999999")
def vocabulary_of_a_billion(folder):
    return setting(folder, vocab_size=999999999)


@case("CVE-2023-27579", "a size below one", "model/config.json: intermediate_size: expects an integer from 1 to 1048576, got -16")
def width_negative(folder):
    return setting(folder, intermediate_size=-16)


@case("google-research/tabfm#91", "a vocabulary that multiplies to more memory than there is, in place of the weights' own", 'model/model.safetensors: tensor "model.embed_tokens.weight": expects shape [16777216, 8] as the configuration says, got [261, 8]')
def vocabulary_that_the_weights_do_not_have(folder):
    return setting(folder, vocab_size=1 << 24)


@case("CVE-2025-49847", "a number beyond 32 bits, cut to a negative one", "model/config.json: vocab_size: expects an integer from 1 to 16777216, got 1.84467440737e+19")
def vocabulary_beyond_64_bits(folder):
    return text(folder, json.dumps({**CONFIG, "vocab_size": 0}).replace('"vocab_size": 0', '"vocab_size": 18446744073709551621').encode())


@case("onnx/onnx#8277", "a number that is not finite", "model/config.json: expects JSON, at byte 271: number overflow parsing '1e999'")
def theta_that_is_infinite(folder):
    return text(folder, json.dumps({**CONFIG, "rms_norm_eps": 0}).replace('"rms_norm_eps": 0', '"rms_norm_eps": 1e999').encode())


@case("RFC 8259, NaN", "NaN, which some parsers take and compare with nothing", "model/config.json: expects JSON, at byte 267: syntax error while parsing value - invalid literal; last read: '\"rms_norm_eps\": N'")
def epsilon_that_is_nan(folder):
    return text(folder, json.dumps({**CONFIG, "rms_norm_eps": float("nan")}).encode())


@case("CVE-2026-0994", "an object nested without end: the parser's stack", "model/config.json: expects JSON nested at most 64 deep, got deeper nesting")
def nested_without_end(folder):
    return text(folder, b'{"a":' * 300_000)


@case("CVE-2017-12635", "a key given twice, of which parsers take the first or the last", 'model/config.json: expects each key once; the key "num_attention_heads" is given twice')
def key_given_twice(folder):
    return text(folder, json.dumps(CONFIG).encode()[:-1] + b', "num_attention_heads": 4}')


@case("CVE-2024-39720", "a file of one byte", "model/config.json: expects JSON, at byte 2: syntax error while parsing object key - unexpected end of input; expected string literal")
def file_of_one_byte(folder):
    return text(folder, b"{")


@case("CVE-2025-0315", "a million values where a list of factors is read", "model/config.json: rope_parameters.short_factor: expects an array of 2 numbers, one a pair, got an array of 200000")
def rotary_factors_without_number(folder):
    return setting(folder, rope_parameters={"rope_type": "longrope", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32, "short_factor": [1.0] * 200_000,
                                            "long_factor": [1.0, 1.0]})


@case("onnx/onnx#8277", "a factor of zero, by which positions are divided", "model/config.json: rope_parameters.factor: expects a number from 1e-06 to 1000000, got 0")
def rotary_factor_zero(folder):
    return setting(folder, rope_parameters={"rope_type": "linear", "rope_theta": 10000.0, "factor": 0})


@case("google-research/tabfm#91", "a key that nobody knows, handed on to a constructor", "model/config.json: attention_sharpening: could change numbers and is not understood")
def key_that_nobody_knows(folder):
    return setting(folder, attention_sharpening=2.0)
