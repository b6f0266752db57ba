# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random checkpoints of the models in tower_cases.py, each with texts, images and the outputs of `transformers` in f64.

usage: make_towers.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/ as make_encoders.py does: of texts input `right` has padding behind them, `left` before them, `alone` is a text without the token that ends it. Of
models with both, FOLDER/NAME/embedding-text.npz and embedding-image.npz are the embeddings of each by itself.
"""
import copy
import pathlib
import sys

import numpy as np
import torch
import transformers

from make_checkpoints import load, randomise, save, word_pieces
from tower_cases import CASES, END, configuration

LENGTHS = [21, 13, 2]


def make_model(name):
    prefix, head, settings, dtype = configuration(name)
    model = getattr(transformers, prefix + head)(getattr(transformers, prefix + "Config")(**copy.deepcopy(settings)))
    scale = hasattr(model, "logit_scale")
    if scale:  # a number alone
        del model.logit_scale
    randomise(model, sum(map(ord, name)))
    if scale:
        model.logit_scale = torch.nn.Parameter(torch.tensor(2.25))
    return model, dtype


def make_texts(config):
    ids = np.random.default_rng(5).integers(6, config.vocab_size, (len(LENGTHS), max(LENGTHS)), dtype=np.int64)
    inputs = {"alone": {"input_ids": ids[:1, :9], "attention_mask": np.ones_like(ids[:1, :9])}}
    for side in ("right", "left"):
        mask = np.array([[1] * length + [0] * (max(LENGTHS) - length) for length in LENGTHS], dtype=np.int64)
        mask = mask[:, ::-1].copy() if side == "left" else mask
        last = mask.shape[1] - 1 - mask[:, ::-1].argmax(1)
        tokens = np.where(mask, ids, config.pad_token_id)
        tokens[np.arange(len(mask)), last] = END
        inputs[side] = {"input_ids": tokens, "attention_mask": mask}
    if config.pad_token_id == END:
        del inputs["left"]  # whose first end is padding
    return inputs


def make_images(config, count=4):
    return np.random.default_rng(6).standard_normal((count, config.num_channels, config.image_size, config.image_size)).astype(np.float32)


def make_inputs(config):
    """Texts, images, or both, by name."""
    parts = [getattr(config, "text_config", config), getattr(config, "vision_config", config)]
    texts = make_texts(parts[0]) if hasattr(parts[0], "vocab_size") else {"images": {}}
    images = {"pixel_values": make_images(parts[1])} if hasattr(parts[1], "patch_size") else {}
    return {name: arrays | images for name, arrays in texts.items()}


def embeddings(folder, model, inputs):
    """What each tower gives alone."""
    tensors = {key: torch.from_numpy(array) for key, array in inputs.items()}
    texts = {key: tensors[key] for key in ("input_ids", "attention_mask")}
    for name, result in (("text", model.get_text_features(**texts)), ("image", model.get_image_features(tensors["pixel_values"].double()))):
        np.savez(folder / f"embedding-{name}.npz", embedding=result.pooler_output.numpy())


def make(out, name):
    model, dtype = make_model(name)
    word_pieces().save(str(save(out / name, model, dtype) / "tokenizer.json"))
    stored = load(out / name, model)
    with torch.no_grad():
        for kind, arrays in make_inputs(model.config).items():
            np.savez(out / name / f"inputs-{kind}.npz", **arrays)
            tensors = {key: torch.from_numpy(array) for key, array in arrays.items()}
            result = stored(**{key: tensor.double() if tensor.is_floating_point() else tensor for key, tensor in tensors.items()})
            np.savez(out / name / f"reference-{kind}.npz", **{key: value.numpy() for key, value in result.items() if isinstance(value, torch.Tensor)})
        if hasattr(stored, "get_text_features"):
            embeddings(out / name, stored, make_inputs(model.config)["right"])


def main():
    out = pathlib.Path(sys.argv[1])
    torch.set_num_threads(1)  # so small that a second one only waits
    for name in CASES:
        make(out, name)


if __name__ == "__main__":
    main()
