# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fovea.Model.probe, fovea.plot and `fovea draw`: what is drawn is compared with PyTorch and with formulas, pictures by their structure."""
import json
import os
import pathlib
import subprocess
import sys
import xml.etree.ElementTree as xml

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TUTORIAL = ROOT / "examples" / "tutorial-classifier"
TEXT = "ROMEO: I love thee, and the night is long."


@pytest.fixture(scope="module")
def fovea():
    import fovea

    return fovea


@pytest.fixture
def plot():
    import matplotlib

    matplotlib.use("agg")
    import fovea.plot

    yield fovea.plot
    matplotlib.pyplot.close("all")


@pytest.fixture(scope="module")
def tutorial(fovea):
    return fovea.compile(TUTORIAL / "reverse-mask-2d.onnx")


def image_of(axes):
    return np.asarray(axes.images[0].get_array())


# What a model shows ---------------------------------------------------------------------------------------------------------------------------------------

def test_attention_is_that_of_torch(shakespeare, minilm):
    import torch
    import transformers

    for model, kind in ((shakespeare, transformers.AutoModelForCausalLM), (minilm, transformers.AutoModel)):
        other = kind.from_pretrained(model._source, attn_implementation="eager", dtype=torch.float32).eval()
        ids = model.encode(TEXT)
        with torch.no_grad():
            expected = other(torch.tensor([ids]), output_attentions=True).attentions
        maps = model.probe("attention", TEXT)
        assert list(maps) == [f"attention_{i}" for i in range(len(expected))]
        for got, wanted in zip(maps.values(), expected):
            np.testing.assert_allclose(got, wanted.numpy(), atol=2e-5)


def test_masks_are_what_the_model_says(shakespeare, minilm, tutorial):
    for mask in shakespeare.probe("masks", [[1, 2, 3, 4, 5]]).values():
        assert mask.dtype == bool and np.array_equal(mask, np.broadcast_to(np.tril(np.ones((5, 5), bool)), (1, 6, 5, 5)))
    there = [[1, 1, 0], [1, 1, 1]]
    for mask in minilm.probe("masks", input_ids=[[101, 7, 102]] * 2, attention_mask=there, token_type_ids=[[0] * 3] * 2).values():
        assert np.array_equal(mask, np.broadcast_to(np.array(there, bool)[:, None, None], (2, 12, 3, 3)))
    given = [[0, 0, 0], [1, 0, 1], [1, 1, 0]]
    assert np.array_equal(tutorial.probe("masks", [[7, 8, 9]], given)["mask_0"][0, 1], np.array(given, bool))


def test_positions_are_those_of_their_papers(shakespeare, minilm, tutorial):
    angles = np.arange(9)[:, None] * 10000.0 ** (-np.arange(16) / 16)
    rotary = shakespeare.probe("positions", [list(range(9))])
    assert list(rotary) == [f"rotary_{i}" for i in range(8)]
    for each in rotary.values():
        np.testing.assert_allclose(each[0, :, 0], np.hstack([np.cos(angles), np.sin(angles)]), atol=1e-5)
    from safetensors.numpy import load_file

    table = load_file(minilm._source / "model.safetensors")["embeddings.position_embeddings.weight"]
    learned = minilm.probe("positions", "a b c")
    assert list(learned) == ["learned_0"] and np.array_equal(learned["learned_0"][0], table[:learned["learned_0"].shape[1]])
    angles = np.arange(7)[:, None] * 10000.0 ** (-np.arange(16) / 16)
    waves = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(7, 32)
    np.testing.assert_allclose(tutorial.probe("positions", [[0] * 7], [[1] * 7] * 7)["table_0"][0], waves, atol=1e-6)


def test_biases_of_scores(fovea, tmp_path):
    """ALiBi (Press et al. 2022) with positions that are given, and T5's table (Raffel et al. 2020), which is transformers' own."""
    file = tmp_path / "alibi.mlir"
    file.write_text("""
func.func @attend(%q: tensor<?x?x2x4xf32> {fovea.name = "q"}, %k: tensor<?x?x2x4xf32> {fovea.name = "k"}, %p: tensor<1x?xi32> {fovea.name = "p"},
                  %added: tensor<2x?xf32> {fovea.name = "added"}) -> (tensor<?x?x2x4xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %slopes = fovea.alibi_slopes : tensor<2xf32>
  %o = fovea.attention %q, %k, %k q_pos(%p : tensor<1x?xi32>) score(%slopes : tensor<2xf32> by (b, h, i, j) -> (h), %added : tensor<2x?xf32> by (b, h, i, j) -> (h, j)) {
  ^bb0(%x: f32, %s: f32, %a: f32, %b: index, %h: index, %i: i32, %j: i32):
    %n = arith.subi %j, %i : i32
    %f = arith.sitofp %n : i32 to f32
    %t = arith.mulf %s, %f : f32
    %y = arith.addf %x, %t : f32
    %z = arith.addf %y, %a : f32
    fovea.yield %z : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}""")
    added = np.arange(10, dtype=np.float32).reshape(2, 5)
    model = fovea.compile(file)
    shown = model.probe("positions", np.ones((1, 3, 2, 4), np.float32), np.ones((1, 5, 2, 4), np.float32), np.array([[2, 3, 4]], np.int32), added)
    expected = np.array([2 ** -4, 2 ** -8])[:, None, None] * (np.arange(5) - np.array([[2], [3], [4]])) + added[:, None]
    assert list(shown) == ["bias_0"]
    np.testing.assert_allclose(shown["bias_0"][0], expected, atol=1e-6)

    import torch
    from transformers.models.t5.modeling_t5 import T5Attention

    file = tmp_path / "t5.mlir"
    file.write_text("""
func.func @attend(%q: tensor<?x?x3x4xf32> {fovea.name = "q"}, %table: tensor<16x3xf32> {fovea.name = "table"}) -> (tensor<?x?x3x4xf32> {fovea.name = "o"})
    attributes {fovea.entry} {
  %o = fovea.attention %q, %q, %q score(%table : tensor<16x3xf32> by (b, h, i, j) -> ()) {
  ^bb0(%x: f32, %t: tensor<16x3xf32>, %b: index, %h: index, %i: i32, %j: i32):
    %r = fovea.relative_bias %t[%h] at(%i, %j) {bidirectional, buckets = 16 : i64, max_distance = 40 : i64} : tensor<16x3xf32> -> f32
    %y = arith.addf %x, %r : f32
    fovea.yield %y : f32
  } : tensor<?x?x3x4xf32>, tensor<?x?x3x4xf32>, tensor<?x?x3x4xf32> -> tensor<?x?x3x4xf32>
  return %o : tensor<?x?x3x4xf32>
}""")
    table = np.random.default_rng(0).standard_normal((16, 3)).astype(np.float32)
    shown = fovea.compile(file).probe("positions", np.ones((1, 60, 3, 4), np.float32), table)["bias_0"]
    distance = torch.arange(60)[None] - torch.arange(60)[:, None]
    buckets = T5Attention._relative_position_bucket(distance, bidirectional=True, num_buckets=16, max_distance=40).numpy()
    assert np.array_equal(shown[0], table[buckets].transpose(2, 0, 1))
    subprocess.run([ROOT / "build" / "bin" / "fovea", "verify", file, "--probe", "positions,masks,attention"], check=True, capture_output=True)


def test_interleaved_pairs_and_partial_heads(fovea, tmp_path):
    """Rotary embeddings of six of eight elements, neighbours in pairs."""
    file = tmp_path / "rope.mlir"
    file.write_text("""
func.func @turn(%x: tensor<2x?x3x8xf32> {fovea.name = "x"}, %p: tensor<2x?xi32> {fovea.name = "p"}) -> (tensor<2x?x3x8xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0 = fovea.rope interleaved %x at(%p : tensor<2x?xi32>) dim(6) theta(100.0) : tensor<2x?x3x8xf32>
  return %0 : tensor<2x?x3x8xf32>
}""")
    positions = np.array([[0, 1, 5], [9, 2, 3]], np.int32)
    shown = fovea.compile(file).probe("positions", np.zeros((2, 3, 3, 8), np.float32), positions)["rotary_0"]
    angles = positions[..., None] * 100.0 ** (-np.arange(3) / 3)
    expected = np.zeros((2, 3, 1, 8))
    expected[..., 0, 0:6:2], expected[..., 0, 1:6:2] = np.cos(angles), np.sin(angles)
    np.testing.assert_allclose(shown, expected, atol=1e-6)


def test_an_artifact_shows_what_it_was_compiled_for(fovea, tmp_path):
    path = tmp_path / "model.fovea"
    model = fovea.compile(TUTORIAL / "reverse.onnx", output=path, probe=["attention", "positions"])
    digits = [[3, 1, 4, 1, 5, 9, 2, 6]]
    loaded = fovea.load(path)
    assert np.array_equal(loaded.probe("attention", digits)["attention_0"], loaded.entries["forward"](digits)["map"])
    assert set(loaded.entries) == {"forward", "attention_maps", "position_encodings"} == set(model.entries)
    with pytest.raises(fovea.InputError, match="expects an artifact that shows masks, got one that was compiled without"):
        loaded.probe("masks", digits)
    with pytest.raises(fovea.InputError, match="expects one of attention, masks, positions, inputs, got 'logits'"):
        loaded.probe("logits", digits)


def test_probes_leave_the_only_entry_the_only_one(fovea, tmp_path):
    """Called as before; of one that appends to caches the room is checked."""
    file = tmp_path / "cached.mlir"
    file.write_text("""
func.func @step(%q: tensor<?x?x2x4xf32> {fovea.name = "q"}, %k: !fovea.cache<key, 2x4xf32> {fovea.name = "k"}, %v: !fovea.cache<value, 2x4xf32> {fovea.name = "v"})
    -> (tensor<?x?x2x4xf32> {fovea.name = "o"}, !fovea.cache<key, 2x4xf32> {fovea.name = "k"}, !fovea.cache<value, 2x4xf32> {fovea.name = "v"}) attributes {fovea.entry} {
  %0 = fovea.cache_append %k, %q : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
  %1 = fovea.cache_append %v, %q : !fovea.cache<value, 2x4xf32>, tensor<?x?x2x4xf32>
  %o = fovea.attention %q, %0, %1 scale(0.5) : tensor<?x?x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<?x?x2x4xf32>
  return %o, %0, %1 : tensor<?x?x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32>
}""")
    model = fovea.compile(file, probe=["attention", "masks"], capacity=8)
    assert model(np.ones((1, 3, 2, 4), np.float32)).shape == (1, 3, 2, 4)
    model.reset()
    assert model.probe("attention", np.ones((1, 5, 2, 4), np.float32))["attention_0"].shape == (1, 2, 5, 5)
    model.reset()
    with pytest.raises(fovea.Error, match="would hold 9 positions; the context has room for 8"):
        model.probe("attention", np.ones((1, 9, 2, 4), np.float32))
    assert fovea.compile(file, probe=[]).entries.keys() == {"step"}


def test_many_layers_that_differ(fovea, tmp_path):
    """Each has a copy of its own."""
    x, text = "tensor<?x?x2x4xf32>", ""
    for i in range(60):
        text += (f"func.func private @layer{i}(%x: {x}) -> {x} {{\n  %o = fovea.attention %x, %x, %x scale({0.01 * (i + 1)}) : {x}, {x}, {x} -> {x}\n  return %o : {x}\n}}\n")
    calls = "".join(f"  %{i + 1} = call @layer{i}(%{i}) : ({x}) -> {x}\n" for i in range(60)).replace("%0)", "%x)")
    (tmp_path / "many.mlir").write_text(f'{text}func.func @f(%x: {x} {{fovea.name = "x"}}) -> ({x} {{fovea.name = "y"}}) attributes {{fovea.entry}} {{\n{calls}  return %60 : {x}\n}}\n')
    done = subprocess.run([ROOT / "build" / "bin" / "fovea", "compile", "--probe", "attention", tmp_path / "many.mlir", "--emit=graph"], capture_output=True, text=True)
    assert done.returncode == 0 and "attention_59" in done.stdout, done.stderr


def test_torch_modules_show_themselves(fovea):
    import torch

    class Attention(torch.nn.Module):
        def forward(self, q, k, v):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)

    values = [torch.randn(1, 2, 6, 8) for _ in range(3)]
    model = fovea.compile(Attention().eval(), tuple(values))
    scores = values[0] @ values[1].transpose(-1, -2) / 8 ** 0.5 + torch.triu(torch.full((6, 6), -torch.inf), 1)
    torch.testing.assert_close(model.probe("attention", *values)["attention_0"], scores.softmax(-1), atol=1e-6, rtol=0)
    with pytest.raises(fovea.CompileError, match="expects learned, sinusoidal, tabulated or rotary positions, or biases of scores, in the entry @.*, outside of branches and loops, found none"):
        model.probe("positions", *values)


# Pictures -------------------------------------------------------------------------------------------------------------------------------------------------

def test_attention_has_one_picture_a_head(fovea, plot, shakespeare):
    axes = plot.attention(shakespeare, "ROMEO: I", layer=-1)
    maps = shakespeare.probe("attention", "ROMEO: I")["attention_3"][0]
    assert len(axes) == 6 and all(np.array_equal(image_of(each), shown) for each, shown in zip(axes, maps))
    assert [label.get_text() for label in axes[0].get_yticklabels()] == ["<0>", "ROMEO", ":", "I"]
    assert axes[0].figure.get_suptitle() == "shakespeare-llama: attention_3"
    import matplotlib.pyplot as plt

    assert len(plot.attention(shakespeare, "ROMEO: I", axes=plt.subplots(2, 3)[1])) == 6
    import torch

    assert np.array_equal(image_of(plot.attention(shakespeare, torch.tensor([shakespeare.encode("ROMEO: I")]), layer=3)[2]), maps[2])
    own = plt.subplots(1, 2)[1]
    drawn = plot.attention(shakespeare, "ROMEO: I", layer="attention_1", heads=[5, 0], axes=own)
    assert list(drawn) == list(own) and [each.get_title() for each in own] == ["head 5", "head 0"]
    for arguments, message in [({"layer": 4}, r"expects a number from 0 to 3 or one of attention_0, .*, got 4"), ({"heads": [6]}, "heads: expects numbers from 0 to 5, got 6"), ({"heads": []}, "got none"),
                               ({"heads": [0, 1], "axes": own[:1]}, "axes: expects one for each of 2 heads, got 1")]:
        with pytest.raises(fovea.InputError, match=message):
            plot.attention(shakespeare, "ROMEO: I", **arguments)
    with pytest.raises(fovea.InputError, match="expects a text or the model's arguments, got none"):
        plot.attention(shakespeare)


@pytest.mark.parametrize("length, block", [(1, (8, 8)), (7, (2, 3)), (40, (8, 8)), (65, (16, 64))])
def test_tiles_are_those_of_the_mask(plot, shakespeare, length, block):
    axes = plot.masks(shakespeare, length=length, block=block)
    tiles = np.asarray(axes.collections[0].get_array()).reshape(-(-length // block[0]), -(-length // block[1]))
    for i, j in np.ndindex(*tiles.shape):
        last, first = min((i + 1) * block[0], length) - 1, i * block[0]
        start, end = j * block[1], min((j + 1) * block[1], length) - 1
        assert tiles[i, j] == (2 if end <= first else 0 if start > last else 1)
    assert axes.get_title() == "shakespeare-llama: mask_0 and 3 equal to it"


def test_masks_and_positions_of_others(fovea, plot, minilm, tutorial):
    axes = plot.masks(tutorial, [[7, 8, 9]], [[0, 0, 0], [1, 0, 0], [1, 1, 0]], block=(1, 1))
    assert np.asarray(axes.collections[0].get_array()).ravel().tolist() == [0, 0, 0, 2, 0, 0, 2, 2, 0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["full, 33 %", "partial, 0 %", "empty, 67 %"]
    assert image_of(plot.positions(minilm, length=20)).shape == (20, 384)
    assert image_of(plot.positions(tutorial, length=9)).shape == (9, 32)
    with pytest.raises(fovea.InputError, match=r"block: expects the queries and keys of a tile, two numbers from 1, got \(0, 3\)"):
        plot.masks(minilm, block=(0, 3))
    biased = plot.positions(fovea.compile(ROOT / "examples" / "positions" / "alibi.mlir"), length=6, head=1)
    assert image_of(biased).shape == (6, 6) and biased.get_title().endswith("bias_0, head 1")
    with pytest.raises(fovea.InputError, match="which: expects a number from 0 to 0 or one of learned_0, got 1"):
        plot.positions(minilm, which=1)


def measured(**changes):
    kernels = {"linear_0": {"flops": 2e9, "bytes": 1e7, "seconds": 0.02}, "linear_1": {"flops": 1e9, "bytes": 1e9, "seconds": 0.07},
               "norm_0": {"bytes": 1e6, "seconds": 0.01}}
    return {"processor": "P", "threads": 2, "peaks": {"flops_per_second": 2e11, "bytes_per_second": 2e10}, "prefill": {"tokens": 9, "kernels": kernels}, **changes}


def test_made_up_arguments(fovea, plot, tmp_path):
    """One row, whatever its size is called, and positions in order."""
    file = tmp_path / "model.mlir"
    file.write_text("""
func.func @forward(%ids: tensor<?x?xi64> {fovea.name = "input_ids", fovea.dims = ["rows", "length"]}, %at: tensor<?x?xi32> {fovea.name = "position_ids", fovea.dims = ["rows", "length"]},
                   %table: tensor<9x8xf32> {fovea.name = "table"}) -> (tensor<?x?x8xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0 = fovea.position_learned %at, %table : tensor<?x?xi32>, tensor<9x8xf32> -> tensor<?x?x8xf32>
  return %0 : tensor<?x?x8xf32>
}""")
    model, table = fovea.compile(file), np.arange(72, dtype=np.float32).reshape(9, 8)
    made = plot.make_up(model._probe_entry("positions"), 5)
    assert made["position_ids"] == [[0, 1, 2, 3, 4]] and made["input_ids"] == [[0] * 5]
    assert np.array_equal(image_of(plot.positions(model, made["input_ids"], made["position_ids"], table)), table[:5])


def test_roofline(fovea, plot, tmp_path):
    axes = plot.roofline(measured())
    np.testing.assert_allclose(axes.collections[0].get_offsets(), [[200, 100], [1, 1e9 / 0.07 / 1e9]])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["prefill (10 % of its time not shown)"]
    x, y = axes.lines[0].get_data()
    np.testing.assert_allclose(y, np.minimum(200, 20 * x))
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for given, message in [(measured(peaks=None), "with its limits, got none of them"), (broken, "broken.json: expects what `fovea bench --json` prints, got no JSON"),
                           (tmp_path / "none.json", "none.json: No such file")]:
        with pytest.raises(fovea.InputError, match=message):
            plot.roofline(given)
    with pytest.raises(fovea.InputError, match="phases: expects some of prefill, got decode"):
        plot.roofline(measured(), phases="decode")


LOGS = {
    "a.log": "begin\nstep 0: loss 2.5 accuracy 0.1\nstep 10: loss 1.5e0 accuracy 0.4\nsaved x.bin\n",
    "b.txt": "step=0 loss=2.5 accuracy=0.1\nstep=10, loss=1.5, accuracy=.4\n",
    "c.csv": "step,loss,accuracy,note\n0,2.5,0.1,\n10,1.5,0.4,x\n",
    "d.tsv": "step\tloss\taccuracy\n0\t2.5\t0.1\n10\t1.5\t0.4\n",
    "e.jsonl": '{"step": 0, "loss": 2.5, "accuracy": 0.1}\n\n{"step": 10, "loss": 1.5, "accuracy": 0.4}\n',
    "f.json": json.dumps({"best": None, "log_history": [{"step": 0, "loss": 2.5, "accuracy": 0.1}, {"step": 5, "eval": True}, {"step": 10, "loss": 1.5, "accuracy": 0.4}]}),
}


@pytest.mark.parametrize("name", LOGS)
def test_learning_curves_of_every_kind_of_log(plot, tmp_path, name):
    log = tmp_path / name
    log.write_text(LOGS[name])
    axes = plot.learning_curves(log)
    assert [(line.get_label(), *map(list, line.get_data())) for line in axes.lines] == [("loss", [0, 10], [2.5, 1.5])] and axes.get_xlabel() == "step"
    axes = plot.learning_curves(log, values=["accuracy", "loss"])
    assert [list(line.get_data()[1]) for line in axes.lines] == [[0.1, 0.4], [2.5, 1.5]]


def test_learning_curves_of_the_tutorial(plot, fovea, tmp_path):
    (tmp_path / "money.csv").write_text("step,loss $$\n1,2\n")
    plot.learning_curves(tmp_path / "money.csv").figure.canvas.draw()
    axes = plot.learning_curves(TUTORIAL / "training.log", [{"epoch": 1, "loss": 3.0}, {"epoch": 2, "loss": 2.0, "other": 1}], values="loss")
    assert axes.lines[0].get_label() == "training: loss" and len(axes.lines[0].get_xdata()) == 150 and axes.lines[0].get_ydata()[-1] < 0.01
    assert list(axes.lines[1].get_xdata()) == [1, 2]
    for name, text, message in [("x.jsonl", '{"step": 1}\n{', "x.jsonl:2: expects a JSON object, got no JSON"), ("x.json", '{"a": 1}', "x.json: expects a list of dictionaries"),
                                ("x.log", "nothing here\n", "x.log: expects names and numbers, .* got none"), ("y.log", b"\xff\xfe", "y.log: expects text, got bytes")]:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        with pytest.raises(fovea.InputError, match=message):
            plot.learning_curves(tmp_path / name)
    with pytest.raises(fovea.InputError, match="training.log: expects values perplexity, got loss, accuracy"):
        plot.learning_curves(TUTORIAL / "training.log", values="perplexity")


# The command line -----------------------------------------------------------------------------------------------------------------------------------------

def draw(*arguments, cwd, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "build" / "python")}
    return subprocess.run([sys.executable, "-m", "fovea", "draw", *map(str, arguments)], capture_output=True, text=True, env=environment, cwd=cwd, **options)


def test_draw_writes_pictures(tmp_path):
    made = draw("attention", TUTORIAL / "reverse.onnx", "--input", "digits=[[3, 1, 4, 1]]", "--heads", 1, cwd=tmp_path)
    assert (made.returncode, made.stdout, made.stderr) == (0, "attention.svg\n", "")
    first = (tmp_path / "attention.svg").read_bytes()
    assert xml.fromstring(first).tag.endswith("svg") and first.count(b"<image") >= 1
    assert draw("attention", TUTORIAL / "reverse.onnx", "--input", "digits=[[3, 1, 4, 1]]", "--heads", 1, cwd=tmp_path).returncode == 0
    assert (tmp_path / "attention.svg").read_bytes() == first
    for arguments, name in [(("masks", TUTORIAL / "reverse.onnx", "--length", 5), "m.png"), (("positions", TUTORIAL / "reverse.onnx", "--length", 5), "p.pdf"),
                            (("curves", TUTORIAL / "training.log"), "c.png")]:
        assert draw(*arguments, "-o", name, "--dpi", 50, cwd=tmp_path).returncode == 0
        assert (tmp_path / name).read_bytes()[:4] in (b"\x89PNG", b"%PDF")
    assert draw("roofline", "-", cwd=tmp_path, input=json.dumps(measured())).stdout == "roofline.svg\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["attention.svg", "c.png", "m.png", "p.pdf", "roofline.svg"]


def test_draw_says_what_is_wrong(tmp_path):
    model = TUTORIAL / "reverse.onnx"
    for arguments, code, message in [
        (("attention", tmp_path / "none"), 1, "none: No such file or directory"),
        (("attention", model), 1, "expects a text or the model's arguments, got none"),
        (("attention", model, "--text", "x"), 1, "holds no tokenizer"),
        (("attention", model, "--input", "digit=[[1]]"), 1, "--input: expects digits, got digit"),
        (("attention", model, "--input", "digits=[[1"), 2, "expects NAME=[[1, 2], ...], got 'digits=[[1'"),
        (("attention", model, "--input", "digits=[[1]]", "--layer", "2"), 1, "layer: expects a number from 0 to 0"),
        (("attention", model, "--input", "digits=[[1]]", "--which=--1"), 2, "unrecognized arguments"),
        (("positions", model, "--length", "-1"), 2, "--length: expects a number from 1, got '-1'"),
        (("positions", model, "--dpi", "0"), 2, "--dpi: expects a number from 1, got '0'"),
        (("positions", model, "--which", "²"), 1, "which: expects a number from 0 to 0 or one of table_0, got '²'"),
        (("positions", model, "-o", "x.gif"), 1, "x.gif: expects a name that ends with .svg, .png or .pdf"),
        (("positions", model, "-o", "no/x.svg"), 1, "no/x.svg: No such file or directory"),
        (("weights", model), 2, "invalid choice: 'weights'"),
        ((), 2, "required: WHAT"),
    ]:
        done = draw(*arguments, cwd=tmp_path)
        assert done.returncode == code and message in done.stderr and done.stderr.startswith("fovea: error: ") and "Traceback" not in done.stderr, done.stderr
    assert not list(tmp_path.iterdir())


def test_the_program_alone_says_where_drawing_is(tmp_path):
    done = subprocess.run([ROOT / "build" / "bin" / "fovea", "draw", "attention", "m", "--text", "x"], capture_output=True, text=True)
    assert done.returncode == 1 and "pip install 'fovea[plot]'" in done.stderr
