# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several prompts in one run of generate: each text is what it is alone."""
import json

import pytest

LINES = ["ROMEO:", "What light through yonder window breaks?", "To be, or not", "KING HENRY:", "Speak!", "My lord, I think I saw him", "O Romeo, Romeo! wherefore art thou Romeo?", "a", "And then", "MENENIUS:"]


def alone(fovea_run, artifact, line, flags):
    return json.loads(fovea_run("generate", artifact, "--prompt", line, "--json", *flags).ok().text)


FLAGS = [["-n", 20, "--temp", 0], ["-n", 12, "--temp", 1, "--top-k", 20, "--seed", 5]]


@pytest.mark.parametrize("flags", FLAGS, ids=["greedy", "sampled"])
@pytest.mark.parametrize("kind", [["--compute=f32"], ["--compute=bf16"], ["--dtype=int8"]], ids=lambda kind: kind[0])
def test_each_is_what_it_is_alone(fovea_run, compiled, shakespeare, tmp_path, kind, flags):
    artifact, file = compiled(shakespeare, *kind), tmp_path / "lines.txt"
    file.write_text("\n".join(LINES) + "\n")
    expected = [alone(fovea_run, artifact, line, flags) for line in LINES]
    for batch in (1, 3, 8, 16):
        found = json.loads(fovea_run("generate", artifact, "--prompts", file, "--batch", batch, "--json", *flags).ok().text)
        assert [(text["tokens"], text["text"], text["stop"], text["prompt_tokens"]) for text in found] == [(text["tokens"], text["text"], text["stop"], text["prompt_tokens"]) for text in expected]


def test_prompts_as_options(fovea_run, shakespeare_artifact):
    both = [word for line in LINES[:2] for word in ("--prompt", line)]
    said = fovea_run("generate", shakespeare_artifact, *both, *FLAGS[0]).ok()
    assert said.text == "".join(alone(fovea_run, shakespeare_artifact, line, FLAGS[0])["text"] + "\n" for line in LINES[:2])
    assert said.err.decode().startswith("fovea-run: 2 texts, 40 tokens in ")
    assert not fovea_run("generate", shakespeare_artifact, *both, "-n", 3, "--quiet").ok().err


@pytest.mark.devices("emulator")
def test_on_a_device(fovea_run, compiled, shakespeare, device, gpu_code):
    artifact, flags = compiled(shakespeare, *gpu_code), ["--device", device, "-n", 4, "--temp", 0]
    lines = LINES[:3]
    found = json.loads(fovea_run("generate", artifact, *(word for line in lines for word in ("--prompt", line)), "--json", *flags).ok().text)
    assert [text["tokens"] for text in found] == [alone(fovea_run, artifact, line, flags)["tokens"] for line in lines]


def test_usage(fovea_run, shakespeare_artifact, tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    for arguments, code, words in [(["--prompts", empty], 1, "expects a prompt on each line, got no line"), (["--prompts", tmp_path / "none.txt"], 1, "none.txt: cannot be read"),
                                   (["--prompts", empty, "--prompt", "a"], 2, "expects exactly one of --prompt, --prompts"),
                                   (["--prompt", "a", "--prompt", "b", "--prompt-cache", tmp_path / "x.kv"], 2, "--prompt-cache expects one prompt"),
                                   (["--prompt", "a", "--prompt", "b " * 400, "--context", 50], 1, "the context has room for 50")]:
        said = fovea_run("generate", shakespeare_artifact, *arguments)
        assert said.code == code and not said.out and words in said.err.decode(), str(said)
