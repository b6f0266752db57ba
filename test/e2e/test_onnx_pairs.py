# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encoder-decoders exported as optimum does, an encoder and a decoder without and with pasts, write as one model what `transformers` writes."""
import json
import shutil

import numpy as np
import pytest
from tokenizers import Tokenizer

from exporters import write_onnx
from test_families import difference
from test_translator_families import as_flags, check_texts, load, translate
from translator_cases import FAMILIES, NEW_TOKENS, TEXTS

pytestmark = pytest.mark.long
# One token at a time, as optimum writes them; and any number, which makes an entry `prefill`.
CASES = [(name, "script", 1) for name in FAMILIES] + [("marian", "script", None), ("t5", "script", None), ("bart", "dynamo", 1)]


def names(prefix, layers, sides):
    return [f"{prefix}.{i}.{side}.{kind}" for i in range(layers) for side in sides for kind in ("key", "value")]


def make_modules(model, layers):
    """The encoder, the decoder's first step and its next."""
    import torch
    from transformers import DynamicCache, EncoderDecoderCache

    def parts(*caches):
        return [part for i in range(layers) for cache in caches for part in (cache.layers[i].keys, cache.layers[i].values)]

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = model.get_encoder()

        def forward(self, input_ids, attention_mask):
            return self.encoder(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    class First(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, encoder_attention_mask, input_ids, encoder_hidden_states):
            done = self.model(attention_mask=encoder_attention_mask, decoder_input_ids=input_ids, encoder_outputs=(encoder_hidden_states,), use_cache=True)
            return done.logits, *parts(done.past_key_values.self_attention_cache, done.past_key_values.cross_attention_cache)

    class Next(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, encoder_attention_mask, input_ids, *past):
            cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
            for i in range(layers):
                cache.self_attention_cache.update(past[4 * i], past[4 * i + 1], i)
                cache.cross_attention_cache.update(past[4 * i + 2], past[4 * i + 3], i)
                cache.is_updated[i] = True
            states = torch.zeros(past[2].shape[0], past[2].shape[2], model.config.d_model)
            done = self.model(attention_mask=encoder_attention_mask, decoder_input_ids=input_ids, encoder_outputs=(states,), past_key_values=cache, use_cache=True)
            return done.logits, *parts(done.past_key_values.self_attention_cache)

    return Encoder().eval(), First().eval(), Next().eval()


def write(module, arguments, path, inputs, outputs, axes, way):
    """`axes` has the names of open axes of all that has some."""
    import torch

    if way == "dynamo":
        shapes = [{axis: torch.export.Dim.DYNAMIC for axis in axes[name]} for name in inputs]
        fixed = len([name for name in inputs if not name.startswith("past")])
        dynamic = {"dynamic_shapes": (*shapes[:fixed], *([tuple(shapes[fixed:])] if shapes[fixed:] else []))}
    else:
        dynamic = {"dynamic_axes": {name: axes[name] for name in [*inputs, *outputs]}}
    write_onnx(module, arguments, path, input_names=inputs, output_names=outputs, dynamo=way == "dynamo", **dynamic)


def export(checkpoint, folder, way, count):
    """`count` tokens at a time; None: any number."""
    import torch
    import transformers

    folder.mkdir()
    torch.set_num_threads(1)
    model = transformers.AutoModelForSeq2SeqLM.from_pretrained(checkpoint, dtype=torch.float32).eval()
    layers = getattr(model.config, "num_decoder_layers", None) or model.config.decoder_layers
    encoder, first, step = make_modules(model, layers)
    source, text = {0: "batch_size", 1: "encoder_sequence_length"}, {0: "batch_size", 1: "decoder_sequence_length"}
    axes = {"input_ids": source, "attention_mask": source, "encoder_attention_mask": source, "last_hidden_state": source, "encoder_hidden_states": source}
    ids, mask = torch.randint(4, 100, (2, 7), generator=torch.Generator().manual_seed(0)), torch.ones(2, 7, dtype=torch.int64)
    write(encoder, (ids, mask), folder / "encoder_model.onnx", ["input_ids", "attention_mask"], ["last_hidden_state"], axes, way)
    with torch.no_grad():
        states = encoder(ids, mask)
        pasts = first(mask, ids[:, :3], states)[1:]
    presents = names("present", layers, ("decoder", "encoder"))
    axes |= {"input_ids": text, "logits": text} | {name: {0: "batch_size", 2: "encoder_sequence_length" if ".encoder." in name else "past_sequence_length"}
                                                   for prefix in ("present", "past_key_values") for name in names(prefix, layers, ("decoder", "encoder"))}
    write(first, (mask, ids[:, :3], states), folder / "decoder_model.onnx", ["encoder_attention_mask", "input_ids", "encoder_hidden_states"], ["logits", *presents], axes, way)
    if count == 1:
        axes |= {"input_ids": {0: "batch_size"}, "logits": {0: "batch_size"}}
    write(step, (mask, ids[:, 3:3 + (count or 2)], *pasts), folder / "decoder_with_past_model.onnx",
          ["encoder_attention_mask", "input_ids", *names("past_key_values", layers, ("decoder", "encoder"))], ["logits", *names("present", layers, ("decoder",))], axes, way)
    for file in checkpoint.iterdir():
        if file.suffix != ".safetensors":
            shutil.copy(file, folder)
    return folder


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def exported(request, translators, tmp_path_factory):
    name, way, count = request.param
    return export(translators / name / "model", tmp_path_factory.mktemp("pair") / "model", way, count), translators / name, count


def test_texts(fovea_run, compiled, exported):
    """Greedy and by beams."""
    model, folder, _ = exported
    wanted, tokenizer = json.loads((folder / "translated.json").read_text()), Tokenizer.from_file(str(folder / "model" / "tokenizer.json"))
    for found, expected in zip(translate(fovea_run, compiled(model), TEXTS, "-n", NEW_TOKENS), wanted["greedy"], strict=True):
        check_texts(found["texts"], [expected], tokenizer)
    for record in wanted["beams"]:
        for found, expected in zip(translate(fovea_run, compiled(model), TEXTS, *as_flags(record["search"])), record["texts"], strict=True):
            check_texts(found["texts"], expected, tokenizer)


def test_logits(fovea_run, compiled, exported, tmp_path):
    """A source with padding, and tokens one by one or some at once."""
    model, folder, count = exported
    inputs, expected = load(folder, 0)
    mask, ids = f"attention_mask={inputs['attention_mask'].tolist()}", inputs["decoder_input_ids"]
    given = ["--entry", "encode", "--input", f"input_ids={inputs['input_ids'].tolist()}", "--input", mask]
    for first, end in [(0, 1), (1, 2), (2, 3)] if count == 1 else [(0, 1), (1, 4), (4, 5)]:
        given += ["--entry", "decode" if end - first == 1 else "prefill", "--input", f"decoder_input_ids={ids[:, first:end].tolist()}", "--input", mask]
        fovea_run("run", compiled(model), *given, "--outputs", tmp_path / "out.npz").ok()
        assert difference(np.load(tmp_path / "out.npz")["logits"], expected["logits"][:, end - 1]) <= 1e-4, f"{end} tokens"


def test_attentions_read_caches(fovea, compiled, exported, tmp_path):
    model, _, _ = exported
    fovea("compile", model, "--require-fusion", "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
    assert "fovea.cache_read" not in (tmp_path / "graph.mlir").read_text()
    fovea("check", model).ok()


def test_verify(fovea, compiled, exported):
    """The source is read, then what is written, in parts."""
    model, _, count = exported
    text = fovea("verify", compiled(model), "--source", model).ok().text
    assert "decode  batch 2, read 1 + 1 + 1" in text if count == 1 else "prefill  batch 2" in text


@pytest.fixture(scope="module")
def pair(translators, tmp_path_factory):
    return export(translators / "marian" / "model", tmp_path_factory.mktemp("pair") / "model", "script", 1)


def test_verb(fovea, pair, translators):
    """As the checkpoint itself, from the folder on."""
    flags = ["--text", TEXTS[0], "-n", NEW_TOKENS]
    assert fovea("translate", pair, *flags).ok().out == fovea("translate", translators / "marian" / "model", *flags, "--compute=f32").ok().out


@pytest.mark.parametrize("name", ["decoder_model.onnx", "decoder_with_past_model.onnx"])
def test_missing_file(fovea, pair, tmp_path, name):
    folder = tmp_path / "pair"
    shutil.copytree(pair, folder)
    (folder / name).unlink()
    done = fovea("compile", folder, "-o", tmp_path / "out.fovea")
    assert done.code == 1 and name in done.err.decode() and not (tmp_path / "out.fovea").exists()


def test_files_that_do_not_fit(fovea, pair, tmp_path):
    """The encoder in place of the decoder; a decoder without keys of the source; pasts under other names."""
    import onnx

    def compile_with(name, change):
        folder = tmp_path / name
        shutil.copytree(pair, folder)
        change(folder)
        done = fovea("compile", folder, "-o", tmp_path / "out.fovea")
        assert done.code == 1
        return done.err.decode()

    def rename(folder):
        graph = onnx.load(folder / "decoder_model.onnx")
        graph.graph.output[3].name = "other"
        for node in graph.graph.node:
            for i, output in enumerate(node.output):
                if output == "present.0.encoder.key":
                    node.output[i] = "other"
        onnx.save(graph, folder / "decoder_model.onnx")

    assert "encoder_hidden_states" in compile_with("first", lambda folder: shutil.copy(folder / "encoder_model.onnx", folder / "decoder_model.onnx"))
    assert "pasts" in compile_with("next", lambda folder: shutil.copy(folder / "decoder_model.onnx", folder / "decoder_with_past_model.onnx"))
    assert "input_ids" in compile_with("encoder", lambda folder: shutil.copy(folder / "decoder_model.onnx", folder / "encoder_model.onnx"))
    assert "present.0.encoder.key" in compile_with("names", rename)


@pytest.mark.parametrize("label", ["batch_size", "sources"])
def test_rows_of_keys(fovea, pair, tmp_path, label):
    """Keys of the source have as many rows as the text: which is the number of sources where the file calls both the same, and nowhere else."""
    import onnx
    from onnx import helper, numpy_helper

    folder = tmp_path / "pair"
    shutil.copytree(pair, folder)
    model = onnx.load(folder / "decoder_model.onnx")
    graph, key = model.graph, "present.0.encoder.key"
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = ["the_key" if name == key else name for name in names]
    graph.initializer.append(numpy_helper.from_array(np.array([0], np.int64), "first_axis"))
    heads = next(value for value in graph.output if value.name == key).type.tensor_type.shape.dim
    graph.initializer.append(numpy_helper.from_array(np.array([heads[1].dim_value, -1, heads[3].dim_value], np.int64), "rest"))
    graph.node.extend([helper.make_node("Shape", ["input_ids"], ["ids_shape"]), helper.make_node("Gather", ["ids_shape", "first_axis"], ["rows"]),
                       helper.make_node("Concat", ["rows", "rest"], ["shape"], axis=0), helper.make_node("Reshape", ["the_key", "shape"], [key])])
    for value in graph.input:
        if value.name != "input_ids":
            value.type.tensor_type.shape.dim[0].dim_param = label
    onnx.save(model, folder / "decoder_model.onnx")
    done = fovea("compile", folder, "-o", tmp_path / "out.fovea")
    if label == "batch_size":
        done.ok()
    else:
        assert done.code == 1 and "depend on this argument" in done.err.decode()
