# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random decoders of many families and their options: compiled code against `transformers` in f64, with and without caches, and on the emulator."""
import json

import numpy as np
import pytest

from decoder_cases import CASES, FAMILIES, OLDER, configuration
from programs import unexpected_plain_loops
from test_families import difference, run_entry

pytestmark = pytest.mark.long
EVERY = pytest.mark.parametrize("name", CASES)


@pytest.fixture
def artifact(compiled, decoders, name):
    """All in f32, as its references were computed."""
    return compiled(decoders / name / "model", "--compute=f32")


def load(folder, number):
    return np.load(folder / f"inputs-{number}.npz")["input_ids"], np.load(folder / f"reference-{number}.npz")["logits"]


def forward(fovea_run, artifact, ids, tmp_path, *flags):
    np.savez(tmp_path / "in.npz", input_ids=ids)
    return run_entry(fovea_run, artifact, "forward", tmp_path / "in.npz", tmp_path / "out.npz", *flags)["logits"]


def greedy(fovea_run, artifact, folder, *flags, count=None):
    """The tokens behind the prompt, and the first of those that should be."""
    wanted = json.loads((folder / "generated.json").read_text())
    count = count or len(wanted["tokens"])
    prompt = ",".join(map(str, wanted["prompt"]))
    done = fovea_run("generate", artifact, "--json", "--prompt-ids", prompt, "-n", count, "--temp", 0, "--ignore-end", *flags).ok()
    return json.loads(done.text)["tokens"], wanted["tokens"][:count]


@EVERY
def test_forward(fovea_run, artifact, decoders, tmp_path, name):
    for number in range(2):
        ids, expected = load(decoders / name, number)
        assert difference(forward(fovea_run, artifact, ids, tmp_path), expected) <= 2e-5, f"input {number}"


HALVES = [name for name in CASES if name.endswith("bf16")]
ROUTED = [name for name in HALVES if any("experts_per" in key for key in configuration(name)[1])]


@pytest.mark.parametrize("name", ROUTED)
def test_choices_that_rounding_moves_are_no_faults(fovea, decoders, name):
    """Where scores of experts are nearly equal, rounding chooses others: `verify` knows how far that moves results."""
    fovea("verify", decoders / name / "model").ok()


@pytest.mark.parametrize("name", [name for name in HALVES if name not in ROUTED])
def test_forward_in_halves(fovea_run, compiled, decoders, tmp_path, name):
    """What linears multiply rounded to bf16."""
    ids, expected = load(decoders / name, 0)
    assert difference(forward(fovea_run, compiled(decoders / name / "model"), ids, tmp_path), expected) <= 4e-2


@EVERY
def test_verify(fovea, artifact, decoders, name):
    fovea("verify", artifact, "--source", decoders / name / "model").ok()


@EVERY
def test_check_finds_nothing(fovea, decoders, name):
    assert not fovea("check", decoders / name / "model").ok().err


@EVERY
def test_no_kernel_is_plain_loops(fovea, artifact, name):
    assert not unexpected_plain_loops(fovea, artifact)


@pytest.mark.parametrize("name", OLDER)
def test_older_configurations_say_the_same(fovea, decoders, tmp_path, name):
    graphs = []
    for folder in (name, f"{name}-older"):
        fovea("compile", decoders / folder / "model", "--emit=graph", "-o", tmp_path / "graph.mlir").ok()
        graphs.append((tmp_path / "graph.mlir").read_text().replace(f"{decoders / folder}/", ""))
    assert graphs[0] == graphs[1] and "fovea.attention" in graphs[0]


@EVERY
@pytest.mark.parametrize("chunk", [512, 5])
def test_generation(fovea_run, artifact, decoders, name, chunk):
    """The tokens that the whole text would choose each time; the prompt read at once, and in parts."""
    found, wanted = greedy(fovea_run, artifact, decoders / name, f"--prompt-chunk={chunk}")
    assert found == wanted


@EVERY
def test_caches(fovea_run, artifact, decoders, tmp_path, name):
    """Two texts read in parts that are shorter and longer than a window, the last token by itself."""
    ids, expected = load(decoders / name, 0)
    given = []
    for first, end, entry in [(0, 1, "prefill"), (1, 8, "prefill"), (8, 20, "prefill"), (20, 21, "decode")]:
        given += ["--entry", entry, "--input", f"input_ids={ids[:, first:end].tolist()}"]
        fovea_run("run", artifact, *given, "--outputs", tmp_path / "out.npz").ok()
        assert difference(np.load(tmp_path / "out.npz")["logits"], expected[:, end - 1]) <= 1e-4, f"{end} tokens"


@EVERY
def test_what_follows_changes_nothing(fovea_run, artifact, decoders, tmp_path, name):
    ids, expected = load(decoders / name, 0)
    for length in [1, 7, 20]:
        assert difference(forward(fovea_run, artifact, ids[:, :length], tmp_path), expected[:, :length]) <= 1e-4, f"{length} tokens"


@EVERY
def test_a_text_alone_is_as_in_a_batch(fovea_run, artifact, decoders, tmp_path, name):
    ids, _ = load(decoders / name, 0)
    assert difference(forward(fovea_run, artifact, ids[1:], tmp_path), forward(fovea_run, artifact, ids, tmp_path)[1:]) <= 1e-5


@pytest.mark.devices("emulator")
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", FAMILIES)
def test_on_a_device(fovea_run, compiled, decoders, tmp_path, device, gpu_code, chip, name):
    """As on the processor, and a few tokens with caches."""
    code = [f"--gpu={chip}", "-O0"] if device.startswith("emulator") else gpu_code
    artifact = compiled(decoders / name / "model", "--compute=f32", *code)
    ids, _ = load(decoders / name, 0)
    there, here = (forward(fovea_run, artifact, ids[:, :9], tmp_path, "--device", where) for where in (device, "cpu"))
    assert difference(there, here) <= 1e-4
    found, wanted = greedy(fovea_run, artifact, decoders / name, "--device", device, count=4)
    assert found == wanted
