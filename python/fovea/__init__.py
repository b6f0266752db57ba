# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fovea compiles Transformer models to native code.

    model = fovea.compile("path/of/a/checkpoint")   # or a .onnx, a .mlir, a torch.nn.Module
    for piece in model.generate("Once"):
        print(piece, end="")

    model = torch.compile(module, backend="fovea")

fovea.compile makes a model, fovea.load opens an artifact that was made before. Errors are those of fovea.errors.
"""
from ._runtime import version as _version
from .compile import compile
from .errors import ArgumentError, CompileError, Error, InputError, InternalError, OutOfMemoryError, UnsupportedError
from .model import Entry, Generation, Model

__version__ = _version()
__all__ = ["ArgumentError", "CompileError", "Entry", "Error", "Generation", "InputError", "InternalError", "Model", "OutOfMemoryError", "UnsupportedError", "compile", "load"]


def load(path, *, threads=0, capacity=0, device="cpu", profile=False, copy=False):
    """Opens an artifact (.fovea). An artifact is code: open only what you would run as a program.

    Args:
        threads: to compute with; 0: one for each core that this process may use.
        capacity: positions that the caches hold; 0: the model's longest, at most 4096.
        device: "cpu", or "cuda", "cuda:1" for artifacts with code for GPUs (fovea.compile(gpu="all")).
        profile: measure each kernel (Entry.steps).
        copy: read the file into memory instead of mapping it, so that it may be changed.
    """
    return Model(path, threads=threads, capacity=capacity, device=device, profile=profile, copy=copy)
