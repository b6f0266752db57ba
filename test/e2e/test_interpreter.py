# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference interpreter, on the `import` and `graph` stages of the random checkpoints and on their fused groups, gives what `transformers` gives in f64.

No compiled code takes part: this is what makes the interpreter fit to judge it.
"""
import re

import numpy as np
import pytest

from programs import invoke
from test_families import BERTS, GPT2S, LLAMAS, POOLED, difference

pytestmark = pytest.mark.long

# Both sides are in f64, but the reference computes rotary angles and their cosines in f32.
TOLERANCE = 1e-5


def with_main(text, entry, arrays):
    """The module with a function that gives the first result of `entry` on constants."""
    signature = re.search(rf"func\.func @{entry}\((.*?)\) -> \((.*?)\) attributes", text, re.DOTALL)
    results = re.findall(r"(tensor<[^>]*>) \{[^}]*fovea\.name = \"([^\"]+)\"", signature.group(2))
    lines, values, types = [], [], []
    for number, (type_, name) in enumerate(re.findall(r"(tensor<[^>]*>) \{[^}]*fovea\.name = \"([^\"]+)\"", signature.group(1))):
        array = arrays[name]
        exact = f"tensor<{'x'.join(map(str, array.shape))}xi64>"
        lines += [f"%c{number} = arith.constant dense<{array.tolist()}> : {exact}", f"%a{number} = tensor.cast %c{number} : {exact} to {type_}"]
        values.append(f"%a{number}")
        types.append(type_)
    # The first result of several.
    result = results[0][0]
    every = ", ".join(type_ for type_, _ in results)
    lines += [f"%r:{len(results)} = call @{entry}({', '.join(values)}) : ({', '.join(types)}) -> ({every})", f"return %r#0 : {result}"]
    return text[:text.rindex("}")] + f"func.func @interpreter_main() -> {result} {{\n  " + "\n  ".join(lines) + "\n}\n}\n"


def interpret(folder, text, entry, arrays, tmp_path):
    (tmp_path / "main.mlir").write_text(with_main(text, entry, arrays))
    printed = invoke("fovea-interpret", tmp_path / "main.mlir", "--exact", "--entry=interpreter_main", f"--weights={folder}").ok().text
    shape, numbers = re.search(r"^  ([\dx]+) \[(.*)\]$", printed, re.MULTILINE).groups()
    return np.array([float(number) for number in numbers.split(",")]).reshape([int(size) for size in shape.split("x")])


STAGES = {"import": [], "graph": ["--fovea-to-graph"],
          "fused": ["--fovea-to-graph", "--fovea-fold-rms-norm", "--canonicalize", "--cse", "--fovea-to-fused", "--fovea-fuse-groups", "--canonicalize", "--cse"]}


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("name", LLAMAS + GPT2S + BERTS)
def test_interpreter(checkpoints, tmp_path, name, stage):
    folder = checkpoints / name / "model"
    text = invoke("fovea-import", folder).ok().text
    if STAGES[stage]:
        text = invoke("fovea-opt", "-", *STAGES[stage], stdin=text.encode()).ok().text
    pairs = [("forward", "reference")] + ([("embed", "embedding")] if name in POOLED else [])
    for entry, kind in pairs:
        for reference in sorted(folder.parent.glob(f"{kind}-*.npz")):
            arrays = np.load(reference.with_name(reference.name.replace(kind, "inputs")))
            expected = np.load(reference)
            found = interpret(folder, text, entry, arrays, tmp_path)
            assert difference(found, expected[expected.files[0]]) <= TOLERANCE, f"{entry} on {reference.name}"
