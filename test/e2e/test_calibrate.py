# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""int4 by a text: less is lost than without it, as the compiler says and as is measured here; what stays int8, what is told, what is refused."""
import json
import re
import shutil

import numpy as np
import pytest

from programs import DATA
from test_minilm import SENTENCES, embed

HELD_OUT = DATA / "shakespeare-heldout.txt"


def numbers(result, pattern):
    """What the compiler says."""
    found = re.search(pattern, result.err.decode())
    assert found, str(result)
    return [float(number) for number in found.groups()]


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Lines of English, of which no test's sentence is one."""
    path = tmp_path_factory.mktemp("texts") / "lines.txt"
    path.write_text("\n".join(line for line in HELD_OUT.read_text().splitlines() if len(line) > 20))
    return path


@pytest.fixture(scope="module")
def begin(tmp_path_factory):
    """The begin of the text; the rest is left for measuring."""
    path = tmp_path_factory.mktemp("texts") / "begin.txt"
    path.write_text(HELD_OUT.read_text()[:40000])
    return path


def log_probabilities(fovea_run, artifact, shakespeare, folder):
    """Of each token behind each of three windows of the rest."""
    from tokenizers import Tokenizer

    ids = Tokenizer.from_file(str(shakespeare / "tokenizer.json")).encode(HELD_OUT.read_text()[41000:], add_special_tokens=False).ids
    logits = []
    for first in range(0, 768, 256):
        np.savez(folder / "in.npz", input_ids=np.array([[0] + ids[first:first + 255]], dtype=np.int64))
        fovea_run("run", artifact, "--entry", "forward", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz").ok()
        logits.append(np.load(folder / "out.npz")["logits"][0].astype(np.float64))
    logits = np.concatenate(logits)
    logits -= logits.max(-1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(-1, keepdims=True))


def test_decoder(fovea, fovea_run, compiled, shakespeare, shakespeare_artifact, begin, tmp_path):
    """The divergence from the model as stored is less than half of plain int4's, on text that nobody has seen; decoding runs by the same weights."""
    artifact = tmp_path / "calibrated.fovea"
    result = fovea("compile", shakespeare, "--dtype=int4", "--compute=f32", "--calibrate", begin, "--report", tmp_path / "report.json", "-o", artifact).ok()
    plain, calibrated = numbers(result, r"divergence ([\d.]+) in int4, ([\d.]+) calibrated")
    assert 0 < calibrated < plain / 2
    stored, in_int4, now = numbers(result, r"perplexity ([\d.]+) as stored, ([\d.]+) in int4, ([\d.]+) calibrated")
    assert abs(np.log(in_int4 / stored)) < 0.02 and abs(np.log(now / stored)) < 0.02
    share, = numbers(result, r"stay int8, ([\d.]+) % of the numbers")
    assert 0 < share <= 12.5
    counts = json.loads((tmp_path / "report.json").read_text())["quantized"]
    assert counts["int4"] == counts["calibrated"] > counts["int8"] > 1
    of_stored, of_int4, of_calibrated = (log_probabilities(fovea_run, file, shakespeare, tmp_path)
                                         for file in (shakespeare_artifact, compiled(shakespeare, "--dtype=int4", "--compute=f32"), artifact))
    lost = [(np.exp(of_stored) * (of_stored - other)).sum(-1).mean() for other in (of_int4, of_calibrated)]
    assert 0 < lost[1] < lost[0] * 0.55, lost
    assert (of_calibrated.argmax(-1) == of_stored.argmax(-1)).mean() > 0.93
    text = fovea_run("generate", artifact, "--prompt", "ROMEO:", "-n", "8").ok().text
    assert text


def test_encoder(fovea, fovea_run, minilm, lines, tmp_path):
    """MiniLM, whose sentences are of another kind than the text."""
    artifact = tmp_path / "calibrated.fovea"
    result = fovea("compile", minilm, "--dtype=int4", "--compute=f32", "--calibrate", lines, "-o", artifact).ok()
    plain, _, calibrated, least = numbers(result, r"cosine .*: ([\d.]+) in int4 \(([\d.]+) at least\), ([\d.]+) calibrated \(([\d.]+)\)")
    assert plain < 0.98 and calibrated >= 0.99 and least > 0.97
    found, expected = embed(fovea_run, artifact, [sentence["text"] for sentence in SENTENCES]), np.array([sentence["embedding"] for sentence in SENTENCES])
    cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.mean() > 0.988, cosines


@pytest.mark.parametrize("share", ["0", "1"])
def test_budget(fovea, shakespeare, begin, tmp_path, share):
    result = fovea("compile", shakespeare, "--dtype=int4", "--calibrate", begin, f"--int8-share={share}", "--report", tmp_path / "report.json", "-o", tmp_path / "a.fovea").ok()
    counts = json.loads((tmp_path / "report.json").read_text())["quantized"]
    assert counts["calibrated"] == counts["int4"] and (counts["int4"] == 0) == (share == "1")
    assert numbers(result, r"stay int8, ([\d.]+) %") == [100 * float(share)]


def test_blocks_of_gguf(fovea, shakespeare, begin, tmp_path):
    """Norms are folded and linears merged as where the blocks become int4, so that every matrix is seen, by what it reads there."""
    import torch
    from gguf_blocks import TYPES
    from gguf_files import write_model
    from transformers import LlamaForCausalLM

    def type_of(name):
        return TYPES["Q5_1" if "attn_v" in name or "ffn_down" in name else "Q8_0"]

    write_model(tmp_path / "model.gguf", "llama", LlamaForCausalLM.from_pretrained(shakespeare, dtype=torch.float32), type_of)
    result = fovea("compile", tmp_path / "model.gguf", "--tokenizer", shakespeare / "tokenizer.json", "--dtype=int4", "--compute=f32", "--calibrate", begin,
                   "-o", tmp_path / "a.fovea").ok()
    assert "not seen" not in result.err.decode()
    plain, calibrated = numbers(result, r"divergence ([\d.]+) in int4, ([\d.]+) calibrated")
    assert 0 < calibrated < plain / 2


def test_threads_agree(fovea, shakespeare, begin, tmp_path):
    for threads in "12":
        fovea("compile", shakespeare, "--dtype=int4", "--compute=f32", "--calibrate", begin, "--threads", threads, "-o", tmp_path / f"{threads}.fovea").ok()
    assert (tmp_path / "1.fovea").read_bytes() == (tmp_path / "2.fovea").read_bytes()


def test_ir_names_what_is_in_memory(fovea, shakespeare, begin):
    result = fovea("compile", shakespeare, "--dtype=int4", "--calibrate", begin, "--emit=graph", "-o", "-").ok()
    text = result.text
    assert "names weights of a file 'calibrated', which is not written" in result.err.decode()
    assert re.search(r'fovea.weight @\S+ : tensor<\d+x\d+xi4> = #fovea.stored<"calibrated", "', text)


def test_kept_artifacts_know_the_text(fovea, shakespeare, begin, tmp_path):
    """Another text is another artifact; the same one is found."""
    def keep(text):
        return fovea("compile", shakespeare, "--dtype=int4", "--calibrate", text, "--keep").ok().text

    other = tmp_path / "other.txt"
    other.write_text(begin.read_text()[:20000])
    first = keep(begin)
    assert keep(begin) == first != keep(other)


@pytest.mark.parametrize("flags, message", [
    (["--dtype=int8", "--calibrate", "{begin}"], "expects --dtype=int4 beside it, got --dtype=int8"),
    (["--calibrate", "{begin}"], "expects --dtype=int4 beside it, got --dtype=source"),
    (["--dtype=int4", "--calibrate", "{begin}", "--emit=import"], "changes nothing of the import stage"),
    (["--dtype=int4", "--calibrate", "{begin}", "--emit=ptx"], "--emit: ptx is of one GPU"),
    (["--dtype=int4", "--calibrate", "{folder}/none.txt"], "none.txt: No such file or directory"),
    (["--dtype=int4", "--calibrate", "{folder}"], "Is a directory"),
    (["--dtype=int4", "--calibrate", "{folder}/zero.txt"], "zero.txt: expects text, got a zero byte at 4"),
    (["--dtype=int4", "--calibrate", "{folder}/short.txt"], "short.txt: expects a text of four tokens or more"),
    (["--dtype=int4", "--calibrate", "{folder}/empty.txt"], "empty.txt: expects a text of four tokens or more"),
])
def test_refused(fovea, shakespeare, begin, tmp_path, flags, message):
    (tmp_path / "zero.txt").write_bytes(b"text\0")
    (tmp_path / "short.txt").write_text("a")
    (tmp_path / "empty.txt").write_text("")
    result = fovea("compile", shakespeare, *[flag.format(begin=begin, folder=tmp_path) for flag in flags], "-o", tmp_path / "a.fovea")
    assert result.code == 1 and message in result.err.decode() and result.err.decode().count("error:") == 1, str(result)
    assert not (tmp_path / "a.fovea").exists()


def test_weight_that_is_no_number(fovea, shakespeare, begin, tmp_path):
    """One message, though it is found behind two compilations."""
    from safetensors.numpy import load_file, save_file
    import ml_dtypes

    shutil.copytree(shakespeare, tmp_path / "model")
    weights = load_file(tmp_path / "model" / "model.safetensors")
    weights["model.layers.1.mlp.down_proj.weight"][3, 5] = ml_dtypes.bfloat16("inf")
    save_file(weights, tmp_path / "model" / "model.safetensors")
    result = fovea("compile", tmp_path / "model", "--dtype=int4", "--calibrate", begin, "-o", tmp_path / "a.fovea")
    assert result.code == 1 and result.err.decode().count("error:") == 1 and "finite" in result.err.decode(), str(result)
    assert not (tmp_path / "a.fovea").exists()


def test_models_of_something_else_are_refused(fovea, checkpoints, begin, tmp_path):
    (tmp_path / "program.mlir").write_text("""
func.func @forward(%x: tensor<4xf32> {fovea.name = "x"}) -> (tensor<4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  return %x : tensor<4xf32>
}
""")
    result = fovea("compile", tmp_path / "program.mlir", "--dtype=int4", "--calibrate", begin, "-o", tmp_path / "a.fovea")
    assert result.code == 1 and "expects linears by weights in the entry @forward" in result.err.decode(), str(result)
    assert fovea("compile", tmp_path / "program.mlir", "--int8-share=0.5", "-o", tmp_path / "a.fovea").code == 2


def test_verify_wants_plain_weights(fovea, compiled, shakespeare, begin):
    result = fovea("verify", shakespeare, "--dtype=int4", "--calibrate", begin)
    assert result.code == 1 and "--calibrate: verify compares code by weights that both sides have" in result.err.decode()
    artifact = compiled(shakespeare, "--dtype=int4", "--calibrate", begin)
    result = fovea("verify", artifact, "--source", shakespeare, "--dtype=int4")
    assert result.code == 1 and "its weights are rounded by a text (--calibrate)" in result.err.decode()
