# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch's two exporters to ONNX, and what a file of theirs gives beside PyTorch itself."""
import functools
import warnings

import numpy as np
import pytest

WAYS = ["dynamo", "script"]


def parameters(usual, every, without=()):
    """Cases (name, way) of a test for the names of `every`; those that are not in `usual` are run with --exhaustive."""
    cases = [(name, way) for name in every for way in WAYS if (name, way) not in without]
    return [pytest.param(*case, marks=() if case in usual else pytest.mark.exhaustive) for case in cases]


@functools.cache
def keep_registry():
    """What the exporter by dynamo gathers anew for each model, a second long: its words for all ops."""
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    ONNXRegistry.from_torchlib = staticmethod(functools.cache(ONNXRegistry.from_torchlib))


def write_onnx(module, arguments, path, **how):
    """torch.onnx.export, without what it warns of."""
    import torch

    torch.set_num_threads(1)  # models so small that a second one only waits
    keep_registry()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(module, arguments, path, **({"verbose": False} if how["dynamo"] else {}), **how)


def export(module, inputs, path, axes, dynamo, most=None, result="logits", result_axes=None):
    """Writes `module` as `path`, whose arguments are called as those of its `forward`.

    `inputs` are example arrays by name; `axes` has the names of open axes of each, {"ids": {0: "batch"}}; `most` the largest size of an axis by its name."""
    import torch

    if dynamo:
        dims = {name: torch.export.Dim(name, **({"max": most[name]} if name in (most or {}) else {})) for names in axes.values() for name in names.values()}
        dynamic = {"dynamic_shapes": {key: {axis: dims[name] for axis, name in names.items()} for key, names in axes.items()}}
    else:
        dynamic = {"dynamic_axes": axes | ({result: result_axes} if result_axes else {})}
    write_onnx(module, tuple(map(torch.from_numpy, inputs.values())), path, input_names=list(inputs), output_names=[result], dynamo=dynamo, **dynamic)


def compare(fovea_run, artifact, module, inputs, folder, result="logits", bound=1e-4):
    """The compiled file gives the module's result, up to `bound` of the greatest number."""
    import torch

    np.savez(folder / "in.npz", **inputs)
    fovea_run("run", artifact, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz").ok()
    with torch.no_grad():
        expected = module(**{key: torch.from_numpy(array) for key, array in inputs.items()}).numpy()
    found = np.load(folder / "out.npz")[result]
    assert found.shape == expected.shape, {key: array.shape for key, array in inputs.items()}
    assert np.abs(found - expected).max() <= bound * np.abs(expected).max(), {key: array.shape for key, array in inputs.items()}
