# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Artifacts that are damaged or lie. An artifact is code, to be trusted as a program is; yet what is damaged is refused, and tables are checked as if nobody vouched for them: in most cases here all
hashes are right. They are made from the golden artifact of the newest format (test/artifact/golden)."""
import ctypes
import ctypes.util
import os
import pathlib
import struct

from library import case

GOLDEN = pathlib.Path(__file__).resolve().parents[2] / "artifact" / "golden"
MANIFEST, CODE, TOKENIZER, WEIGHTS = 1, 2, 3, 4
SECTIONS, SECTION, HASH = 32, 40, 4080


class Halves(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def hash_of(data):
    """XXH3-128 as the file has it, the high half first."""
    library = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
    library.XXH3_128bits.restype = Halves
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    result = library.XXH3_128bits(bytes(data), len(data))
    return struct.pack("<QQ", result.high, result.low)


class Artifact:
    """An artifact's bytes, and where its sections are."""

    def __init__(self):
        newest = max(GOLDEN.glob("format-*.fovea"), key=lambda path: [int(word) for word in path.stem.split("-")[1::2]])
        self.data = bytearray(newest.read_bytes())

    def entry(self, kind):
        """Where the table describes a section."""
        count, = struct.unpack_from("<I", self.data, 16)
        for i in range(count):
            at = SECTIONS + SECTION * i
            if struct.unpack_from("<I", self.data, at)[0] == kind:
                return at
        raise KeyError(kind)

    def place(self, kind):
        return struct.unpack_from("<QQ", self.data, self.entry(kind) + 8)

    def put(self, form, at, *values):
        struct.pack_into("<" + form, self.data, at, *values)

    def get(self, form, at):
        return struct.unpack_from("<" + form, self.data, at)[0]

    def mended(self):
        """All hashes as they would be had the compiler written this."""
        for kind in [MANIFEST, CODE, TOKENIZER]:
            offset, size = self.place(kind)
            if offset + size <= len(self.data):
                self.data[self.entry(kind) + 24:self.entry(kind) + 40] = hash_of(self.data[offset:offset + size])
        return self.with_header()

    def with_header(self):
        self.data[HASH:HASH + 16] = hash_of(self.data[:HASH])
        return self

    # FlatBuffers: a table begins with the distance back to its vtable, which has an offset for each field; strings, vectors and tables are behind an offset of four bytes.

    def root(self, kind=MANIFEST):
        begin, _ = self.place(kind)
        return begin + self.get("I", begin)

    def field(self, table, index):
        """Where a table's field is stored."""
        vtable = table - self.get("i", table)
        offset = self.get("H", vtable + 4 + 2 * index)
        assert offset, f"field {index} is not stored"
        return table + offset

    def target(self, at):
        return at + self.get("I", at)

    def element(self, table, index, number=0):
        """The table that is an element of a vector of tables."""
        vector = self.target(self.field(table, index))
        return self.target(vector + 4 + 4 * number)


# Fields of Manifest.fbs and Tokenizer.fbs, by their order there.
ENTRIES, KERNELS, ALL_WEIGHTS = 3, 4, 5
ARGUMENTS, RESULTS, LOCALS, STEPS = 1, 2, 3, 5
WEIGHT_ELEMENT, WEIGHT_OFFSET, WEIGHT_BYTES = 1, 4, 5


def write(folder, artifact):
    (folder / "model.fovea").write_bytes(artifact.data if isinstance(artifact, Artifact) else artifact)
    return "model.fovea"


# The file ---------------------------------------------------------------------------------------------------------------------------------------------------


@case("CWE-353", "a transfer as text: a line end is another", "model.fovea: is not a Fovea artifact: expects it to begin with the bytes 89 46 4f 56 45 41 0d 0a, got 89 46 4f 56 45 41 0a 02")
def file_transferred_as_text(folder):
    return write(folder, bytes(Artifact().data).replace(b"\r\n", b"\n"))


@case("CVE-2024-39720", "a file of four bytes", "model.fovea: is not a Fovea artifact: expects it to begin with the bytes 89 46 4f 56 45 41 0d 0a, got 89 46 4f 56")
def file_of_four_bytes(folder):
    return write(folder, b"\x89FOV")


@case("CVE-2024-12055", "a file that ends in its header", "model.fovea: is cut short: expects a header of 4096 bytes, got 100")
def file_cut_in_its_header(folder):
    return write(folder, Artifact().data[:100])


@case("CVE-2026-7482", "a file that ends before its last section does", "model.fovea: is cut short: expects 47872 bytes, got 47856")
def file_cut_short(folder):
    return write(folder, Artifact().data[:-16])


@case("Comfy-Org/ComfyUI#15602", "an archive behind the file's end", "model.fovea: has bytes after its end: expects 47872 bytes, got 47894")
def archive_behind_the_end(folder):
    return write(folder, bytes(Artifact().data) + b"PK\x05\x06" + bytes(18))


@case("lmstudio-ai/lmstudio-bug-tracker#2289", "a format to come", "model.fovea: has artifact format version 1000; this program reads 2; compile the model again")
def format_to_come(folder):
    artifact = Artifact()
    artifact.put("I", 8, 1000)
    return write(folder, artifact.with_header())


@case("lmstudio-ai/lmstudio-bug-tracker#2289", "code for another runtime", "model.fovea: holds code for version 1000 of the runtime's interface; this program has version 3; compile the model again")
def code_for_another_runtime(folder):
    artifact = Artifact()
    artifact.put("I", 12, 1000)
    return write(folder, artifact.with_header())


@case("CWE-354", "one bit of the header", "model.fovea: is damaged: the hash of its header does not match")
def bit_of_the_header(folder):
    artifact = Artifact()
    artifact.data[40] ^= 1
    return write(folder, artifact)


@case("CWE-354", "one bit of the code", "model.fovea: is damaged: the hash of its code section does not match")
def bit_of_the_code(folder):
    artifact = Artifact()
    artifact.data[artifact.place(CODE)[0] + 1000] ^= 1
    return write(folder, artifact)


@case("Hironabe333/onnx-external-data-offset-opacity-poc", "one bit of a weight: other numbers, no warning", "model.fovea: is damaged: the hash of weight 'table' does not match")
def bit_of_a_weight(folder):
    artifact = Artifact()
    artifact.data[artifact.place(WEIGHTS)[0] + 3] ^= 1
    return write(folder, artifact)


@case("antirez/h3.c#48", "something written between sections", "model.fovea: is damaged: the padding before its code section is not zero")
def text_between_sections(folder):
    artifact = Artifact()
    offset, size = artifact.place(WEIGHTS)
    artifact.data[offset + size + 1:offset + size + 5] = b"evil"
    return write(folder, artifact)


@case("CWE-66", "a pipe: the reader waits for ever", "model.fovea: expects a regular file, got a pipe")
def file_that_is_a_pipe(folder):
    os.mkfifo(folder / "model.fovea")
    return "model.fovea"


@case("CWE-66", "a device without end", "model.fovea: expects a regular file, got a device")
def file_that_is_a_device(folder):
    (folder / "model.fovea").symlink_to("/dev/zero")
    return "model.fovea"


# The table of sections --------------------------------------------------------------------------------------------------------------------------------------


def section(folder, kind, form, offset, value):
    artifact = Artifact()
    artifact.put(form, artifact.entry(kind) + offset, value)
    return write(folder, artifact.with_header())


@case("CVE-2024-21836", "a number of sections that no table holds", "model.fovea: has a malformed header: expects at most 16 sections, got 4294967295")
def sections_without_number(folder):
    artifact = Artifact()
    artifact.put("I", 16, 0xFFFFFFFF)
    return write(folder, artifact.with_header())


@case("CVE-2026-7482", "a section longer than the file", "model.fovea: has a malformed header: section 1 (code) at 8192, 1099511627776 bytes, does not fit the file of 47872 bytes behind what stands before it, which ends at 4480")
def section_longer_than_the_file(folder):
    return section(folder, CODE, "Q", 16, 1 << 40)


@case("CVE-2026-27940", "a section whose end wraps", "model.fovea: has a malformed header: section 1 (code) at 8192, 18446744073709547520 bytes, does not fit the file of 47872 bytes behind what stands before it, which ends at 4480")
def section_whose_end_wraps(folder):
    return section(folder, CODE, "Q", 16, (1 << 64) - 4096)


@case("ohdearquant/lattice#752", "two sections share their bytes", "model.fovea: has a malformed header: section 1 (code) at 4096, 29352 bytes, does not fit the file of 47872 bytes behind what stands before it, which ends at 4480")
def sections_that_overlap(folder):
    artifact = Artifact()
    artifact.put("Q", artifact.entry(CODE) + 8, artifact.place(WEIGHTS)[0])
    return write(folder, artifact.with_header())


@case("CVE-2024-42477", "a section of a kind that is none", "model.fovea: has a malformed header: section 2 (unknown) at 40960, 528 bytes, is of an unknown kind; expects 1 to 5, got 77")
def section_of_an_unknown_kind(folder):
    return section(folder, TOKENIZER, "I", 0, 77)


@case("CWE-694", "two sections of one kind, of which readers take the first or the last", "model.fovea: has a malformed header: section 2 (code) at 40960, 528 bytes, is there twice")
def sections_of_one_kind(folder):
    return section(folder, TOKENIZER, "I", 0, CODE)


# The manifest -----------------------------------------------------------------------------------------------------------------------------------------------


@case("CVE-2020-15211", "tables behind the buffer", "model.fovea: has a malformed manifest: expects a root table inside its 2816 bytes, got another place")
def manifest_whose_root_is_outside(folder):
    artifact = Artifact()
    artifact.put("I", artifact.place(MANIFEST)[0], 0x7FFFFFFF)
    return write(folder, artifact.mended())


@case("microsoft/onnxruntime#28186", "a vector longer than the buffer", "model.fovea: has a malformed manifest: expects FlatBuffers tables inside its 2816 bytes, got offsets that lead outside or overlap")
def manifest_with_a_vector_without_end(folder):
    artifact = Artifact()
    artifact.put("I", artifact.target(artifact.field(artifact.root(), ALL_WEIGHTS)), 0x3FFFFFFF)
    return write(folder, artifact.mended())


@case("CVE-2026-7482", "a weight longer than its section: memory behind it is computed with", "model.fovea: has a malformed manifest: weight 'head': expects 256 bytes for its shape in fovea.panels<16>, got 1048576")
def weight_longer_than_its_section(folder):
    artifact = Artifact()
    artifact.put("Q", artifact.field(artifact.element(artifact.root(), ALL_WEIGHTS, 1), WEIGHT_BYTES), 1 << 20)
    return write(folder, artifact.mended())


@case("CVE-2026-27940", "a weight whose end wraps", "model.fovea: has a malformed manifest: weight 'head': 256 bytes at 18446744073709551552 of 384; expects to follow the weight before it, inside the section")
def weight_whose_end_wraps(folder):
    artifact = Artifact()
    weight = artifact.element(artifact.root(), ALL_WEIGHTS, 1)
    artifact.put("Q", artifact.field(weight, WEIGHT_OFFSET), (1 << 64) - 64)
    return write(folder, artifact.mended())


@case("CVE-2024-42477", "a weight of an element type that is none", "model.fovea: has a malformed manifest: weight 'table': expects a known element type and a shape whose bytes can be counted, got type 200 and 2 sizes")
def weight_of_an_unknown_type(folder):
    artifact = Artifact()
    artifact.put("B", artifact.field(artifact.element(artifact.root(), ALL_WEIGHTS, 0), WEIGHT_ELEMENT), 200)
    return write(folder, artifact.mended())


@case("CVE-2020-15211", "a step by a kernel that is not there", "model.fovea: has a malformed manifest: entry 'prefill': step 1 names kernel 12345; expects one of 9")
def step_of_an_unknown_kernel(folder):
    artifact = Artifact()
    entry = artifact.element(artifact.root(), ENTRIES)
    artifact.put("I", artifact.field(artifact.element(entry, STEPS, 1), 0), 12345)
    return write(folder, artifact.mended())


@case("CVE-2025-0315", "billions of numbers for a call", "model.fovea: has a malformed manifest: entry 'prefill': expects between 5 and 16777216 locals, got 4294967295")
def entry_of_billions_of_numbers(folder):
    artifact = Artifact()
    artifact.put("I", artifact.field(artifact.element(artifact.root(), ENTRIES), LOCALS), 0xFFFFFFFF)
    return write(folder, artifact.mended())


@case("CVE-2024-42478", "a cache of more heads than there can be: a pointer anywhere", "model.fovea: has a malformed manifest: entry 'prefill': argument 'key_cache.0': expects heads and size from 1 to 2^20, got 1152921504606846976 and 4")
def cache_of_too_many_heads(folder):
    artifact = Artifact()
    entry = artifact.element(artifact.root(), ENTRIES)
    artifact.put("q", artifact.field(artifact.element(entry, ARGUMENTS, 1), 5), 1 << 60)
    return write(folder, artifact.mended())


@case("CVE-2020-15212", "a result that continues an argument which is not there", "model.fovea: has a malformed manifest: entry 'prefill': result 'key_cache.0' continues argument 99; expects one of 3")
def result_that_continues_nothing(folder):
    artifact = Artifact()
    entry = artifact.element(artifact.root(), ENTRIES)
    artifact.put("i", artifact.field(artifact.element(entry, RESULTS, 1), 7), 99)
    return write(folder, artifact.mended())


# Code and tokenizer -----------------------------------------------------------------------------------------------------------------------------------------


@case("CWE-494", "code that is no shared object, with the right hash", "model.fovea: its code cannot be loaded: expects an ELF file, got other bytes", end="at the call", call=("--input", "input_ids=[[3, 4]]"))
def code_that_is_none(folder):
    artifact = Artifact()
    offset, _ = artifact.place(CODE)
    artifact.data[offset:offset + 64] = b"#!/bin/sh\ntouch owned\n".ljust(64, b"\n")
    return write(folder, artifact.mended())


@case("CWE-686", "code for another processor, with the right hash", "model.fovea: expects code for x86-64, got code for aarch64; compile it for this machine or with --target=portable", end="at the call", call=("--input", "input_ids=[[3, 4]]"))
def code_for_another_processor(folder):
    artifact = Artifact()
    artifact.put("H", artifact.place(CODE)[0] + 18, 183)  # e_machine: AArch64
    return write(folder, artifact.mended())


@case("google/sentencepiece#1269", "a vocabulary whose offsets lead outside, with the right hash", "model.fovea: has a malformed tokenizer section: tokenizer tables: expects vocabulary offsets in order and within the text", end="at the call", call=("--prompt", "one"))
def vocabulary_with_offsets_outside(folder):
    artifact = Artifact()
    offset, size = artifact.place(TOKENIZER)
    # The table of offsets: nine numbers from 0 to the length of the eight tokens.
    lengths = [len(word) for word in ["<s>", "</s>", "?", "one", "two", "three", "four", "five"]]
    table = struct.pack("<9I", *(sum(lengths[:i]) for i in range(9)))
    at = artifact.data.index(table, offset, offset + size)
    artifact.put("I", at + 12, 0x7FFFFFFF)
    return write(folder, artifact.mended())


@case("CVE-2020-15211", "a tokenizer's tables behind the buffer, with the right hash", "model.fovea: has a malformed tokenizer section: tokenizer tables: expects a whole table of kind FTOK, got damaged data", end="at the call", call=("--prompt", "one"))
def tokenizer_whose_root_is_outside(folder):
    artifact = Artifact()
    artifact.put("I", artifact.place(TOKENIZER)[0], 0x7FFFFFFF)
    return write(folder, artifact.mended())
