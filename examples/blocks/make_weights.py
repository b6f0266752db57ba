# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes weights.safetensors, the weights of the blocks in this folder: random matrices of a model with 8 numbers a word.

    python3 examples/blocks/make_weights.py

The same bytes each time; a test compares them.
"""
import json
import pathlib
import struct

import numpy as np

SHAPES = {
    "attention.query": (8, 8), "attention.key": (8, 8), "attention.value": (8, 8), "attention.output": (8, 8), "attention.bias": (4, 8),
    "cross.query": (8, 8), "cross.key": (8, 8), "cross.value": (8, 8), "cross.output": (8, 8),
    "mlp.up": (16, 8), "mlp.gate": (16, 8), "mlp.down": (8, 16),
    "grouped.key": (4, 8), "grouped.value": (4, 8), "norm1": (8,), "norm2": (8,),
    "experts.router": (4, 8), "experts.up": (64, 8), "experts.down": (32, 16),
}


def tensors():
    """Random numbers, scaled so that a product keeps the size of its input; the norms' are near one."""
    random = np.random.default_rng(2017)
    made = {}
    for name, shape in SHAPES.items():
        numbers = random.standard_normal(shape)
        made[name] = (1 + numbers / 8 if len(shape) == 1 else numbers / np.sqrt(shape[1])).astype(np.float32)
    return made


def file_bytes():
    """The format: the header's size, the header as JSON (type, shape and place of each tensor), the tensors."""
    header, data = {}, b""
    for name, array in tensors().items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


if __name__ == "__main__":
    (pathlib.Path(__file__).parent / "weights.safetensors").write_bytes(file_bytes())
