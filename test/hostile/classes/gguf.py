# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF: a header of counts, keys with values, tensors with shapes and offsets, data. Fovea does not read the format and says so whatever is inside; a reader that comes has these files to refuse,
each with a message of its own."""
import struct

from library import case

SAYS = 'model.gguf: expects the folder of a model, a .onnx file or a .mlir file, got a GGUF file, which is not read yet; compile the checkpoint that it was made of'
UINT32, INT32, STRING, ARRAY = 4, 5, 8, 9
F32 = 0


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, content):
    if kind == STRING:
        return struct.pack("<I", kind) + string(content)
    if kind == ARRAY:
        element, items = content
        return struct.pack("<IIQ", kind, element, len(items)) + b"".join(string(item) if element == STRING else struct.pack("<i", item) for item in items)
    return struct.pack("<I" + ("i" if kind == INT32 else "I"), kind, content)


def tensor(name, shape, kind=F32, offset=0):
    return string(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in shape) + struct.pack("<IQ", kind, offset)


BASE = [("general.architecture", STRING, "llama"), ("general.alignment", UINT32, 32), ("llama.block_count", UINT32, 1), ("llama.attention.head_count", UINT32, 2)]
VOCABULARY = [("tokenizer.ggml.model", STRING, "llama"), ("tokenizer.ggml.tokens", ARRAY, (STRING, ["<unk>", "<s>", "</s>", "a"]))]
SOUND = [tensor("output_norm.weight", [8])]


def gguf(folder, pairs=None, tensors=None, data=bytes(32), version=3, counts=None, magic=b"GGUF", extra=b""):
    pairs = BASE + VOCABULARY if pairs is None else pairs
    tensors = SOUND if tensors is None else tensors
    head = magic + struct.pack("<I", version) + struct.pack("<QQ", *(counts or (len(tensors), len(pairs))))
    head += b"".join(string(key) + value(kind, content) for key, kind, content in pairs) + extra + b"".join(tensors)
    (folder / "model.gguf").write_bytes(head + bytes(-len(head) % 32) + data)
    return "model.gguf"


def replaced(key, kind, content):
    return [pair for pair in BASE + VOCABULARY if pair[0] != key] + [(key, kind, content)]


@case("CVE-2024-21836", "a number of tensors that wraps when multiplied: a small block, a long write", SAYS)
def tensors_whose_size_wraps(folder):
    return gguf(folder, counts=(0x0555555555555556, len(BASE + VOCABULARY)))


@case("CVE-2024-23605", "a number of keys that wraps when multiplied", SAYS)
def keys_whose_size_wraps(folder):
    return gguf(folder, counts=(1, 0x0666666666666667))


@case("CVE-2024-23496", "a string of 2^64 - 1 bytes: one more for its end is none", SAYS)
def string_whose_length_wraps(folder):
    return gguf(folder, pairs=[], counts=(1, 1), extra=struct.pack("<Q", (1 << 64) - 1) + b"general.name")


@case("CVE-2024-21825", "an array whose bytes wrap", SAYS)
def array_whose_size_wraps(folder):
    return gguf(folder, pairs=BASE, counts=(1, len(BASE) + 1), extra=string("tokenizer.ggml.scores") + struct.pack("<IIQ", ARRAY, INT32, 1 << 62))


@case("CVE-2024-21802", "a tensor of more dimensions than its array has", SAYS)
def tensor_of_too_many_dimensions(folder):
    return gguf(folder, tensors=[tensor("output_norm.weight", [8] * 100)])


@case("CVE-2024-32878", "a file that ends where a value should be: it is used as it was found", SAYS)
def value_that_is_missing(folder):
    return gguf(folder, tensors=[], pairs=[], counts=(0, 1), data=b"", extra=string("general.architecture"))


@case("CVE-2024-41130", "a tensor without data behind it", SAYS)
def tensor_without_data(folder):
    return gguf(folder, data=b"")


@case("CVE-2024-42477", "a tensor of a type outside of the table", SAYS)
def tensor_of_an_unknown_type(folder):
    return gguf(folder, tensors=[tensor("output_norm.weight", [8], kind=0x7FFFFFFF)])


@case("ggml-org/llama.cpp#19856", "a tensor of a negative type", SAYS)
def tensor_of_a_negative_type(folder):
    return gguf(folder, tensors=[tensor("output_norm.weight", [8], kind=0xFFFFFFFF)])


@case("CVE-2025-53630", "sizes that wrap when added up", SAYS)
def tensors_whose_sum_wraps(folder):
    return gguf(folder, tensors=[tensor("a", [1 << 61]), tensor("b", [1 << 61], offset=0)])


@case("CVE-2026-27940", "sizes that wrap only with the room for their headers", SAYS)
def tensors_whose_sum_wraps_with_headers(folder):
    return gguf(folder, tensors=[tensor("a", [(1 << 62) - 64])])


@case("CVE-2026-33298", "exabytes in logic, four megabytes in memory", SAYS)
def tensor_whose_bytes_wrap(folder):
    return gguf(folder, tensors=[tensor("a", [1 << 20, 1 << 20, 1 << 20, 17])])


@case("ggml-org/llama.cpp#26318", "a size that wraps when it is rounded up to the alignment", SAYS)
def tensor_whose_padding_wraps(folder):
    return gguf(folder, tensors=[tensor("a", [(1 << 63) - 1], kind=24), tensor("b", [(1 << 63) - 1], kind=24)])


@case("GHSA-3p75-pq92-q28f", "a dimension of zero, by which another is divided", SAYS)
def tensor_of_a_zero_dimension(folder):
    return gguf(folder, tensors=[tensor("a", [8, 0, 1, 1])])


@case("CVE-2025-49847", "a token of 2^31 bytes: its length is stored as a negative one", SAYS)
def token_longer_than_31_bits(folder):
    return gguf(folder, pairs=BASE, counts=(1, len(BASE) + 1), extra=string("tokenizer.ggml.tokens") + struct.pack("<IIQQ", ARRAY, STRING, 1, 0x80000001))


@case("ggml-org/llama.cpp#25969", "a byte token of -1", SAYS)
def byte_token_of_minus_one(folder):
    return gguf(folder, pairs=replaced("tokenizer.ggml.tokens", ARRAY, (STRING, ["<0x-1>"] * 4)) + [("tokenizer.ggml.token_type", ARRAY, (INT32, [6] * 4))])


@case("ggml-org/llama.cpp#24884", "an empty key", SAYS)
def key_without_a_name(folder):
    return gguf(folder, pairs=[("", STRING, "x"), *BASE])


@case("ggml-org/llama.cpp#19856", "a key given twice", SAYS)
def key_given_twice(folder):
    return gguf(folder, pairs=[*BASE, BASE[0]])


@case("ggml-org/llama.cpp#24997", "an alignment of 2^31", SAYS)
def alignment_of_2_31(folder):
    return gguf(folder, pairs=replaced("general.alignment", UINT32, 1 << 31))


@case("CVE-2025-0317", "an alignment of zero: padding is a division by it", SAYS)
def alignment_of_zero(folder):
    return gguf(folder, pairs=replaced("general.alignment", UINT32, 0))


@case("CVE-2026-7482", "a tensor longer than the file: memory behind it goes into the converted model", SAYS)
def tensor_longer_than_the_file(folder):
    return gguf(folder, tensors=[tensor("output_norm.weight", [1 << 20])])


@case("CVE-2024-39720", "a file of four bytes", SAYS)
def file_of_four_bytes(folder):
    (folder / "model.gguf").write_bytes(b"GGUF")
    return "model.gguf"


@case("CVE-2024-12055", "a string that ends behind the file", SAYS)
def string_behind_the_file(folder):
    return gguf(folder, pairs=[], counts=(1, 1), extra=struct.pack("<Q", 1 << 20) + b"general.name")


@case("CVE-2025-0312", "an architecture that is missing", SAYS)
def architecture_that_is_missing(folder):
    return gguf(folder, pairs=VOCABULARY)


@case("CVE-2025-0315", "layers without number", SAYS)
def layers_without_number(folder):
    return gguf(folder, pairs=replaced("llama.block_count", UINT32, 0xFFFFFFFF))


@case("1bit-MONSTER/1bit-MONSTER#694", "no heads: a division by zero", SAYS)
def heads_zero(folder):
    return gguf(folder, pairs=replaced("llama.attention.head_count", UINT32, 0))


@case("CVE-2026-5760", "a chat template that runs a program", SAYS)
def template_that_runs_a_program(folder):
    return gguf(folder, pairs=BASE + VOCABULARY + [("tokenizer.chat_template", STRING, "{{ cycler.__init__.__globals__.os.popen('touch owned').read() }}")])


@case("CWE-198", "the other byte order: every count is another", SAYS)
def bytes_in_the_other_order(folder):
    return gguf(folder, version=0x03000000)
