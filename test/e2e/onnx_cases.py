# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small ONNX models for tests, and what the reference interpreter makes of one."""
import json
import re

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from programs import invoke


def tensor_type(array):
    return helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def model(nodes, inputs, outputs, initializers=None, opset=18, functions=(), domains=()):
    """inputs and outputs: {name: (TensorProto type, shape)}; initializers: {name: array}."""
    graph = helper.make_graph(
        nodes, "g", [value(name, *type_) for name, type_ in inputs.items()], [value(name, *type_) for name, type_ in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (initializers or {}).items()])
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(domain, 1) for domain in domains]
    return helper.make_model(graph, opset_imports=opsets, functions=list(functions), ir_version=10)


def parse_printed(text):
    """The arrays that fovea-interpret prints, in order."""
    arrays = []
    for line in text.splitlines():
        if found := re.match(r"^  ([\dx]*) ?\[(.*)\]$", line):
            shape = [int(size) for size in found.group(1).split("x") if size]
            numbers = [float({"true": 1, "false": 0}.get(word.strip(), word)) for word in found.group(2).split(",") if word.strip()]
            arrays.append(np.array(numbers).reshape(shape))
        elif found := re.match(r"^  (\S+)$", line):
            arrays.append(np.array(float({"true": 1, "false": 0}.get(found.group(1), found.group(1)))))
    return arrays


def interpret(path, feeds, folder):
    """The results of `forward` of a .onnx file, by the reference interpreter on the import stage."""
    ir, inputs = folder / "import.mlir", folder / "inputs.json"
    invoke("fovea", "compile", path, "--emit=import", "-o", ir).ok()
    arguments = {}
    for name, array in feeds.items():
        array = np.asarray(array)
        wide = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
        arguments[name] = {"shape": list(array.shape), "data": wide.ravel().tolist()}
    inputs.write_text(json.dumps(arguments))
    printed = invoke("fovea-interpret", ir, "--exact", "--entry=forward", f"--weights={path.parent}", f"--inputs={inputs}").ok().text
    return parse_printed(printed)


def difference(got, expected):
    """max |difference| / max |expected|; infinite where shapes differ."""
    expected = np.asarray(expected, np.float64)
    if got.shape != expected.shape:
        return np.inf
    if expected.size == 0:
        return 0.0
    return np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-9)


__all__ = ["TensorProto", "difference", "helper", "interpret", "model", "numpy_helper", "onnx", "tensor_type"]
