# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the golden artifact of the format that this tree writes, for any x86-64 processor.

usage: make_golden.py [FOVEA]

Writes golden/format-F-abi-A.fovea beside itself, F and A being what is in the artifact's header. One that is there stays: it is what users have. FOVEA is the compiler, build/bin/fovea unless it is given
(an older one makes the golden file of its own format).
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE / "golden"
WORDS = ["<s>", "</s>", "?", "one", "two", "three", "four", "five"]
#: What follows a token.
NEXT = {0: 3, 1: 1, 2: 3, 3: 4, 4: 5, 5: 6, 6: 7, 7: 1}


def weights():
    """Each token has a direction of its own; long rows, so that a token's softmax sees itself and its like alone."""
    directions = np.array([[(1 - 2 * (i % 2)) * float(j == i // 2) for j in range(4)] for i in range(8)], np.float32)
    head = np.zeros((8, 4), np.float32)
    for token, following in NEXT.items():
        head[following] += directions[token]
    return {"table": 8 * directions, "head": head}


def tokenizer():
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    return {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [{"id": i, "content": WORDS[i], **special} for i in range(2)],
            "normalizer": {"type": "Lowercase"}, "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None,
            "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": False}, "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(WORDS)}, "unk_token": "?"}}


def write_sources(folder):
    header, data = {}, b""
    for name, array in weights().items():
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer()))
    shutil.copyfile(HERE / "Inputs" / "golden.mlir", folder / "golden.mlir")


def versions(artifact):
    """Format and interface, as the header has them."""
    return struct.unpack("<II", artifact.read_bytes()[8:16])


def name_of(form, interface):
    return f"format-{form}-abi-{interface}.fovea"


def main():
    fovea = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parents[1] / "build" / "bin" / "fovea").resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_sources(folder)
        subprocess.run([fovea, "compile", "golden.mlir", "--target=x86-64", "-o", "golden.fovea"], cwd=folder, check=True)
        target = GOLDEN / name_of(*versions(folder / "golden.fovea"))
        if target.exists():
            sys.exit(f"{target.name} is there; golden files of a format that is in use are not made anew")
        shutil.copyfile(folder / "golden.fovea", target)
    print(target.name)


if __name__ == "__main__":
    main()
