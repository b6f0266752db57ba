# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`chat`, and what `generate` shares with it: templates of checkpoints in artifacts, answers that are those of transformers, stop texts and log-probabilities."""
import json
import shutil

import numpy as np
import pytest

TEMPLATE = """{%- for message in messages -%}
{{ message.role | upper }}:
{{ message.content | trim }}

{% endfor -%}
{%- if add_generation_prompt %}ASSISTANT:
{% endif -%}"""


@pytest.fixture(scope="module")
def model(shakespeare, tmp_path_factory):
    """The small Llama with a chat template."""
    folder = tmp_path_factory.mktemp("chat") / "model"
    shutil.copytree(shakespeare, folder)
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    return folder


@pytest.fixture(scope="module")
def artifact(model, compiled):
    return compiled(model, "--compute=f32")


@pytest.fixture(scope="module")
def reference(model):
    """What transformers answers, greedily, to each of the user's lines."""
    import torch
    from tokenizers import Tokenizer
    from transformers import AutoModelForCausalLM
    from transformers.utils.chat_template_utils import render_jinja_template

    llama = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))

    def answer(lines, count, system=None):
        messages, answers = [{"role": "system", "content": system}] if system else [], []
        for line in lines:
            messages.append({"role": "user", "content": line})
            text = render_jinja_template([messages], chat_template=TEMPLATE, add_generation_prompt=True)[0][0]
            ids = tokenizer.encode(text, add_special_tokens=False).ids
            with torch.no_grad():
                made = llama.generate(torch.tensor([ids]), max_new_tokens=count, do_sample=False, pad_token_id=0)[0, len(ids):].tolist()
            ends = llama.generation_config.eos_token_id
            made = [token for token in made if token not in (ends if isinstance(ends, list) else [ends])]
            answers.append((ids, made, tokenizer.decode(made)))
            messages.append({"role": "assistant", "content": answers[-1][2]})
        return answers
    return answer


LINES = ["What light through yonder window breaks?", "Speak again, bright angel!", "And then?"]


@pytest.mark.parametrize("system", [None, "You are Juliet."])
def test_answers_are_those_of_transformers(fovea_run, artifact, reference, system):
    flags = ["--system", system] if system else []
    result = fovea_run("chat", artifact, "--temp", 0, "-n", 12, "--json", *flags, stdin="\n\n".join(LINES).encode()).ok()
    records = [json.loads(line) for line in result.text.splitlines()]
    expected = reference(LINES, 12, system)
    assert [(record["prompt_tokens"], record["tokens"], record["text"]) for record in records] == [(len(ids), made, text) for ids, made, text in expected]
    held = 0
    for record, (ids, made, _) in zip(records, expected):
        # The template's text goes on as it was, so all but a little of what was there is not read again.
        assert record["cached_tokens"] >= held - 6 and (held == 0) == (record["cached_tokens"] == 0), records
        held = len(ids) + len(made)


def test_text_goes_to_output_and_nothing_else(fovea_run, artifact, reference):
    result = fovea_run("chat", artifact, "--temp", 0, "-n", 5, "--quiet", stdin=b"Speak!\n").ok()
    assert result.text == reference(["Speak!"], 5)[0][2] + "\n" and not result.err, str(result)


def test_model_in_place_of_artifact(fovea, model, artifact, fovea_run):
    flags = ["--temp", 0, "-n", 4]
    assert fovea("chat", model, "--compute=f32", *flags, stdin=b"Hark!").ok().text == fovea_run("chat", artifact, *flags, stdin=b"Hark!").ok().text


def test_a_changed_template_is_another_model(fovea, model, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    say = ["chat", folder, "--temp", 0, "-n", 1, "--json"]
    before = json.loads(fovea(*say, stdin=b"a").ok().text)["prompt_tokens"]
    (folder / "chat_template.jinja").write_text("{{ 'word ' * 50 }}")
    assert json.loads(fovea(*say, stdin=b"a").ok().text)["prompt_tokens"] > before + 20


def test_stop_texts(fovea_run, artifact):
    ask = ["generate", artifact, "--prompt", "ROMEO:\n", "--temp", 0, "-n", 30, "--json"]
    all_ = json.loads(fovea_run(*ask).ok().text)["text"]
    stop = all_[len(all_) // 2:][:4]
    record = json.loads(fovea_run(*ask, "--stop", "no such text", "--stop", stop).ok().text)
    assert (record["text"], record["stop"]) == (all_[:all_.index(stop)], "text")
    chat = json.loads(fovea_run("chat", artifact, "--temp", 0, "-n", 30, "--json", "--stop", "e", stdin=b"Speak!").ok().text)
    assert chat["stop"] == "text" and "e" not in chat["text"]


def test_logprobs(fovea_run, artifact, model):
    import torch
    from transformers import AutoModelForCausalLM

    record = json.loads(fovea_run("generate", artifact, "--prompt-ids", "5,7,9", "--temp", 0, "-n", 3, "--json", "--logprobs", 2).ok().text)
    llama = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    with torch.no_grad():
        logprobs = torch.log_softmax(llama(torch.tensor([[5, 7, 9, *record["tokens"]]])).logits[0, 2:5].double(), -1).numpy()
    for number, one in enumerate(record["logprobs"]):
        assert one["token"] == record["tokens"][number] == one["top"][0]["token"] and len(one["top"]) == 2
        assert one["top"][1]["token"] == np.argsort(-logprobs[number])[1]
        np.testing.assert_allclose([one["logprob"], one["top"][1]["logprob"]], [logprobs[number][one["token"]], np.sort(logprobs[number])[-2]], atol=1e-4)
    usage = fovea_run("generate", artifact, "--prompt", "a", "--logprobs", 2)
    assert usage.code == 2 and "--logprobs expects --json" in usage.err.decode()


def test_variables(fovea_run, compiled, model, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / "chat_template.jinja").unlink()
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<|b|>", "chat_template": [
        {"name": "default", "template": "{{ raise_exception('mood is ' ~ mood ~ ', ' ~ bos_token ~ tools) }}"}, {"name": "tool_use", "template": "\n{{ raise_exception('tools: ' ~ tools) }}"}]}))
    artifact = compiled(folder)
    said = fovea_run("chat", artifact, "--variables", '{"mood": "glad"}', stdin=b"a")
    assert said.code == 1 and "tokenizer_config.json:1: the template refuses the conversation: mood is glad, <|b|>None" in said.err.decode(), str(said)
    said = fovea_run("chat", artifact, "--variables", '{"tools": [1]}', stdin=b"a")
    assert said.code == 1 and "tokenizer_config.json:2: the template refuses the conversation: tools: [1]" in said.err.decode(), str(said)
    for wrong in ("[]", "{", '{"messages": []}'):
        said = fovea_run("chat", artifact, "--variables", wrong, stdin=b"a")
        assert said.code == 2 and "--variables expects a JSON object" in said.err.decode()


def test_a_template_with_a_fault_is_a_note_until_it_is_used(fovea, fovea_run, model, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / "chat_template.jinja").write_text("a\n{% include 'x' %}")
    made = fovea("compile", folder, "-o", tmp_path / "m.fovea", "--compute=f32").ok()
    assert "chat_template.jinja: chat cannot use template 'default': line 2: tag 'include' is not supported here" in made.err.decode(), str(made)
    fovea_run("generate", tmp_path / "m.fovea", "--prompt", "a", "-n", 1).ok()
    said = fovea_run("chat", tmp_path / "m.fovea", stdin=b"a")
    assert said.code == 1 and "chat_template.jinja:2: tag 'include' is not supported here" in said.err.decode() and not said.text


def test_without_a_template(fovea_run, shakespeare_artifact):
    said = fovea_run("chat", shakespeare_artifact, stdin=b"a")
    assert said.code == 1 and "holds no chat template" in said.err.decode() and not said.text
    said = fovea_run("chat", shakespeare_artifact, "--stop", "", stdin=b"a")
    assert said.code == 2 and "--stop expects a text that is not empty" in said.err.decode()


def test_a_conversation_longer_than_the_context(fovea_run, artifact):
    said = fovea_run("chat", artifact, "--context", 40, "--temp", 0, "-n", 8, stdin=b"one\n" + b"two " * 60)
    assert said.code == 1 and "the context has room for 40" in said.err.decode() and said.text
