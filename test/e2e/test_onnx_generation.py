# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders exported with past keys and values, by PyTorch's two exporters, write the tokens that `transformers` writes: pasts are caches."""
import json
import re
import shutil

import numpy as np
import pytest

from decoder_cases import VOCABULARY
from exporters import write_onnx
from test_decoder_families import greedy
from test_families import difference

pytestmark = pytest.mark.long
# Rotary positions and a norm of queries; windows and caps; a head with a bias; keys and values sliced out of one projection; slopes and positions counted from the mask.
CASES = [("qwen3", "dynamo"), ("qwen3", "script"), ("gemma2", "dynamo"), ("phi", "script"), ("gpt_neox", "dynamo"), ("bloom", "script"), ("opt", "dynamo"), ("opt", "script")]


def past_names(layers, prefix):
    return [f"{prefix}.{i}.{kind}" for i in range(layers) for kind in ("key", "value")]


def export(folder, way, path):
    """As optimum names arguments and results."""
    import torch
    import transformers

    torch.set_num_threads(1)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "model", dtype=torch.float32, attn_implementation="eager" if way == "script" else None).eval()
    if hasattr(model, "set_experts_implementation"):
        model.set_experts_implementation("batched_mm")
    layers = model.config.num_hidden_layers

    class Step(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, input_ids, attention_mask, *past):
            cache = transformers.DynamicCache()
            for i in range(layers):
                cache.update(past[2 * i], past[2 * i + 1], i)
            done = self.model(input_ids=input_ids, attention_mask=attention_mask, past_key_values=cache, use_cache=True)
            return done.logits, *(part for layer in done.past_key_values.layers for part in (layer.keys, layer.values))

    ids = torch.randint(0, 100, (2, 3), generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        first = model(input_ids=torch.cat([ids, ids[:, :2]], 1), use_cache=True).past_key_values
    pasts = [part for layer in first.layers for part in (layer.keys, layer.values)]
    arguments = (ids, torch.ones(2, 8, dtype=torch.int64), *pasts)
    inputs = ["input_ids", "attention_mask", *past_names(layers, "past_key_values")]
    outputs = ["logits", *past_names(layers, "present")]
    if way == "dynamo":
        batch, sequence, past = torch.export.Dim("batch"), torch.export.Dim("sequence", max=64), torch.export.Dim("past", max=64)
        dynamic = {"dynamic_shapes": ({0: batch, 1: sequence}, {0: batch, 1: torch.export.Dim.DYNAMIC}, tuple({0: batch, 2: past} for _ in pasts))}
    else:
        axes = {0: "batch", 1: "sequence"}
        dynamic = {"dynamic_axes": {"input_ids": axes, "logits": axes, "attention_mask": {0: "batch", 1: "total"},
                                    **{name: {0: "batch", 2: "past"} for name in inputs[2:]}, **{name: {0: "batch", 2: "total"} for name in outputs[1:]}}}
    write_onnx(Step().eval(), arguments, path, input_names=inputs, output_names=outputs, dynamo=way == "dynamo", **dynamic)
    return path


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def exported(request, decoders, tmp_path_factory):
    name, way = request.param
    return export(decoders / name, way, tmp_path_factory.mktemp("onnx") / "model.onnx"), decoders / name


def test_tokens(fovea_run, compiled, exported):
    """The prompt read at once, and in parts."""
    model, folder = exported
    for chunk in (512, 5):
        found, wanted = greedy(fovea_run, compiled(model), folder, f"--prompt-chunk={chunk}")
        assert found == wanted


def test_logits(fovea_run, compiled, exported, tmp_path):
    model, folder = exported
    ids, expected = np.load(folder / "inputs-0.npz")["input_ids"], np.load(folder / "reference-0.npz")["logits"]
    given = []
    for first, end, entry in [(0, 1, "prefill"), (1, 8, "prefill"), (8, 20, "prefill"), (20, 21, "decode")]:
        given += ["--entry", entry, "--input", f"input_ids={ids[:, first:end].tolist()}"]
        fovea_run("run", compiled(model), *given, "--outputs", tmp_path / "out.npz").ok()
        assert difference(np.load(tmp_path / "out.npz")["logits"], expected[:, end - 1]) <= 1e-4, f"{end} tokens"


def test_verify_and_report(fovea, compiled, exported, tmp_path):
    model, _ = exported
    total = re.search(r"attention_mask: \[batch, (\w+)\]", fovea("inspect", compiled(model)).ok().text)[1]
    fovea("verify", model, "--dim", "past=5", "--dim", "sequence=3", "--dim", f"{total}=8").ok()
    fovea("compile", model, "--report", tmp_path / "report.json", "--require-fusion", "-o", tmp_path / "out.fovea").ok()
    fovea("compile", model, "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
    graph = (tmp_path / "graph.mlir").read_text()
    assert "fovea.cache_read" not in graph and "func.func @decode" in graph


@pytest.fixture(scope="module")
def folder_of_files(decoders, tmp_path_factory):
    """A model's file with those that exporters write beside it."""
    folder = tmp_path_factory.mktemp("files")
    export(decoders / "qwen2", "script", folder / "model.onnx")
    for file in (decoders / "qwen2" / "model").glob("*token*"):
        shutil.copy(file, folder)
    (folder / "config.json").write_text(json.dumps({"eos_token_id": 7, "bos_token_id": 0, "max_position_embeddings": 128}))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [5, 9]}))
    return folder


def test_texts(fovea, decoders, folder_of_files):
    """Texts in and out, as of the checkpoint; what ends one is read beside the model."""
    ours = fovea("generate", folder_of_files / "model.onnx", "--prompt", "ROMEO:", "-n", 12, "--temp", 0).ok()
    theirs = fovea("generate", decoders / "qwen2" / "model", "--prompt", "ROMEO:", "-n", 12, "--temp", 0, "--compute=f32").ok()
    assert ours.out and ours.out == theirs.out
    fovea("compile", folder_of_files / "model.onnx", "--emit=import", "-o", folder_of_files / "import.mlir").ok()
    head = (folder_of_files / "import.mlir").read_text().split("\n  fovea.weight")[0]
    for said in ("begin_token = 0", "end_tokens = array<i64: 5, 9>", "max_positions = 128", f"vocabulary = {VOCABULARY}", 'tokenizer = "tokenizer.json"'):
        assert said in head


def test_a_tokenizer_from_elsewhere(fovea, folder_of_files, decoders, tmp_path):
    shutil.copy(folder_of_files / "model.onnx", tmp_path)
    alone = fovea("generate", tmp_path / "model.onnx", "--prompt", "ROMEO:", "-n", 3)
    assert alone.code == 1 and "tokenizer" in alone.err.decode()
    fovea("compile", tmp_path / "model.onnx", "--tokenizer", decoders / "qwen2" / "model", "-o", tmp_path / "model.fovea").ok()
    assert fovea("generate", tmp_path / "model.fovea", "--prompt", "ROMEO:", "-n", 3).ok().out
    missing = fovea("compile", tmp_path / "model.onnx", "--tokenizer", tmp_path / "none.json", "-o", tmp_path / "other.fovea")
    assert missing.code == 1 and "none.json" in missing.err.decode() and not (tmp_path / "other.fovea").exists()


def test_what_takes_no_past_is_told(fovea, decoders, tmp_path):
    """A result beside logits and presents."""
    import onnx

    model = export(decoders / "qwen2", "script", tmp_path / "model.onnx")
    graph = onnx.load(model)
    graph.graph.node.append(onnx.helper.make_node("Identity", ["logits"], ["copy"]))
    graph.graph.output.append(onnx.helper.make_tensor_value_info("copy", onnx.TensorProto.FLOAT, None))
    onnx.save(graph, tmp_path / "more.onnx")
    done = fovea("compile", tmp_path / "more.onnx", "-o", tmp_path / "model.fovea").ok()
    assert "copy: generate, chat and bench of texts are not for this model: expects logits [batch, sequence, vocabulary] and present keys and values, got another result" in done.err.decode()
    refused = fovea("generate", tmp_path / "model.fovea", "--prompt-ids", "1")
    assert refused.code == 1 and "no entry 'prefill'" in refused.err.decode()


def step(path, ids="INT64", batch="batch", floats="FLOAT", logits=None, again=()):
    """An attention of two heads between a table and a projection, by hand."""
    from onnx import TensorProto, helper, save

    ids, floats, logits = (getattr(TensorProto, name) for name in (ids, floats, logits or floats))
    rng = np.random.default_rng(0)
    inputs = [helper.make_tensor_value_info("input_ids", ids, [batch, "sequence"])]
    inputs += [helper.make_tensor_value_info(f"past.{kind}", floats, [batch, 2, "past", 4]) for kind in "kv"]
    constants = [helper.make_tensor("table", floats, [9, 8], rng.standard_normal(72)), helper.make_tensor("head", floats, [8, 7], rng.standard_normal(56)),
                 helper.make_tensor("apart", TensorProto.INT64, [4], [0, 0, 2, 4]), helper.make_tensor("joined", TensorProto.INT64, [3], [0, 0, 8])]
    nodes = [helper.make_node(op, given.split(), [made], **more) for op, given, made, more in [
        ("Gather", "table input_ids", "x", {}), ("Reshape", "x apart", "split", {}), ("Transpose", "split", "q", {"perm": [0, 2, 1, 3]}),
        ("Concat", "past.k q", "present.k", {"axis": 2}), ("Concat", "past.v q", "present.v", {"axis": 2}), ("Transpose", "present.k", "turned", {"perm": [0, 1, 3, 2]}),
        ("MatMul", "q turned", "scores", {}), ("Softmax", "scores", "weights", {"axis": -1}), ("MatMul", "weights present.v", "out", {}),
        ("Transpose", "out", "back", {"perm": [0, 2, 1, 3]}), ("Reshape", "back joined", "wide", {}), ("MatMul", "wide head", "numbers", {}), ("Cast", "numbers", "logits", {"to": logits}),
        *(("Identity", name, f"again.{name}", {}) for name in again)]]
    outputs = [helper.make_tensor_value_info("logits", logits, None), *(helper.make_tensor_value_info(name, floats, None) for name in ["present.k", "present.v", *(f"again.{name}" for name in again)])]
    model = helper.make_model(helper.make_graph(nodes, "step", inputs, outputs, constants), opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    save(model, path)
    return path


@pytest.mark.parametrize("floats", ["FLOAT", "FLOAT16"])
def test_by_hand(fovea, tmp_path, floats):
    model = step(tmp_path / "model.onnx", floats=floats)
    fovea("compile", model, "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
    assert (tmp_path / "graph.mlir").read_text().count("func.func @decode") == 1
    if floats == "FLOAT":
        fovea("verify", model).ok()


# What is not read as a past, and what is told of it; where nothing is a past nothing is.
OTHERS = [({"ids": "INT32"}, "input_ids: "), ({"batch": 1}, None), ({"floats": "DOUBLE"}, None), ({"logits": "INT64"}, "logits: "), ({"again": ["present.k"]}, "again.present.k: ")]


@pytest.mark.parametrize("change, told", OTHERS)
def test_what_fits_in_part(fovea, tmp_path, change, told):
    model = step(tmp_path / "model.onnx", **change)
    done = fovea("compile", model, "-o", tmp_path / "model.fovea").ok()
    note = "generate, chat and bench of texts are not for this model"
    assert (f"{told}{note}" in done.err.decode()) if told else (note not in done.err.decode())
    assert "entry prefill" not in fovea("inspect", tmp_path / "model.fovea").ok().text
