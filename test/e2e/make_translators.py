# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random checkpoints of the encoder-decoders in translator_cases.py, each with inputs and the outputs of `transformers` in f64.

usage: make_translators.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/model/, inputs-K.npz and reference-K.npz as make_checkpoints.py does, and FOLDER/NAME/translated.json: what `generate` of `transformers` makes
of the texts, greedily and by each search. Weights are drawn anew until little noise on the logits changes none of the texts, and until how a search ends matters.
FOLDER/NAME-older has the same model with the configuration of an older version.
"""
import itertools
import json
import pathlib
import shutil
import sys

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer

from make_checkpoints import randomise, save, token_ids
from translator_cases import CASES, END, NEW_TOKENS, OLDER, START, TEXTS, THOROUGH, configuration, family_of, searches

NOISE, GAP = 5e-5, 1e-4
BELOW = [0.5, 1.0]  # what the logits of ends are less than the greatest
EARLY = {"no": False, "yes": True, "never": "never"}


def padded(lengths, width, left):
    """A mask of texts that are shorter than the width."""
    places = np.arange(width)
    return np.stack([places >= width - length if left else places < length for length in lengths]).astype(np.int64)


INPUTS = [{"input_ids": token_ids(9, 2, 13), "attention_mask": padded([13, 8], 13, left=False), "decoder_input_ids": token_ids(10, 2, 9)},
          {"input_ids": token_ids(11, 2, 40), "attention_mask": padded([40, 29], 40, left=True), "decoder_input_ids": token_ids(12, 2, 25)}]


def make_model(name, seed):
    kind, settings, _, ends, suppressed = configuration(name)
    model = getattr(transformers, kind)(getattr(transformers, kind).config_class(**settings)).eval()
    t5, width = family_of(name) in ("t5", "mt5"), settings["d_model"]
    if settings.get("tie_word_embeddings") is False:
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone())
    sinusoids = {name: parameter.clone() for name, parameter in model.named_parameters() if not parameter.requires_grad}
    randomise(model, seed)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name in sinusoids:
                parameter.copy_(sinusoids[name])
            elif name.endswith(".q.weight"):
                parameter.mul_(0.4)  # T5 does not scale scores
            elif ".encoder_attn.out_proj." in name:
                parameter.mul_(0.5)  # or what is written hangs on the source only
            elif name.endswith("shared.weight") or name == "lm_head.weight":
                # Logits that tell some tokens from the others.
                parameter.mul_(2.5 * (width**0.5 if t5 and name == "shared.weight" and getattr(model.config, "scale_decoder_outputs", False) else 1))
        # Signs at random, or a model whose embeddings are tied repeats its last token.
        norm = model.decoder.final_layer_norm if t5 else getattr(model.model.decoder, "layer_norm", None) or model.model.decoder.layers[-1].final_layer_norm
        norm.weight.mul_(torch.randint(0, 2, norm.weight.shape, generator=generator) * 2 - 1)
        if not t5:
            model.final_logits_bias.copy_(0.3 * torch.randn(model.final_logits_bias.shape, generator=generator))
        for token, below in [*zip(ends, BELOW), *((token, 0) for token in suppressed)]:
            make_likely(model, token, below)
    model.generation_config = transformers.GenerationConfig(
        decoder_start_token_id=START, eos_token_id=ends if len(ends) > 1 else END, pad_token_id=START, bad_words_ids=[[token] for token in suppressed] or None)
    return model


def make_likely(model, token, below):
    """Brings a token's logit near those of the likeliest, wherever in a text."""
    states, logits = [], []
    head = model.get_output_embeddings()
    hook = head.register_forward_pre_hook(lambda _, given: states.append(given[0]))
    for inputs in INPUTS:
        logits.append(model(**{key: torch.from_numpy(array) for key, array in inputs.items()}).logits)
    hook.remove()
    states, wanted = torch.cat([state.flatten(0, 1) for state in states]), torch.cat([value.flatten(0, 1) for value in logits]).max(-1).values - below
    if hasattr(model, "final_logits_bias"):
        head.weight[token] = 0
        model.final_logits_bias[0, token] = wanted.median()
    else:
        square = states.T @ states
        head.weight[token] = torch.linalg.solve(square + 0.02 * square.trace() / len(square) * torch.eye(len(square)), states.T @ wanted)


class Noise(transformers.LogitsProcessor):
    def __init__(self):
        self.generator = torch.Generator().manual_seed(0)

    def __call__(self, _, scores):
        return scores + NOISE * (2 * torch.rand(scores.shape, generator=self.generator) - 1)


def found(model, tokens, score):
    ended = tokens[-1] in np.atleast_1d(model.generation_config.eos_token_id)
    return {"tokens": tokens[:-1] if ended else tokens, "score": score, "ended": bool(ended)}


def generate(model, ids, options, noisy):
    ids = torch.tensor([ids])
    config = transformers.GenerationConfig(do_sample=False, return_dict_in_generate=True, output_scores=True, output_logits=True, **options)
    with torch.no_grad():
        return model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), generation_config=config,
                              logits_processor=transformers.LogitsProcessorList([Noise()] if noisy else []))


def greedy(model, ids, noisy=False):
    out = generate(model, ids, {"max_new_tokens": NEW_TOKENS}, noisy)
    tokens = out.sequences[0, 1:].tolist()
    logs = [float(torch.log_softmax(logits[0], -1)[token]) for logits, token in zip(out.logits, tokens)]
    return found(model, tokens, sum(logs) / len(logs))


def beams(model, ids, search, noisy=False):
    """All texts that are finished."""
    out = generate(model, ids, {"max_new_tokens": search["tokens"], "num_beams": search["beams"], "num_return_sequences": search["beams"],
                                "length_penalty": search["penalty"], "early_stopping": EARLY[search["stopping"]]}, noisy)
    lengths = (out.beam_indices >= 0).sum(-1).tolist()
    return [found(model, row[1:1 + length].tolist(), float(score)) for row, length, score in zip(out.sequences, lengths, out.sequences_scores)]


def tokens_of(texts):
    return [(text["tokens"], text["ended"]) for text in texts]


def translate(folder, name):
    """Writes the texts; false if they say too little or hang on rounding."""
    model = getattr(transformers, configuration(name)[0]).from_pretrained(folder / "model", dtype=torch.float64).eval()
    tokenizer = Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    sources = [tokenizer.encode(text).ids for text in TEXTS]
    written = [greedy(model, ids) for ids in sources]
    record = []
    for search in searches(name):
        texts = [beams(model, ids, search) for ids in sources]
        if any(min(-np.diff([text["score"] for text in found[:search["best"] + 1]]), default=1) < GAP for found in texts):
            return False
        record.append({"search": search, "texts": [found[:search["best"]] for found in texts]})
    if not tells_much(written, record, thorough=name in THOROUGH):
        return False
    for number, ids in enumerate(sources):
        if tokens_of([greedy(model, ids, noisy=True)]) != tokens_of([written[number]]):
            return False
        for one in record:
            if tokens_of(beams(model, ids, one["search"], noisy=True)[:one["search"]["best"]]) != tokens_of(one["texts"][number]):
                return False
    (folder / "translated.json").write_text(json.dumps({"greedy": written, "beams": record}))
    return True


def tells_much(written, record, thorough):
    if written[0]["tokens"] == written[1]["tokens"]:
        return False
    every = [text for one in record for found in one["texts"] for text in found]
    result = {(one["search"]["penalty"], one["search"]["stopping"]): [tokens_of(found) for found in one["texts"]] for one in record
              if one["search"]["beams"] == 4 and one["search"]["tokens"] == NEW_TOKENS}
    if len({len(text["tokens"]) for text in every if text["ended"]}) < 3 or len({token for text in every for token in text["tokens"]}) < NEW_TOKENS // 2:
        return False
    if not thorough:
        return len({str(texts) for texts in result.values()}) > 1
    # With one penalty or another each way to end is different from each other, and so are penalties that favour longer and shorter texts.
    ways, penalties = (list(dict.fromkeys(keys)) for keys in zip(*((stopping, penalty) for penalty, stopping in result)))
    return (all(any(result[p, a] != result[p, b] for p in penalties) for a, b in itertools.combinations(ways, 2))
            and all(result[p, "no"] != result[q, "no"] for p, q in [(2.0, 1.0), (1.0, 0.0)]))


def reference(folder, name):
    model = getattr(transformers, configuration(name)[0]).from_pretrained(folder / "model", dtype=torch.float64).eval()
    for number, arrays in enumerate(INPUTS):
        np.savez(folder / f"inputs-{number}.npz", **arrays)
        with torch.no_grad():
            out = model(**{key: torch.from_numpy(array) for key, array in arrays.items()}, use_cache=False)
        np.savez(folder / f"reference-{number}.npz", logits=out.logits.numpy(), encoder_last_hidden_state=out.encoder_last_hidden_state.numpy())


# What well-known checkpoints say besides, without effect on the numbers.
WRITTEN = {"add_bias_logits": False, "classif_dropout": 0.0, "gradient_checkpointing": False, "max_length": 62, "num_beams": 4, "num_hidden_layers": 2,
           "static_position_embeddings": False, "extra_pos_embeddings": 2, "_num_labels": 3, "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}
BESIDES = {
    "marian": WRITTEN | {"add_final_layer_norm": False, "normalize_before": False, "normalize_embedding": False, "static_position_embeddings": True,
                         "_name_or_path": "/tmp/Helsinki-NLP/opus-mt-de-en", "forced_eos_token_id": 1},
    "bart": WRITTEN | {"add_final_layer_norm": False, "normalize_before": False, "normalize_embedding": True, "early_stopping": True, "length_penalty": 2.0,
                       "min_length": 56, "no_repeat_ngram_size": 3, "force_bos_token_to_be_generated": False, "forced_eos_token_id": 1, "output_past": True,
                       "prefix": " ", "save_step": 12, "task_specific_params": {"summarization": {"early_stopping": True, "length_penalty": 2.0}}},
    "mbart": WRITTEN | {"add_final_layer_norm": True, "normalize_before": True, "normalize_embedding": True, "early_stopping": True, "forced_eos_token_id": 1,
                        "output_past": True, "tokenizer_class": "MBart50Tokenizer", "task_specific_params": {"translation_en_to_ro": {"decoder_start_token_id": 3}}},
    "pegasus": WRITTEN | {"add_final_layer_norm": True, "normalize_before": True, "normalize_embedding": False, "static_position_embeddings": True,
                          "extra_pos_embeddings": 1, "force_bos_token_to_be_generated": False, "forced_eos_token_id": 1, "length_penalty": 0.6,
                          "task_specific_params": {"summarization_xsum": {"length_penalty": 0.6, "max_length": 64}}},
    "blenderbot": WRITTEN | {"add_final_layer_norm": True, "normalize_before": True, "normalize_embedding": False, "do_blenderbot_90_layernorm": True,
                             "encoder_no_repeat_ngram_size": 3, "extra_layer_norm": False, "extra_pos_embeddings": 0, "force_bos_token_to_be_generated": False,
                             "forced_eos_token_id": 1, "layernorm_variant": "prelayernorm", "length_penalty": 0.65, "min_length": 20, "no_repeat_ngram_size": 3,
                             "unk_token_id": 3},
    "t5": {"n_positions": 512, "output_past": True, "architectures": ["T5WithLMHeadModel"], "task_specific_params": {"summarization": {"prefix": "summarize: "}},
           "_name_or_path": "flan-t5", "gradient_checkpointing": False},
}


def make_older(out, name):
    """The same model as versions of `transformers` before 5, and what is stored with checkpoints, described it."""
    folder = out / f"{name}-older"
    shutil.copytree(out / name, folder)
    path = folder / "model" / "config.json"
    config = json.loads(path.read_text())
    config["torch_dtype"] = config.pop("dtype")
    if family_of(name) in ("t5", "mt5"):
        scaled = config.pop("scale_decoder_outputs", False)
        for key in ["tie_word_embeddings", "dense_act_fn", "is_gated_act", "classifier_dropout"]:
            config.pop(key)
        config |= {} if scaled else {"tie_word_embeddings": False}
    else:
        for key in ["tie_word_embeddings", "share_encoder_decoder_embeddings", "decoder_vocab_size"]:
            config.pop(key, None)
    config |= BESIDES[family_of(name)]
    path.write_text(json.dumps(config, indent=2))
    # What it means now.
    models = [getattr(transformers, configuration(name)[0]).from_pretrained(out / folder / "model", dtype=torch.float64) for folder in (name, folder.name)]
    with torch.no_grad():
        for inputs in INPUTS:
            was, now = (model(**{key: torch.from_numpy(array) for key, array in inputs.items()}).logits for model in models)
            assert torch.equal(was, now), folder.name


def write_tokenizer(source, path):
    """Texts end with the end token instead of beginning with the first one."""
    tokenizer = json.loads(source.read_text())
    tokenizer["post_processor"]["single"] = [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}]
    tokenizer["post_processor"]["special_tokens"] = {"</s>": {"id": "</s>", "ids": [END], "tokens": ["</s>"]}}
    path.write_text(json.dumps(tokenizer))


def make(out, name, tokenizer):
    first = sum(map(ord, name))
    for seed in range(first, first + 100):
        write_tokenizer(tokenizer, save(out / name, make_model(name, seed), configuration(name)[2]) / "tokenizer.json")
        if translate(out / name, name):
            return reference(out / name, name)
        shutil.rmtree(out / name)
    raise AssertionError(f"{name}: no seed gives texts that tell much")


def main():
    out, shakespeare = map(pathlib.Path, sys.argv[1:3])
    torch.set_num_threads(1)  # so small that a second one only waits
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in CASES:
        make(out, name, shakespeare / "tokenizer.json")
        if name in OLDER:
            make_older(out, name)


if __name__ == "__main__":
    main()
