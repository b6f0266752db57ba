# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random checkpoints of the models in vision_cases.py, each with images and the outputs of `transformers` in f64.

usage: make_vision.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/ as make_checkpoints.py does, with inputs.npz and reference.npz.
"""
import pathlib
import sys

import numpy as np
import torch
import transformers

from make_checkpoints import load, randomise, save
from vision_cases import CASES, configuration


def make_model(name):
    prefix, head, settings, dtype = configuration(name)
    config = getattr(transformers, prefix + "Config")(**settings)
    return randomise(getattr(transformers, prefix + head)(config), sum(map(ord, name))), dtype


def make_images(config, count=3):
    sides = config.image_size if isinstance(config.image_size, (tuple, list)) else [config.image_size] * 2
    return np.random.default_rng(5).standard_normal((count, config.num_channels, *sides)).astype(np.float32)


def main():
    out = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)  # so small that a second one only waits
    for name in CASES:
        model, dtype = make_model(name)
        save(out / name, model, dtype)
        images = make_images(model.config)
        np.savez(out / name / "inputs.npz", pixel_values=images)
        with torch.no_grad():
            result = load(out / name, model)(pixel_values=torch.from_numpy(images).double())
        np.savez(out / name / "reference.npz", **{key: value.numpy() for key, value in result.items() if isinstance(value, torch.Tensor)})


if __name__ == "__main__":
    main()
