# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the classifier of model.py to read digits backwards, and exports it: without a mask, and with a mask of each form and fill.

    build/venv/bin/python examples/tutorial-classifier/export.py

writes reverse*.onnx, references.npz and training.log beside itself. Takes about a minute; needs onnxscript beside what test/requirements.txt lists. A test compiles what is
stored; it does not train.
"""
import io
import pathlib
import sys
import warnings

import numpy as np
import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "test" / "corpus")]
from make import strip  # noqa: E402
from model import Reverse  # noqa: E402

import onnx  # noqa: E402

LENGTH = 8

# Name, axes of the mask, fill, exporter and opset. The mask is made of zeros and ones of three types.
VARIANTS = [
    ("reverse", None, -9e15, "dynamo", 20),
    ("reverse-mask-2d", ("length", "length"), -9e15, "torchscript", 17),
    ("reverse-mask-3d", ("batch", "length", "length"), -1e9, "dynamo", 18),
    ("reverse-mask-4d", ("batch", 2, "length", "length"), -1e10, "torchscript", 14),
    ("reverse-mask-4d-bool", ("batch", 1, "length", "length"), -1e20, "dynamo", 23),
]
TYPES = {"reverse-mask-2d": torch.int64, "reverse-mask-3d": torch.float32, "reverse-mask-4d": torch.int64, "reverse-mask-4d-bool": torch.bool}
OUTPUTS = ["digits_backwards", "scores", "map"]


def train():
    torch.manual_seed(0)
    model = Reverse()
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    steps, log = 1500, []
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 5e-3, steps)
    for step in range(steps):
        digits = torch.randint(0, 10, (128, LENGTH))
        _, scores, _ = model(digits)
        loss = F.cross_entropy(scores.flatten(0, 1), digits.flip(1).flatten())
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 10 == 0:
            right = (scores.argmax(-1) == digits.flip(1)).float().mean().item()
            log.append(f"step {step}: loss {loss.item():.4f} accuracy {right:.4f}")
            print(log[-1])
    (HERE / "training.log").write_text("\n".join(log) + "\n")
    digits = torch.randint(0, 10, (1000, LENGTH))
    right = (model(digits)[0] == digits.flip(1)).float().mean()
    print(f"right: {100 * right:.2f} %")
    assert right > 0.999
    return model.state_dict()


def sample(axes, kind, sizes, generator):
    """Digits, and a mask in which nearly all may be seen; but the first row of the mask allows nothing, so what `fill` means is seen."""
    digits = torch.randint(0, 10, (sizes["batch"], sizes["length"]), generator=generator)
    if axes is None:
        return (digits,)
    mask = torch.rand([sizes.get(axis, axis) for axis in axes], generator=generator) < 0.7
    mask[..., 0] = True
    mask.reshape(-1, sizes["length"])[0] = False
    return digits, mask.to(kind)


def export(model, name, axes, exporter, opset, arguments):
    inputs = ["digits", "mask"][:len(arguments)]
    dynamic = {"digits": {0: "batch", 1: "length"}}
    if axes is not None:
        dynamic["mask"] = {place: axis for place, axis in enumerate(axes) if isinstance(axis, str)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if exporter == "torchscript":
            stream = io.BytesIO()
            torch.onnx.export(model, arguments, stream, dynamo=False, input_names=inputs, output_names=OUTPUTS, opset_version=opset, dynamic_axes=dynamic)
            found = onnx.load_from_string(stream.getvalue())
        else:
            program = torch.onnx.export(model, arguments, None, dynamo=True, input_names=inputs, output_names=OUTPUTS, opset_version=opset,
                                        dynamic_shapes=tuple(dynamic[each] for each in inputs), verbose=False, external_data=False)
            found = program.model_proto
    strip(found)
    onnx.checker.check_model(found, full_check=True)
    (HERE / f"{name}.onnx").write_bytes(found.SerializeToString(deterministic=True))


def main():
    state = train()
    references = {}
    for number, (name, axes, fill, exporter, opset) in enumerate(VARIANTS):
        model = Reverse(fill=fill).eval()
        model.load_state_dict(state)
        generator = torch.Generator().manual_seed(number)
        export(model, name, axes, exporter, opset, sample(axes, TYPES.get(name), {"batch": 2, "length": LENGTH}, generator))
        for which, sizes in enumerate([{"batch": 1, "length": LENGTH}, {"batch": 3, "length": 5}]):
            arguments = sample(axes, TYPES.get(name), sizes, generator)
            with torch.no_grad():
                results = model(*arguments)
            for key, array in [*zip(["digits", "mask"], arguments), *zip(OUTPUTS, results)]:
                references[f"{name}.{which}.{key}"] = array.numpy()
    np.savez_compressed(HERE / "references.npz", **references)


if __name__ == "__main__":
    main()
