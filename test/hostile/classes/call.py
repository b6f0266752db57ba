# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Requests to a sound model: what a server's user sends."""
from library import case
from seeds import checkpoint, product, write_onnx


def sound(folder):
    checkpoint(folder)
    return "model"


@case("CVE-2020-15212", "a token behind the vocabulary: a row behind the table", "the prompt holds token id 999999; expects ids from 0 to 260", end="at the call", call=("--prompt-ids", "1,999999"))
def token_behind_the_vocabulary(folder):
    return sound(folder)


@case("CVE-2026-21869", "a negative token", "the prompt holds token id -5; expects ids from 0 to 260", end="at the call", call=("--prompt-ids", "1,-5"))
def token_that_is_negative(folder):
    return sound(folder)


@case("CVE-2025-49847", "the largest token of 64 bits", "the prompt holds token id 9223372036854775807; expects ids from 0 to 260", end="at the call", call=("--prompt-ids", "1,9223372036854775807"))
def largest_token_of_64_bits(folder):
    return sound(folder)


@case("CVE-2025-52566", "a text of more tokens than the context, whose number is compared as a signed one", "the prompt has 25000 tokens; the context has room for 64", end="at the call", call=("--prompt", "the man " * 5000))
def text_longer_than_the_context(folder):
    return sound(folder)


@case("vllm-project/vllm#7632", "no text: an empty batch", "the prompt is empty, and the model adds no begin token", end="at the call", call=("--prompt", ""))
def text_that_is_empty(folder):
    return sound(folder)


@case("CVE-2025-0315", "room for 2^62 positions", "expects a context of at most 64 positions, the longest the model was made for, got 4611686018427387904", end="at the call", call=("--prompt", "the", "--context", str(1 << 62)))
def room_for_2_62_positions(folder):
    return sound(folder)


@case("CVE-2020-15212", "ids in an array, behind the vocabulary", "entry 'forward': kernel 'embedding_0' (model.embed_tokens.weight) met an index or a size out of bounds: argument 'input_ids' expects token ids from 0 to 260, got 999999 at element 1", end="at the call", call=("--input", "input_ids=[[1, 999999]]"))
def ids_behind_the_vocabulary(folder):
    return sound(folder)


@case("CVE-2025-49847", "ids of another element type", "--input input_ids: expects i64 numbers, got 1.5", end="at the call", call=("--input", "input_ids=[[1.5, 2.5]]"))
def ids_that_are_fractions(folder):
    return sound(folder)


@case("CVE-2026-34756", "an array as large as the request says", "--input x: expects a shape as in random:2x5x8, of at most 16777216 elements, got '99999999999x4'", end="at the call", call=("--input", "x=random:99999999999x4"))
def array_as_large_as_it_says(folder):
    return write_onnx(folder, product())


@case("CVE-2026-0994", "brackets nested without end", "--input input_ids: expects lists of numbers as in [[1, 2], [3, 4]], or random:SHAPE, got '[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[['", end="at the call", call=("--input", "input_ids=" + "[" * 100_000))
def brackets_without_end(folder):
    return sound(folder)


@case("CVE-2026-22773", "no element at all along an axis", "--input input_ids: entry 'forward': argument 'input_ids' expects at least one element in each dimension, got shape [1, 0]", end="at the call", call=("--input", "input_ids=[[]]"))
def array_without_elements(folder):
    return sound(folder)
