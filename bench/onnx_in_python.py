#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""ONNX files run from Python by fovea and by onnxruntime: milliseconds a call, by turns in one process, seconds until a file can be called, and what a call costs where
there is hardly anything to compute.

usage: onnx_in_python.py [--case NAME]... [--threads N] [--rounds N] [--json]

Needs torch, transformers, onnx, onnxruntime and the package fovea (build/python on PYTHONPATH will do). Models have random weights, in f32."""
import argparse
import json
import os
import pathlib
import sys
import tempfile
import time
import timeit
import warnings

import numpy as np

from torch_compile import CASES, make, take_turns


def write(name, path):
    """Exports a model with open sizes, and gives its arguments."""
    import torch

    model, inputs = make(name.removesuffix("-1"), torch.float32)

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *values):
            return self.model(**dict(zip(inputs, values)), return_dict=False)[0]

    rows, positions = torch.export.Dim("rows", max=64), torch.export.Dim("positions", max=512)
    sizes = tuple({0: rows, 1: positions} if value.ndim == 2 else {0: rows} for value in inputs.values())
    example = tuple(torch.cat([value] * 2) for value in inputs.values())  # one row would be taken for all that there is
    torch.onnx.export(First(), example, path, input_names=list(inputs), output_names=["result"], dynamic_shapes={"values": sizes}, dynamo=True, verbose=False)
    return {key: value.numpy() for key, value in make(name, torch.float32)[1].items()}


def open_both(path, threads):
    """What runs a file by each program, and the seconds until it can be called."""
    import onnxruntime

    import fovea

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    start = time.perf_counter()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    opened = {"onnxruntime": time.perf_counter() - start}
    with tempfile.TemporaryDirectory() as folder:
        # Nothing that was compiled before.
        before, os.environ["XDG_CACHE_HOME"] = os.environ.get("XDG_CACHE_HOME"), folder
        start = time.perf_counter()
        model = fovea.compile(path, threads=threads)
        opened["fovea"] = time.perf_counter() - start
        if before is None:
            del os.environ["XDG_CACHE_HOME"]
        else:
            os.environ["XDG_CACHE_HOME"] = before
    entry = model.entries["forward"]
    return {"onnxruntime": lambda inputs: session.run(None, inputs)[0], "fovea": lambda inputs: entry.run(**inputs)[0]}, opened


def measure(name, threads, rounds):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.onnx"
        inputs = write(name, path)
        programs, opened = open_both(path, threads)
        results = {program: run(inputs) for program, run in programs.items()}
        ms = take_turns({program: lambda run=run: run(inputs) for program, run in programs.items()}, rounds)
    off = float(np.abs(results["fovea"] - results["onnxruntime"]).max() / np.abs(results["onnxruntime"]).max())
    return {"ms": ms, "opened_s": opened, "off": off}


def measure_call(threads):
    """Microseconds of a call that adds 16 numbers."""
    import onnx
    from onnx import TensorProto, helper

    value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n"]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "add", value[:1], value[1:])
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "add.onnx"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
        programs, _ = open_both(path, threads)
        inputs = {"x": np.ones(16, np.float32)}
        return {program: 1e6 * min(timeit.repeat(lambda run=run: run(inputs), number=2000, repeat=7)) / 2000 for program, run in programs.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = []
    for name in options.case or CASES:
        result = measure(name, options.threads, options.rounds)
        results.append({"case": name, **result})
        ms, opened = result["ms"], result["opened_s"]
        if not options.json:
            print(f"{CASES[name]:38s} onnxruntime {ms['onnxruntime']:7.2f}  fovea {ms['fovea']:7.2f} ms  ratio {ms['onnxruntime'] / ms['fovea']:.2f}"
                  f"  until the first call {opened['onnxruntime']:.1f} / {opened['fovea']:.1f} s", flush=True)
    call = measure_call(options.threads)
    if options.json:
        json.dump({"models": results, "call_us": call, "threads": options.threads}, sys.stdout)
    else:
        print(f"adding 16 numbers: onnxruntime {call['onnxruntime']:.1f}, fovea {call['fovea']:.1f} us a call")


if __name__ == "__main__":
    main()
