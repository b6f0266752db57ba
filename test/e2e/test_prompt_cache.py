# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--prompt-cache: tokens that a file holds are not read again, the text is the same, and a file that is not whole or of another model is refused."""
import json
import shutil

import pytest

PROMPT = "ROMEO:\nBut, soft! what light through yonder window breaks?\nIt is the east, and Juliet is the sun.\nArise, fair sun, and kill the envious moon,\n"


def write(program, artifact, prompt, *flags, count=24):
    return json.loads(program("generate", artifact, "--prompt", prompt, "-n", count, "--temp", 0, "--json", "--context", 400, *flags).ok().text)


KINDS = {"f32": ["--compute=f32"], "bf16": ["--compute=bf16"], "int8 caches": ["--compute=f32", "--cache=int8"], "int8": ["--dtype=int8", "--compute=int8"]}


@pytest.mark.parametrize("flags", KINDS.values(), ids=KINDS)
def test_the_text_is_the_same(fovea_run, compiled, shakespeare, tmp_path, flags):
    """Of all tokens but those that a chunk would have read together with others, the very same numbers are kept: with chunks of one, all."""
    artifact, cache = compiled(shakespeare, *flags), tmp_path / "prompt.kv"
    for chunk in (["--prompt-chunk=1"], []):
        cache.unlink(missing_ok=True)
        alone = write(fovea_run, artifact, PROMPT, *chunk)
        assert "cached_tokens" not in alone
        first = write(fovea_run, artifact, PROMPT, *chunk, "--prompt-cache", cache)
        assert first["cached_tokens"] == 0 and first["tokens"] == alone["tokens"]
        again = write(fovea_run, artifact, PROMPT, *chunk, "--prompt-cache", cache)
        assert again["cached_tokens"] == again["prompt_tokens"] - 1 and again["tokens"] == alone["tokens"]
        longer = PROMPT + alone["text"] + "\nJULIET:\nAy me!\n"
        more = write(fovea_run, artifact, longer, *chunk, "--prompt-cache", cache)
        assert more["cached_tokens"] > first["prompt_tokens"] and more["tokens"] == write(fovea_run, artifact, longer, *chunk)["tokens"]
        other = write(fovea_run, artifact, PROMPT[:40] + "who", *chunk, "--prompt-cache", cache)
        assert 0 < other["cached_tokens"] < other["prompt_tokens"] and other["tokens"] == write(fovea_run, artifact, PROMPT[:40] + "who", *chunk)["tokens"]


@pytest.mark.devices("emulator")
def test_on_a_device(fovea_run, compiled, shakespeare, tmp_path, device, gpu_code):
    artifact, cache = compiled(shakespeare, *gpu_code), tmp_path / "prompt.kv"
    alone = write(fovea_run, artifact, "ROMEO:\nBut soft", "--device", device, count=6)
    for cached in (0, alone["prompt_tokens"] - 1):
        found = write(fovea_run, artifact, "ROMEO:\nBut soft", "--device", device, "--prompt-cache", cache, count=6)
        assert (found["cached_tokens"], found["tokens"]) == (cached, alone["tokens"])
    # Keys and values are the model's, wherever they were made.
    found = write(fovea_run, artifact, "ROMEO:\nBut soft", "--prompt-cache", cache, count=6)
    assert (found["cached_tokens"], found["tokens"]) == (alone["prompt_tokens"] - 1, alone["tokens"])


def test_layers_with_windows(fovea_run, compiled, decoders, tmp_path):
    """Caches of layers that see a window have all positions, too."""
    artifact, cache = compiled(decoders / "gemma3" / "model"), tmp_path / "prompt.kv"
    ids = ",".join(str(3 + i * 7 % 90) for i in range(60))
    ask = ["generate", artifact, "--prompt-ids", ids, "-n", 12, "--temp", 0, "--json", "--prompt-chunk=1"]
    alone = json.loads(fovea_run(*ask).ok().text)["tokens"]
    for cached in (0, 59):
        found = json.loads(fovea_run(*ask, "--prompt-cache", cache).ok().text)
        assert (found["cached_tokens"], found["tokens"]) == (cached, alone)


def test_chat(fovea_run, compiled, shakespeare, tmp_path):
    folder, cache = tmp_path / "model", tmp_path / "chat.kv"
    shutil.copytree(shakespeare, folder)
    (folder / "chat_template.jinja").write_text("{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}")
    artifact = compiled(folder, "--compute=f32")
    say = ["chat", artifact, "--temp", 0, "-n", 6, "--json"]
    alone = [json.loads(line) for line in fovea_run(*say, stdin=b"Speak!\nAnd then?\n").ok().text.splitlines()]
    runs = [[json.loads(line) for line in fovea_run(*say, "--prompt-cache", cache, stdin=b"Speak!\nAnd then?\n").ok().text.splitlines()] for _ in range(2)]
    for found in runs:
        assert [record["tokens"] for record in found] == [record["tokens"] for record in alone]
    assert runs[0][0]["cached_tokens"] == 0 and runs[1][0]["cached_tokens"] == runs[1][0]["prompt_tokens"] - 1


def refuse(fovea_run, artifact, cache, *words):
    before = cache.read_bytes() if cache.is_file() else None
    said = fovea_run("generate", artifact, "--prompt", "a", "-n", 2, "--prompt-cache", cache)
    message = said.err.decode()
    assert said.code == 1 and not said.out and str(cache) in message and all(word in message for word in words), str(said)
    assert "Traceback" not in message and (before is None or cache.read_bytes() == before)
    assert not list(cache.parent.glob("*.tmp-*"))


def test_what_is_no_cache_of_this_model_is_refused(fovea_run, compiled, shakespeare, shakespeare_artifact, tmp_path):
    cache = tmp_path / "prompt.kv"
    write(fovea_run, shakespeare_artifact, PROMPT, "--prompt-cache", cache, count=2)
    whole = cache.read_bytes()
    refuse(fovea_run, compiled(shakespeare, "--compute=bf16"), cache, "is of another artifact: expects hash", "got")
    for broken, words in [(b"", ["ends after 0 bytes"]), (whole[:-1], ["ends after", "expects at least"]), (whole + b"x", ["expects to end after", "got more"]),
                          (whole[:8] + b"\2" + whole[9:], ["expects version 1, got 2"]), (b"GGUF" + whole[4:], ["expects it to begin with"]),
                          (whole[:-1000] + bytes([whole[-1000] ^ 1]) + whole[-999:], ["is damaged", "cache", "expects hash"])]:
        cache.write_bytes(broken)
        refuse(fovea_run, shakespeare_artifact, cache, *words)
    cache.write_bytes(whole)
    said = fovea_run("generate", shakespeare_artifact, "--prompt", "a", "--context", 8, "--prompt-cache", cache)
    assert said.code == 1 and "positions; the context has room for 8" in said.err.decode(), str(said)


def test_what_cannot_be_written_is_told_before_anything_is(fovea_run, shakespeare_artifact, tmp_path):
    refuse(fovea_run, shakespeare_artifact, tmp_path / "nothing" / "prompt.kv", "cannot be written: No such file")
    refuse(fovea_run, shakespeare_artifact, tmp_path, "expects a regular file")
