# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random checkpoints with `transformers`, each with inputs and that package's own outputs in f64.

usage: make_checkpoints.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/model/ (the checkpoint), FOLDER/NAME/inputs-K.npz and FOLDER/NAME/reference-K.npz, K = 0, 1, ... Weights are drawn wide enough that attention is far from uniform, and no bias or
norm is left at its neutral value, so that a forgotten one shows. Stored bf16 and f16 weights are widened before the reference is computed, as Fovea does.
"""
import copy
import json
import pathlib
import shutil
import sys

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

VOCABULARY = 2048  # the Shakespeare tokenizer's, which the decoders borrow
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}


def randomise(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.dim() == 1:
                parameter.copy_((1 if "norm" in name.lower() or "ln_" in name else 0) * (0 if name.endswith("bias") else 1) + 0.2 * noise)
            elif "embed" in name or "wte" in name or "wpe" in name:
                parameter.copy_(0.5 * noise)
            else:
                fan_in = parameter.shape[0] if "c_" in name else parameter.shape[-1]
                parameter.copy_(1.3 * noise / fan_in**0.5)
    return model


def save(folder, model, dtype="f32", shard=None):
    checkpoint = folder / "model"
    checkpoint.mkdir(parents=True)
    model.to(DTYPES[dtype])
    model.save_pretrained(checkpoint, **({"max_shard_size": shard} if shard else {}))
    if shard:
        assert len(list(checkpoint.glob("*.safetensors"))) > 1
    return checkpoint


def load(folder, model):
    """What was stored, in f64: the buffers of `model` went through `to(dtype)` as well. Experts one by one, which torch multiplies together only in f32."""
    return type(model).from_pretrained(folder / "model", dtype=torch.float64, experts_implementation="eager").eval()


def reference(folder, model, inputs):
    model = load(folder, model)
    for number, arrays in enumerate(inputs):
        np.savez(folder / f"inputs-{number}.npz", **arrays)
        with torch.no_grad():
            out = model(**{name: torch.from_numpy(array) for name, array in arrays.items()})
        name = "logits" if hasattr(out, "logits") else "last_hidden_state"
        np.savez(folder / f"reference-{number}.npz", **{name: getattr(out, name).numpy()})


def token_ids(seed, *shape):
    return np.random.default_rng(seed).integers(2, VOCABULARY, shape, dtype=np.int64)


# Llama ---------------------------------------------------------------------------------------------------------------------------------------------------

LONGROPE = {"short_factor": [1.0 + 0.1 * i for i in range(8)], "long_factor": [1.5 + 0.7 * i for i in range(8)]}
ROPES = {
    "default": {"rope_type": "default"},
    "linear": {"rope_type": "linear", "factor": 4.0},
    "dynamic": {"rope_type": "dynamic", "factor": 4.0},
    "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32, "beta_fast": 16.0, "beta_slow": 2.0},
    "yarn-scaled": {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 32, "attention_factor": 1.25},
    "longrope": {"rope_type": "longrope", "original_max_position_embeddings": 32, "factor": 4.0, **LONGROPE},
    "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32},
}


def llama(**changes):
    settings = dict(vocab_size=VOCABULARY, hidden_size=48, intermediate_size=80, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, head_dim=16,
                    max_position_embeddings=128, rope_parameters={"rope_theta": 10000.0, "rope_type": "default"}, tie_word_embeddings=False,
                    bos_token_id=0, eos_token_id=1, rms_norm_eps=1e-5)
    settings.update(changes)
    return LlamaForCausalLM(LlamaConfig(**settings))


def older_config(checkpoint, rope):
    """The same model as the versions of transformers before 5 described it."""
    path = checkpoint / "config.json"
    config = json.loads(path.read_text())
    config["torch_dtype"] = config.pop("dtype")
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    scaling = {key: value for key, value in rope.items() if key != "rope_theta"}
    if rope["rope_type"] in ("linear", "dynamic"):
        scaling["type"] = scaling.pop("rope_type")  # the oldest spelling
    config["rope_scaling"] = None if rope["rope_type"] == "default" else scaling
    path.write_text(json.dumps(config, indent=2))


def make_llamas(out, tokenizer):
    # Lengths on both sides of the 32 positions that scaled kinds were trained on.
    inputs = [{"input_ids": token_ids(1, 2, 21)}, {"input_ids": token_ids(2, 1, 50)}]

    def one(name, dtype="f32", shard=None, **changes):
        model = randomise(llama(**changes), sum(map(ord, name)))
        checkpoint = save(out / name, model, dtype, shard)
        shutil.copy(tokenizer, checkpoint)
        reference(out / name, model, inputs)

    for kind, rope in ROPES.items():
        rope = {"rope_theta": 500.0, **rope}
        limits = {"max_position_embeddings": 32 if kind == "dynamic" else 128}
        one(f"llama-rope-{kind}", rope_parameters=copy.deepcopy(rope), **limits)
        older = out / f"llama-rope-{kind}-older"
        shutil.copytree(out / f"llama-rope-{kind}", older)
        older_config(older / "model", rope)
    one("llama-tied", tie_word_embeddings=True)
    one("llama-biases", attention_bias=True, mlp_bias=True)
    one("llama-attention-bias", attention_bias=True)
    one("llama-one-kv-head", num_key_value_heads=1)
    one("llama-ungrouped", num_key_value_heads=4)
    one("llama-odd-head", num_attention_heads=3, num_key_value_heads=3, head_dim=10)
    one("llama-gelu", hidden_act="gelu_pytorch_tanh")
    one("llama-tensor-parallel", pretraining_tp=2)
    one("llama-f16", dtype="f16")
    one("llama-bf16", dtype="bf16")
    one("llama-sharded", shard="60KB")
    one("llama-sharded-bf16-tied", dtype="bf16", shard="60KB", tie_word_embeddings=True)


# GPT-2 ---------------------------------------------------------------------------------------------------------------------------------------------------


def make_gpt2s(out, tokenizer):
    inputs = [{"input_ids": token_ids(3, 2, 17)}, {"input_ids": token_ids(4, 1, 40)}]

    def one(name, dtype="f32", shard=None, **changes):
        settings = dict(vocab_size=VOCABULARY, n_positions=64, n_embd=48, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1)
        settings.update(changes)
        model = randomise(GPT2LMHeadModel(GPT2Config(**settings)), sum(map(ord, name)))
        checkpoint = save(out / name, model, dtype, shard)
        shutil.copy(tokenizer, checkpoint)
        reference(out / name, model, inputs)

    one("gpt2")
    one("gpt2-relu-inner", n_inner=72, activation_function="relu")
    one("gpt2-layer-scale", scale_attn_by_inverse_layer_idx=True)
    one("gpt2-unscaled", scale_attn_weights=False)
    one("gpt2-bf16", dtype="bf16")
    one("gpt2-sharded", shard="60KB")


# BERT ----------------------------------------------------------------------------------------------------------------------------------------------------


def word_pieces():
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] + [chr(c) for c in range(ord("a"), ord("z") + 1)] + ["##" + chr(c) for c in range(ord("a"), ord("z") + 1)]
    words += ["the", "king", "speak", "##ing", "of", "night", ".", ","]
    tokenizer = Tokenizer(models.WordPiece({word: number for number, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    tokenizer.add_special_tokens(words[:5])
    return tokenizer


def make_berts(out):
    ids = token_ids(5, 3, 19) % 120
    mask = np.ones_like(ids)
    mask[1, 11:] = 0
    mask[2, 1:] = 0
    types = (np.arange(19) >= 8).astype(np.int64)[None].repeat(3, 0)
    inputs = [{"input_ids": ids, "attention_mask": mask, "token_type_ids": types},
              {"input_ids": ids[:1, :7], "attention_mask": mask[:1, :7], "token_type_ids": types[:1, :7]}]

    def one(name, dtype="f32", shard=None, pooling=None, **changes):
        settings = dict(vocab_size=120, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=80, max_position_embeddings=64, type_vocab_size=2)
        settings.update(changes)
        model = randomise(BertModel(BertConfig(**settings)), sum(map(ord, name)))
        checkpoint = save(out / name, model, dtype, shard)
        word_pieces().save(str(checkpoint / "tokenizer.json"))
        reference(out / name, model, inputs)
        if pooling:
            sentence_embedding(out / name, pooling, inputs)

    one("bert")
    one("bert-relu", hidden_act="relu")
    one("bert-gelu-new", hidden_act="gelu_new", layer_norm_eps=1e-5)
    one("bert-f16", dtype="f16")
    one("bert-sharded", shard="30KB")
    for kind in ["mean", "cls", "mean-normalised"]:
        one(f"bert-pool-{kind}", pooling=kind)


def sentence_embedding(folder, pooling, inputs):
    """Adds what sentence-transformers writes, and the embeddings it would give."""
    checkpoint = folder / "model"
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")] + ([("2_Normalize", "Normalize")] if pooling.endswith("normalised") else [])
    (checkpoint / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"} for i, (path, kind) in enumerate(modules)]))
    (checkpoint / "1_Pooling").mkdir()
    kinds = {"pooling_mode_cls_token": pooling == "cls", "pooling_mode_mean_tokens": pooling.startswith("mean"), "pooling_mode_max_tokens": False,
             "pooling_mode_mean_sqrt_len_tokens": False}
    (checkpoint / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": 48, **kinds}))
    (checkpoint / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 64, "do_lower_case": False}))
    for number, arrays in enumerate(inputs):
        states = np.load(folder / f"reference-{number}.npz")["last_hidden_state"]
        mask = arrays["attention_mask"][..., None]
        pooled = states[:, 0] if pooling == "cls" else (states * mask).sum(1) / mask.sum(1)
        if pooling.endswith("normalised"):
            pooled /= np.linalg.norm(pooled, axis=-1, keepdims=True)
        np.savez(folder / f"embedding-{number}.npz", embedding=pooled)


# Depth: the same layers four and thirty-two times ----------------------------------------------------------------------------------------------------------


def make_depths(out, tokenizer):
    for layers in [4, 32]:
        model = randomise(llama(num_hidden_layers=layers), 7)
        checkpoint = save(out / f"depth-{layers}", model)
        shutil.copy(tokenizer, checkpoint)
        reference(out / f"depth-{layers}", model, [{"input_ids": token_ids(6, 1, 9)}])


def main():
    out, shakespeare = map(pathlib.Path, sys.argv[1:3])
    tokenizer = shakespeare / "tokenizer.json"
    make_llamas(out, tokenizer)
    make_gpt2s(out, tokenizer)
    make_berts(out)
    make_depths(out, tokenizer)


if __name__ == "__main__":
    main()
