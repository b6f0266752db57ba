# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of `transformers` with an encoder of texts and one of images, their classes, and the configurations in which they are tested: tiny, with every option far from where it has no effect.

A case is named FAMILY-HEAD or FAMILY-HEAD-DIFFERENCE, as in encoder_cases.py.
"""
END = 3  # the tokenizer's [SEP]
TEXT = dict(vocab_size=120, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=80, max_position_embeddings=40, projection_dim=20,
            layer_norm_eps=0.02, bos_token_id=2, eos_token_id=END, pad_token_id=0)
# Wider than the texts' layers, as published ones.
IMAGES = dict(hidden_size=64, num_hidden_layers=3, num_attention_heads=2, intermediate_size=96, image_size=48, patch_size=16, projection_dim=20, layer_norm_eps=0.02)

FAMILIES = {
    "clip": ("CLIP", dict(text_config=TEXT, vision_config=IMAGES, projection_dim=20), ["Model"]),
    "cliptext": ("CLIPText", TEXT, ["Model", "ModelWithProjection"]),
    "clipvision": ("CLIPVision", IMAGES, ["Model", "ModelWithProjection"]),
}
LEGACY = dict(eos_token_id=2)  # which is not what ends a text: the greatest token is taken
CHANGES = {
    "clip-Model-legacy": dict(text_config=TEXT | LEGACY),
    "clip-Model-bf16": dict(dtype="bf16"),
    "clip-Model-gelu": dict(text_config=TEXT | dict(hidden_act="gelu", pad_token_id=END), vision_config=IMAGES | dict(hidden_act="gelu", patch_size=8)),
    "cliptext-Model-legacy": LEGACY,
    "clipvision-Model-one-channel": dict(num_channels=1, hidden_act="relu"),
}
CASES = [f"{family}-{head}" for family, (_, _, heads) in FAMILIES.items() for head in heads] + list(CHANGES)


def configuration(name):
    """The beginning of the class's name of case `name`, the head, its configuration, and the type of its stored weights."""
    family, head = name.split("-")[:2]
    prefix, settings, _ = FAMILIES[family]
    settings = settings | CHANGES.get(name, {})
    return prefix, head, settings, settings.pop("dtype", "f32")
