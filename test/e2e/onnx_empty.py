# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The node tests of the `onnx` package with sizes of zero, compiled and run: each is right, or refused with one message.

    build/venv/bin/python test/e2e/onnx_empty.py [--all] [NAME...]      run those of the operators named and say of each how it went

A case is made empty by one of its sizes: all axes of its inputs that have this size get none, in the model's own shapes (`fixed`), or with an open size that the call makes
zero (`open`). What the reference evaluator of the package makes of it is expected; where it makes nothing of it (an axis of no classes, a kernel larger than its image),
compiling and running may succeed or refuse, but neither may crash. LLVM does not optimise (`-O1`): onnx_nodes.py runs the same kernels as users do. Operators' cases that cannot be told apart by their sizes are tried once.
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import sys
import tempfile
import warnings

import numpy as np

import onnx_nodes
from onnx_nodes import Outcome, as_array, as_input, call, close


class Soft(Outcome):
    """Of a program that compiles and ends in order: a matter of what is expected."""
    is_soft = True


class Emptied:
    """A case in which the axes of one size are empty."""

    def __init__(self, case, size, is_open):
        self.case, self.size, self.is_open = case, size, is_open
        self.name = f"{case.name}-{size}-{'open' if is_open else 'fixed'}"
        self.atol, self.rtol = case.atol, case.rtol

    def feeds(self, bound):
        arrays = {value.name: as_array(array) for value, array in zip(self.case.model.graph.input, self.case.data_sets[0][0]) if value.name not in bound}
        return {name: np.resize(array, [0 if extent == self.size else extent for extent in array.shape]).astype(array.dtype) for name, array in arrays.items()}

    def model(self):
        """The model, and the names of inputs that became constants."""
        model, bound = onnx_nodes.prepared(self.case)
        for value in model.graph.input:
            for axis in value.type.tensor_type.shape.dim:
                if axis.dim_value == self.size and self.is_open:
                    axis.dim_param = f"n{self.size}"
                elif axis.dim_value == self.size:
                    axis.dim_value = 0
        for value in model.graph.output:
            value.type.tensor_type.ClearField("shape")
        del model.graph.value_info[:]
        return model, bound

    def expected(self, feeds, bound):
        """By output; None where the reference evaluator fails."""
        from onnx.reference import ReferenceEvaluator
        graph = self.case.model.graph
        given = {value.name: as_array(array) for value, array in zip(graph.input, self.case.data_sets[0][0]) if value.name in bound}
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                results = ReferenceEvaluator(self.case.model).run(None, {**feeds, **given})
            return {value.name: np.asarray(array) for value, array in zip(graph.output, results)}
        except Exception:
            return None


def sizes(case):
    """The sizes of a case's inputs that are no shapes."""
    inputs = [as_array(array) for value, array in zip(case.model.graph.input, case.data_sets[0][0]) if value.name not in case.shapes]
    if any(array is None for array in inputs):
        return []
    return sorted({extent for array in inputs for extent in array.shape if extent})


def emptied(cases, everything=False):
    """What one operator's cases give, each kind of node (its attributes and the ranks of its inputs) once."""
    found, seen = [], set()
    for case in cases:
        if onnx_nodes.is_expanded(case) or len(case.data_sets) != 1 or len(case.model.graph.node) != 1:
            continue
        node = case.model.graph.node[0]
        kind = (tuple(attribute.name for attribute in node.attribute), tuple(bool(name) for name in node.input))
        if not everything and kind in seen:
            continue
        seen.add(kind)
        found += [Emptied(case, size, is_open) for size in sizes(case) for is_open in (False, True)]
    return found


def run(case, programs):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        model, bound = case.model()
        feeds = case.feeds(bound)
        expected = case.expected(feeds, bound)
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        checked, why_not = call(programs / "fovea", "check", folder / "model.onnx")
        code, why = call(programs / "fovea", "compile", folder / "model.onnx", "-O1", "-o", folder / "model.fovea")
        why = why.replace(f"{folder}/", "")
        if checked != code:
            return Outcome("failed", f"check ends with {checked} ({why_not}), compile with {code}: {why}")
        if code not in (0, 1):
            return Outcome("failed", f"compile ends with {code}: {why}")
        if code:
            return Outcome("refused", why) if expected is None or not case.is_open else Outcome("unsupported", why)
        np.savez(folder / "in.npz", **{name: as_input(array) for name, array in feeds.items()})
        code, why = call(programs / "fovea", "run", folder / "model.fovea", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz")
        why = why.replace(f"{folder}/", "")
        if code not in (0, 1):
            return Outcome("failed", f"run ends with {code}: {why}")
        if code:
            return Outcome("refused", why) if expected is None else Soft("failed", f"refused when run: {why}")
        if expected is None:
            return Outcome("undefined")
        found = np.load(folder / "out.npz")
        for name, wanted in expected.items():
            if wanted.dtype == object or wanted.dtype.kind in "US":
                return Outcome("undefined", "an output is no array")
            array = found[name]
            if wanted.dtype.kind == "u" and array.dtype.kind == "i":
                array = array.view(wanted.dtype)
            if wrong := close(array, wanted, case):
                return Soft("failed", f"{name} {wrong}")
        return Outcome("passed")


def run_all(cases, programs):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda case: run(case, programs), cases))


def main():
    parser = argparse.ArgumentParser(description="Runs the node tests of the onnx package with sizes of zero.")
    parser.add_argument("--programs", type=pathlib.Path, default=onnx_nodes.ROOT / "build" / "bin", help="the folder of fovea")
    parser.add_argument("--all", action="store_true", help="each case, not each kind of node")
    parser.add_argument("names", nargs="*", help="only of these operators")
    options = parser.parse_args()
    count = collections.Counter()
    for name, cases in onnx_nodes.collect().items():
        if options.names and name not in options.names:
            continue
        cases = emptied(cases, options.all)
        for case, outcome in zip(cases, run_all(cases, options.programs)):
            count[outcome.kind] += 1
            if outcome.kind in ("failed", "unsupported") or options.names or outcome.kind == "refused":
                print(f"{name:24} {case.name:56} {outcome.kind:11} {outcome.why}", flush=True)
    print(", ".join(f"{number} {kind}" for kind, number in sorted(count.items())))
    sys.exit(1 if count["failed"] else 0)


if __name__ == "__main__":
    main()
