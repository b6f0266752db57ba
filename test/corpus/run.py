# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the corpus quickly and prints a table: is each model right, is it fused, with which masks.

    python3 test/corpus/run.py [--programs build/bin] [--failures] [NAME...]
"""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import tempfile

import numpy as np

import check


def call(*command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace", timeout=120, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "takes more than two minutes"
    return None if done.returncode == 0 else f"exit code {done.returncode}: {first_error(done.stderr)}"


def first_error(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line or "unsupported" in line), lines[0] if lines else "says nothing")[:300]


def judge(programs, model):
    """(name, what is wrong with the numbers, what is wrong with the fusion)."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        if failure := call(programs / "fovea", "compile", model.path, "-o", folder / "x.fovea", f"--report={folder / 'report.json'}"):
            return model, ["compile: " + failure], ["-"]
        fusion = check.wrong_fusion(model.case, json.loads((folder / "report.json").read_text())) if (folder / "report.json").exists() else ["no report"]
        wrong = []
        for number, (inputs, expected) in enumerate(check.references(model.case)):
            np.savez(folder / "in.npz", **inputs)
            if failure := call(programs / "fovea", "run", folder / "x.fovea", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz"):
                wrong.append(f"run at size {number}: {failure}")
            else:
                wrong += [f"{text} at size {number}" for text in check.wrong_numbers(model.case, np.load(folder / "out.npz"), expected)]
        return model, wrong, fusion


def main():
    parser = argparse.ArgumentParser(description="Runs the corpus and prints a table.")
    parser.add_argument("--programs", type=pathlib.Path, default=pathlib.Path("build/bin"), help="the folder of fovea")
    parser.add_argument("--failures", action="store_true", help="print only what fails")
    parser.add_argument("names", nargs="*", help="only models whose names begin so")
    options = parser.parse_args()
    models = [model for model in check.models() if not options.names or model.name.startswith(tuple(options.names))]
    count = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        for model, wrong, fusion in pool.map(judge, [options.programs] * len(models), models):
            right, fused = not wrong, not fusion
            count.update(right=right, fused=fused, both=right and fused, all=1)
            if not options.failures or not (right and fused):
                print(f"{model.name:48} {'right' if right else 'WRONG':6} {'fused' if fused and not model.case.get('negative') else 'ok' if fused else 'MISSED':7} {'; '.join([*wrong, *(text for text in fusion if text != '-')])}", flush=True)
    print(f"{count['all']} models: {count['right']} right, {count['fused']} with the expected fusion, {count['both']} both")


if __name__ == "__main__":
    main()
