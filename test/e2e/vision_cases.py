# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Families of `transformers` that read images, their heads, and the configurations in which they are tested: tiny, with every option far from where it has no effect.

A case is named FAMILY-HEAD or FAMILY-HEAD-DIFFERENCE, as in encoder_cases.py.
"""
# Patches as large as published ones, few of them.
SIZES = dict(hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=80, image_size=48, patch_size=16, layer_norm_eps=0.02)
LABELS = {"id2label": {number: name for number, name in enumerate(["none", "some", "many"])}}

FAMILIES = {
    "vit": ("ViT", SIZES, ["Model", "ForImageClassification"]),
    "deit": ("DeiT", SIZES, ["Model", "ForImageClassification"]),
}
CHANGES = {
    "vit-Model-one-channel": dict(num_channels=1, qkv_bias=False),
    "vit-ForImageClassification-bf16": dict(dtype="bf16"),
    "vit-ForImageClassification-relu": dict(hidden_act="relu", image_size=(64, 32)),
    "deit-Model-small-patches": dict(patch_size=4, image_size=12),
}
CASES = [f"{family}-{head}" for family, (_, _, heads) in FAMILIES.items() for head in heads] + list(CHANGES)


def configuration(name):
    """The beginning of the class's name of case `name`, the head, its configuration, and the type of its stored weights."""
    family, head = name.split("-")[:2]
    prefix, settings, _ = FAMILIES[family]
    settings = settings | (LABELS if head.endswith("Classification") else {}) | CHANGES.get(name, {})
    return prefix, head, settings, settings.pop("dtype", "f32")
