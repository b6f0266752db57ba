# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fovea compiles Transformer models to native code.

    model = fovea.compile("path/of/a/checkpoint")   # or a .gguf, a .onnx, a .mlir, a torch.nn.Module
    for piece in model.generate("Once"):
        print(piece, end="")

    model = torch.compile(module, backend="fovea")

fovea.compile makes a model, fovea.load opens an artifact that was made before. Errors are those of fovea.errors.
"""
import importlib as _importlib

TYPE_CHECKING = False  # as typing's, whose import takes longer than all else here

# Where a name is defined. Modules are imported when it is first used: the command line needs none of them but one, and starts before numpy would.
_MODULES = {"compile": "compilation", "load": "model", **dict.fromkeys(("Entry", "Generation", "Model"), "model"),
            **dict.fromkeys(("ArgumentError", "CompileError", "Error", "InputError", "InternalError", "OutOfMemoryError", "UnsupportedError"), "errors")}
__all__ = sorted(_MODULES)

if TYPE_CHECKING:
    from . import errors, plot
    from .compilation import compile
    from .errors import ArgumentError, CompileError, Error, InputError, InternalError, OutOfMemoryError, UnsupportedError
    from .model import Entry, Generation, Model, load

    __version__: str


def __getattr__(name):
    if name == "__version__":
        value = _importlib.import_module("._runtime", __name__).version()
    elif name in _MODULES:
        value = getattr(_importlib.import_module("." + _MODULES[name], __name__), name)
    elif name in ("errors", "plot"):
        value = _importlib.import_module("." + name, __name__)
    else:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__():
    return sorted([*globals(), *__all__, "__version__", "errors", "plot"])
