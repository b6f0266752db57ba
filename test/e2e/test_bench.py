# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What measuring shows: shares of the machine's limits that can be true, traces that cover every step and thread, and the list of fallbacks."""
import json
import subprocess
import sys

import numpy as np
import pytest

from programs import ROOT


@pytest.fixture(scope="module")
def report(fovea_run, shakespeare_artifact):
    return json.loads(fovea_run("bench", shakespeare_artifact, "--prompt-tokens", 64, "--new-tokens", 8, "--threads", 2, "--json").ok().text)


def test_costs_are_the_models(report):
    """Two operations for each weight of a product and token, and those of attention: 4 layers of 192, 320 of query, key and value, 1024 of gate and up, 512 inside; 2048 words."""
    weights = 4 * (192 * 320 + 192 * 192 + 192 * 1024 + 512 * 192)
    pairs = 64 * 65 // 2
    assert report["prefill"]["flops"] == 2 * (64 * weights + 192 * 2048) + 4 * (4 * pairs * 6 * 32)
    lengths = sum(range(65, 73))  # what the 8 new tokens see
    assert report["decode"]["flops"] == 8 * 2 * (weights + 192 * 2048) + 4 * (4 * lengths * 6 * 32)
    assert report["decode"]["bytes"] > 8 * 2 * (weights + 192 * 2048)


def test_shares_are_of_measured_limits(report):
    assert report["threads"] == 2 and report["processor"]
    for phase in ["prefill", "decode"]:
        row = report[phase]
        assert row["share_of_peak"] == pytest.approx(row["flops"] / row["seconds"] / report["peaks"]["flops_per_second"])
        # How much depends on what else the machine does while peaks and kernels are measured.
        assert row["share_of_peak"] > 0
        assert all(kernel["seconds"] > 0 for kernel in row["kernels"].values() if kernel["computes"])
        assert sum(kernel["flops"] for kernel in row["kernels"].values()) == pytest.approx(row["flops"])
        assert all(kernel["schedule"] for kernel in row["kernels"].values() if kernel["computes"])


def test_inspect_lists_fallbacks(fovea, shakespeare_artifact, report):
    text = fovea("inspect", shakespeare_artifact).ok().text
    fallbacks = {name for phase in ["prefill", "decode"] for name, kernel in report[phase]["kernels"].items() if kernel["fallback"]}
    listed = text.split("fallbacks to plain loops", 1)[1].split("\nweights", 1)[0] if "fallbacks to plain loops" in text else ""
    assert bool(listed) != ("no kernel falls back to plain loops" in text)
    for name in fallbacks:
        assert f"    {name}: " in listed


def write_norm(path, type):
    path.write_text(f"""func.func @forward(%x: tensor<{type}> {{fovea.name = "x", fovea.dims = ["n"]}}) -> (tensor<{type}> {{fovea.name = "y", fovea.dims = ["n"]}}) attributes {{fovea.entry}} {{
  %y = fovea.rms_norm %x eps(1.0e-5) : tensor<{type}>
  return %y : tensor<{type}>
}}
""")
    return path


def test_rows_too_long_for_a_tile_fall_back(fovea, tmp_path):
    model = write_norm(tmp_path / "long.mlir", "?x262144xf32")
    fovea("compile", model, "-o", tmp_path / "long.fovea").ok()
    text = fovea("inspect", tmp_path / "long.fovea").ok().text
    listed = text.split("fallbacks to plain loops (1)\n", 1)[1].splitlines()[:1]
    assert all(f"linalg.generic, first in forward, {model.name}:2:8" in line for line in listed), text


def test_f64_does_not_fall_back(fovea, tmp_path):
    model = write_norm(tmp_path / "wide.mlir", "?x8xf64")
    fovea("compile", model, "-o", tmp_path / "wide.fovea").ok()
    assert "no kernel falls back to plain loops" in fovea("inspect", tmp_path / "wide.fovea").ok().text


@pytest.mark.parametrize("columns", [131072, 262144])
def test_long_rows_fit_the_stack(fovea, tmp_path, columns):
    """As a vocabulary's softmax: tiles of four rows of so many columns overran it."""
    type = f"tensor<9x{columns}xf32>"
    model = tmp_path / "vocabulary.mlir"
    model.write_text(f"""func.func @forward(%x: {type} {{fovea.name = "x"}}) -> ({type} {{fovea.name = "y"}}) attributes {{fovea.entry}} {{
  %e = tensor.empty() : {type}
  %y = linalg.softmax dimension(1) ins(%x : {type}) outs(%e : {type}) -> {type}
  return %y : {type}
}}
""")
    fovea("verify", model).ok()


def test_bench_of_any_entry(fovea, tmp_path):
    """Attention by itself: dimensions from the command line, or arrays from a file."""
    model = tmp_path / "attention.mlir"
    tensor = "tensor<1x?x4x32xf32>"
    port = lambda name: f'%{name}: {tensor} {{fovea.name = "{name}", fovea.dims = ["sequence"]}}'
    model.write_text(f"""func.func @forward({port("q")}, {port("k")}, {port("v")}, %s: tensor<1x?xi32> {{fovea.name = "s", fovea.dims = ["sequence"]}}) -> ({tensor} {{fovea.name = "o", fovea.dims = ["sequence"]}}) attributes {{fovea.entry}} {{
  %m = fovea.mask_causal
  %n = fovea.mask_segment %s, %s : tensor<1x?xi32>, tensor<1x?xi32>
  %both = fovea.mask_and(%m, %n)
  %o = fovea.attention %q, %k, %v mask(%both) scale(0.2) : {tensor}, {tensor}, {tensor} -> {tensor}
  return %o : {tensor}
}}
""")
    artifact = tmp_path / "attention.fovea"
    fovea("compile", model, "-o", artifact).ok()
    record = json.loads(fovea("bench", artifact, "--dim", "sequence=96", "--no-peaks", "--json").ok().text)
    assert record["forward"]["flops"] == 4 * 4 * 32 * 96 * 97 // 2
    np.savez(tmp_path / "in.npz", s=np.zeros((1, 40), np.int32))
    refused = fovea("bench", artifact, "--inputs", tmp_path / "in.npz", "--dim", "sequence=96", "--no-peaks")
    assert refused.code == 1 and "expects" in refused.err.decode()
    record = json.loads(fovea("bench", artifact, "--inputs", tmp_path / "in.npz", "--dim", "sequence=40", "--no-peaks", "--json").ok().text)
    assert record["forward"]["flops"] == 4 * 4 * 32 * 40 * 41 // 2


def test_sizes(fovea, tmp_path):
    """All dimensions without a size are named at once, with words to copy; those of a given array are its own."""
    model = tmp_path / "sizes.mlir"
    port = lambda name, dims: f'%{name}: tensor<?x2xf32> {{fovea.name = "{name}", fovea.dims = ["{dims}"]}}'
    model.write_text(f"""func.func @forward({port("x", "s72")}, {port("y", "past + new")}, {port("z", "s72")}) -> (tensor<?x2xf32> {{fovea.name = "a"}}, tensor<?x2xf32> {{fovea.name = "b"}}) attributes {{fovea.entry}} {{
  %a = arith.addf %x, %z : tensor<?x2xf32>
  %b = arith.addf %y, %y : tensor<?x2xf32>
  return %a, %b : tensor<?x2xf32>, tensor<?x2xf32>
}}
""")
    artifact = tmp_path / "sizes.fovea"
    fovea("compile", model, "-o", artifact).ok()
    bench = lambda *words: fovea("bench", artifact, "--no-peaks", "--json", *words)
    refused = bench()
    assert refused.code == 2 and "expects sizes of past + new, s72\nfor example: --dim 'past + new=128' --dim s72=128\n" in refused.err.decode(), str(refused)
    found = bench("--dim", "past + new=5", "--dim", "s72=3").ok()
    assert not found.err and sum(kernel["bytes"] for kernel in json.loads(found.text)["forward"]["kernels"].values()) == 4 * 2 * (3 * 3 + 2 * 5)
    np.savez(tmp_path / "in.npz", x=np.zeros((7, 2), np.float32))
    found = bench("--dim", "past + new=5", "--inputs", tmp_path / "in.npz").ok()
    assert sum(kernel["bytes"] for kernel in json.loads(found.text)["forward"]["kernels"].values()) == 4 * 2 * (3 * 7 + 2 * 5)


def test_trace_covers_every_step(fovea_run, shakespeare_artifact, tmp_path):
    path = tmp_path / "trace.json"
    fovea_run("generate", shakespeare_artifact, "--prompt", "ROMEO:", "-n", 3, "--temp", 0, "--threads", 2, "--trace", path).ok()
    events = json.loads(path.read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    steps = [event for event in slices if event["cat"] == "step"]
    assert {event["tid"] for event in steps} <= {0, 1}
    assert {event["args"]["entry"] for event in steps} == {"prefill", "decode"}
    assert any(event["args"]["location"] == "model.layers.2.mlp.down_proj" for event in steps)
    for entry in ["prefill", "decode"]:
        seen = {event["args"]["step"] for event in steps if event["args"]["entry"] == entry}
        assert seen == set(range(len(seen))) and len(seen) > 10
    for thread in [0, 1]:
        own = sorted((event["ts"], event["ts"] + event["dur"]) for event in steps if event["tid"] == thread)
        # Nothing a thread does overlaps; the format's microseconds have three digits.
        assert all(end <= begin + 2e-3 for (_, end), (begin, _) in zip(own, own[1:]))


def test_first_token_comes_soon(this_processor, shakespeare_artifact):
    """From the start of the process; far above the promise, so that a busy machine does not fail it: scripts/bench --case start measures."""
    import time
    from programs import BIN
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        process = subprocess.Popen([BIN / "fovea-run", "generate", shakespeare_artifact, "--prompt", "ROMEO:", "-n", "4", "--temp", "0"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert process.stdout.read(1)
        times.append(time.perf_counter() - begin)
        process.communicate()
    assert min(times) < 0.5


def test_random_models_are_the_same_bytes(tmp_path):
    """The benchmarks' Llama: made twice, equal, and of the size that its name says."""
    sys.path.insert(0, str(ROOT / "bench"))
    import models
    models.SHAPES["tiny"] = dict(models.SHAPES["llama-110m"], hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2, intermediate_size=96, vocab_size=100)
    one, two = (models.make("tiny", tmp_path / name) for name in ["one", "two"])
    assert (one / "model.safetensors").read_bytes() == (two / "model.safetensors").read_bytes()
    count = lambda name: sum(int(np.prod(sizes)) for _, sizes, _ in models.tensors(models.SHAPES[name]))
    assert abs(count("llama-110m") - 110e6) < 1e6 and abs(count("llama-1b") - 1.1e9) < 1e7
    from safetensors.numpy import load_file
    loaded = load_file(one / "model.safetensors")
    assert loaded["model.layers.1.mlp.down_proj.weight"].shape == (64, 96)
    assert 0.5 < loaded["model.layers.1.mlp.down_proj.weight"].std() * 96**0.5 < 2


def test_peaks_answer_each_line():
    """The yardstick of scripts/bench: one sample a line; anything but a count of threads is refused."""
    program = ROOT / "build" / "bin" / "fovea-peaks"
    done = subprocess.run([program, "2"], input="\n\n", capture_output=True, text=True, check=True)
    samples = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(samples) == 2
    assert all(sample["flops_per_second"] > 1e8 and sample["bytes_per_second"] > 1e7 for sample in samples)
    for threads in ["0", "two", "1e3"]:
        assert subprocess.run([program, threads], input="", capture_output=True).returncode == 1


@pytest.mark.long
def test_whole_models_beside_neighbours(fovea_run):
    """scripts/bench with the programs that need no package of their own: checked against f64, then timed alone and beside a process that computes."""
    command = [ROOT / "scripts" / "bench", "--python", sys.executable, "--case", "minilm-tokens-8", "--peer", "fovea", "--rounds", "1", "--neighbours", "1", "--dtype", "bf16", "--json"]
    record = json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    assert record["dtype"] == "bf16" and record["neighbours"] == 1
    program = record["cases"][0]["programs"]["fovea"]
    assert 1e-5 < program["error"] < 5e-2 and program["seconds"] > 0 and program["seconds_beside"] > 0
    refused = subprocess.run([*command[:3], "--case", "attention-full", "--dtype", "bf16"], cwd=ROOT, capture_output=True, text=True)
    assert refused.returncode == 2 and "attention alone is measured in f32" in refused.stderr
