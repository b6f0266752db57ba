# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random encoders of many families, and models that read images, exported by PyTorch's two exporters: the numbers are PyTorch's."""
import numpy as np
import pytest

import encoder_cases
import tower_cases
import vision_cases
from exporters import WAYS, parameters, write_onnx

pytestmark = pytest.mark.long
# Masked words show most: a number for each token of each place.
NAMES = [f"{family}-{'ForMaskedLM' if 'ForMaskedLM' in heads else heads[0]}" for family, (_, _, heads) in encoder_cases.FAMILIES.items()]
NAMES += [f"{family}-ForImageClassification" for family in vision_cases.FAMILIES]
NAMES += [f"{family}-{heads[-1]}" for family, (_, _, heads) in tower_cases.FAMILIES.items()]
# Positions there are.
LONGEST = {"CLIPModel": 40, "CLIPTextModelWithProjection": 40}
EXPORTED = [(name, way) for name in NAMES for way in WAYS]
# Weights of 16 bits make no other graph, and pooling of sentences is not in it.
EVERY = [name for table in (encoder_cases, vision_cases, tower_cases) for name in table.CASES if not name.endswith(("bf16", "sentences"))]


def make_model(name):
    """The model, and its inputs with those of another size."""
    import torch
    import transformers

    from make_checkpoints import randomise
    from make_encoders import make_inputs
    from make_vision import make_images

    if name.partition("-")[0] in tower_cases.FAMILIES:
        return make_tower(name)
    images = name.partition("-")[0] in vision_cases.FAMILIES
    prefix, head, settings = (vision_cases if images else encoder_cases).configuration(name)[:3]
    model = randomise(getattr(transformers, prefix + head)(getattr(transformers, prefix + "Config")(**settings)), 1).eval()
    if images:
        given = {"pixel_values": make_images(model.config)}
        return model, given, {"pixel_values": given["pixel_values"][:1]}
    inputs = make_inputs(model.config)
    return model, inputs["right"], inputs["alone"]


def make_tower(name):
    """As make_model."""
    import make_towers

    model = make_towers.make_model(name)[0].eval()
    inputs = make_towers.make_inputs(model.config)
    if name.startswith("clipvision"):
        return model, inputs["images"], {"pixel_values": inputs["images"]["pixel_values"][:1]}
    return model, inputs["right"], inputs["alone"]


def export(model, given, way, path):
    """Gives the names of the outputs."""
    import torch

    tensors = {key: torch.from_numpy(array) for key, array in given.items()}
    outputs = [key for key, value in model(**tensors).items() if isinstance(value, torch.Tensor)]
    axes = {key: {0: "images"} if key == "pixel_values" else {0: "batch", 1: "sequence"} for key in given}
    if way == "dynamo":
        dims = {"images": torch.export.Dim("images"), "batch": torch.export.Dim("batch"), "sequence": torch.export.Dim("sequence", max=LONGEST.get(type(model).__name__, 60))}
        how = {"dynamic_shapes": {key: {axis: dims[name] for axis, name in named.items()} for key, named in axes.items()}}
    else:
        how = {"dynamic_axes": axes | {key: {0: "rows"} for key in outputs}}

    class Outputs(torch.nn.Module):
        """This exporter takes arguments by place alone."""

        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, *values):
            result = self.model(**dict(zip(given, values)))
            return tuple(result[key] for key in outputs)

    if way == "script":
        write_onnx(Outputs().eval(), tuple(tensors.values()), path, input_names=list(given), output_names=outputs, dynamo=False, **how)
    else:
        write_onnx(model, (), path, kwargs=tensors, input_names=list(given), output_names=outputs, dynamo=True, **how)
    return outputs


@pytest.mark.parametrize("name, way", parameters(EXPORTED, EVERY))
def test_numbers(fovea_run, compiled, tmp_path, name, way):
    """Texts with padding, and one alone; images together, and one alone."""
    compare_outputs(fovea_run, compiled, tmp_path, way, *make_model(name))


def compare_outputs(fovea_run, compiled, tmp_path, way, model, *inputs):
    import torch

    outputs = export(model, inputs[0], way, tmp_path / "model.onnx")
    for given in inputs:
        np.savez(tmp_path / "in.npz", **given)
        fovea_run("run", compiled(tmp_path / "model.onnx"), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        with torch.no_grad():
            expected = model(**{key: torch.from_numpy(array) for key, array in given.items()})
        found = np.load(tmp_path / "out.npz")
        for output in outputs:
            wanted, kept = expected[output].numpy(), given.get("attention_mask")
            off = np.abs(found[output] - wanted)
            if kept is not None and off.shape[:2] == kept.shape:
                off = off[kept == 1]
            assert off.max() <= 1e-4 * np.abs(wanted).max(), output
