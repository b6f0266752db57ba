# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes tiny random checkpoints of the models in speech_cases.py, each with sound and the outputs of `transformers` in f64.

usage: make_speech.py FOLDER SHAKESPEARE_MODEL

Writes FOLDER/NAME/ as make_checkpoints.py does, with inputs.npz (`samples`, `decoder_input_ids`), reference.npz, and written.json: what `generate` makes of each
clip, greedily in the likeliest language and in each by each task, and by beam search. Weights are drawn anew until little noise on the logits changes none of the
texts.
"""
import json
import pathlib
import shutil
import sys

import numpy as np
import torch
import transformers

from make_checkpoints import randomise, save, token_ids
from make_translators import Noise
from speech_cases import CASES, END, LANGUAGES, NEW_TOKENS, PLAIN, SEARCHES, START, SUPPRESSED, TASKS, configuration


def make_samples(extractor):
    """Tones that rise and fall in noise: two clips, of which the second ends early."""
    random = np.random.default_rng(3)
    count = extractor["sampling_rate"] * extractor["chunk_length"]
    time = np.arange(count) / extractor["sampling_rate"]
    clips = [0.4 * np.sin(2 * np.pi * (300 + 900 * time) * time), 0.3 * np.sin(2 * np.pi * 700 * time) * np.sin(9 * time)]
    clips = np.stack(clips) + 0.05 * random.standard_normal((2, count))
    clips[1, count * 5 // 8:] = 0
    return clips.astype(np.float32)


def make_generation(english):
    rules = {"decoder_start_token_id": START, "eos_token_id": END, "pad_token_id": 0, "suppress_tokens": SUPPRESSED, "begin_suppress_tokens": [END, 5],
             "no_timestamps_token_id": PLAIN, "is_multilingual": not english, "max_length": 64}
    if not english:
        rules |= {"lang_to_id": {f"<|{name}|>": token for name, token in LANGUAGES.items()}, "task_to_id": TASKS}
    return transformers.GenerationConfig(**rules)


def features(extractor, samples):
    extract = transformers.WhisperFeatureExtractor(**extractor)
    return torch.from_numpy(np.stack([extract(clip, sampling_rate=extract.sampling_rate, return_tensors="np").input_features[0] for clip in samples])).double()


def make_model(name, seed):
    prefix, settings, extractor, _, english = configuration(name)
    config = getattr(transformers, prefix + "Config")(**settings)
    model = randomise(getattr(transformers, prefix + "ForConditionalGeneration")(config), seed).eval()
    with torch.no_grad():
        for conv in (model.model.encoder.conv1, model.model.encoder.conv2):
            conv.weight.mul_(conv.weight.shape[1] ** -0.5)
        for layer in model.model.decoder.layers:
            layer.encoder_attn.out_proj.weight.mul_(2)
        model.proj_out.weight.mul_(2.5)
        # Signs at random, or a model whose embeddings are tied repeats its last token.
        norm = model.model.decoder.layer_norm
        norm.weight.mul_(torch.randint(0, 2, norm.weight.shape, generator=torch.Generator().manual_seed(seed)) * 2 - 1)
        make_end_likely(model, features(extractor, make_samples(extractor)).float(), seed)
    model.generation_config = make_generation(english)
    return model


def make_end_likely(model, inputs, seed):
    """Brings the end's logit near those of the likeliest, wherever in a text."""
    ids = torch.from_numpy(token_ids(seed, len(inputs), 40))
    states = model.model(input_features=inputs, decoder_input_ids=ids).last_hidden_state.flatten(0, 1)
    wanted = model.proj_out(states).max(-1).values - 0.5
    square = states.T @ states
    model.proj_out.weight[END] = torch.linalg.solve(square + 0.02 * square.trace() / len(square) * torch.eye(len(square)), states.T @ wanted)


def load(folder, name):
    """What was stored, in f64."""
    return getattr(transformers, configuration(name)[0] + "ForConditionalGeneration").from_pretrained(folder / "model", dtype=torch.float64).eval()


def without_end(tokens):
    return tokens[:tokens.index(END)] if END in tokens else tokens


def search(model, inputs, prompt, noisy=False, **options):
    """The text behind `prompt`, by the search of all models."""
    ids = torch.tensor([prompt])
    out = transformers.GenerationMixin.generate(
        model, inputs, decoder_input_ids=ids, do_sample=False, max_new_tokens=NEW_TOKENS,
        generation_config=transformers.GenerationConfig(eos_token_id=END, pad_token_id=0, suppress_tokens=SUPPRESSED, begin_suppress_tokens=[END, 5], **options),
        logits_processor=transformers.LogitsProcessorList([Noise()] if noisy else []))
    return without_end(out[0, len(prompt):].tolist())


def likeliest(model, inputs):
    """By the model's own means: the language, and how far its logit is from the next."""
    language = int(model.detect_language(input_features=inputs, generation_config=model.generation_config)[0])
    logits = model(input_features=inputs, decoder_input_ids=torch.tensor([[START]])).logits[0, -1, list(LANGUAGES.values())]
    first, second = torch.sort(logits, descending=True).values[:2]
    return next(name for name, token in LANGUAGES.items() if token == language), float(first - second)


def heard_by_whisper(model, inputs, language, task):
    """Greedily, by the family's own `generate`, which puts the prompt before the text itself."""
    options = {} if language is None else {"language": language, "task": task}
    tokens = model.generate(inputs, do_sample=False, max_new_tokens=NEW_TOKENS, **options)[0].tolist()
    while tokens and tokens[0] in SUPPRESSED:
        tokens.pop(0)
    return without_end(tokens)


def write(folder, name, samples):
    """What is written of each clip; None if the texts say too little or hang on rounding."""
    _, _, extractor, _, english = configuration(name)
    model, record = load(folder, name), []
    for inputs in features(extractor, samples):
        inputs = inputs[None]
        language, margin = (None, 1) if english else likeliest(model, inputs)
        chosen = {"language": language, "greedy": {}, "beams": []}
        for spoken, task in [(None, None)] if english else [(spoken, task) for spoken in LANGUAGES for task in TASKS]:
            prompt = [START, *([] if english else [LANGUAGES[spoken], TASKS[task]]), PLAIN]
            text = search(model, inputs, prompt)
            assert heard_by_whisper(model, inputs, spoken, task) == text
            if margin < 1e-3 or search(model, inputs, prompt, noisy=True) != text:
                return None
            chosen["greedy"]["" if english else f"{spoken} {task}"] = text
        prompt = [START, *([] if english else [LANGUAGES[language], TASKS["transcribe"]]), PLAIN]
        for options in SEARCHES:
            text = search(model, inputs, prompt, **options)
            if search(model, inputs, prompt, noisy=True, **options) != text:
                return None
            chosen["beams"].append(text)
        record.append(chosen)
    texts = [text for chosen in record for text in chosen["greedy"].values()]
    differ = record[0]["greedy"] != record[1]["greedy"] and (english or len(set(map(str, record[0]["greedy"].values()))) > 3)
    ends = any(len(text) < NEW_TOKENS for text in texts)
    searched = any(chosen["beams"][0] != chosen["greedy"]["" if english else f"{chosen['language']} transcribe"] for chosen in record)
    return record if differ and ends and searched and all(texts) else None


def reference(folder, name, samples):
    extractor = configuration(name)[2]
    ids = token_ids(6, 2, 9)
    np.savez(folder / "inputs.npz", samples=samples, decoder_input_ids=ids)
    with torch.no_grad():
        out = load(folder, name)(input_features=features(extractor, samples), decoder_input_ids=torch.from_numpy(ids), use_cache=False)
    np.savez(folder / "reference.npz", logits=out.logits.numpy(), encoder_last_hidden_state=out.encoder_last_hidden_state.numpy())


def make(out, name, tokenizer):
    extractor = configuration(name)[2]
    samples = make_samples(extractor)
    first = sum(map(ord, name))
    for seed in range(first, first + 100):
        checkpoint = save(out / name, make_model(name, seed), configuration(name)[3])
        shutil.copy(tokenizer, checkpoint)
        transformers.WhisperFeatureExtractor(**extractor).save_pretrained(checkpoint)
        with torch.no_grad():
            record = write(out / name, name, samples)
        if record:
            (out / name / "written.json").write_text(json.dumps(record))
            return reference(out / name, name, samples)
        shutil.rmtree(out / name)
    raise AssertionError(f"{name}: no seed gives texts that tell much")


def main():
    out, shakespeare = map(pathlib.Path, sys.argv[1:3])
    torch.set_num_threads(1)  # so small that a second one only waits
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in CASES:
        make(out, name, shakespeare / "tokenizer.json")


if __name__ == "__main__":
    main()
