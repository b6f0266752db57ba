# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One file with weights whose header lies about its size, its tensors or its bytes."""
import json
import pickle
import struct

from library import case
from seeds import NORM, TABLE, checkpoint, header_and_data, weights, write_safetensors

FILE = "model.safetensors"


def changed(folder, change):
    """The sound file with its header edited in place; or with the header that `change` returns."""
    model = checkpoint(folder)
    header, data = header_and_data(weights())
    write_safetensors(model / FILE, change(header) or header, data)
    return "model"


def replaced(folder, data):
    model = checkpoint(folder)
    (model / FILE).write_bytes(data)
    return "model"


@case("QuintinShaw/openasr#73", "a buffer as large as the header says, before the file's size is asked", "model/model.safetensors: header: expects a header within the 8 bytes that follow its length, got a length of 1099511627776")
def header_beyond_the_file(folder):
    return replaced(folder, struct.pack("<Q", 1 << 40) + b'{"a": 1}')


@case("CVE-2024-23605", "a length of 2^64 - 1, which wraps when something is added", "model/model.safetensors: header: expects a header within the 8 bytes that follow its length, got a length of 18446744073709551615")
def header_length_that_wraps(folder):
    return replaced(folder, struct.pack("<Q", (1 << 64) - 1) + b'{"a": 1}')


@case("run-ai/runai-model-streamer#121", "a header without bound: time and memory of its parser", "model/model.safetensors: header: expects at most 100000000 bytes, got 100000001")
def header_larger_than_the_format_allows(folder):
    model = checkpoint(folder)
    with (model / FILE).open("wb") as file:
        file.write(struct.pack("<Q", 100_000_001) + b"{")
        file.truncate(8 + 100_000_001 + 32)  # a hole: no disk is filled
    return "model"


@case("safetensors audit 2023, header start", "a file of two formats: what follows the length is no '{'", "model/model.safetensors: header: expects a JSON object that begins with '{', got \"   {\"mod\"")
def header_that_begins_with_spaces(folder):
    model = checkpoint(folder)
    header, data = header_and_data(weights())
    write_safetensors(model / FILE, b"   " + json.dumps(header).encode(), data)
    return "model"


@case("safetensors audit 2023, duplicate keys", "a tensor named twice, of which parsers take the first or the last", 'model/model.safetensors: header: expects each key once; the key "model.norm.weight" is given twice')
def tensor_named_twice(folder):
    def twice(header):
        text = json.dumps(header)
        return (text[:-1] + ", " + json.dumps({NORM: header[TABLE]})[1:]).encode()
    return changed(folder, twice)


@case("safetensors audit 2023, header end", "bytes behind the header's JSON that no reader looks at", "model/model.safetensors: header: expects JSON, at byte 1138: syntax error while parsing value - invalid literal; last read: '10752]}}#'; expected end of input")
def header_with_text_behind_it(folder):
    return changed(folder, lambda header: json.dumps(header).encode() + b"#!/bin/sh")


@case("ohdearquant/lattice#752", "two tensors share their bytes", 'model/model.safetensors: tensor "zz": expects data of its own, got bytes 10720 to 10752, which overlap tensor "model.norm.weight" up to byte 10752')
def tensors_that_overlap(folder):
    return changed(folder, lambda header: header.update({"zz": dict(header[NORM])}))


@case("antirez/h3.c#48", "bytes between tensors that belong to none: room for another file", 'model/model.safetensors: tensor "model.norm.weight": expects data from byte 10720, where the tensor before ends, got byte 10736: a hole')
def hole_between_tensors(folder):
    model = checkpoint(folder)
    header, data = header_and_data(weights())
    header[NORM]["data_offsets"] = [place + 16 for place in header[NORM]["data_offsets"]]
    end = header[NORM]["data_offsets"][0] - 16
    write_safetensors(model / FILE, header, data[:end] + b"PK\x05\x06" + bytes(12) + data[end:])
    return "model"


@case("Comfy-Org/ComfyUI#15602", "an archive appended behind the last tensor", "model/model.safetensors: expects 10752 bytes of data, got 10774: bytes that belong to no tensor")
def archive_behind_the_data(folder):
    model = checkpoint(folder)
    with (model / FILE).open("ab") as file:
        file.write(b"PK\x05\x06" + bytes(18))
    return "model"


@case("ml-explore/mlx#3363", "a shape larger than its bytes: reads far behind them", 'model/model.safetensors: tensor "model.norm.weight": expects 4000000 bytes for the shape [1000, 1000] of F32, got 32')
def shape_larger_than_its_bytes(folder):
    return changed(folder, lambda header: header[NORM].update(shape=[1000, 1000]))


@case("CVE-2026-33298", "a shape whose size in bytes wraps to that of the data", 'model/model.safetensors: tensor "model.norm.weight": expects a shape whose size in bytes fits 64 bits, got [4611686018427387912]')
def shape_whose_size_wraps(folder):
    # 2^62 * 4 bytes is 0 in 64 bits, and 8 * 4 beside it what the tensor has.
    return changed(folder, lambda header: header[NORM].update(shape=[(1 << 62) + 8]))


@case("CVE-2026-33298", "a shape whose product wraps only together", 'model/model.safetensors: tensor "model.norm.weight": expects a shape whose size in bytes fits 64 bits, got [2147483648, 2147483648, 2147483648, 8]')
def shape_whose_product_wraps(folder):
    return changed(folder, lambda header: header[NORM].update(shape=[1 << 31, 1 << 31, 1 << 31, 8]))


@case("CVE-2024-21802", "a number of dimensions that no fixed array holds", 'model/model.safetensors: tensor "model.norm.weight": expects a shape of at most 16 sizes, got 4001')
def shape_of_too_many_sizes(folder):
    return changed(folder, lambda header: header[NORM].update(shape=[1] * 4000 + [8]))


@case("CVE-2026-21869", "a negative number where the code counts unsigned", 'model/model.safetensors: tensor "model.norm.weight": expects data_offsets to be two integers from 0, got -32 and 0')
def offsets_that_are_negative(folder):
    return changed(folder, lambda header: header[NORM].update(data_offsets=[-32, 0]))


@case("leejet/stable-diffusion.cpp#1754", "an end before its beginning: a length of almost 2^64", 'model/model.safetensors: tensor "model.norm.weight": expects data to end after it begins, got bytes 10752 to 10720')
def offsets_in_reverse(folder):
    return changed(folder, lambda header: header[NORM]["data_offsets"].reverse())


@case("CVE-2026-7482", "a tensor that ends behind the file: its neighbour's memory goes into the result", 'model/model.safetensors: tensor "model.norm.weight": expects data within the 10752 bytes that the file has, got bytes 1099511638496 to 1099511638528')
def offsets_behind_the_file(folder):
    def moved(header):
        header[NORM]["data_offsets"] = [place + (1 << 40) for place in header[NORM]["data_offsets"]]
    return changed(folder, moved)


@case("ml-explore/mlx#3363", "one offset where two are read", 'model/model.safetensors: tensor "model.norm.weight": expects data_offsets to be two integers from 0, got an array of 1')
def offsets_that_are_one(folder):
    return changed(folder, lambda header: header[NORM].update(data_offsets=[0]))


@case("CWE-681", "an offset as a fraction, cut to another one", 'model/model.safetensors: tensor "model.norm.weight": expects data_offsets to be two integers from 0, got 10720.5 and 10752.5')
def offsets_that_are_fractions(folder):
    def halved(header):
        begin, end = header[NORM]["data_offsets"]
        header[NORM]["data_offsets"] = [begin + 0.5, end + 0.5]
    return changed(folder, halved)


@case("CVE-2024-42477", "an element type outside of the table of types", 'model/model.safetensors: tensor "model.norm.weight": expects a known element type (F32, F16, BF16, ...), got "F33"')
def element_type_that_is_none(folder):
    return changed(folder, lambda header: header[NORM].update(dtype="F33"))


@case("CWE-843", "a size as text, taken for a number", 'model/model.safetensors: tensor "model.norm.weight": expects sizes that are integers from 0, got "8"')
def size_that_is_text(folder):
    return changed(folder, lambda header: header[NORM].update(shape=["8"]))


@case("CVE-2026-0994", "a header nested without end: the parser's stack", "model/model.safetensors: header: expects JSON nested at most 8 deep, got deeper nesting")
def header_nested_without_end(folder):
    return replaced(folder, struct.pack("<Q", 1_000_005) + b'{"a":' + b"[" * 1_000_000)


@case("safetensors, InvalidHeader", "a name that is no UTF-8", "model/model.safetensors: header: expects JSON, at byte 1061: syntax error while parsing object key - invalid string: ill-formed UTF-8 byte; last read: '\"model.\\xFF'; expected string literal")
def name_that_is_no_text(folder):
    return changed(folder, lambda header: json.dumps(header).encode().replace(b"model.norm", b"model.\xff\xfe\xc0\x80"))


@case("CVE-2021-25743", "a name with a terminal's escape sequences, printed as it is", 'model/model.safetensors: tensor "\\x1B]0;owned\\x07\\x1B[2J\\x0D\\x0Afovea: fine\\xC2\\x9B": expects a known element type (F32, F16, BF16, ...), got "F33"')
def name_that_moves_the_cursor(folder):
    return changed(folder, lambda header: header.update({"\x1b]0;owned\x07\x1b[2J\r\nfovea: fine\x9b": {"dtype": "F33", "shape": [8], "data_offsets": [0, 32]}}))


@case("CVE-2025-1889", "a pickle under the name of a safetensors file", "model/model.safetensors: expects a safetensors file, got a pickle, a program that loading would run and that is never loaded; save the weights as safetensors")
def pickle_under_another_name(folder):
    return replaced(folder, pickle.dumps({NORM: [0.0] * 8}, protocol=2))


@case("promptfoo/modelaudit#1612", "a header length that is the beginning of a pickle", "model/model.safetensors: header: expects a header within the 1128 bytes that follow its length, got a length of 9766016")
def header_length_that_is_a_pickle(folder):
    # 0x80 0x04: protocol 4; then as many bytes as are there.
    text = b'{"__metadata__": {"x": "' + b"." * 1100 + b'"}} '
    return replaced(folder, b"\x80\x04\x95" + bytes(5) + text)


@case("CVE-2024-39720", "no file at all: not even the length of a header", "model/model.safetensors: expects a safetensors file of at least 8 bytes, got 3")
def file_of_three_bytes(folder):
    return replaced(folder, b"{}\n")
