# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The small trained Llama writes what the reference implementation writes, whichever way it is started."""
import json

import numpy as np
import pytest

from programs import DATA

REFERENCE = json.loads((DATA / "shakespeare-reference.json").read_text())
PROMPTS = pytest.mark.parametrize("case", REFERENCE, ids=[f"prompt{i}" for i in range(len(REFERENCE))])


def greedy(program, artifact, case, *flags):
    return program("generate", artifact, "--prompt", case["prompt"], "-n", len(case["greedy_ids"]), "--temp", 0, *flags).ok()


def same_text(result, case):
    # A newline after the last token is the terminal's, not the model's.
    assert result.text in (case["text"], case["text"] + "\n"), str(result)


@PROMPTS
@pytest.mark.parametrize("threads", [1, 2])
def test_generate(fovea, shakespeare_artifact, case, threads):
    same_text(greedy(fovea, shakespeare_artifact, case, f"--threads={threads}"), case)


@PROMPTS
@pytest.mark.parametrize("threads", [1, 2])
def test_thin_runtime(fovea_run, shakespeare_artifact, case, threads):
    same_text(greedy(fovea_run, shakespeare_artifact, case, f"--threads={threads}"), case)


@PROMPTS
@pytest.mark.parametrize("chunk", [1, 3, 64])
def test_prompt_in_chunks(fovea_run, shakespeare_artifact, case, chunk):
    same_text(greedy(fovea_run, shakespeare_artifact, case, f"--prompt-chunk={chunk}"), case)


def test_model_in_place_of_artifact(fovea, shakespeare):
    same_text(greedy(fovea, shakespeare, REFERENCE[0]), REFERENCE[0])


def test_prompt_from_file_and_input(fovea_run, shakespeare_artifact, tmp_path):
    case = REFERENCE[0]
    file = tmp_path / "prompt.txt"
    file.write_text(case["prompt"])
    count = len(case["greedy_ids"])
    same_text(fovea_run("generate", shakespeare_artifact, "--prompt-file", file, "-n", count, "--temp", 0).ok(), case)
    same_text(fovea_run("generate", shakespeare_artifact, "--prompt-file", "-", "-n", count, "--temp", 0, stdin=case["prompt"].encode()).ok(), case)


@PROMPTS
def test_logits_after_the_prompt(fovea_run, shakespeare_artifact, tmp_path, case):
    np.savez(tmp_path / "in.npz", input_ids=np.array([case["prompt_ids"]], dtype=np.int64))
    fovea_run("run", shakespeare_artifact, "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
    logits = np.load(tmp_path / "out.npz")["logits"]
    assert logits.shape == (1, len(case["prompt_ids"]), 2048)
    expected = np.array(case["last_logits_first16"])
    assert np.abs(logits[0, -1, :16] - expected).max() <= 1e-4 * np.abs(expected).max()


@pytest.mark.parametrize("flags", [["--temp=0.8", "--seed=7"], ["--temp=1", "--top-k=40", "--seed=7"], ["--temp=1", "--top-p=0.9", "--min-p=0.05", "--repeat-penalty=1.1", "--seed=3"]])
def test_sampling_repeats_with_its_seed(fovea_run, shakespeare_artifact, flags):
    texts = {fovea_run("generate", shakespeare_artifact, "--prompt", "ROMEO:", "-n", 40, *flags, *threads).ok().text
             for threads in (["--threads=1"], ["--threads=2"], ["--threads=1"])}
    assert len(texts) == 1


def test_sampling_differs_by_seed(fovea_run, shakespeare_artifact):
    texts = {fovea_run("generate", shakespeare_artifact, "--prompt", "ROMEO:", "-n", 40, "--temp=1", f"--seed={seed}").ok().text for seed in range(4)}
    assert len(texts) == 4


def held_out_loss(fovea_run, artifact, data, tmp_path):
    """Mean loss of a token on text not trained on, in chunks of 256 tokens, each begun with the begin token; the reference's."""
    from tokenizers import Tokenizer
    from programs import SHAKESPEARE

    expected = json.loads((data / "shakespeare-perplexity.json").read_text())
    ids = Tokenizer.from_file(str(SHAKESPEARE / "tokenizer.json")).encode((data / "shakespeare-heldout.txt").read_text(), add_special_tokens=False).ids
    assert len(ids) == expected["tokens"]
    loss = 0.0
    for start in range(0, len(ids), expected["chunk"]):
        chunk = [0] + ids[start:start + expected["chunk"]]
        np.savez(tmp_path / "in.npz", input_ids=np.array([chunk[:-1]], dtype=np.int64))
        fovea_run("run", artifact, "--entry", "forward", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        logits = np.load(tmp_path / "out.npz")["logits"][0].astype(np.float64)
        logits -= logits.max(-1, keepdims=True)
        picked = logits[np.arange(len(chunk) - 1), chunk[1:]] - np.log(np.exp(logits).sum(-1))
        loss -= picked.sum()
    return loss / len(ids), np.log(expected["perplexity_f32"])


def test_perplexity_on_text_not_trained_on(fovea_run, shakespeare_artifact, data, tmp_path):
    """It equals the reference's to 1e-4 of its logarithm."""
    loss, expected = held_out_loss(fovea_run, shakespeare_artifact, data, tmp_path)
    assert abs(loss - expected) <= 1e-4
