# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands for a machine with a GPU, where there is none: scripts/bench --gpu at tiny sizes on the emulator and through a driver that the emulator plays; what
scripts/test --gpu runs likewise; and what both say where there is no driver."""
import ctypes
import itertools
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest

from programs import BIN, ROOT

sys.path.insert(0, str(ROOT / "bench"))
import gpu
import gpu_cases

FAKE_DRIVER = ROOT / "build" / "lib" / "fovea_fake_driver.so"


def has_driver():
    try:
        return bool(ctypes.CDLL("libcuda.so.1"))
    except OSError:
        return False


def run(*command, **environment):
    return subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL, env={**os.environ, **environment})


def bench(*arguments, **environment):
    return run("scripts/bench", "--gpu", "--python", sys.executable, "--tiny", "--rounds", 1, "--seconds", 0, *arguments, **environment)


@pytest.fixture(scope="module")
def fake(tmp_path_factory):
    """What makes a program find the driver that is none."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "libcuda.so.1").symlink_to(FAKE_DRIVER)
    return {"LD_LIBRARY_PATH": str(folder)}


def rows(text):
    """The lines of the tables by their first cell."""
    return {cells[0]: cells for cells in ([cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| "))}


@pytest.mark.long
def test_bench_on_the_emulator(tmp_path):
    """Every kind of case, and the peers' code on the CPU."""
    done = bench("--device", "emulator", "--peer", "flash", "--peer", "cudnn", "--peer", "cublas", "--out", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    assert re.match(r"Measured \d{4}-\d\d-\d\d on the emulator, driver none, commit \w+, torch ", done.stdout), done.stdout
    found, record = rows(done.stdout), json.loads((tmp_path / "out.json").read_text())
    assert record["copy_bytes_per_second"] > 0
    for row in record["records"]:
        assert row["programs"]["fovea"]["seconds"] > 0
        cells = found[row["case"]]
        peer = {"attention": "flash", "one-query": "flash", "gemm": "cublas"}.get(gpu_cases.TINY[row["case"]]["kind"])
        if peer:
            assert row["programs"][peer]["error"] <= gpu_cases.tolerance(gpu_cases.TINY[row["case"]], peer)
        assert all(float(cell) > 0 for cell in cells[2:4])
    assert [row["case"] for row in record["records"]] == list(gpu_cases.TINY)


@pytest.mark.long
def test_bench_through_a_driver(fake):
    """Everything but the hardware: the device is called cuda and its functions are the driver's."""
    done = bench("--case", "attention-64-causal", "--case", "model", "--peer", "flash", **fake)
    assert done.returncode == 0, done.stderr
    assert "on CUDA device 0 (Fake GPU), driver " in done.stdout
    assert {"attention-64-causal-48", "model-tiny"} < rows(done.stdout).keys()
    assert "- attention-64-causal-48: torch flash is not measured: torch" in done.stdout
    again = bench("--case", "attention-64-causal", "--peer", "none", "--prepared", "--device=cuda:0", **fake)
    assert again.returncode == 0 and "bench: compiling" not in again.stderr, again.stderr


def test_a_wrong_result_is_not_timed(fovea):
    """The check before the clock: a reference that is off by more than rounding."""
    name = "attention-64-full-48"
    case = gpu_cases.find(name)
    gpu.prepare(case, "sm_80")
    measuring = gpu.Bench("emulator", 2, 1, 0)
    try:
        expected = gpu_cases.reference(case)
        error, reason = measuring.check(name, case, "fovea", expected)
        assert reason is None and 0 < error <= gpu_cases.TOLERANCE["bf16"]
        wrong = expected.copy()
        wrong[0, 3, 5] += 0.03 * np.abs(expected).max()
        error, reason = measuring.check(name, case, "fovea", wrong)
        assert error is None and reason.startswith("differs from the reference by 0.0")
    finally:
        measuring.close()
    assert gpu.difference(np.array([np.nan]), np.array([1.0])) == gpu.difference(np.zeros(2), np.ones(3)) == float("inf")


def test_references_are_formulas():
    """A causal mask sees no later key, heads of a group share keys, and every result is a mean of values."""
    case = gpu_cases.attention(64, "causal", 48, 96, 128)
    found, given = gpu_cases.reference(case), gpu_cases.inputs(case)
    assert np.allclose(found[0, 0], gpu_cases.widen(given["v"])[0, 0, 0])
    case = gpu_cases.one_query(64, 2, 80, 4, 2)
    given = {name: gpu_cases.widen(array) for name, array in gpu_cases.inputs(case).items()}
    scores = given["k"][1, :, 1] @ given["q"][1, 0, 3] / 8
    weights = np.exp(scores - scores.max())
    assert np.allclose(gpu_cases.reference(case)[1, 0], weights @ given["v"][1, :, 1] / weights.sum(), atol=1e-5)
    assert gpu_cases.flops(gpu_cases.find("attention-128-full-16384")) == 4 * 2048 * 16384**2


@pytest.mark.skipif(has_driver(), reason="this machine has NVIDIA's driver")
@pytest.mark.parametrize("command", [["scripts/test", "--gpu"], ["scripts/test", "--gpu", "--built"], ["scripts/bench", "--gpu"]], ids=" ".join)
def test_without_a_driver_one_line_says_so(compiled, fovea_run, tmp_path, command):
    """The runtime's own words."""
    done = run(*command)
    assert done.returncode == 1 and not done.stdout
    line, = done.stderr.splitlines()
    model = tmp_path / "norm.mlir"
    tensor = "tensor<?x8xf32>"
    model.write_text(f"""func.func @forward(%x: {tensor} {{fovea.name = "x", fovea.dims = ["n"]}}) -> ({tensor} {{fovea.name = "y", fovea.dims = ["n"]}}) attributes {{fovea.entry}} {{
  %y = fovea.rms_norm %x eps(1.0e-5) : {tensor}
  return %y : {tensor}
}}
""")
    refused = fovea_run("run", compiled(model, "--gpu=all"), "--device", "cuda", "--input", "x=random:2x8")
    assert refused.code == 1
    assert line.partition(": ")[2] == refused.err.decode().strip().partition("error: ")[2]


def test_a_device_that_is_not_there_is_named(fake):
    for command in ["scripts/test", "scripts/bench"]:
        done = run(command, "--gpu", "--device", "cuda:3", **fake)
        assert done.returncode == 1 and not done.stdout
        assert done.stderr.splitlines() == [f"{command.split('/')[1]}: device 'cuda': expects device 3 of this machine, which has 3"]
    done = run("scripts/bench", "--gpu", "--python", sys.executable, "--list", "--case", "softmax")
    assert done.returncode == 2 and "--case softmax: expects a case or the beginning of some" in done.stderr


def test_a_token_is_one_graph(this_processor, fake, compiled, shakespeare, tmp_path):
    """What the driver is asked for when a model writes four tokens more, by token: a copy of the id, one launch for
    all kernels, one copy back, one wait. Of the kernels those that know the length are told anew."""
    calls = []
    for count in (3, 7):
        done = run(BIN / "fovea-run", "generate", compiled(shakespeare, "--gpu=sm_80"), "--device=cuda", "--prompt", "ROMEO:", "-n", count, "--temp", 0,
                   **fake, FAKE_DRIVER_CALLS=str(tmp_path / "calls"))
        assert done.returncode == 0, done.stderr
        calls.append(dict((name, int(count)) for name, count in re.findall(r"^(.+) (\d+)$", (tmp_path / "calls").read_text(), re.MULTILINE)))
    token = {name: (calls[1][name] - calls[0].get(name, 0)) / 4 for name in calls[1]}
    told = token.pop("cuGraphExecKernelNodeSetParams")
    assert 0 < told < calls[1]["cuGraphAddKernelNode"]
    assert token.pop("bytes out") < 1000
    assert {name: count for name, count in token.items() if count} == dict.fromkeys(
        ["cuMemcpyHtoDAsync_v2", "cuGraphLaunch", "cuMemcpyDtoHAsync_v2", "cuStreamSynchronize", "wait"], 1)


@pytest.mark.long
@pytest.mark.parametrize("program, which", [("FoveaRuntimeTest", "DeviceTest.*"), ("FoveaThreadsTest", "*AttentionOnDevice*_40:*CopiesAhead*")])
def test_suites_run_on_another_device(fake, program, which):
    """As scripts/test --gpu starts them."""
    done = run(BIN / program, f"--gtest_filter={which}", FOVEA_TEST_DEVICE="cuda", **fake)
    assert done.returncode == 0, done.stdout[-4000:]
    assert int(re.search(r"PASSED\W+(\d+) test", done.stdout)[1]) > 2
    without = run(BIN / program, f"--gtest_filter={which}", FOVEA_TEST_DEVICE="cuda:3", **fake)
    assert without.returncode != 0 and "expects device 3 of this machine, which has 3" in without.stdout


@pytest.mark.long
def test_models_run_on_another_device(fake):
    done = run(sys.executable, "-m", "pytest", "-q", "--all", "--device=cuda", "test/e2e", "-k", "shakespeare_forward or causal.mlir", **fake)
    assert done.returncode == 0, done.stdout[-4000:]
    assert re.search(r"^[2-9] passed, \d+ deselected", done.stdout, re.MULTILINE), done.stdout[-400:]


def expand(pattern):
    """The names that a pattern with alternatives in braces stands for."""
    parts = [part.strip("{}").split(",") if part.startswith("{") else [part] for part in re.findall(r"\{[^}]*\}|[^{]+", pattern)]
    return ["".join(choice) for choice in itertools.product(*parts)]


def test_the_documented_cases_are_those_measured():
    goals = {}
    for cells in rows((ROOT / "docs" / "benchmarking.md").read_text()).values():
        if re.match(r"(attention|one-query|gemm|model)-", cells[0]):
            for name in expand(cells[0]):
                assert name not in goals, name
                goals[name] = cells[1]
    assert goals == {name: gpu.target(case) for name, case in gpu_cases.CASES.items()}


def complaints(text):
    """What is wrong with the lines of a GPU's figures in a document: they are as scripts/bench --gpu prints them, and measured."""
    found = []
    for name, cells in rows(text).items():
        if not re.match(r"(attention|one-query|gemm|model)-", name):
            continue
        case = gpu_cases.CASES.get(name)
        if not case:
            found.append(f"{name}: is no case")
        elif len(cells) != len(rows("\n".join(gpu.head(case["kind"])))[gpu.TABLES[case["kind"]][0]]):
            found.append(f"{name}: has another number of cells than its table")
        elif not all(re.fullmatch(r"-|\d+(\.\d+)?( %)?", cell) for cell in cells[2:]):
            found.append(f"{name}: has a cell that is no figure")
    return found


def test_documented_figures_are_measured():
    text = (ROOT / "docs" / "performance.md").read_text()
    assert complaints(text) == []
    line = "| gemm-8192-bf16 | 85 % of cuBLAS | 612.4 | 689.1 | 0.89 |"
    assert complaints(text + line) == []
    assert complaints(text + line.replace("612.4", "not yet measured")) == ["gemm-8192-bf16: has a cell that is no figure"]
    assert complaints(text + line.replace("8192", "8193")) == ["gemm-8193-bf16: is no case"]
    assert complaints(text + line + " 1 |") == ["gemm-8192-bf16: has another number of cells than its table"]
