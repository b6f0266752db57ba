# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays that `run` is given: archives whose directory lies, headers that would be evaluated, shapes that wrap."""
import io
import struct
import zipfile
import zlib

import numpy as np

from library import case

DATE = (1980, 1, 1, 0, 0, 0)
IDS = np.zeros((1, 5), np.int64)


def npy(header=None, data=IDS.tobytes(), version=1):
    text = (header or "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 5), }").encode() if not isinstance(header, bytes) else header
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def archive(*members, method=zipfile.ZIP_STORED):
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", method) as file:
        for name, content in members:
            file.writestr(zipfile.ZipInfo(name, DATE), content, method)
    return bytearray(data.getvalue())


def write(folder, data):
    (folder / "in.npz").write_bytes(data)
    return "in.npz"


def array(folder, **changes):
    return write(folder, archive(("input_ids.npy", npy(**changes))))


def patched(folder, *changes):
    """The sound archive with numbers changed: (signature, offset behind it, bytes)."""
    data = archive(("input_ids.npy", npy()))
    for signature, offset, content in changes:
        at = data.find(signature) + offset
        data[at:at + len(content)] = content
    return write(folder, data)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


@case("CVE-2019-6446", "an array of Python objects: a pickle", "in.npz: member 'input_ids.npy' has element type '|O'; expects little-endian numbers such as '<f4' or '<i8'")
def array_of_objects(folder):
    return array(folder, header="{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", data=b"\x80\x02cposix\nsystem\n(X\x0b\x00\x00\x00touch ownedtR.")


@case("mlcommons/storage#286", "a header that is an expression, for a reader that evaluates it", "in.npz: member 'input_ids.npy' lacks 'descr' in its header '__import__('os').system('touch owned')'")
def header_that_is_an_expression(folder):
    return array(folder, header="__import__('os').system('touch owned')")


@case("mlcommons/storage#286", "an element type that is an expression", "in.npz: member 'input_ids.npy' expects a string for 'descr', got '__import__('os').system('touch owned'),'")
def type_that_is_an_expression(folder):
    return array(folder, header="{'descr': __import__('os').system('touch owned'), 'fortran_order': False, 'shape': (1, 5), }")


@case("CVE-2021-33430", "an element type of hundreds of fields", "in.npz: member 'input_ids.npy' expects a string for 'descr', got '[('f0', '<i8'), ('f1', '<i8'), ('f2', '<'")
def type_of_many_fields(folder):
    fields = ", ".join(f"('f{i}', '<i8')" for i in range(900))
    return array(folder, header=f"{{'descr': [{fields}], 'fortran_order': False, 'shape': (1, 5), }}", version=2)


@case("CWE-198", "numbers in the other byte order", "in.npz: member 'input_ids.npy' has element type '>i8'; expects little-endian numbers such as '<f4' or '<i8'")
def numbers_in_the_other_order(folder):
    return array(folder, header="{'descr': '>i8', 'fortran_order': False, 'shape': (1, 5), }")


@case("CVE-2026-33298", "a shape whose product wraps", "in.npz: member 'input_ids.npy' has an impossible shape: expects bytes that can be counted, got '(2305843009213693952, 8, 5), }'")
def shape_that_wraps(folder):
    return array(folder, header=f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({1 << 61}, 8, 5), }}")


@case("CVE-2025-0315", "a shape of terabytes in a file of bytes", "in.npz: member 'input_ids.npy' expects 8000000000000 bytes for its shape, got 40")
def shape_of_terabytes(folder):
    return array(folder, header="{'descr': '<i8', 'fortran_order': False, 'shape': (1000000, 1000000), }")


@case("CVE-2026-21869", "a negative size", "in.npz: member 'input_ids.npy' has a malformed shape: expects at most 32 sizes from 0, got '(-1, 5), }'")
def shape_that_is_negative(folder):
    return array(folder, header="{'descr': '<i8', 'fortran_order': False, 'shape': (-1, 5), }")


@case("onnx/onnx#8277", "a size beyond 64 bits", "in.npz: member 'input_ids.npy' has an impossible shape: expects sizes that fit 63 bits, got '(1180591620717411303424,), }'")
def shape_beyond_64_bits(folder):
    return array(folder, header=f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({1 << 70},), }}")


@case("CVE-2024-21802", "more sizes than any array has", "in.npz: member 'input_ids.npy' has a malformed shape: expects at most 32 sizes from 0, got '(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,'")
def shape_of_too_many_sizes(folder):
    return array(folder, header=f"{{'descr': '<i8', 'fortran_order': False, 'shape': ({'1, ' * 1000}5), }}", version=2)


@case("CVE-2026-7482", "fewer bytes than the shape says", "in.npz: member 'input_ids.npy' expects 40 bytes for its shape, got 39")
def array_shorter_than_its_shape(folder):
    return array(folder, data=bytes(39))


@case("CVE-2024-12055", "an array's header that ends behind the member", "in.npz: member 'input_ids.npy' has a header that goes past its end: expects 65535 bytes, got 2")
def header_behind_the_member(folder):
    return write(folder, archive(("input_ids.npy", b"\x93NUMPY\x01\x00\xff\xff{}")))


@case("CVE-2024-39720", "a version that nobody knows", "in.npz: member 'input_ids.npy' expects .npy version 1, 2 or 3, got 9")
def version_that_nobody_knows(folder):
    return array(folder, version=9)


@case("CVE-2024-39720", "a file of four bytes", "in.npz: is not a .npz file: expects a zip directory at the end of its 4 bytes, got none")
def file_of_four_bytes(folder):
    return write(folder, b"PK\x03\x04")


@case("CVE-2018-1000544", "a name above the folder, as archives use to get out", "in.npz: entry 'forward' has no argument '../../owned'; it has 'input_ids'")
def name_above_the_folder(folder):
    return write(folder, archive(("../../owned.npy", npy())))


@case("CVE-2025-1944", "a directory that calls the member otherwise than the member itself", "in.npz: member 'input_ids.npy' expects this name in its own header too, got 'position_.npy'")
def member_with_two_names(folder):
    data = archive(("input_ids.npy", npy()))
    at = data.find(b"input_ids.npy")
    data[at:at + 13] = b"position_.npy"
    return write(folder, data)


@case("CVE-2025-1945", "a flag that says encrypted", "in.npz: member 'input_ids.npy' is encrypted; expects one that is not")
def flag_of_encryption(folder):
    return patched(folder, (CENTRAL, 8, b"\x01\x00"))


@case("CVE-2025-10156", "a wrong checksum", "in.npz: member 'input_ids.npy' is damaged: expects checksum 0, got 2747943882")
def checksum_that_is_wrong(folder):
    return patched(folder, (CENTRAL, 16, bytes(4)))


@case("CVE-2019-9674", "one member of 50 MB, named by hundreds of entries", "in.npz: member 'a1.npy' shares bytes with member 'a0.npy'")
def bomb_of_shared_members(folder):
    size = 50 << 20
    pack = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = pack.compress(bytes(size)) + pack.flush()
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, 0, len(packed), size, 1, 0) + b"m" + packed
    names = [b"a%d.npy" % i for i in range(300)]
    directory = b"".join(struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, 0, len(packed), size, len(name), 0, 0, 0, 0, 0, 0) + name for name in names)
    return write(folder, local + directory + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, len(names), len(names), len(directory), len(local), 0))


@case("CVE-2019-9674", "a member that unpacks to more than it can", "in.npz: member 'input_ids.npy' cannot unpack to 2147483647 bytes; expects at most 173376 from its 168")
def member_of_impossible_size(folder):
    return patched(folder, (CENTRAL, 10, b"\x08\x00"), (CENTRAL, 24, b"\xff\xff\xff\x7f"))


@case("Hironabe333/nemo-duplicate-weights-poc", "two members of one name, of which readers take the first or the last", "in.npz: member 'input_ids.npy' is there twice; expects each name once")
def members_of_one_name(folder):
    with_other = npy(data=np.ones((1, 5), np.int64).tobytes())
    data = archive(("input_ids.npy", npy()), ("input_idz.npy", with_other))
    return write(folder, bytes(data).replace(b"input_idz", b"input_ids"))


@case("CVE-2024-12055", "a member behind the file", "in.npz: member 'input_ids.npy' goes past the file's end: expects its header at 2147483647, got a size of 292")
def member_behind_the_file(folder):
    return patched(folder, (CENTRAL, 42, b"\xff\xff\xff\x7f"))


@case("CVE-2024-12055", "a directory behind the file", "in.npz: is cut short or malformed: expects 4 bytes at 2147483647, got a size of 292")
def directory_behind_the_file(folder):
    return patched(folder, (END, 16, b"\xff\xff\xff\x7f"))


@case("CVE-2024-23605", "more members than the directory has", "in.npz: has a malformed zip directory: expects 4095 members, got no more than 1 up to byte 270")
def members_more_than_there_are(folder):
    return patched(folder, (END, 8, b"\xff\x0f\xff\x0f"))


@case("CVE-2016-9844", "a way of compressing that nobody knows", "in.npz: member 'input_ids.npy' is compressed by method 99; expects stored or deflated")
def method_that_nobody_knows(folder):
    return patched(folder, (CENTRAL, 10, b"\x63\x00"))


@case("CVE-2018-25032", "compressed bytes that are none", "in.npz: member 'input_ids.npy' has damaged compressed data: expects 73 bytes that unpack to 168, got others")
def compressed_bytes_that_are_none(folder):
    data = archive(("input_ids.npy", npy()), method=zipfile.ZIP_DEFLATED)
    at = data.find(b"input_ids.npy") + 13
    data[at:at + 20] = b"\xff" * 20
    return write(folder, data)
