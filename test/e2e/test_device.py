# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole models on the emulator: code for a GPU, run without one, with every check of the emulator on. The examples' numbers are test_examples.py's."""
import json
import re
import shutil
import subprocess

import numpy as np
import pytest

from programs import DATA, ROOT, SHAKESPEARE as LLAMA

SHAKESPEARE = json.loads((DATA / "shakespeare-reference.json").read_text())
MINILM = json.loads((DATA / "minilm-reference.json").read_text())["sentences"]
DEVICES = pytest.mark.parametrize("device", ["emulator", "emulator:late"])
TOKENS = 16


@pytest.mark.long
@DEVICES
def test_shakespeare_writes_the_same(compiled, fovea_run, shakespeare, device):
    artifact = compiled(shakespeare, "--gpu=sm_80")
    case = SHAKESPEARE[0]
    found = json.loads(fovea_run("generate", artifact, "--device", device, "--prompt", case["prompt"], "-n", TOKENS, "--temp", 0, "--json").ok().text)
    assert found["tokens"] == case["greedy_ids"][:TOKENS]


@pytest.mark.long
def test_shakespeare_forward(compiled, fovea_run, shakespeare, tmp_path):
    """Two prompts of one length at once, all positions."""
    artifact = compiled(shakespeare, "--gpu=sm_80")
    ids = np.array([case["prompt_ids"][:5] for case in SHAKESPEARE[:2]], dtype=np.int64)
    np.savez(tmp_path / "in.npz", input_ids=ids)
    logits = {}
    for device in ("cpu", "emulator"):
        fovea_run("run", artifact, "--device", device, "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        logits[device] = np.load(tmp_path / "out.npz")["logits"]
    difference = np.abs(logits["cpu"] - logits["emulator"]).max(-1) / np.abs(logits["cpu"]).max(-1)
    assert difference.max() <= 1e-4


@pytest.mark.long
def test_minilm(compiled, fovea_run, minilm):
    artifact = compiled(minilm, "--gpu=sm_80")
    sentence = min(MINILM, key=lambda sentence: len(sentence["text"]))
    line, = fovea_run("embed", artifact, "--device=emulator", "--text", sentence["text"]).ok().text.splitlines()
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
