# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Blocks of every kind that GGUF files hold and that are read: random ones of a given size, and the worst ones."""
import gguf
import numpy as np

TYPES = gguf.GGMLQuantizationType

# Where a block has numbers of f16, and the greatest code times a group's greatest scale: what these are divided by so that numbers are of magnitude one.
KINDS = {"Q4_0": ([0], 8), "Q4_1": ([0, 2], 15), "Q5_0": ([0], 16), "Q5_1": ([0, 2], 31), "Q8_0": ([0], 128), "Q2_K": ([80, 82], 3 * 15), "Q3_K": ([108], 4 * 32),
         "Q4_K": ([0, 2], 15 * 63), "Q5_K": ([0, 2], 31 * 63), "Q6_K": ([208], 32 * 128), "IQ4_NL": ([0], 127), "MXFP4": ([], 12)}


def shape_of(kind, rows, columns):
    elements, size = gguf.GGML_QUANT_SIZES[TYPES[kind]]
    return rows, columns // elements, size


def random_blocks(kind, rows, columns, random, magnitude=1.0):
    """Rows of bytes: all codes, and numbers of about this magnitude at most."""
    places, most = KINDS[kind]
    blocks = random.integers(0, 256, shape_of(kind, rows, columns), dtype=np.uint8)
    for place in places:
        halves = (random.uniform(0.5, 1, blocks.shape[:2]) * random.choice([-1, 1], blocks.shape[:2]) * magnitude / most).astype(np.float16)
        blocks[:, :, place:place + 2] = halves.view(np.uint8).reshape(*blocks.shape[:2], 2)
    if kind == "MXFP4":
        blocks[:, :, 0] = 127 + round(np.log2(magnitude)) - random.integers(2, 5, blocks.shape[:2])
    return blocks.reshape(rows, -1)


def worst_blocks(kind, random):
    """A row for each thing that f16 can be, and for bytes that are all alike."""
    places, _ = KINDS[kind]
    columns = gguf.GGML_QUANT_SIZES[TYPES[kind]][0]
    halves = [0x0000, 0x8000, 0x0001, 0x03ff, 0x0400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe01]
    rows = [random.integers(0, 256, shape_of(kind, 1, columns)[1:], dtype=np.uint8) for _ in halves]
    for row, half in zip(rows, halves):
        for place in places:
            row[0, place:place + 2] = np.array([half], np.uint16).view(np.uint8)
    if kind == "MXFP4":
        for row, exponent in zip(rows, [0, 1, 2, 3, 126, 127, 128, 253, 254, 255, 64, 200]):
            row[0, 0] = exponent
    for byte in (0, 1, 0x0f, 0x10, 0x80, 0xf0, 0xff):
        rows.append(np.full_like(rows[0], byte))
    return np.stack(rows).reshape(len(rows), -1)


def numbers_of(kind, blocks):
    """What the package `gguf` makes of them: f32."""
    with np.errstate(all="ignore"):
        return gguf.quants.dequantize(blocks, TYPES[kind])
