# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random checkpoints of the encoders in encoder_cases.py, each with inputs and the outputs of `transformers` in f64.

usage: make_encoders.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/ as make_checkpoints.py does: input `right` has padding behind the texts, `left` before them, `alone` none. Models of sentences have their pooled
vectors in FOLDER/NAME/embedding-INPUT.npz. FOLDER/NAME-older has the same model with the configuration of an older version.
"""
import copy
import json
import pathlib
import shutil
import sys

import numpy as np
import torch
import transformers

from encoder_cases import CASES, OLDER, VOCABULARY, configuration
from make_checkpoints import randomise, save, word_pieces

LENGTHS = [21, 13, 2]


def make_inputs(config):
    padding = config.pad_token_id
    ids = np.random.default_rng(5).integers(6, VOCABULARY, (len(LENGTHS), max(LENGTHS)), dtype=np.int64)
    inputs = {}
    for side in ("right", "left"):
        mask = np.array([[1] * length + [0] * (max(LENGTHS) - length) for length in LENGTHS], dtype=np.int64)
        mask = mask[:, ::-1].copy() if side == "left" else mask
        inputs[side] = {"input_ids": np.where(mask, ids, padding), "attention_mask": mask}
    inputs["alone"] = {"input_ids": ids[:1, :9], "attention_mask": np.ones_like(ids[:1, :9])}
    if getattr(config, "type_vocab_size", 0) > 1:
        for arrays in inputs.values():
            arrays["token_type_ids"] = np.broadcast_to(np.arange(arrays["input_ids"].shape[1]) >= 6, arrays["input_ids"].shape).astype(np.int64)
    return inputs


def reference(folder, kind, inputs):
    """Read back what was stored: this model's buffers went through `to(dtype)` as well."""
    model = kind.from_pretrained(folder / "model", dtype=torch.float64).eval()
    for name, arrays in inputs.items():
        np.savez(folder / f"inputs-{name}.npz", **arrays)
        with torch.no_grad():
            out = model(**{key: torch.from_numpy(array) for key, array in arrays.items()})
        np.savez(folder / f"reference-{name}.npz", **{key: value.numpy() for key, value in out.items() if isinstance(value, torch.Tensor)})


def make_sentences(folder, pooling, hidden, inputs):
    """Pooling and scaling to length one, as sentence-transformers does them."""
    model = folder / "model"
    (model / "modules.json").write_text(json.dumps([
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
        {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]))
    (model / "1_Pooling").mkdir()
    (model / "1_Pooling" / "config.json").write_text(json.dumps(
        {"word_embedding_dimension": hidden, "pooling_mode_cls_token": pooling == "cls", "pooling_mode_mean_tokens": pooling == "mean"}))
    for name, arrays in inputs.items():
        states, mask = np.load(folder / f"reference-{name}.npz")["last_hidden_state"], arrays["attention_mask"][..., None]
        # What stands first is the first word.
        pooled = states[np.arange(len(mask)), mask[..., 0].argmax(1)] if pooling == "cls" else (states * mask).sum(1) / mask.sum(1)
        np.savez(folder / f"embedding-{name}.npz", embedding=pooled / np.linalg.norm(pooled, axis=-1, keepdims=True))


def make_older(out, name):
    """The configuration as versions of `transformers` before 5 described the model, and what is stored with well-known checkpoints besides."""
    folder = out / f"{name}-older"
    shutil.copytree(out / name, folder)
    path = folder / "model" / "config.json"
    config = json.loads(path.read_text())
    config["torch_dtype"] = config.pop("dtype")
    family = name.partition("-")[0]
    if family == "modernbert":
        ropes = config.pop("rope_parameters")
        config.pop("layer_types")
        config.update(global_rope_theta=ropes["full_attention"]["rope_theta"], local_rope_theta=ropes["sliding_attention"]["rope_theta"], global_attn_every_n_layers=3,
                      layer_norm_eps=1e-5, position_embedding_type="absolute", reference_compile=None, repad_logits_with_grad=False, gradient_checkpointing=False)
    elif family == "distilbert":
        config.update(tie_weights_=True, output_past=True)
    elif family == "bert":
        config.update(directionality="bidi", pooler_fc_size=768, pooler_num_attention_heads=12, pooler_num_fc_layers=3, pooler_size_per_head=128,
                      pooler_type="first_token_transform", position_embedding_type="absolute", gradient_checkpointing=False)
    elif family == "albert":
        config.update(net_structure_type=0, gap_size=0, num_memory_blocks=0, down_scale_factor=1)
    path.write_text(json.dumps(config, indent=2))
    # What it means now.
    kind = transformers.AutoModelForMaskedLM if "MaskedLM" in name else transformers.AutoModel
    both = [kind.from_pretrained(where / "model", dtype=torch.float64).eval() for where in (folder, out / name)]
    ids = torch.from_numpy(np.load(folder / "inputs-right.npz")["input_ids"])
    with torch.no_grad():
        assert torch.equal(*(model(input_ids=ids)[0] for model in both)), folder.name


def make(out, name):
    prefix, head, settings, dtype, pooling = configuration(name)
    config = getattr(transformers, prefix + "Config")(**copy.deepcopy(settings))
    kind = getattr(transformers, prefix + head)
    model = randomise(kind(config), sum(map(ord, name)))
    word_pieces().save(str(save(out / name, model, dtype) / "tokenizer.json"))
    inputs = make_inputs(config)
    reference(out / name, getattr(transformers, prefix + "Model") if pooling else kind, inputs)
    if pooling:
        make_sentences(out / name, pooling, config.hidden_size, inputs)


def main():
    out = pathlib.Path(sys.argv[1])
    for name in CASES:
        make(out, name)
        if name in OLDER:
            make_older(out, name)


if __name__ == "__main__":
    main()
