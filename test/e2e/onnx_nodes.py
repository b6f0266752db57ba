# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The node tests of the `onnx` package through compile and run, counted by operator; writes docs/onnx-ops.md.

    build/venv/bin/python test/e2e/onnx_nodes.py                write the table
    build/venv/bin/python test/e2e/onnx_nodes.py NAME...        run the cases whose names begin so, or are of such an operator, and say of each how it went

Some things are made as they are in models. Axes, shapes, paddings and the like, which the package hands over as inputs, become constants with the same values
(`SHAPES`), because what depends on them decides how many numbers come out. And a case in an operator set before 13 is run in set 13 if the operator is the same there.
Arrays in files know no bf16, so inputs and outputs of that type are cast from and to f32; entries know no signs, so unsigned numbers cross them as the same bits.

A case passes when the compiled model gives the package's outputs within the package's tolerance; it is unsupported when `fovea compile` refuses it with exit code 1;
everything else, a crash among it, is a failure. The package's tolerance (relative 1e-3) is less than the spacing of half-precision numbers after a few operations;
outputs in f16 may differ by 5e-3 and in bf16 by 4e-2, of the number or of the largest.
"""
import argparse
import collections
import concurrent.futures
import dataclasses
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "docs" / "onnx-ops.md"
LOOSER = {"float16": 5e-3, "bfloat16": 4e-2}


# Operands that say axes, shapes, places or numbers of things, by operator.
SHAPES = {"Reshape": (1,), "Expand": (1,), "Squeeze": (1,), "Unsqueeze": (1,), "Slice": (1, 2, 3, 4), "Pad": (1, 3), "Tile": (1,), "CumSum": (1,), "CumProd": (1,), "Trilu": (1,), "TopK": (1,),
          "OneHot": (1,), "Range": (0, 1, 2), "Split": (1,), "SplitToSequence": (1,), "ConstantOfShape": (0,), "Resize": (1, 2, 3), "DFT": (1, 2), "CenterCropPad": (1,), "AffineGrid": (1,),
          **{f"Reduce{name}": (1,) for name in ("L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare")}}


@dataclasses.dataclass
class Outcome:
    kind: str  # passed, failed, unsupported
    why: str = ""
    is_soft = False  # whether it is for the test to say that what failed is right


def collect():
    """All node cases by operator; the expanded form of an operator's case counts with the operator."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases
        cases = {case.name: case for case in collect_testcases(None)}
    by_operator = collections.defaultdict(list)
    for name, case in cases.items():
        original = cases.get(re.sub(r"_expanded(_ver\d+)?$", "", name), case)
        case.shapes = shape_inputs(original)
        by_operator[operator(original)].append(case)
    return dict(sorted(by_operator.items()))


def operator(case):
    node = case.model.graph.node[0]
    return f"{node.domain}.{node.op_type}" if node.domain else node.op_type


def is_expanded(case):
    return re.search(r"_expanded(_ver\d+)?$", case.name) is not None


def prepared(case):
    """The model to compile, and the names of inputs that became constants."""
    import onnx
    model = onnx.ModelProto()
    model.CopyFrom(case.model)
    for entry in model.opset_import:
        if entry.domain == "" and entry.version < 13 and all(
                onnx.defs.get_schema(node.op_type, 13).since_version == onnx.defs.get_schema(node.op_type, entry.version).since_version for node in model.graph.node):
            entry.version = 13
            model.ir_version = max(model.ir_version, 7)
    bound = [value.name for value in model.graph.input if value.name in case.shapes]
    arrays = {value.name: array for value, array in zip(model.graph.input, case.data_sets[0][0])}
    for name in bound:
        model.graph.initializer.append(onnx.numpy_helper.from_array(as_array(arrays[name]), name))
        model.graph.input.remove(next(value for value in model.graph.input if value.name == name))
    cast_bfloat16(model.graph)
    return model, bound


def cast_bfloat16(graph):
    """Gives a graph inputs and outputs of f32 where it had bf16."""
    import onnx

    def rename(names, old, new):
        for place, name in enumerate(names):
            if name == old:
                names[place] = new

    for values, reads in ((graph.input, True), (graph.output, False)):
        for value in values:
            if value.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16:
                inner, outer = value.name + "_bf16", value.name
                for node in graph.node:
                    rename(node.input, outer, inner)
                    rename(node.output, outer, inner)
                value.type.tensor_type.elem_type = onnx.TensorProto.FLOAT
                ends = ([outer], [inner]) if reads else ([inner], [outer])
                cast = onnx.helper.make_node("Cast", *ends, name="cast_" + outer, to=onnx.TensorProto.BFLOAT16 if reads else onnx.TensorProto.FLOAT)
                graph.node.insert(0, cast) if reads else graph.node.append(cast)


def as_array(value):
    """What the package gives as an input or output, as an array; None for a sequence and the like."""
    import onnx
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    return np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else None


def as_input(array):
    """As it crosses an entry: bf16 as f32, unsigned as signed."""
    if array.dtype.name == "bfloat16":
        return array.astype(np.float32)
    return array.view(f"i{array.itemsize}") if array.dtype.kind == "u" else array


def shape_inputs(original):
    """The names of inputs of an operator's case that say shapes; its expanded form has them too."""
    node = original.model.graph.node[0]
    return {node.input[place] for place in SHAPES.get(node.op_type, ()) if place < len(node.input) and node.input[place]} if len(original.data_sets) == 1 else set()


def close(found, expected, case):
    """What is wrong with one output, or nothing."""
    if found.shape != expected.shape:
        return f"has the shape {found.shape}, expected {expected.shape}"
    if expected.dtype == bool or np.issubdtype(expected.dtype, np.integer):
        return "" if np.array_equal(found, expected) else f"{np.count_nonzero(found != expected)} of {expected.size} numbers differ"
    looser = LOOSER.get(expected.dtype.name, 0)
    a, b = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    largest = np.abs(b[finite]).max(initial=0)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return "differs in NaN or infinity"
    allowed = max(case.atol, looser * largest) + max(case.rtol, looser) * np.abs(b[finite])
    gap = np.abs(a[finite] - b[finite])
    return "" if (gap <= allowed).all() else f"differs by {gap.max():.1e}, the largest number is {largest:.1e}"


def call(*command):
    """(exit code, first line of standard error that says something)."""
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return -1, "takes more than two minutes"
    lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line.strip()]
    return done.returncode, next((line for line in lines if "error" in line), lines[0] if lines else "")


def run(case, programs):
    """One case: compile, run each data set, compare. An expanded attention must also be raised."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, bound = prepared(case)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        code, why = call(programs / "fovea", "compile", folder / "model.onnx", "-o", folder / "model.fovea", f"--report={folder / 'report.json'}")
        why = why.replace(f"{folder}/", "")
        if code == 1:
            return Outcome("unsupported", why)
        if code:
            return Outcome("failed", f"compile ends with {code}: {why}")
        for inputs, outputs in case.data_sets:
            inputs, outputs = [as_array(value) for value in inputs], [as_array(value) for value in outputs]
            arrays = {value.name: array for value, array in zip(case.model.graph.input, inputs) if value.name not in bound}
            if any(array is None for array in [*arrays.values(), *outputs]):
                return Outcome("failed", "compiled, but an input or output is no array")
            np.savez(folder / "in.npz", **{name: as_input(array) for name, array in arrays.items()})
            code, why = call(programs / "fovea", "run", folder / "model.fovea", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
            if code:
                return Outcome("failed", f"run ends with {code}: {why}".replace(f"{folder}/", ""))
            found = np.load(folder / "out.npz")
            for value, expected in zip(case.model.graph.output, outputs):
                if value.name not in found:
                    return Outcome("failed", f"no output {value.name}")
                array = found[value.name]
                if expected.dtype.kind == "u" and array.dtype.kind == "i":
                    array = array.view(expected.dtype)
                if wrong := close(array, expected, case):
                    return Outcome("failed", f"{value.name} {wrong}")
        if case.name.startswith("test_attention_") and is_expanded(case):
            entries = json.loads((folder / "report.json").read_text())["attention"]
            if not entries or any(entry["status"] != "fused" for entry in entries):
                return Outcome("failed", "not raised: " + "; ".join(entry.get("reason", "") for entry in entries))
        return Outcome("passed")


def run_all(cases, programs):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda case: run(case, programs), cases))


def row(name, outcomes):
    count = collections.Counter(outcome.kind for outcome in outcomes)
    return f"| {name} | {count['passed']} | {count['failed']} | {count['unsupported']} |"


def rows(text):
    """The table's rows by operator."""
    return {line.split("|")[1].strip(): line for line in text.splitlines() if re.match(r"\| [\w.]+ \| \d", line)}


HEAD = """# ONNX operators

The node tests of the `onnx` package, version {version}, compiled and run by Fovea; written by `test/e2e/onnx_nodes.py`, checked with all tests. An operator's expanded
form (what its definition as a function says) counts with the operator. *Unsupported* are cases that `fovea compile` refuses with a message; *failed* are wrong numbers
and everything else. {passed} cases pass, {failed} fail, {unsupported} are unsupported.

| operator | passed | failed | unsupported |
|---|---:|---:|---:|
"""


def table(found):
    import onnx
    count = collections.Counter(outcome.kind for outcomes in found.values() for outcome in outcomes)
    supported = {name: outcomes for name, outcomes in found.items() if any(outcome.kind != "unsupported" for outcome in outcomes)}
    others = sorted(set(found) - set(supported))
    return (HEAD.format(version=onnx.__version__, passed=count["passed"], failed=count["failed"], unsupported=count["unsupported"])
            + "\n".join(row(name, outcomes) for name, outcomes in supported.items()) + "\n\nOperators without any supported case: " + ", ".join(others) + ".\n")


def main():
    parser = argparse.ArgumentParser(description="Runs the node tests of the onnx package and writes docs/onnx-ops.md.")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build" / "bin", help="the folder of fovea")
    parser.add_argument("names", nargs="*", help="only cases whose names begin so, or of such an operator")
    options = parser.parse_args()
    by_operator = collect()
    found = {}
    for name, cases in by_operator.items():
        if options.names:
            cases = [case for case in cases if name in options.names or case.name.startswith(tuple(options.names))]
        if not cases:
            continue
        found[name] = run_all(cases, options.programs)
        for case, outcome in zip(cases, found[name]):
            if options.names or outcome.kind == "failed":
                print(f"{name:24} {case.name:56} {outcome.kind:11} {outcome.why}", flush=True)
    if not options.names:
        TABLE.write_text(table(found))
    count = collections.Counter(outcome.kind for outcomes in found.values() for outcome in outcomes)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['unsupported']} unsupported")
    sys.exit(1 if count["failed"] else 0)


if __name__ == "__main__":
    main()
