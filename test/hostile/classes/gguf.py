# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF: a header of counts, keys with values, tensors with shapes and offsets, data. Every number of it is one that a loader has trusted."""
import struct

import numpy as np

import seeds
from library import case

UINT8, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 0, 4, 5, 6, 7, 8, 9
F32, F16, Q4_0, Q4_K = 0, 1, 2, 12


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def scalar(kind, content):
    return string(content) if kind == STRING else struct.pack({UINT8: "<B", UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<B"}[kind], content)


def value(kind, content):
    if kind != ARRAY:
        return struct.pack("<I", kind) + scalar(kind, content)
    element, items = content
    return struct.pack("<IIQ", kind, element, len(items)) + (items if element == UINT8 else b"".join(scalar(element, item) for item in items))


def tensor(name, shape, kind=F32, offset=0):
    return string(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in shape) + struct.pack("<IQ", kind, offset)


TOKENS = seeds.tokenizer()["model"]["vocab"]
BASE = [("general.architecture", STRING, "llama"), ("general.alignment", UINT32, 32), ("llama.block_count", UINT32, 1), ("llama.attention.head_count", UINT32, seeds.HEADS),
        ("llama.attention.head_count_kv", UINT32, 1), ("llama.embedding_length", UINT32, seeds.HIDDEN), ("llama.feed_forward_length", UINT32, seeds.WIDTH),
        ("llama.context_length", UINT32, 64), ("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5)]
TYPES = [3 if text in ("<s>", "</s>") else 1 for text in TOKENS]
VOCABULARY = [("tokenizer.ggml.model", STRING, "gpt2"), ("tokenizer.ggml.pre", STRING, "gpt-2"), ("tokenizer.ggml.tokens", ARRAY, (STRING, list(TOKENS))),
              ("tokenizer.ggml.token_type", ARRAY, (INT32, TYPES)), ("tokenizer.ggml.merges", ARRAY, (STRING, ["t h", "th e", "a n"])),
              ("tokenizer.ggml.bos_token_id", UINT32, 256), ("tokenizer.ggml.eos_token_id", UINT32, 257)]
NAMES = {"embed_tokens": "token_embd", "norm": "output_norm", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "q_proj": "attn_q", "k_proj": "attn_k",
         "v_proj": "attn_v", "o_proj": "attn_output", "gate_proj": "ffn_gate", "up_proj": "ffn_up", "down_proj": "ffn_down"}


def model():
    """The tensors of the smallest checkpoint and their data."""
    tensors, data = [], b""
    for name, array in seeds.weights().items():
        renamed = ("blk.0." if ".layers." in name else "") + NAMES[name.split(".")[-2]] + ".weight"
        tensors.append(tensor(renamed, array.shape[::-1], offset=len(data)))
        data += array.tobytes() + bytes(-array.nbytes % 32)
    return tensors, data


def gguf(folder, pairs=None, tensors=None, data=bytes(32), version=3, counts=None, magic=b"GGUF", extra=b"", behind=b""):
    """A file of these keys and tensors; without tensors those of a model."""
    pairs = BASE + VOCABULARY if pairs is None else pairs
    if tensors is None:
        tensors, data = model()
    head = magic + struct.pack("<I", version) + struct.pack("<QQ", *(counts or (len(tensors), len(pairs))))
    head += b"".join(string(key) + value(kind, content) for key, kind, content in pairs) + extra + b"".join(tensors)
    (folder / "model.gguf").write_bytes(head + bytes(-len(head) % 32) + data + behind)
    return "model.gguf"


def replaced(key, kind, content):
    return [pair for pair in BASE + VOCABULARY if pair[0] != key] + [(key, kind, content)]


def few(folder, **arguments):
    """A file of few keys and one tensor, whose numbers are easy to follow."""
    return gguf(folder, **{"pairs": BASE[:2], "tensors": [tensor("output_norm.weight", [8])], **arguments})


def gguf_with(folder, name, array):
    """A model with one more tensor."""
    tensors, data = model()
    return gguf(folder, tensors=[*tensors, tensor(name, array.shape[::-1], offset=len(data))], data=data + array.tobytes())


@case("CVE-2024-21836", "a number of tensors that wraps when multiplied: a small block, a long write", "model.gguf: header: expects at most 7 tensors in the 168 bytes that follow, got 384307168202282326")
def tensors_whose_size_wraps(folder):
    return few(folder, counts=(0x0555555555555556, 2))


@case("CVE-2024-23605", "a number of keys that wraps when multiplied", "model.gguf: header: expects at most 12 keys in the 168 bytes that follow, got 461168601842738791")
def keys_whose_size_wraps(folder):
    return few(folder, counts=(1, 0x0666666666666667))


@case("CVE-2024-23496", "a string of 2^64 - 1 bytes: one more for its end is none", "model.gguf: key 0: expects a name of 1 to 96 bytes, got 18446744073709551615")
def string_whose_length_wraps(folder):
    return few(folder, pairs=[], counts=(1, 1), extra=struct.pack("<Q", (1 << 64) - 1) + b"general.name")


@case("CVE-2024-21825", "an array whose bytes wrap", "model.gguf: key \"tokenizer.ggml.scores\": expects an array's elements within the 109 bytes that are left of the file, got 4611686018427387904")
def array_whose_size_wraps(folder):
    return few(folder, counts=(1, 3), extra=string("tokenizer.ggml.scores") + struct.pack("<IIQ", ARRAY, INT32, 1 << 62))


@case("CVE-2024-21802", "a tensor of more dimensions than its array has", 'model.gguf: tensor "output_norm.weight": expects from 1 to 4 sizes, got 100')
def tensor_of_too_many_dimensions(folder):
    return few(folder, tensors=[tensor("output_norm.weight", [8] * 100)])


@case("ggml-org/llama.cpp, gguf_init", "a tensor without dimensions", 'model.gguf: tensor "output_norm.weight": expects from 1 to 4 sizes, got 0')
def tensor_without_dimensions(folder):
    return few(folder, tensors=[tensor("output_norm.weight", [])])


@case("CVE-2024-32878", "a file that ends where a value should be: it is used as it was found", 'model.gguf: key "general.architecture": expects the type of its value, got the end of the file')
def value_that_is_missing(folder):
    (folder / "model.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + string("general.architecture"))
    return "model.gguf"


@case("CVE-2024-41130", "a tensor without data behind it", 'model.gguf: tensor "output_norm.weight": expects data within the 0 bytes that the file has, got 32 bytes from 0 on')
def tensor_without_data(folder):
    return few(folder, data=b"")


@case("CVE-2024-42477", "a tensor of a type outside of the table", 'model.gguf: tensor "output_norm.weight": expects a type among F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, BF16, MXFP4, got number 2147483647')
def tensor_of_an_unknown_type(folder):
    return few(folder, tensors=[tensor("output_norm.weight", [8], kind=0x7FFFFFFF)])


@case("ggml-org/llama.cpp#19856", "a tensor of a negative type", 'model.gguf: tensor "output_norm.weight": expects a type among F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, BF16, MXFP4, got number 4294967295')
def tensor_of_a_negative_type(folder):
    return few(folder, tensors=[tensor("output_norm.weight", [8], kind=0xFFFFFFFF)])


@case("CWE-1284", "a tensor of a type that is not read", 'model.gguf: tensor "output_norm.weight": expects a type among F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_NL, BF16, MXFP4, got IQ2_XS')
def tensor_of_a_type_that_is_not_read(folder):
    return few(folder, tensors=[tensor("output_norm.weight", [256], kind=17)])


@case("CVE-2025-53630", "sizes that wrap when added up", 'model.gguf: tensor "a": expects a shape whose size in bytes fits 63 bits, got [2305843009213693952] of F32')
def tensors_whose_sum_wraps(folder):
    return few(folder, tensors=[tensor("a", [1 << 61]), tensor("b", [1 << 61], offset=0)])


@case("CVE-2026-27940", "sizes that wrap only with the room for their headers", 'model.gguf: tensor "a": expects a shape whose size in bytes fits 63 bits, got [4611686018427387840] of F32')
def tensors_whose_sum_wraps_with_headers(folder):
    return few(folder, tensors=[tensor("a", [(1 << 62) - 64])])


@case("CVE-2026-33298", "exabytes in logic, four megabytes in memory", 'model.gguf: tensor "a": expects a shape whose size in bytes fits 63 bits, got [17, 1048576, 1048576, 1048576] of F32')
def tensor_whose_bytes_wrap(folder):
    return few(folder, tensors=[tensor("a", [1 << 20, 1 << 20, 1 << 20, 17])])


@case("ggml-org/llama.cpp#26318", "a size that wraps when it is rounded up to the alignment", 'model.gguf: tensor "a": expects data within the 32 bytes that the file has, got 9223372036854775807 bytes from 0 on')
def tensor_whose_padding_wraps(folder):
    return few(folder, tensors=[tensor("a", [(1 << 63) - 1], kind=24), tensor("b", [(1 << 63) - 1], kind=24)])


@case("GHSA-3p75-pq92-q28f", "a dimension of zero, by which another is divided", 'model.gguf: tensor "a": expects sizes from 1 to 9223372036854775807, got 0')
def tensor_of_a_zero_dimension(folder):
    return few(folder, tensors=[tensor("a", [8, 0, 1, 1])])


@case("ggml-org/llama.cpp, ggml_row_size", "a row that ends in the middle of a block: rounded down, the last one lies in the next row", 'model.gguf: tensor "a": expects rows of a multiple of 32 elements for Q4_0, got 48')
def row_of_half_a_block(folder):
    return few(folder, tensors=[tensor("a", [48, 2], kind=Q4_0)], data=bytes(64))


@case("ggml-org/llama.cpp, ggml_row_size", "blocks of 256 in rows that are shorter", 'model.gguf: tensor "a": expects rows of a multiple of 256 elements for Q4_K, got 128')
def row_shorter_than_a_block(folder):
    return few(folder, tensors=[tensor("a", [128, 2], kind=Q4_K)], data=bytes(160))


@case("ohdearquant/lattice#752", "two tensors share their bytes", 'model.gguf: tensor "b": expects data from byte 64 on, behind the tensor before, got byte 32: an overlap')
def tensors_that_overlap(folder):
    return few(folder, tensors=[tensor("a", [16]), tensor("b", [16], offset=32)], data=bytes(128))


@case("antirez/h3.c#48", "bytes between tensors that belong to none: room for another file", 'model.gguf: tensor "b": expects data from byte 32 on, behind the tensor before, got byte 4096: a hole')
def hole_between_tensors(folder):
    return few(folder, tensors=[tensor("a", [8]), tensor("b", [8], offset=4096)], data=bytes(8192))


@case("CWE-704", "a tensor that begins in the middle of an element", 'model.gguf: tensor "b": expects data from byte 32 on, behind the tensor before, got byte 33: a hole')
def tensor_off_the_alignment(folder):
    return few(folder, tensors=[tensor("a", [8]), tensor("b", [8], offset=33)], data=bytes(128))


@case("CWE-694", "a tensor named twice, of which loaders take the first or the last", 'model.gguf: tensor "a": expects each tensor once, got it twice')
def tensor_named_twice(folder):
    return few(folder, tensors=[tensor("a", [8]), tensor("a", [8], offset=32)], data=bytes(64))


@case("ggml-org/llama.cpp, GGML_MAX_NAME", "a name longer than the buffer that it is copied to", "model.gguf: tensor 0: expects a name of 1 to 64 bytes, got 4096")
def tensor_with_a_long_name(folder):
    return few(folder, tensors=[tensor("a" * 4096, [8])])


@case("CVE-2025-49847", "a token of 2^31 bytes: its length is stored as a negative one", 'model.gguf: key "tokenizer.ggml.tokens": expects a text within the 101 bytes that are left of the file, got 2147483649')
def token_longer_than_31_bits(folder):
    return few(folder, counts=(1, 3), extra=string("tokenizer.ggml.tokens") + struct.pack("<IIQQ", ARRAY, STRING, 1, 0x80000001))


@case("ggml-org/llama.cpp#25969", "a byte token of -1", "model.gguf: tokenizer.ggml.tokens[1]: expects a byte's text from '<0x00>' to '<0xFF>', got \"<0x-1>\"")
def byte_token_of_minus_one(folder):
    return gguf(folder, pairs=BASE + [("tokenizer.ggml.model", STRING, "llama"), ("tokenizer.ggml.tokens", ARRAY, (STRING, ["<unk>", "<0x-1>"])),
                               ("tokenizer.ggml.token_type", ARRAY, (INT32, [2, 6])), ("tokenizer.ggml.scores", ARRAY, (FLOAT32, [0.0, 0.0]))])


@case("CWE-20", "a score that is no number: no sum is better than another", "model.gguf: tokenizer.ggml.tokens[1]: expects a finite score, got nan")
def score_that_is_no_number(folder):
    return gguf(folder, pairs=BASE + [("tokenizer.ggml.model", STRING, "llama"), ("tokenizer.ggml.tokens", ARRAY, (STRING, ["<unk>", "a"])),
                               ("tokenizer.ggml.token_type", ARRAY, (INT32, [2, 1])), ("tokenizer.ggml.scores", ARRAY, (FLOAT32, [0.0, float("nan")]))])


@case("CVE-2025-49847", "fewer types than tokens: those behind are read from elsewhere", "model.gguf: tokenizer.ggml.token_type: expects 261 elements, one a token, got 260")
def types_fewer_than_tokens(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.token_type", ARRAY, (INT32, TYPES[:-1])))


@case("CWE-843", "types of tokens as text", 'model.gguf: tokenizer.ggml.token_type[0]: expects a type from 0 to 6, got "1"')
def types_that_are_text(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.token_type", ARRAY, (STRING, ["1"] * len(TOKENS))))


@case("CWE-843", "tokens that are numbers where texts are read", "model.gguf: tokenizer.ggml.tokens[0]: expects a string, got 1")
def tokens_that_are_numbers(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.tokens", ARRAY, (INT32, [1, 2, 3])))


@case("CWE-176", "a token that is no UTF-8", 'model.gguf: tokenizer.ggml.tokens[260]: expects UTF-8, got "\\xFF\\xFE"')
def token_that_is_no_text(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.tokens", ARRAY, (STRING, [*list(TOKENS)[:-1], b"\xff\xfe"])))


@case("ggml-org/llama.cpp, duplicate token", "two tokens of one text, of which one is never found", 'model.gguf: tokenizer.ggml.tokens[260]: expects a text of its own, got "the", which token 259 has')
def token_given_twice(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.tokens", ARRAY, (STRING, [*list(TOKENS)[:-1], "the"])))


@case("huggingface/tokenizers, BadMerges", "a merge that is no pair", 'model.gguf: tokenizer.ggml.merges[0]: expects two tokens, got "the"')
def merge_that_is_no_pair(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.merges", ARRAY, (STRING, ["the"])))


@case("ggml-org/llama.cpp#24884", "an empty key", "model.gguf: key 0: expects a name of 1 to 192 bytes, got 0")
def key_without_a_name(folder):
    return few(folder, pairs=[("", STRING, "x"), *BASE[:2]])


@case("ggml-org/llama.cpp#19856", "a key given twice", 'model.gguf: key "general.architecture": expects each key once, got it twice')
def key_given_twice(folder):
    return few(folder, pairs=[*BASE[:2], BASE[0]])


@case("CWE-843", "a value of a type that does not exist", 'model.gguf: key "general.name": expects a value of a type from 0 to 12, got 13')
def value_of_an_unknown_type(folder):
    return few(folder, counts=(1, 3), extra=string("general.name") + struct.pack("<IQ", 13, 0))


@case("CWE-843", "an array of elements of a type that does not exist", 'model.gguf: key "general.name": expects elements of a type from 0 to 12, got 77')
def array_of_an_unknown_type(folder):
    return few(folder, counts=(1, 3), extra=string("general.name") + struct.pack("<IIQ", ARRAY, 77, 1))


@case("CWE-674", "arrays nested without end: recursion of the parser", 'model.gguf: key "general.name": expects arrays nested at most 4 deep, got more')
def arrays_nested_without_end(folder):
    return few(folder, counts=(1, 3), extra=string("general.name") + struct.pack("<I", ARRAY) + struct.pack("<IQ", ARRAY, 1) * 100000)


@case("CWE-770", "more elements than any vocabulary has, each a structure once it is read", 'model.gguf: key "general.name": expects at most 4194304 elements in the arrays of a file, got 4194305')
def array_of_millions(folder):
    return few(folder, pairs=[*BASE[:2], ("general.name", ARRAY, (UINT8, bytes((1 << 22) + 1)))])


@case("CWE-843", "a boolean of 2: neither of both, and both", 'model.gguf: key "tokenizer.ggml.add_bos_token": expects 0 or 1 for a boolean, got 2')
def boolean_of_two(folder):
    return few(folder, pairs=[*BASE[:2], ("tokenizer.ggml.add_bos_token", BOOL, 2)])


@case("ggml-org/llama.cpp#24997", "an alignment of 2^31", "model.gguf: general.alignment: expects a power of two from 1 to 1048576, got 2147483648")
def alignment_of_2_31(folder):
    return gguf(folder, pairs=replaced("general.alignment", UINT32, 1 << 31))


@case("CVE-2025-0317", "an alignment of zero: padding is a division by it", "model.gguf: general.alignment: expects a power of two from 1 to 1048576, got 0")
def alignment_of_zero(folder):
    return gguf(folder, pairs=replaced("general.alignment", UINT32, 0))


@case("ggml-org/llama.cpp#24997", "an alignment that is no power of two: masks that are made of it leave bits", "model.gguf: general.alignment: expects a power of two from 1 to 1048576, got 48")
def alignment_of_48(folder):
    return gguf(folder, pairs=replaced("general.alignment", UINT32, 48))


@case("CVE-2026-7482", "a tensor longer than the file: memory behind it goes into the converted model", 'model.gguf: tensor "output_norm.weight": expects data within the 32 bytes that the file has, got 4194304 bytes from 0 on')
def tensor_longer_than_the_file(folder):
    return few(folder, tensors=[tensor("output_norm.weight", [1 << 20])])


@case("CVE-2024-39720", "a file of four bytes", "model.gguf: header: expects at least 24 bytes, got 4")
def file_of_four_bytes(folder):
    (folder / "model.gguf").write_bytes(b"GGUF")
    return "model.gguf"


@case("CVE-2024-12055", "a string that ends behind the file", "model.gguf: key 0: expects a name of 1 to 96 bytes, got 1048576")
def string_behind_the_file(folder):
    return few(folder, pairs=[], counts=(1, 1), extra=struct.pack("<Q", 1 << 20) + b"general.name")


@case("CVE-2025-0312", "an architecture that is missing", "model.gguf: general.architecture: is required, but missing")
def architecture_that_is_missing(folder):
    return gguf(folder, pairs=BASE[1:] + VOCABULARY)


@case("CVE-2025-0315", "layers without number", "model.gguf: llama.block_count: expects an integer from 1 to 1024, got 4294967295")
def layers_without_number(folder):
    return gguf(folder, pairs=replaced("llama.block_count", UINT32, 0xFFFFFFFF))


@case("1bit-MONSTER/1bit-MONSTER#694", "no heads: a division by zero", "model.gguf: llama.attention.head_count: expects an integer from 1 to 4096, got 0")
def heads_zero(folder):
    return gguf(folder, pairs=replaced("llama.attention.head_count", UINT32, 0))


@case("CWE-1284", "heads of keys that do not divide those of queries", "model.gguf: llama.attention.head_count_kv: expects a divisor of attention.head_count, 2, got 3")
def heads_that_do_not_divide(folder):
    return gguf(folder, pairs=replaced("llama.attention.head_count_kv", UINT32, 3))


@case("CWE-1284", "an epsilon that is no number", "model.gguf: llama.attention.layer_norm_rms_epsilon: expects a number from 0 to 1, got nan")
def epsilon_that_is_no_number(folder):
    return gguf(folder, pairs=replaced("llama.attention.layer_norm_rms_epsilon", FLOAT32, float("nan")))


@case("onnx/onnx#8277", "a factor of zero, by which frequencies are divided", 'model.gguf: tensor "rope_freqs.weight"[0]: expects a factor from 1e-06 to 1e+09, got 0')
def rotary_factor_of_zero(folder):
    return gguf_with(folder, "rope_freqs.weight", np.zeros(2, np.float32))


@case("CVE-2026-7482", "a norm that is shorter than the layers read", 'model.gguf: tensor "output_norm.weight": expects shape [8] as the configuration says, got [4]')
def norm_of_another_width(folder):
    tensors, data = model()
    return gguf(folder, tensors=[*tensors[:-1], tensor("output_norm.weight", [4], offset=len(data) - 32)], data=data)


@case("ollama/ollama, general.type", "an adapter in place of a model", 'model.gguf: general.type: expects "model", got "adapter"')
def adapter_in_place_of_a_model(folder):
    return few(folder, pairs=[*BASE[:2], ("general.type", STRING, "adapter")])


@case("CWE-22", "a part of a model: the others are found by its name", "model.gguf: split.count: expects a model in one file, got one of 3; `llama-gguf-split --merge` makes one of them")
def part_of_a_model(folder):
    return few(folder, pairs=[*BASE[:2], ("split.count", UINT32, 3)])


@case("CVE-2021-25743", "an architecture with a terminal's escape sequences, printed as it is", 'model.gguf: general.architecture: expects one of bert, gemma, gemma2, gemma3, gpt2, granite, llama, phi2, phi3, qwen2, qwen2moe, qwen3, qwen3moe, got "\\x1B[2Jllama"')
def architecture_that_moves_the_cursor(folder):
    return few(folder, pairs=[("general.architecture", STRING, "\x1b[2Jllama")])


@case("CWE-198", "the other byte order: every count is another", "model.gguf: header: expects a file in little endian, got one in big endian")
def bytes_in_the_other_order(folder):
    return few(folder, version=0x03000000)


@case("CWE-1284", "a version before 64 bits: lengths are read from twice as many bytes", "model.gguf: header: expects version 2 or 3, got 1")
def version_before_64_bits(folder):
    return few(folder, version=1)


@case("CVE-2025-1889", "a pickle under the name of a GGUF file", 'model.gguf: expects a GGUF file, which begins with "GGUF", got a pickle, a program that loading would run and that is never loaded; save the weights as safetensors')
def pickle_under_another_name(folder):
    (folder / "model.gguf").write_bytes(b"\x80\x04\x95" + bytes(61))
    return "model.gguf"


@case("CVE-2026-5760", "a chat template that runs a program", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_that_runs_a_program(folder):
    return gguf(folder, pairs=BASE + VOCABULARY + [("tokenizer.chat_template", STRING, "{{ cycler.__init__.__globals__.os.popen('touch owned').read() }}")])


@case("Comfy-Org/ComfyUI#15602", "an archive appended behind the last tensor", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def archive_behind_the_data(folder):
    return gguf(folder, behind=b"PK\x03\x04" + bytes(60))


@case("CVE-2024-42478", "a begin token behind the vocabulary: read anywhere in the table", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def begin_token_behind_the_vocabulary(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.bos_token_id", UINT32, 0x7FFFFFFF))


@case("CVE-2026-7482", "tokens behind the table of their vectors", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def tokens_behind_their_table(folder):
    return gguf(folder, pairs=[pair for pair in replaced("tokenizer.ggml.tokens", ARRAY, (STRING, [*TOKENS, "zzz"])) if "token_type" not in pair[0]])
