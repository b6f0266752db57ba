# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs models on 1 to 8 threads, of each compute type and at many shapes, and compares results to the bit.

usage: same_bits.py [COUNT] [--seed N] [--figures FILE]

  COUNT      runs (1000), dealt out over types, shapes and numbers of threads
  --seed     which inputs (0)
  --figures  writes counts to a file: {"determinism": {row: {what: number}}}

What one command, one artifact and one input give must be the same bytes whatever the number of threads, in each run; artifacts too must be, compiled on 1 to 8 threads (of
less than 1,000 runs on 1 and 3).
"""
import argparse
import collections
import hashlib
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
MODEL = ROOT / "examples" / "models" / "shakespeare-llama"
TYPES = ["f32", "bf16", "int8", "int4"]
SHAPES = [(1, 1), (1, 2), (1, 7), (1, 40), (1, 129), (1, 500), (2, 33), (3, 1), (3, 64), (7, 17), (16, 5)]
THREADS = range(1, 9)


def run(*command):
    done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        sys.exit(f"same_bits: {' '.join(map(str, command))} ends with {done.returncode}: {done.stderr.decode(errors='replace')}")


def results(path):
    """A hash of all arrays of a file; the file itself may hold times."""
    sums = hashlib.sha256()
    with np.load(path) as arrays:
        for name in sorted(arrays):
            sums.update(name.encode() + str(arrays[name].shape).encode() + arrays[name].tobytes())
            assert np.isfinite(arrays[name].astype(np.float64)).all() and np.ptp(arrays[name].astype(np.float64)) > 0, f"{path}: {name} tells nothing"
    return sums.hexdigest()


class Comparison:
    """What each case gave, by its first run."""

    def __init__(self):
        self.first, self.counts = {}, collections.defaultdict(collections.Counter)

    def take(self, row, case, threads, found):
        self.counts[row]["runs"] += 1
        expected, before = self.first.setdefault((row, case), (found, threads))
        self.counts[row]["cases"] = sum(one == row for one, _ in self.first)
        self.counts[row]["different"] += found != expected
        if found != expected:
            print(f"same_bits: {row}: {case}: {threads} threads give other bits than {before}", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("count", type=int, nargs="?", default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--figures", type=pathlib.Path)
    arguments = parser.parse_args()
    random, seen = np.random.default_rng(arguments.seed), Comparison()
    with tempfile.TemporaryDirectory(prefix="fovea-bits-") as name:
        folder = pathlib.Path(name)
        vocabulary = json.loads((MODEL / "config.json").read_text())["vocab_size"]
        for batch, length in SHAPES:
            np.savez(folder / f"{batch}x{length}.npz", input_ids=random.integers(0, vocabulary, (batch, length)))
        for kind in TYPES:
            for threads in THREADS if arguments.count >= 1000 else (1, 3):
                out = folder / f"{kind}-{threads}.fovea"
                run(BIN / "fovea", "compile", MODEL, f"--dtype={kind}", f"--threads={threads}", "-o", out)
                seen.take("compile", kind, threads, hashlib.sha256(out.read_bytes()).hexdigest())
                out.rename(folder / f"{kind}.fovea")
        # Threads change fastest, so that any count compares them.
        cases = itertools.cycle(itertools.product(SHAPES, TYPES, THREADS))
        for number, ((batch, length), kind, threads) in enumerate(itertools.islice(cases, arguments.count), 1):
            run(BIN / "fovea-run", "run", folder / f"{kind}.fovea", "--entry", "forward", "--inputs", folder / f"{batch}x{length}.npz", "--outputs", folder / "out.npz", f"--threads={threads}")
            seen.take(f"run {kind}", f"{batch}x{length}", threads, results(folder / "out.npz"))
            if number % 200 == 0:
                print(f"same_bits: {number} of {arguments.count} runs", flush=True)
    for row, counts in seen.counts.items():
        print(f"{row:<12} {'   '.join(f'{key} {value}' for key, value in counts.items())}")
    if arguments.figures:
        arguments.figures.write_text(json.dumps({"determinism": seen.counts}, indent=1) + "\n")
    sys.exit(1 if any(counts["different"] for counts in seen.counts.values()) else 0)


if __name__ == "__main__":
    main()
