# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models on the emulator: code for a GPU, run without one, with every check of the emulator on; or on a GPU, by --device. The examples' numbers are
test_examples.py's."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

from processor import has
from programs import DATA, ROOT, SHAKESPEARE as LLAMA, invoke

SHAKESPEARE = json.loads((DATA / "shakespeare-reference.json").read_text())
MINILM = json.loads((DATA / "minilm-reference.json").read_text())["sentences"]
TOKENS = 16


@pytest.mark.devices("emulator", "emulator:late")
def test_shakespeare_writes_the_same(compiled, fovea_run, shakespeare, device, gpu_code):
    artifact = compiled(shakespeare, *gpu_code)
    case = SHAKESPEARE[0]
    found = json.loads(fovea_run("generate", artifact, "--device", device, "--prompt", case["prompt"], "-n", TOKENS, "--temp", 0, "--json").ok().text)
    assert found["tokens"] == case["greedy_ids"][:TOKENS]


@pytest.mark.devices("emulator", "emulator:late")
@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_integers_write_the_same(compiled, fovea_run, shakespeare, device, gpu_code, dtype):
    """As on the CPU, whose numbers test_quantised.py compares with the interpreter's."""
    artifact = compiled(shakespeare, f"--dtype={dtype}", *gpu_code)
    found = {where: json.loads(fovea_run("generate", artifact, "--device", where, "--prompt", SHAKESPEARE[0]["prompt"], "-n", TOKENS, "--temp", 0, "--json").ok().text)
             for where in ("cpu", device)}
    assert found[device]["tokens"] == found["cpu"]["tokens"]


@pytest.mark.devices("emulator")
def test_shakespeare_forward(compiled, fovea_run, shakespeare, tmp_path, device, gpu_code):
    """Two prompts of one length at once, all positions. Another order of sums may turn the last bit of what is rounded to bf16; the emulator's, which are exact, turned none.

    A processor that does not multiply bf16 leaves attention in f32: beside the emulator all of it is in f32 there."""
    alike = not device.startswith("emulator") or has("avx512_bf16")
    artifact = compiled(shakespeare, *gpu_code, *([] if alike else ["--compute=f32"]))
    ids = np.array([case["prompt_ids"][:5] for case in SHAKESPEARE[:2]], dtype=np.int64)
    np.savez(tmp_path / "in.npz", input_ids=ids)
    logits = {}
    for where in ("cpu", device):
        fovea_run("run", artifact, "--device", where, "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        logits[where] = np.load(tmp_path / "out.npz")["logits"]
    difference = np.abs(logits["cpu"] - logits[device]).max(-1) / np.abs(logits["cpu"]).max(-1)
    assert difference.max() <= (1e-4 if device.startswith("emulator") else 5e-3)


@pytest.mark.devices("emulator")
def test_minilm(compiled, fovea_run, minilm, device, gpu_code):
    artifact = compiled(minilm, *gpu_code)
    sentence = min(MINILM, key=lambda sentence: len(sentence["text"]))
    line, = fovea_run("embed", artifact, "--device", device, "--text", sentence["text"]).ok().text.splitlines()
    found = np.array([float(word) for word in line.strip("[] ").replace(",", " ").split()])
    wanted = np.array(sentence["embedding"])
    assert found @ wanted / np.linalg.norm(found) / np.linalg.norm(wanted) >= 0.9999


def test_an_artifact_without_code_says_how_to_make_it(compiled, fovea_run, shakespeare):
    artifact = compiled(shakespeare)
    result = fovea_run("generate", artifact, "--device=emulator", "--prompt", "x")
    assert result.code == 1 and not result.out
    assert f"{artifact}: holds no code for the emulator, only for the CPU; make it by: fovea compile MODEL --gpu=sm_80 -o FILE" in result.err.decode()


PTXAS = shutil.which("ptxas") or shutil.which("ptxas", path="/usr/local/cuda/bin")
MODELS = [LLAMA, *sorted((ROOT / "examples").rglob("*.mlir")), *sorted((ROOT / "examples").rglob("*.onnx"))]


@pytest.mark.long
@pytest.mark.skipif(not PTXAS, reason="ptxas is not installed")
@pytest.mark.parametrize("model", MODELS, ids=lambda path: str(path.relative_to(ROOT / "examples")))
def test_ptxas_takes_every_kernel(fovea, tmp_path, model):
    """And spills nothing, nor do products of matrices wait for each other."""
    text = tmp_path / "code.ptx"
    for chip in ("sm_80", "sm_90a"):
        fovea("compile", model, f"--gpu={chip}", "--emit=ptx", "-o", text).ok()
        kernels = len(re.findall(r"^\.visible \.entry", text.read_text(), re.MULTILINE))
        assert kernels > 0
        done = subprocess.run([PTXAS, "-v", f"-arch={chip}", text, "-o", tmp_path / "code.cubin"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        spills = [int(number) for number in re.findall(r"(\d+) bytes spill stores", done.stderr)]
        assert len(spills) >= kernels
        assert not any(spills), done.stderr
        # Notes that products wait for each other.
        assert not re.search(r"C75\d\d", done.stderr), done.stderr


@pytest.mark.long
@pytest.mark.devices("emulator", "emulator:late")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("model", MODELS[1:], ids=lambda path: str(path.relative_to(ROOT / "examples")))
def test_examples_agree(fovea, compiled, device, gpu_code, chip, model):
    """Every example on the device, against the interpreter."""
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    fovea("verify", compiled(model, *code), "--source", model, "--device", device).ok()


@pytest.mark.devices("emulator", "emulator:late")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("model", ["tutorial_classifier.ts16", "tutorial_classifier_masked.dynamo18", "deberta_disentangled.ts13", "decoder_layer.dynamo20"])
def test_onnx_models_agree(fovea, compiled, device, gpu_code, chip, model):
    """The first two hand constants to their layers, functions of their own."""
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    source = ROOT / "test" / "corpus" / "models" / f"{model}.onnx"
    fovea("verify", compiled(source, *code), "--source", source, "--device", device).ok()


@pytest.mark.devices("emulator", "emulator:late")
def test_a_constant_is_a_result(fovea, tmp_path, device, gpu_code):
    (tmp_path / "model.mlir").write_text("""func.func @forward(%x: tensor<?x4xf32> {fovea.name = "x", fovea.dims = ["rows"]})
    -> (tensor<4xf32> {fovea.name = "c"}, tensor<?x4xf32> {fovea.name = "y", fovea.dims = ["rows"]}) attributes {fovea.entry} {
  %c = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = fovea.rms_norm %x weight(%c : tensor<4xf32>) eps(1.0e-5) : tensor<?x4xf32>
  return %c, %y : tensor<4xf32>, tensor<?x4xf32>
}
""")
    fovea("verify", tmp_path / "model.mlir", *gpu_code, "--device", device).ok()


LENGTH, HEADS, KEYS = 576, 4, 64
QUERIES = {"sm_80": 64, "sm_90a": 192}  # of a tile


def write_attention(path, size):
    """Causal attention of bf16."""
    tensor = f"tensor<1x?x{HEADS}x{size}xbf16>"
    arguments = ", ".join(f'%{name}: {tensor} {{fovea.name = "{name}", fovea.dims = ["sequence"]}}' for name in "qkv")
    path.write_text(f"""func.func @forward({arguments}) -> ({tensor} {{fovea.name = "output", fovea.dims = ["sequence"]}}) attributes {{fovea.entry}} {{
  %m = fovea.mask_causal
  %o = fovea.attention %q, %k, %v mask(%m) scale({size ** -0.5!r}) : {tensor}, {tensor}, {tensor} -> {tensor}
  return %o : {tensor}
}}
""")


NVDISASM = pathlib.Path(sys.prefix) / "lib" / f"python3.{sys.version_info.minor}" / "site-packages" / "nvidia" / "cu13" / "bin" / "nvdisasm"


@pytest.mark.skipif(not PTXAS, reason="ptxas is not installed")
@pytest.mark.parametrize("size", [64, 128])
def test_products_run_under_the_softmax(fovea, tmp_path, size):
    """In the machine's code: three warpgroups that compute have registers enough, beside one that copies; both chains of products are begun, the first is waited for, and all
    exponentials of a tile are computed before the wait for the second. ptxas would put them behind it."""
    write_attention(tmp_path / "attention.mlir", size)
    fovea("compile", tmp_path / "attention.mlir", "--gpu=sm_90a", "--emit=ptx", "-o", tmp_path / "code.ptx").ok()
    done = subprocess.run([PTXAS, "-v", "-arch=sm_90a", tmp_path / "code.ptx", "-o", tmp_path / "code.cubin"], capture_output=True, text=True)
    assert done.returncode == 0 and not re.search(r"C75\d\d", done.stderr), done.stderr
    ptx = (tmp_path / "code.ptx").read_text()
    # The producer's warpgroup gives what the three others take: 65,536 registers for all.
    assert ".reqntid 512" in ptx and "cp.async.bulk.tensor" in ptx
    taken = [int(count) for count in re.findall(r"setmaxnreg\.\w+\.sync\.aligned\.u32 (\d+)", ptx)]
    assert taken == [32, 160] and taken[0] + 3 * taken[1] == 65536 // 128, taken
    assert "0 bytes spill stores, 0 bytes spill loads" in done.stderr, done.stderr
    code = subprocess.run([NVDISASM, tmp_path / "code.cubin"], capture_output=True, text=True, check=True).stdout
    order = []
    for name in re.findall(r"\b(HGMMA|MUFU\.EX2|WARPGROUP\.DEPBAR\.LE gsb0, 0x\d)", code):
        if order and order[-1][0] == name:
            order[-1][1] += 1
        else:
            order.append([name, 1])
    chain = (size + KEYS) // 16
    exponentials = QUERIES["sm_90a"] * KEYS // 384
    found = [order[i + 2][1] for i in range(len(order) - 3) if order[i] == ["HGMMA", chain] and order[i + 1][0].endswith("0x1")
             and order[i + 2][0] == "MUFU.EX2" and order[i + 3][0].endswith("0x0")]
    # One loop for blocks that a mask cuts, one for the others.
    assert len(found) == 2 and min(found) >= exponentials, order


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("size", [64, 128])
def test_attention_moves_no_more_than_it_must(fovea, tmp_path, chip, size):
    """Causal attention of bf16, counted by the emulator: no two threads meet in a bank, and for each block of queries the
    queries, their output and the keys and values that they see pass once."""
    queries = QUERIES[chip]
    model = tmp_path / "attention.mlir"
    write_attention(model, size)
    fovea("compile", model, f"--gpu={chip}", "--emit=ptx", "-o", tmp_path / "code.ptx").ok()
    threads = fovea("compile", model, f"--gpu={chip}", "--emit=threads", "-o", "-").ok().text
    # Of the kernels for any number of queries the one for many.
    (kernel, shared, block), = re.findall(rf"@(attention_\d+)\(.*queries = {queries}, keys = {KEYS}, axis = queries.*fovea.shared_bytes = (\d+).*fovea.threads = (\d+)", threads)
    count = LENGTH * HEADS * size
    operands = [word for seed in (1, 2, 3) for word in (f"random:bf16:{count}:{seed}", f"u64:{LENGTH}")]
    # What host code describes: the keys and the values, arguments 2 and 4, in boxes of a panel.
    maps = [f"map:{number}:bf16:1x{LENGTH}x{HEADS}x{size}:1x{KEYS}x1x64:128" for number in (2, 4)] if chip == "sm_90a" else []
    done = invoke("fovea-ptx", tmp_path / "code.ptx", kernel, f"--grid={HEADS * LENGTH // queries}", f"--block={block}", f"--shared={shared}",
                  "--schedule=both", "--print=0", "--counters", *operands, f"new:bf16:{count}", f"u64:{LENGTH}", *maps).ok().text
    counters = json.loads(done[done.index("{"):])
    bytes_of = 2 * size
    blocks = range(1, LENGTH // queries + 1)
    seen = HEADS * sum(2 * KEYS * bytes_of * (number * queries // KEYS) for number in blocks)
    # Of the products above the diagonal no more than half a tile for each block.
    products = HEADS * sum(4 * queries * KEYS * size * (number * queries // KEYS) for number in blocks)
    assert counters["shared_bank_conflicts"] == 0, done
    copied = counters["tma_load_bytes"] if chip == "sm_90a" else counters["cp_async_bytes"]
    assert copied >= seen and copied + counters["global_load_bytes"] + (counters["cp_async_bytes"] if chip == "sm_90a" else 0) == seen + count * 2
    assert counters["global_store_bytes"] == count * 2
    assert counters["tensor_operations"] == products
    assert counters["local_bytes"] == 0


def write_linear(path, rows, outputs, inputs, element):
    weight = f"tensor<{outputs}x{inputs}x{element}>"
    x, y = (f"tensor<{rows}x{size}x{element}>" for size in (inputs, outputs))
    path.write_text(f"""fovea.weight @w : {weight} = #fovea.stored<"weights.safetensors", "w", {weight}>
func.func @forward(%x: {x} {{fovea.name = "x"}}) -> ({y} {{fovea.name = "y"}}) attributes {{fovea.entry}} {{
  %w = fovea.weight_ref @w : {weight}
  %0 = fovea.linear %x, %w : {x}, {weight} -> {y}
  return %0 : {y}
}}
""")


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("element", ["bf16", "f16"])
@pytest.mark.parametrize("rows", [128, 1])
def test_weights_move_in_whole_pieces(fovea, tmp_path, chip, element, rows):
    """A product of halves by a packed weight, counted by the emulator: whatever reads memory reads 16 bytes, whole sectors of them, and no two
    threads meet in a bank. Each tile of outputs reads its part of the weight once for all rows of a tile, also the warps that share one row's."""
    outputs, inputs = 384, 256
    model = tmp_path / "linear.mlir"
    write_linear(model, f"1x{rows}", outputs, inputs, element)
    fovea("compile", model, f"--gpu={chip}", "--emit=ptx", "-o", tmp_path / "code.ptx").ok()
    threads = fovea("compile", model, f"--gpu={chip}", "--emit=threads", "-o", "-").ok().text
    shared, = re.findall(r"fovea.shared_bytes = (\d+)", threads)
    block, = re.findall(r"fovea.threads = (\d+)", threads)
    tile_rows, tile_outputs = map(int, re.search(r"fovea.schedule = #fovea.contraction<tile = \[(\d+), (\d+)\]", threads).groups())
    row_tiles, output_tiles = -(-rows // tile_rows), outputs // tile_outputs
    done = invoke("fovea-ptx", tmp_path / "code.ptx", "linear_0", f"--grid={row_tiles * output_tiles}", f"--block={block}", f"--shared={shared}",
                  "--schedule=both", "--print=0", "--counters", f"random:{element}:{rows * inputs}:1", f"random:{element}:{outputs * inputs}:2",
                  f"new:{element}:{rows * outputs}").ok().text
    counters = json.loads(done[done.index("{"):])
    ptx = (tmp_path / "code.ptx").read_text()
    assert set(re.findall(r"ld\.global\S*", ptx)) <= {"ld.global.v4.b32"}
    assert set(re.findall(r"cp\.async\.c[ag]\.shared\.global \[[^\]]*\], \[[^\]]*\], (\d+)", ptx)) == ({"16"} if rows > 1 else set())
    assert counters["shared_bank_conflicts"] == 0, done
    weight, x = 2 * outputs * inputs, 2 * rows * inputs
    read = weight * row_tiles + x * output_tiles
    assert counters["cp_async_bytes"] + counters["global_load_bytes"] == read
    assert counters["global_load_sectors"] == read // 32


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("dtype", ["int8", "int4"])
@pytest.mark.parametrize("rows", [128, 1])
def test_integers_move_in_whole_pieces(fovea, tmp_path, chip, dtype, rows):
    """Each tile brings its integers once, 16 bytes at a time, and each scale of a group once; only whole sectors; no two threads meet in a bank."""
    outputs, inputs = 384, 256
    model = tmp_path / "linear.mlir"
    write_linear(model, f"1x{rows}", outputs, inputs, "bf16")
    header = json.dumps({"w": {"dtype": "BF16", "shape": [outputs, inputs], "data_offsets": [0, 2 * outputs * inputs]}}).encode()
    (tmp_path / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + bytes(2 * outputs * inputs))
    compile = ["compile", model, f"--dtype={dtype}", f"--gpu={chip}"]
    fovea(*compile, "--emit=ptx", "-o", tmp_path / "code.ptx").ok()
    threads = fovea(*compile, "--emit=threads", "-o", "-").ok().text
    shared, = re.findall(r"fovea.shared_bytes = (\d+)", threads)
    block, = re.findall(r"fovea.threads = (\d+)", threads)
    tile_rows, tile_outputs = map(int, re.search(r"fovea.schedule = #fovea.contraction<tile = \[(\d+), (\d+)\]", threads).groups())
    row_tiles, output_tiles = -(-rows // tile_rows), outputs // tile_outputs
    weights = [f"random:s8:{outputs * inputs}:2", f"random:f32:{outputs}:3"] if dtype == "int8" else \
        [f"random:s8:{outputs * inputs // 2}:2", f"random:f16:{outputs * inputs // 32}:3"]
    done = invoke("fovea-ptx", tmp_path / "code.ptx", "linear_0", f"--grid={row_tiles * output_tiles}", f"--block={block}", f"--shared={shared}",
                  "--schedule=both", "--print=0", "--counters", f"random:bf16:{rows * inputs}:1", *weights, f"new:bf16:{rows * outputs}").ok().text
    counters = json.loads(done[done.index("{"):])
    assert counters["shared_bank_conflicts"] == 0, done
    assert counters["global_load_sectors"] * 32 == counters["cp_async_bytes"] + counters["global_load_bytes"] or dtype == "int8"
    x, integers = 2 * rows * inputs, outputs * inputs // (1 if dtype == "int8" else 2)
    least = integers * row_tiles + x * output_tiles + (2 * outputs * inputs // 32 * row_tiles if dtype == "int4" else 0)
    read = counters["cp_async_bytes"] + counters["global_load_bytes"]
    if dtype == "int4":
        assert read == least
    else:  # Threads read the scales of the outputs that they hold.
        assert least < read <= least + 4 * outputs * row_tiles * int(block) // 4
    loads = set(re.findall(r"ld\.global\S*", (tmp_path / "code.ptx").read_text()))
    assert "ld.global.v4.b32" in loads and loads <= {"ld.global.v4.b32", "ld.global.b16", "ld.global.b32", "ld.global.v2.b32"}


TYPES = {"f32": ("F32", np.float32), "f16": ("F16", np.float16), "bf16": ("BF16", np.uint16)}


@pytest.mark.devices("emulator", "emulator:late")
@pytest.mark.parametrize("element", TYPES)
@pytest.mark.parametrize("outputs, inputs", [(45, 37), (150, 80), (150, 100)])
def test_packed_weights_are_laid_out_for_the_device(compiled, fovea_run, tmp_path, device, gpu_code, element, outputs, inputs):
    """Sizes that fill no panel, and no piece or no chunk; a tied weight, whose rows are read too. Of halves sm_90a multiplies those of 80 inputs by warpgroups."""
    name, kind = TYPES[element]
    values = np.random.default_rng(1).integers(-1, 2, (outputs, inputs)).astype(np.float32)
    stored = (values.view(np.uint32) >> 16).astype(kind) if element == "bf16" else values.astype(kind)
    header = json.dumps({"w": {"dtype": name, "shape": [outputs, inputs], "data_offsets": [0, stored.nbytes]}}).encode()
    (tmp_path / "weights.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + stored.tobytes())
    weight, x, y = (f"tensor<{shape}x{element}>" for shape in (f"{outputs}x{inputs}", f"?x?x{inputs}", f"?x?x{outputs}"))
    wide = f"tensor<?x?x{outputs}xf32>"
    (tmp_path / "tied.mlir").write_text(f"""fovea.weight @w : {weight} = #fovea.stored<"weights.safetensors", "w", {weight}>
func.func @forward(%ids: tensor<?x?xi64> {{fovea.name = "ids", fovea.dims = ["batch", "words"]}}, %one: tensor<?x1x{inputs}xf32> {{fovea.name = "one", fovea.dims = ["batch"]}})
    -> ({wide} {{fovea.name = "many", fovea.dims = ["batch", "words"]}}, tensor<?x1x{outputs}xf32> {{fovea.name = "last", fovea.dims = ["batch"]}}) attributes {{fovea.entry}} {{
  %w = fovea.weight_ref @w : {weight}
  %x = fovea.embedding %ids, %w : tensor<?x?xi64>, {weight} -> {x}
  %y = fovea.linear %x, %w : {x}, {weight} -> {y}
  %0 = {f"arith.extf %y : {y} to {wide}" if element != "f32" else f"tensor.cast %y : {y} to {wide}"}
  %1 = fovea.linear %one, %w : tensor<?x1x{inputs}xf32>, {weight} -> tensor<?x1x{outputs}xf32>
  return %0, %1 : {wide}, tensor<?x1x{outputs}xf32>
}}
""")
    ids = np.arange(2 * outputs).reshape(2, outputs) % outputs
    one = np.random.default_rng(2).integers(-8, 9, (2, 1, inputs)).astype(np.float32)
    np.savez(tmp_path / "in.npz", ids=ids, one=one)
    for code in (gpu_code, ["--gpu=all"]):
        artifact = compiled(tmp_path / "tied.mlir", *code)
        for where in ("cpu", device):
            fovea_run("run", artifact, "--device", where, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
            found = np.load(tmp_path / "out.npz")
            # Small integers: every sum is exact.
            assert np.array_equal(found["many"], values[ids] @ values.T), where
            assert np.array_equal(found["last"], one @ values.T), where
