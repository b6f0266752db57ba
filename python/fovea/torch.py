# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of torch: fovea.compile for modules and exported programs."""
import contextlib
import io
import logging
import pathlib
import tempfile
import warnings

import torch
from torch.utils import _pytree as pytree

from . import errors
from .compilation import compile_file
from .model import Model


@contextlib.contextmanager
def quiet():
    """The exporter speaks of itself on standard output, by warnings and by logging."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def export_program(module, example_inputs, dynamic_shapes):
    """The module as a torch.export.ExportedProgram."""
    if module.training:
        raise errors.InputError("source: expects a module in eval mode (module.eval()), got one that is training")
    if example_inputs is None:
        raise errors.InputError("example_inputs: expects a tuple or a dictionary of arguments of the module's forward, got None")
    if isinstance(example_inputs, torch.Tensor):
        example_inputs = (example_inputs,)
    args, kwargs = ((), dict(example_inputs)) if isinstance(example_inputs, dict) else (tuple(example_inputs), {})
    try:
        with torch.no_grad(), quiet():
            return torch.export.export(module, args, kwargs, dynamic_shapes=dynamic_shapes, strict=False)
    except Exception as error:
        raise errors.CompileError([f"torch.export: {error}"]) from error


def write_onnx(program, path):
    """Exports by torch's own exporter to ONNX."""
    try:
        with torch.no_grad(), quiet():
            torch.onnx.export(program, f=str(path), dynamo=True, external_data=True, verbose=False)
    except Exception as error:
        raise errors.CompileError([f"torch.onnx.export: {error}"]) from error


class Program(Model):
    """A compiled torch.nn.Module: takes what its forward takes and gives what that gives. The rest is fovea.Model's."""

    def _bind(self, program):
        signature = program.graph_signature
        self._input_spec, self._output_spec = program.call_spec.in_spec, program.call_spec.out_spec
        self._entry = self._main_entry()
        # Names of values; all else are constants of the example's.
        self._inputs, outputs = signature.user_inputs, signature.user_outputs
        self._is_result = [isinstance(name, str) for name in outputs]
        tensors = [name for name in self._inputs if isinstance(name, str)]
        known = [value["name"] for value in self._entry.arguments]
        if [name for name in tensors if name in known] != known or sum(self._is_result) != len(self._entry.results):
            raise errors.InternalError(f"torch.onnx.export: expects arguments {tensors} and {sum(self._is_result)} results, got {self._entry!r}")
        self._known, self._program = frozenset(known), program
        return self

    def clone(self, **settings):
        other = self._share(Program(self.path, **{**self._settings, **settings})._bind(self._program))
        other._folder = self._folder
        return other

    def __call__(self, *args, **kwargs):
        values, spec = pytree.tree_flatten((args, kwargs))
        if spec != self._input_spec:
            expected, found = (" ".join(str(each).split()) for each in (self._input_spec, spec))
            raise errors.ArgumentError(self._entry.name, "forward", f"arguments like the example's, {expected}", found)
        given = []
        for name, value in zip(self._inputs, values):
            if isinstance(name, str):
                if name in self._known:
                    given.append(value)
            elif value is not name and value != name:
                raise errors.ArgumentError(self._entry.name, "forward", f"the example's {name!r}, with which it was compiled", repr(value))
        results = iter(self._entry.run(*given))
        return pytree.tree_unflatten([next(results) if is_result else None for is_result in self._is_result], self._output_spec)


def compile_program(source, example_inputs, dynamic_shapes, output, flags, settings):
    """fovea.compile of a module or an exported program."""
    program = source if isinstance(source, torch.export.ExportedProgram) else export_program(source, example_inputs, dynamic_shapes)
    folder = tempfile.TemporaryDirectory(prefix="fovea-")
    # What a graph is called is its folder's name.
    name = type(source).__name__ if isinstance(source, torch.nn.Module) else "program"
    path = pathlib.Path(folder.name) / name / "model.onnx"
    path.parent.mkdir()
    write_onnx(program, path)
    model = Program(compile_file(path, output, flags), **settings)._bind(program)
    model._source, model._flags, model._folder = path, flags, folder  # as long as stages may be asked for
    return model
