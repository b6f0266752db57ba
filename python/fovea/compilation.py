# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fovea.compile."""
import os
import pathlib
import sys

from . import compiler, errors
from .model import Model


def is_torch_program(source):
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(source, (torch.nn.Module, torch.export.ExportedProgram))


def compile(source, example_inputs=None, *, dynamic_shapes=None, output=None, dtype=None, calibrate=None, int8_share=None, compute=None, target=None, gpu=None, cache=None, optimization=None, tokenizer=None, probe=None,
            threads=0, capacity=0, device="cpu", profile=False):
    """Compiles a model and opens it.

    Args:
        source: the folder of a Hugging Face checkpoint, a .gguf, .onnx or .mlir file, a torch.nn.Module, or a torch.export.ExportedProgram.
        example_inputs: a tuple of arguments of a torch.nn.Module's forward, or a dictionary of them by name.
        dynamic_shapes: which of their sizes are open, as torch.export.export takes it; None: all sizes are those of the example.
        output: where the artifact is to be; None: among the models that Fovea keeps ($XDG_CACHE_HOME/fovea, `fovea cache`), so that the same is not compiled again.
        dtype: of the weights: "f32", "bf16", "int8", "int4"; None: as they are.
        calibrate: with "int4", the path of a text like those that the model will read: weights are rounded by what they meet there (GPTQ).
        int8_share: then, the share of the numbers that may stay int8, where int4 loses most; None: an eighth.
        compute: what linears multiply: "f32", "bf16", "int8"; None: by the weights' type and the processor.
        target: processors to compile for: "host", "portable", "aarch64-portable", or a name of LLVM's; None: this one.
        gpu: code for GPUs too: "all", or architectures with commas between ("sm_80,sm_90a").
        cache: element type of keys and values: "f32", "bf16", "int8".
        optimization: 2 (the default), 1 or 0, which compile faster to slower code.
        tokenizer: a tokenizer's file for a .onnx or .mlir file.
        probe: kinds of what the artifact shows of itself (fovea.Model.probe), a text or a list: "attention", "masks", "positions", "inputs".
        threads, capacity, device, profile: as fovea.load takes them.

    Raises:
        fovea.CompileError: the model is wrong or not supported; says where, what was expected and what was found.
    """
    flags = compiler.as_flags({"dtype": dtype, "calibrate": None if calibrate is None else os.fspath(calibrate), "int8-share": None if int8_share is None else str(int8_share), "compute": compute, "target": target, "gpu": gpu or ("all" if device.startswith(("cuda", "emulator")) else None),
                               "cache": cache, "tokenizer": None if tokenizer is None else os.fspath(tokenizer),
                               "probe": probe if probe is None or isinstance(probe, str) else ",".join(probe) or None})
    flags += [] if optimization is None else [f"-O{optimization}"]
    settings = {"threads": threads, "capacity": capacity, "device": device, "profile": profile}
    if is_torch_program(source):
        from .torch import compile_program

        return compile_program(source, example_inputs, dynamic_shapes, output, flags, settings)
    for name, value in (("example_inputs", example_inputs), ("dynamic_shapes", dynamic_shapes)):
        if value is not None:
            raise errors.InputError(f"{name}: expects a torch.nn.Module beside it, got {source!r}")
    if not isinstance(source, (str, os.PathLike)):
        raise errors.InputError(f"source: expects a path, a torch.nn.Module or a torch.export.ExportedProgram, got an object of type {type(source).__name__}")
    model = Model(compile_file(source, output, flags), **settings)
    model._source, model._flags = pathlib.Path(source), flags
    return model


def compile_file(source, output, flags):
    """The path of the artifact."""
    if output is None:
        return pathlib.Path(compiler.invoke("compile", source, "--keep", *flags, progress=True).splitlines()[-1])
    compiler.invoke("compile", source, "-o", output, *flags, progress=True)
    return pathlib.Path(output)
