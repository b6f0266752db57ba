# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what stands around linears and attention, operator by operator, beside torch in the same process: each is exported to ONNX, compiled, compared with torch in f64, then
timed in turns.

usage: build/bench-venv/bin/python bench/operators.py [--case NAME]... [--threads N] [--rounds N] [--list]

One line for each: milliseconds of both (medians of the turns' medians) and torch's time over Fovea's; above one, Fovea is faster. Kernels that are plain loops are named.
scripts/bench makes the environment.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import runtime

ROOT = pathlib.Path(__file__).resolve().parents[1]


class Function(nn.Module):
    """A function of tensors as a module, which exporters want."""

    def __init__(self, function, *modules):
        super().__init__()
        self.function, self.parts = function, nn.ModuleList(modules)

    def forward(self, *arguments):
        return self.function(*self.parts, *arguments)


def product(a, b):
    return a @ b


def scores_of(weigh):
    """Attention without softmax: what `weigh` makes of scores are the weights."""
    return lambda q, k, v: weigh(q @ k.transpose(-1, -2) * 0.125) @ v


def linear_attention(q, k, v):
    """Katharopoulos et al. 2020, arXiv 2006.16236, without the sum of weights."""
    return (F.elu(q) + 1) @ ((F.elu(k) + 1).transpose(-1, -2) @ v)


def heads(length):
    return [(1, 8, length, 64)] * 3


# A function, the modules that it gets first, and the arguments' shapes.
CASES = {
    "batched-product": (product, [], [(12, 512, 64), (12, 64, 512)]),
    "batched-product-transposed": (lambda a, b: a @ b.transpose(-1, -2), [], [(12, 512, 64), (12, 512, 64)]),
    "argument-matrix": (product, [], [(4, 128, 768), (768, 768)]),
    "argument-matrix-transposed": (lambda a, b: a @ b.T, [], [(512, 768), (768, 768)]),
    "argument-matrix-one-row": (product, [], [(1, 2048), (2048, 2048)]),
    "sigmoid-attention": (scores_of(lambda s: torch.sigmoid(s - 5)), [], heads(512)),
    "relu-squared-attention": (scores_of(lambda s: torch.relu(s)**2), [], heads(512)),
    "linear-attention": (linear_attention, [], heads(1024)),
    "cumulative-sum": (lambda x: torch.cumsum(x, 1), [], [(8, 4096, 64)]),
    "cumulative-sum-of-rows": (lambda x: torch.cumsum(x, -1), [], [(8, 64, 4096)]),
    "group-norm": (lambda norm, x: norm(x), [nn.GroupNorm(32, 320)], [(1, 320, 64, 64)]),
    "group-norm-silu": (lambda norm, x: F.silu(norm(x)), [nn.GroupNorm(32, 320)], [(1, 320, 64, 64)]),
    "transpose": (lambda x: x.transpose(1, 2).contiguous(), [], [(8, 1024, 768)]),
    "patches": (lambda c, x: c(x).flatten(2).transpose(1, 2), [nn.Conv2d(3, 768, 16, stride=16)], [(1, 3, 224, 224)]),
    "convolution-1x1": (lambda c, x: c(x), [nn.Conv2d(256, 256, 1)], [(1, 256, 32, 32)]),
    "convolution-3x3": (lambda c, x: c(x), [nn.Conv2d(128, 128, 3, padding=1)], [(1, 128, 32, 32)]),
    "convolution-1d-gelu": (lambda c, x: F.gelu(c(x)), [nn.Conv1d(80, 384, 3, padding=1)], [(1, 80, 3000)]),
    "convolution-of-each-channel": (lambda c, x: c(x), [nn.Conv1d(512, 512, 4, padding=3, groups=512)], [(1, 512, 1024)]),
}


def compile_case(folder, name, module, arguments):
    path = folder / f"{name}.onnx"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, tuple(arguments), str(path), dynamo=False, opset_version=18, input_names=[f"x{i}" for i in range(len(arguments))], output_names=["y"])
    subprocess.run([ROOT / "build" / "bin" / "fovea", "compile", path, "-o", folder / f"{name}.fovea"], check=True, stdout=subprocess.DEVNULL)
    return folder / f"{name}.fovea"


def median(run, times=15):
    """In milliseconds. Threads of the other program, which wait busily for some time, have gone to sleep before."""
    time.sleep(0.4)
    for _ in range(3):
        run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append(time.perf_counter() - start)
    return 1e3 * float(np.median(taken))


def measure(folder, name, options):
    function, modules, shapes = CASES[name]
    torch.manual_seed(1)
    module = Function(function, *modules).eval()
    arguments = [torch.randn(shape) for shape in shapes]
    program = runtime.Runtime(ROOT / "build" / "lib" / "libfovea-runtime.so", compile_case(folder, name, module, arguments), options.threads)
    program.set("forward", **{f"x{i}": x.numpy() for i, x in enumerate(arguments)})
    program.run("forward")
    with torch.no_grad():
        expected = module.double()(*(x.double() for x in arguments))
        module.float()
        error = float((torch.from_numpy(program.result("forward", "y")).double() - expected).abs().max() / expected.abs().max())
        if not error < 2e-5:
            sys.exit(f"operators: {name}: differs from torch in f64 by {error:.1e} of the largest element")
        turns = [(median(lambda: program.run("forward")), median(lambda: module(*arguments))) for _ in range(options.rounds)]
    ours, theirs = np.median(np.array(turns), axis=0)
    loops = program.fallbacks("forward")
    program.close()
    return ours, theirs, loops


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", choices=list(CASES), metavar="NAME")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    torch.set_num_threads(options.threads)
    print(f"torch {torch.__version__}, {options.threads} threads, medians of {options.rounds} turns\n\n| what | Fovea, ms | torch, ms | torch / Fovea | plain loops |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in options.case or CASES:
            ours, theirs, loops = measure(pathlib.Path(folder), name, options)
            print(f"| {name} | {ours:.3f} | {theirs:.3f} | {theirs / ours:.2f} | {', '.join(loops)} |", flush=True)


if __name__ == "__main__":
    main()
