# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of all kinds of pixels, and the image processors of `transformers` that they are tested with."""
import json

import numpy as np
from PIL import Image

LEGACY = dict(feature_extractor_type="CLIPFeatureExtractor", size=52, crop_size=48, resample=3, do_resize=True, do_center_crop=True, do_normalize=True,
              image_mean=[0.1, 0.2, 0.3], image_std=[0.4, 0.5, 0.6])
#: Processors whose images are 48 x 48: the class of transformers and its settings, or a file as earlier versions wrote it.
PROCESSORS = {
    "vit": ("ViT", dict(size={"height": 48, "width": 48})),
    "vit-lanczos": ("ViT", dict(size={"height": 48, "width": 48}, resample=1, image_mean=[0.2, 0.3, 0.4], image_std=[0.7, 0.8, 0.9])),
    "vit-nearest": ("ViT", dict(size={"height": 48, "width": 48}, resample=0, do_normalize=False)),
    "deit": ("DeiT", dict(size={"height": 56, "width": 60}, crop_size={"height": 48, "width": 48})),
    "deit-odd": ("DeiT", dict(size={"height": 57, "width": 61}, crop_size={"height": 48, "width": 48}, resample=5, do_rescale=False)),
    "clip": ("CLIP", dict(size={"shortest_edge": 52}, crop_size={"height": 48, "width": 48})),
    "clip-larger-crop": ("CLIP", dict(size={"shortest_edge": 37}, crop_size={"height": 48, "width": 48}, resample=2)),
    "clip-uncut": ("CLIP", dict(size={"height": 48, "width": 48}, do_center_crop=False, resample=4, rescale_factor=1 / 127.5)),
    "clip-unresized": ("CLIP", dict(do_resize=False, crop_size={"height": 48, "width": 48})),
    "siglip": ("Siglip", dict(size={"height": 48, "width": 48})),
    "legacy": ("CLIP", LEGACY),
}


def paint(height, width, channels, seed=0):
    """Bytes with smooth shapes, edges and noise."""
    y, x = np.mgrid[0:height, 0:width]
    shapes = np.stack([128 + 100 * np.sin(x / 7 + k) + 60 * ((x // 9 + y // 5) % 2) for k in range(channels)], -1)
    return np.clip(shapes + np.random.default_rng(seed).normal(0, 20, shapes.shape), 0, 255).astype(np.uint8)


def make_pictures(folder):
    """Pictures of each kind of pixel that PNG and JPEG have, of several proportions."""
    def save(picture, name, **options):
        picture.save(folder / name, **options)

    for number, (height, width) in enumerate([(40, 70), (64, 64), (133, 57)]):
        rgb = Image.fromarray(paint(height, width, 3, number))
        save(rgb, f"rgb-{number}.png")
        save(rgb, f"rgb-{number}.jpg", quality=85)
    turned = rgb.getexif()
    turned[0x112] = 6  # turned by 90 degrees
    save(rgb, "turned.jpg", exif=turned)
    save(rgb, "progressive.jpg", progressive=True, subsampling=0)
    save(rgb.convert("CMYK"), "inks.jpg")
    save(rgb.convert("L"), "grey.jpg")
    save(rgb.convert("L"), "grey.png")
    save(rgb.convert("1"), "bits.png")
    save(rgb.convert("L"), "grey-without-120.png", transparency=120)
    save(rgb.quantize(13), "palette.png")
    save(rgb.quantize(4), "palette-without-2.png", transparency=2)
    save(Image.fromarray(paint(50, 60, 4), "RGBA"), "alpha.png")
    save(Image.fromarray(paint(50, 60, 2), "LA"), "grey-alpha.png")
    save(Image.fromarray(paint(50, 60, 1)[..., 0].astype(np.uint16) * 3), "grey-16.png")
    return sorted(folder.iterdir())


def processor_of(name):
    import transformers

    prefix, settings = PROCESSORS[name]
    settings = {key: value for key, value in settings.items() if not key.endswith("_type")}
    return getattr(transformers, prefix + "ImageProcessorPil")(**settings, do_convert_rgb=True)


def save_processor(name, folder):
    if name == "legacy":
        (folder / "preprocessor_config.json").write_text(json.dumps(LEGACY))
    elif name == "siglip":  # as processors of texts and images write it
        processor_of(name).save_pretrained(folder)
        written = folder / "preprocessor_config.json"
        (folder / "processor_config.json").write_text(json.dumps({"image_processor": json.loads(written.read_text()), "processor_class": "SiglipProcessor"}))
        written.unlink()
    else:
        processor_of(name).save_pretrained(folder)


def checkpoint(source, folder, **files):
    """A copy of the checkpoint in `source` with other JSON files."""
    folder.mkdir()
    for path in source.iterdir():
        if path.stem not in files:
            (folder / path.name).symlink_to(path)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder
