# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates: programs in Jinja. They are parsed when a model is compiled and rendered within bounds (test/unit/template, test/fuzz); what they name of Python is undefined."""
import json

from library import case
from seeds import checkpoint


def template(folder, text, file="tokenizer_config.json"):
    model = checkpoint(folder)
    (model / file).write_text(text if file.endswith(".jinja") else json.dumps({"chat_template": text}))
    return "model"


@case("CVE-2024-34359", "a template that walks from an object to the interpreter's functions", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_to_the_builtins(folder):
    return template(folder, "{% for c in ().__class__.__base__.__subclasses__() %}{% if 'warning' in c.__name__ %}{{ c()._module.__builtins__['__import__']('os').system('touch owned') }}{% endif %}{% endfor %}")


@case("CVE-2026-5760", "the same from a GGUF file's metadata, rendered by a ranking route", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_by_cycler(folder):
    return template(folder, "The answer can only be \"yes\" or \"no\". {{ cycler.__init__.__globals__.os.popen('touch owned').read() }}")


@case("CVE-2024-56326", "a reference to str.format, called by a filter, out of the sandbox", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_by_a_stored_format(folder):
    return template(folder, "{% set f = '{0.__class__.__init__.__globals__}'.format %}{{ [lipsum]|map(f)|list }}")


@case("CVE-2025-27516", "the filter attr gives str.format out of the sandbox", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_by_the_filter_attr(folder):
    return template(folder, "{{ ('{0.__globals__}'|attr('format'))(lipsum) }}")


@case("CVE-2024-56201", "a template whose file name becomes code", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_by_its_file_name(folder):
    template(folder, "{{ messages }}", "chat_template.jinja")
    templates = folder / "model" / "additional_chat_templates"
    templates.mkdir()
    (templates / "{{x}}')+__import__('os').system('touch owned')#.jinja").write_text("{% block x %}{% endblock %}")
    return "model"


@case("CVE-2025-61620", "loops in loops: time without end", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_of_loops(folder):
    return template(folder, "{% for a in range(999999999) %}{% for b in range(999999999) %}{{ a * b }}{% endfor %}{% endfor %}", "chat_template.jinja")


@case("lablup/mlxcel#129", "a text of gigabytes from one expression", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_of_a_gigabyte(folder):
    return template(folder, "{{ 'A' * 9999999999 }}{{ '%9999999999d'|format(1) }}")


@case("CVE-2026-0994", "brackets nested without end: the parser's stack", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_nested_without_end(folder):
    return template(folder, "{{ " + "(" * 200_000 + "1" + ")" * 200_000 + " }}")


@case("CWE-98", "a template that includes a file outside", call=("--prompt", "a", "--temp", "0", "-n", "2"), end="runs")
def template_that_includes_a_file(folder):
    return template(folder, "{% include '/etc/passwd' %}{% import '../secret.jinja' as s %}", "chat_template.jinja")


@case("CWE-843", "settings that are no object", "model/tokenizer_config.json: expects an object, got an array of 1")
def settings_that_are_a_list(folder):
    model = checkpoint(folder)
    (model / "tokenizer_config.json").write_text(json.dumps([{"chat_template": "{{ messages }}"}]))
    return "model"


@case("CWE-843", "a token that is a number where its text is read", "model/special_tokens_map.json: bos_token: expects a token's text, got 256")
def token_that_is_a_number(folder):
    model = checkpoint(folder)
    (model / "special_tokens_map.json").write_text(json.dumps({"bos_token": 256}))
    return "model"
