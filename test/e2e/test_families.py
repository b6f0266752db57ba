# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random checkpoints of each family and option: compiled code against `transformers` in f64."""
import numpy as np
import pytest

LLAMA_ROPES = [f"llama-rope-{kind}{spelling}" for kind in ["default", "linear", "dynamic", "yarn", "yarn-scaled", "longrope", "llama3"] for spelling in ["", "-older"]]
LLAMAS = LLAMA_ROPES + ["llama-tied", "llama-biases", "llama-attention-bias", "llama-one-kv-head", "llama-ungrouped", "llama-odd-head", "llama-gelu",
                        "llama-tensor-parallel", "llama-f16", "llama-bf16", "llama-sharded", "llama-sharded-bf16-tied"]
GPT2S = ["gpt2", "gpt2-relu-inner", "gpt2-layer-scale", "gpt2-unscaled", "gpt2-bf16", "gpt2-sharded"]
BERTS = ["bert", "bert-relu", "bert-gelu-new", "bert-f16", "bert-sharded", "bert-pool-mean", "bert-pool-cls", "bert-pool-mean-normalised"]
POOLED = [name for name in BERTS if "pool" in name]
pytestmark = pytest.mark.long


def difference(found, expected):
    """The largest difference at a position against the largest value expected there."""
    assert found.shape == expected.shape and np.isfinite(found).all()
    return (np.abs(found - expected).max(-1) / np.abs(expected).max(-1)).max()


def run_entry(program, artifact, entry, inputs, out, *flags):
    program("run", artifact, "--entry", entry, "--inputs", inputs, "--outputs", out, *flags).ok()
    return np.load(out)


EXACT = [(name, "f32", 1e-4) for name in LLAMAS + GPT2S + BERTS]
ROUNDED = [(name, "auto", 4e-2) for name in LLAMAS + GPT2S + BERTS if "bf16" in name]


@pytest.mark.parametrize("name, compute, most", EXACT + ROUNDED)
def test_forward(fovea_run, compiled, checkpoints, tmp_path, name, compute, most):
    """In f32, as the reference; and, where weights are bf16, with what linears multiply rounded to it: weights at random take that worse than trained ones."""
    # Without bf16 both are the same code, which other tests have too.
    artifact = compiled(checkpoints / name / "model", *(["--compute=f32"] if compute == "f32" and "bf16" in name else []))
    for reference in sorted((checkpoints / name).glob("reference-*.npz")):
        expected = np.load(reference)
        found = run_entry(fovea_run, artifact, "forward", reference.with_name(reference.name.replace("reference", "inputs")), tmp_path / "out.npz")
        for output in expected:
            assert difference(found[output], expected[output]) <= most, f"{output} on {reference.name}"


@pytest.mark.parametrize("name", POOLED)
def test_embed(fovea_run, compiled, checkpoints, tmp_path, name):
    artifact = compiled(checkpoints / name / "model")
    for reference in sorted((checkpoints / name).glob("embedding-*.npz")):
        found = run_entry(fovea_run, artifact, "embed", reference.with_name(reference.name.replace("embedding", "inputs")), tmp_path / "out.npz")
        assert difference(found["embedding"], np.load(reference)["embedding"]) <= 1e-4


@pytest.mark.parametrize("name", LLAMAS + GPT2S + BERTS)
def test_verify(fovea, compiled, checkpoints, name):
    model = checkpoints / name / "model"
    fovea("verify", compiled(model), "--source", model).ok()


@pytest.mark.parametrize("name", LLAMAS + GPT2S + BERTS)
def test_check_finds_nothing(fovea, checkpoints, name):
    fovea("check", checkpoints / name / "model").ok()


@pytest.mark.parametrize("name", ["llama-rope-dynamic", "llama-rope-longrope", "llama-rope-yarn", "llama-one-kv-head", "llama-bf16", "gpt2", "gpt2-layer-scale"])
def test_generation_with_a_cache_follows_forward(fovea_run, compiled, checkpoints, tmp_path, name):
    """Greedy tokens through prefill and decode are those that the whole sequence through `forward` would choose."""
    from tokenizers import Tokenizer

    artifact = compiled(checkpoints / name / "model")
    tokenizer = Tokenizer.from_file(str(checkpoints / name / "model" / "tokenizer.json"))
    # Short enough for the first 32 positions: beyond them `dynamic` and `longrope` give `forward` other angles than the cache's keys were written with.
    prompt, count = "Speak of the night", 12
    text = fovea_run("generate", artifact, "--prompt", prompt, "-n", count, "--temp", 0).ok().text
    ids = tokenizer.encode(prompt).ids
    for _ in range(count):
        np.savez(tmp_path / "in.npz", input_ids=np.array([ids], dtype=np.int64))
        logits = run_entry(fovea_run, artifact, "forward", tmp_path / "in.npz", tmp_path / "out.npz")["logits"][0, -1]
        best = np.argsort(logits)[::-1]
        if best[0] == 1:
            break
        if logits[best[0]] - logits[best[1]] < 1e-4 * np.abs(logits).max():
            pytest.fail("the best two logits are too close for this test; choose another prompt")
        ids.append(int(best[0]))
    prefix = tokenizer.decode(tokenizer.encode(prompt).ids)
    expected = tokenizer.decode(ids)[len(prefix):]
    assert text in (expected, expected + "\n")


def test_results_do_not_depend_on_threads(fovea_run, compiled, checkpoints, tmp_path):
    for name, output in [("llama-biases", "logits"), ("bert", "last_hidden_state")]:
        artifact = compiled(checkpoints / name / "model")
        results = [run_entry(fovea_run, artifact, "forward", checkpoints / name / "inputs-0.npz", tmp_path / "out.npz", f"--threads={threads}")[output] for threads in (1, 2, 3)]
        assert all((result == results[0]).all() for result in results)


def test_same_input_gives_the_same_bytes(fovea, checkpoints, tmp_path):
    for number in range(2):
        fovea("compile", checkpoints / "llama-tied" / "model", "-o", tmp_path / f"{number}.fovea", f"--threads={number + 1}").ok()
    assert (tmp_path / "0.fovea").read_bytes() == (tmp_path / "1.fovea").read_bytes()


def test_verify_notices_a_wrong_reference(fovea, checkpoints, tmp_path):
    """--against with one logit moved: exit code 1 and the output's name."""
    folder = checkpoints / "llama-tied"
    arrays = {**np.load(folder / "inputs-0.npz"), **np.load(folder / "reference-0.npz")}
    np.savez(tmp_path / "right.npz", **arrays)
    fovea("verify", folder / "model", "--against", tmp_path / "right.npz").ok()
    arrays["logits"] = arrays["logits"].copy()
    arrays["logits"][1, 5, 7] += 0.1
    np.savez(tmp_path / "wrong.npz", **arrays)
    result = fovea("verify", folder / "model", "--against", tmp_path / "wrong.npz")
    assert result.code == 1 and b"logits" in result.err, str(result)
