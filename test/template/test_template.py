# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates in the manner of published ones, and random ones, rendered as transformers renders them: byte for byte, or failing where it fails."""
import itertools
import json
import pathlib

import oracle
import pytest
import random_templates

pytestmark = pytest.mark.filterwarnings("ignore::SyntaxWarning")  # of Python, about constants in random templates

HERE = pathlib.Path(__file__).parent
TEMPLATES = sorted((HERE / "templates").glob("*.jinja"))
CONVERSATIONS = json.loads((HERE / "conversations.json").read_text())
TOOLS = json.loads((HERE / "tools.json").read_text())


@pytest.fixture(scope="module")
def tool(build):
    running = oracle.Tool(build / "bin" / "fovea-render")
    yield running
    running.close()


def variables_of(conversation):
    variables = {"bos_token": "<s>", "eos_token": "</s>", "add_generation_prompt": True, "documents": None, **conversation}
    return {**variables, "tools": TOOLS.get(conversation.get("tools"))}


def test_there_are_enough():
    assert len(TEMPLATES) >= 40 and len(CONVERSATIONS) >= 10


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.stem)
def test_template(tool, path):
    template, rendered = path.read_text(), 0
    for number, conversation in enumerate(CONVERSATIONS):
        for prompt, tools in itertools.product((True, False), (conversation.get("tools"), "all", "flat")):
            variables = variables_of({**conversation, "add_generation_prompt": prompt, "tools": tools})
            expected, (code, text) = oracle.render(template, variables), tool.render(template, variables)
            if isinstance(expected, Exception):
                assert code == 2, f"conversation {number}: expects {expected!r}, got {text!r}"
            else:
                assert (code, text) == (0, expected), f"conversation {number}"
                rendered += 1
    assert rendered > 3


def test_messages_name_what_failed(tool):
    assert tool.render("a\nb {{ x.y }}", {}) == (2, "template:2: 'x' is undefined")
    assert tool.render("{{ raise_exception('no ' ~ 5) }}", {}) == (2, "template:1: the template refuses the conversation: no 5")


@pytest.mark.parametrize("seed", ["1", "2"])
def test_random_templates(tool, seed):
    wrong, counts = random_templates.compare(tool, seed, 1000, show=False)
    assert not wrong, "\n".join(map(repr, wrong[:5]))
    assert counts["equal"] > 550 and counts["not supported"] < 30, counts


@pytest.mark.long
def test_more_random_templates(tool):
    wrong, counts = random_templates.compare(tool, "long", 15000, show=False)
    assert not wrong and counts["not supported"] < 400, (counts, wrong[:5])
