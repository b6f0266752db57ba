# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares fovea-render with Jinja2 on random templates.

usage: random_templates.py --tool fovea-render [--seed N] [--count N] [--show]

Where Jinja2 gives a text the tool has to give the same bytes, and where it raises the tool has to fail; the tool may refuse what it does not support, which is
counted, and must be little. The same seed gives the same templates.
"""
import argparse
import collections
import random
import re
import sys

import oracle

VARIABLES = {
    "messages": [{"role": "system", "content": "  Be brief.\n"}, {"role": "user", "content": "Hi <b>there</b> 'you' \"all\"", "name": None},
                 {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "function": {"name": "get", "arguments": {"city": "Zürich", "days": [1, 2.5, True]}}}]},
                 {"role": "tool", "content": "{\"t\": 21}", "n": 3}],
    "text": "The quick  brown\tfox\njumps", "word": "Ünïcödé ŒUVRE", "sharp": "Straße ΟΔΟΣ ﬁn", "tags": "<think>a\n\n</think>b</think>", "empty": "", "number": 7, "negative": -13, "real": 2.5,
    "small": 1e-7, "large": 1.5e300, "zero": 0, "yes": True, "no": False, "nothing": None, "list": [3, 1, 2, 1], "words": ["b", "A", "c", "a"], "mixed": [1, "1", None, 2.0, True, [], {}],
    "nested": [[1, [2, "x"]], [], [[["deep"]]]], "dict": {"b": 1, "a": [1, 2], "C": {"x": None}, "items": "own"}, "pairs": [["k", 1], ["j", 2]], "people": [{"n": "Bo", "a": 5}, {"n": "al", "a": 3}, {"n": "Cy"}],
    "odd": "a,b,,c,", "lines": "one\r\ntwo\rthree\u2028four\n", "blank": " \t\u00a0x\u3000 ", "bos_token": "<s>", "add_generation_prompt": True}
ADDED = " at 0x"  # Python's addresses, which nothing can equal

TEXTS = ["", "a", "x", " ", "\\n", "the", "</think>", "é", "ß", "1", "-7", "2.5", " 42 ", "0x1f", "role", "%s", "{}", "ab\\tc", "'", "A-b c", "<&>"]
NUMBERS = ["0", "1", "2", "3", "-1", "-2", "5", "100", "1.5", "0.1", "2.0", "-0.0", "1e3", "12345678"]
FILTERS = [
    "abs", "attr('upper')", "batch(2)|list", "batch(3, 'x')|list", "capitalize", "center(9)", "count", "d('x')", "default('none', true)", "dictsort", "dictsort(by='value')", "dictsort(true, reverse=true)", "e", "escape",
    "first", "float", "float(1.5)", "float", "int", "int(5)", "int(base=16)", "int(0, 2)", "indent", "indent(2, true)", "indent(width=3, blank=true)", "indent('>')", "items|list", "join", "join(', ')", "join('-', 'n')",
    "join(attribute='role')", "last", "length", "list", "lower", "map('upper')|list", "map('int')|list", "map(attribute='role')|list", "map(attribute='a', default=0)|list", "map(attribute='1.0')|list", "map('default', 'q')|list",
    "max", "min", "max(attribute='a')", "reject|list", "reject('none')|list", "reject('in', [1, 'a'])|list", "rejectattr('name')|list", "rejectattr('role', 'equalto', 'user')|list", "replace('a', 'bb')", "replace('', '.')",
    "replace('the', 'THE', 1)", "reverse", "reverse|list", "round", "round(1)", "round(2, 'floor')", "round(method='ceil')", "round(-1)", "safe", "select|list", "select('string')|list", "select('gt', 1)|list", "selectattr('content')|list",
    "selectattr('role', 'in', ['user', 'tool'])|list", "sort", "sort(reverse=true)", "sort(case_sensitive=true)", "sort(attribute='n')", "sort(attribute='a,n')", "string", "sum", "sum(attribute='a')", "sum(start=10)", "title", "tojson",
    "tojson(indent=2)", "tojson(indent=0)", "tojson(separators=(',', ':'))", "tojson(ensure_ascii=true)", "tojson(sort_keys=true)", "tojson(indent='--')", "trim", "trim('x< ')", "truncate(8)", "truncate(9, true, '…')", "truncate(5, leeway=0)", "unique|list",
    "unique(true)|list", "upper", "wordcount", "format(1, 2)", "format", "format(a=1)", "list|length", "safe|replace('a', '<')", "map('trim')|join('+')", "selectattr('function.name')|list", "groups"]
METHODS = [
    "upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "strip('x ')", "lstrip()", "rstrip('\\n')", "split()", "split(',')", "split(' ', 1)", "split(maxsplit=1)", "rsplit(' ', 1)", "rsplit(None, 2)", "splitlines()",
    "splitlines(true)", "startswith('a')", "startswith(('T', '<'))", "endswith('s')", "endswith('x', 0, 2)", "find('a')", "find('e', 4)", "rfind('o')", "find('', 3)", "index('a')", "count('a')", "count('')", "replace('a', '')", "replace('', '-', 3)",
    "join(words)", "join(list)", "partition(' ')", "rpartition(',')", "removeprefix('<')", "removesuffix('b')", "ljust(12, '.')", "rjust(12)", "center(11, '*')", "center(12)", "zfill(6)", "isdigit()", "isalpha()", "isalnum()", "isspace()", "islower()",
    "isupper()", "istitle()", "isnumeric()", "isascii()", "isprintable()", "format(1, b=2)", "get('a')", "get('q', 5)", "items()", "keys()", "values()", "items()|list", "keys()|list", "copy()", "count(1)", "index(1)", "append(1)", "pop()",
    "update({})", "clear()", "role", "content", "foo", "__class__", "__class__.__mro__", "_private", "0", "1", "a", "b", "C.x", "n", "format_map({'a': 1})", "items"]
TESTS = ["defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "integer", "float", "boolean", "true", "false", "odd", "even", "divisibleby(3)", "divisibleby 2", "equalto(1)", "eq 1", "ne('a')", "gt 1", "lt(2)",
         "ge 3", "le 2", "in [1, 'a']", "in('abc')", "lower", "upper", "sameas(none)", "sameas true", "callable", "escaped", "== 1", "filter", "test"]

OF_TEXT = ["upper", "lower", "title", "capitalize", "trim", "trim('x< ')", "indent", "indent(2, true)", "indent(first=true, blank=true)", "replace('a', 'bb')", "replace('', '.')", "replace('the', 'THE', 1)", "reverse", "truncate(8)", "truncate(6, true)", "center(12)", "escape|string", "string", "default('q')", "tojson", "first", "last"]
OF_LIST = ["list", "reverse|list", "map('string')|list", "map('string')|map('upper')|list", "select|list", "reject|list", "select('string')|list", "select('number')|list", "reject('none')|list", "map('tojson')|list", "map('default', 'q', true)|list", "rejectattr('x')|list", "batch(2)|list", "sort(attribute='x')"]
OF_MESSAGES = ["map(attribute='role')|list", "selectattr('content')|list", "rejectattr('content', 'none')|list", "selectattr('role', 'equalto', 'user')|list", "selectattr('role', 'in', ['user', 'tool'])|map(attribute='content')|list", "map(attribute='content')|select('string')|map('trim')|list",
               "selectattr('tool_calls', 'defined')|list", "map(attribute='tool_calls.0.function.name')|list", "rejectattr('role', '==', 'system')|list", "sort(attribute='role')|map(attribute='role')|list", "map(attribute='n', default=0)|list"]
OF_WORDS = ["sort", "sort(reverse=true)", "sort(case_sensitive=true)", "unique|list", "map('length')|list", "map('capitalize')|list", "map('replace', 'e', '3')|list", "select('in', 'The quick')|list", "map('int', 5)|sum|string|list"]
TEXT_METHODS = ["upper()", "lower()", "title()", "capitalize()", "swapcase()", "strip()", "strip('x ')", "lstrip()", "lstrip('T<')", "rstrip('\\n')", "rstrip()", "replace('a', '')", "replace('', '-', 3)", "join(words)", "removeprefix('<')", "removesuffix('b')", "ljust(12, '.')", "rjust(12)", "center(11, '*')", "zfill(6)", "split()|join('_')",
                "split('</think>')[-1]", "split('</think>')[0].rstrip('\\n').split('<think>')[-1].lstrip('\\n')", "partition(' ')|last", "rpartition(',')|first", "splitlines()|join('|')", "split(' ', 1)[0]", "rsplit(',', 2)|last"]
TYPE_TESTS = ["defined", "undefined", "none", "string", "mapping", "iterable", "sequence", "number", "integer", "float", "boolean", "true", "false", "equalto(1)", "eq 1", "ne('a')", "sameas(none)", "sameas true", "callable", "escaped"]


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def one(self, choices):
        return self.random.choice(choices)

    def atom(self):
        return self.one([
            lambda: self.one(list(VARIABLES)), lambda: self.one(list(VARIABLES)), lambda: self.one(NUMBERS), lambda: "'" + self.one(TEXTS).replace("'", "\\'") + "'", lambda: '"' + self.one(TEXTS) + '"',
            lambda: self.one(["true", "false", "none", "True", "None", "missing", "[]", "{}", "()"]), lambda: self.one(["x", "y", "ns", "loop", "m"])])()

    def expression(self, depth):
        """Mostly of a type that its place wants, so that most templates can be rendered."""
        return self.any_type(depth) if self.random.random() < 0.92 else self.wild(depth)

    def any_type(self, depth):
        return self.one([self.text, self.text, self.number, self.items, self.boolean, self.mapping])(depth)

    def text(self, depth):
        if depth <= 0:
            return self.one(["text", "word", "sharp", "tags", "empty", "odd", "lines", "blank", "bos_token", "messages[0].content", "messages[1]['content']", "'" + self.one(TEXTS).replace("'", "\\'") + "'", '"' + self.one(TEXTS) + '"'])
        text, number, items, condition = (lambda make=make: make(depth - 1) for make in (self.text, self.number, self.items, self.boolean))
        return self.one([
            lambda: f"({text()}) | {self.one(OF_TEXT)}", lambda: f"({text()}).{self.one(TEXT_METHODS)}", lambda: f"({text()})[{self.bound()}:{self.bound()}]", lambda: f"({text()})[{self.bound()}:{self.bound()}:{self.one(['', '2', '-1', '-3'])}]",
            lambda: f"{text()} ~ ({self.any_type(depth - 1)})", lambda: f"{text()} + {text()}", lambda: f"({text()}) * {self.one(['2', '0', '-1', '3'])}", lambda: f"({self.any_type(depth - 1)}) | tojson{self.one(['', '(indent=2)', '(indent=4)', '(ensure_ascii=true)'])}",
            lambda: f"({self.any_type(depth - 1)}) | string", lambda: f"({items()}) | join({self.one(['', repr(', '), repr('')])})", lambda: f"{text()} if {condition()} else {text()}", lambda: f"({self.any_type(depth - 1)}) | string | {self.one(OF_TEXT)}",
            lambda: f"'{self.one(['%s', '%r', '%7s|', '%-4s.', '%%'])}' % ({self.any_type(depth - 1)},)", lambda: f"'{self.one(['%5d|', '%05.1f', '%x', '%+d', '%#x', '%e', '%g', '%.3f'])}' % ({number()})", lambda: f"'{self.one(['{}', '{0}{0}', '{a}{}', '{!r}', '{{}}{}'])}'.format({self.any_type(depth - 1)}, a=1)",
            lambda: f"({text()}).split({text()} or ' ')[{self.one(['0', '-1'])}]"])()

    def number(self, depth):
        if depth <= 0:
            return self.one(NUMBERS + ["number", "negative", "real", "small", "large", "zero", "yes", "no"])
        return self.one([
            lambda: f"({self.number(depth - 1)}) {self.one(['+', '-', '*', '/', '//', '%'])} ({self.number(depth - 1)})", lambda: f"({self.text(depth - 1)}) | length", lambda: f"({self.items(depth - 1)}) | count", lambda: f"({self.text(depth - 1)}) | int", lambda: f"({self.text(depth - 1)}) | float",
            lambda: f"({self.number(depth - 1)}) | {self.one(['abs', 'round', 'round(1)', 'round(2)', 'int', 'float', 'round(1, method=' + repr('ceil') + ')', 'round(0, ' + repr('floor') + ')'])}", lambda: f"-({self.number(depth - 1)})", lambda: f"({self.text(depth - 1)}).{self.one(['find', 'rfind', 'count'])}({self.text(0)})",
            lambda: f"({self.number(depth - 1)}) ** {self.one(['2', '0', '3'])}", lambda: f"[{self.number(depth - 1)}, {self.number(0)}] | {self.one(['max', 'min', 'sum', 'first', 'last'])}", lambda: f"{self.number(depth - 1)} if {self.boolean(depth - 1)} else {self.number(depth - 1)}"])()

    def items(self, depth):
        if depth <= 0:
            return self.one(["list", "words", "mixed", "nested", "messages", "people", "pairs", "[]", "[1, 'a', none]", "range(4)|list", "dict.keys()|list", "dict.items()|list", "('x', 'y')"])
        return self.one([
            lambda: f"({self.text(depth - 1)}).{self.one(['split()', 'split(' + repr(',') + ')', 'splitlines()', 'rsplit(none, 1)', 'split(' + repr(' ') + ', 1)', 'partition(' + repr(' ') + ')|list'])}", lambda: f"({self.items(depth - 1)}) | {self.one(OF_LIST)}", lambda: f"({self.items(depth - 1)} | list)[{self.bound()}:{self.bound()}:{self.one(['', '-1', '2'])}]",
            lambda: f"[{self.any_type(depth - 1)}, {self.any_type(depth - 1)}]", lambda: f"({self.items(depth - 1)}|list) + ({self.items(depth - 1)}|list)", lambda: f"({self.any_type(depth - 1)}, )", lambda: f"messages | {self.one(OF_MESSAGES)}", lambda: f"({self.text(depth - 1)}) | list", lambda: f"({self.text(depth - 1)}).split() | {self.one(OF_WORDS)}",
            lambda: f"({self.mapping(depth - 1)}) | {self.one(['list', 'dictsort', 'items | list'])}", lambda: f"range({self.one(['3', '1, 4', '5, 0, -2', 'number'])}) | list", lambda: f"people | {self.one(['sort(attribute=' + repr('n') + ')', 'map(attribute=' + repr('a') + ', default=9) | list', 'selectattr(' + repr('a') + ', ' + repr('defined') + ') | list'])}"])()

    def mapping(self, depth):
        if depth <= 0:
            return self.one(["dict", "messages[1]", "messages[2].tool_calls[0].function", "{}", "{'a': 1}", "dict(a=1, b='x')"])
        return f"{{'{self.one(['k', 'items', 'a b'])}': {self.any_type(depth - 1)}, {self.one(['1', 'none', 'true', repr('z'), '(1, 2)'])}: {self.any_type(depth - 1)}}}"

    def boolean(self, depth):
        if depth <= 0:
            return self.one(["true", "false", "yes", "no", "missing", "list", "empty", "nothing"])
        return self.one([
            lambda: f"({self.text(depth - 1)}) {self.one(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} ({self.text(depth - 1)})", lambda: f"({self.number(depth - 1)}) {self.one(['==', '!=', '<', '<=', '>', '>='])} ({self.number(depth - 1)})", lambda: f"({self.any_type(depth - 1)}) {self.one(['in', 'not in'])} ({self.items(depth - 1)})",
            lambda: f"({self.any_type(depth - 1)}) is {self.one(['', 'not '])}{self.one(TYPE_TESTS)}", lambda: f"{self.boolean(depth - 1)} {self.one(['and', 'or'])} {self.boolean(depth - 1)}", lambda: f"not {self.boolean(depth - 1)}", lambda: f"({self.text(depth - 1)}).{self.one(['startswith', 'endswith'])}({self.text(0)})",
            lambda: f"({self.text(depth - 1)}).{self.one(['isdigit()', 'isalpha()', 'isalnum()', 'isspace()', 'islower()', 'isupper()', 'istitle()', 'isascii()'])}", lambda: f"({self.any_type(depth - 1)}) == ({self.any_type(depth - 1)})", lambda: f"({self.number(0)}) < ({self.number(0)}) <= ({self.number(0)})",
            lambda: f"messages[{self.one(['0', '1', '-1'])}].{self.one(['role', 'content', 'name', 'tool_calls', 'items'])} is {self.one(['defined', 'none', 'string', 'not defined'])}"])()

    def wild(self, depth):
        if depth <= 0:
            return self.atom()
        deeper = lambda: self.wild(depth - 1 - self.random.randrange(2))  # noqa: E731
        return self.one([
            lambda: self.atom(), lambda: f"{deeper()} {self.one(['+', '-', '*', '/', '//', '%', '~', '~', '+'])} {deeper()}", lambda: f"{deeper()} {self.one(['==', '!=', '<', '<=', '>', '>=', 'in', 'not in'])} {deeper()}",
            lambda: f"{deeper()} {self.one(['and', 'or'])} {deeper()}", lambda: f"not {deeper()}", lambda: f"({deeper()})", lambda: f"({deeper()}) | {self.one(FILTERS)}", lambda: f"{self.atom()} | {self.one(FILTERS)} | {self.one(FILTERS)}",
            lambda: f"({deeper()}).{self.one(METHODS)}", lambda: f"{self.atom()}.{self.one(METHODS)}", lambda: f"{self.atom()} is {self.one(['', 'not '])}{self.one(TESTS)}", lambda: f"({deeper()}) is {self.one(TESTS)}",
            lambda: f"{deeper()} if {deeper()} else {deeper()}", lambda: f"{deeper()} if {deeper()}", lambda: f"[{deeper()}, {deeper()}]", lambda: f"({deeper()}, {deeper()})", lambda: f"({deeper()},)", lambda: f"{{'k': {deeper()}, {self.atom()}: {deeper()}}}",
            lambda: f"{self.atom()}[{deeper()}]", lambda: f"({deeper()})[{self.bound()}:{self.bound()}]", lambda: f"({deeper()})[{self.bound()}:{self.bound()}:{self.bound()}]", lambda: f"-{self.atom()}", lambda: f"{self.atom()} ** {self.one(['2', '3', '-1', '0.5'])}",
            lambda: f"{self.one(['range', 'dict', 'namespace', 'joiner'])}({deeper()})", lambda: f"range({self.one(NUMBERS)}, {self.one(NUMBERS)}, {self.one(NUMBERS)})|list", lambda: f"{self.atom()} < {self.atom()} < {self.atom()}", lambda: f"m({deeper()}, b={deeper()})",
            lambda: f"'{self.one(['%s', '%5d|', '%-4s.', '%05.1f', '%x', '%r', '%%', '%(a)s', '%c', '%+d', '%#x', '%e', '%g'])}' % {deeper()}", lambda: f"'{self.one(['{}', '{0}{0}', '{a}', '{:>6}', '{:05d}', '{:.2f}', '{!r}', '{{}}', '{0[0]}', '{:,}', '{:^7}'])}'.format({deeper()}, a={deeper()})",
            lambda: f"dict(a={deeper()}, **{self.atom()})", lambda: f"m(*{deeper()})", lambda: f"strftime_now('{self.one(['%Y-%m-%d', '%d %b %Y', '%A %H:%M', '%%'])}')"])()

    def bound(self):
        return self.one(["", "", "1", "2", "-1", "-2", "0", "10", "none", "number"])

    def open(self, begin):
        return begin + self.one(["", "", "", "-", "+"]) + " "

    def close(self, end):
        return " " + self.one(["", "", "", "-"]) + end

    def tag(self, text):
        return self.open("{%") + text + " " + self.one(["", "", "-", "+"]) + "%}"

    def space(self):
        return self.one(["", "", " ", "\n", "\n  ", "text", "\t\n\n", " a ", "\n    b\n", "}} ", "{ "])

    def block(self, depth):
        return self.space().join([""] + [self.statement(depth) for _ in range(self.random.randrange(1, 4))] + [""])

    def statement(self, depth):
        say = lambda: self.open("{{") + self.expression(2) + self.close("}}")  # noqa: E731
        if depth <= 0:
            return say()
        inner = lambda: self.block(depth - 1)  # noqa: E731
        value = lambda: self.expression(1)  # noqa: E731
        tag = self.tag
        return self.one([
            say, say, lambda: tag(f"if {value()}") + inner() + tag("endif"), lambda: tag(f"if {value()}") + inner() + tag(f"elif {value()}") + inner() + tag("else") + inner() + tag("endif"),
            lambda: tag(f"for x in {value()}") + inner() + tag("endfor"), lambda: tag(f"for x in {self.one(['list', 'words', 'messages', 'dict', 'text', 'range(4)'])}") + "{{ loop.index ~ loop.first ~ loop.last ~ loop.length ~ loop.revindex0 }}" + inner() + tag("else") + inner() + tag("endfor"),
            lambda: tag(f"for x, y in {self.one(['dict.items()', 'pairs', 'dict|dictsort', 'dict|items', 'mixed'])}") + "{{ loop.previtem }}{{ loop.nextitem }}" + inner() + tag("endfor"), lambda: tag(f"for x in {self.one(['list', 'mixed', 'messages'])} if {value()}") + "{{ loop.length }}" + inner() + tag("endfor"),
            lambda: tag(f"for x in list") + inner() + tag(f"if x is {self.one(TESTS)}") + tag(self.one(["break", "continue"])) + tag("endif") + inner() + tag("else") + "else" + tag("endfor"), lambda: tag(f"set x = {self.expression(2)}"), lambda: tag(f"set x, y = {value()}, {value()}"),
            lambda: tag(f"set ns = namespace(a={value()})") + tag(f"for x in list") + tag(f"set ns.a = ns.a ~ x") + tag("endfor") + "{{ ns.a }}", lambda: tag("set x") + inner() + tag("endset") + "{{ x }}", lambda: tag("set x | " + self.one(["upper", "trim", "length", "tojson"])) + inner() + tag("endset") + "{{ x }}",
            lambda: tag(f"macro m(a, b={value()})") + "{{ a }}/{{ b }}" + inner() + tag("endmacro"), lambda: tag("macro m(a)") + "{{ varargs }}{{ kwargs }}{{ caller() if caller }}" + tag("endmacro"), lambda: tag(f"call m({value()})") + inner() + tag("endcall"),
            lambda: tag("filter " + self.one(["upper", "trim", "replace('a', 'b')", "indent"])) + inner() + tag("endfilter"), lambda: tag(f"with x = {value()}") + inner() + tag("endwith"), lambda: tag("generation") + inner() + tag("endgeneration"), lambda: "{# note #}", lambda: "{#- note -#}",
            lambda: tag("raw") + "{{ raw }} {% x %}" + tag("endraw"), lambda: tag(f"set joined = joiner('|')") + "{{ joined() }}{{ joined() }}", lambda: tag("set c = cycler(1, 2)") + "{{ c.next() }}{{ c.next() }}{{ c.current }}"])()

    def template(self):
        return self.block(self.one([0, 0, 1, 1, 2, 3]))


SUPPORTED = re.compile(r"cannot be sliced|loop cannot be|is not supported|more than 64 bits|cannot be printed|is nested more|as separators|sort_keys expects|a dict behind|tests cannot be chained|cannot tell apart|a root of|expects the end")


def compare(tool, seed, count, show):
    """(differences, how often what happened)"""
    counts, wrong = collections.Counter(), []
    for number in range(count):
        template = Maker(f"{seed}:{number}").template()
        expected, (code, got) = oracle.render(template, VARIABLES), tool.render(template, VARIABLES)
        if isinstance(expected, str) and ADDED in expected:
            counts["address"] += 1
        elif isinstance(expected, Exception):
            counts["both fail" if code in (1, 2) else "wrong"] += 1
            if code not in (1, 2):
                wrong.append((template, repr(expected), (code, got)))
        elif code in (1, 2) and SUPPORTED.search(got):
            counts["not supported"] += 1
            if show:
                print("not supported:", got)
        else:
            same = code == 0 and got == expected
            counts["equal" if same else "wrong"] += 1
            if not same:
                wrong.append((template, expected, (code, got)))
    return wrong, counts


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--tool", required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--show", action="store_true")
    arguments = parser.parse_args()
    tool = oracle.Tool(arguments.tool)
    wrong, counts = compare(tool, arguments.seed, arguments.count, arguments.show)
    tool.close()
    for template, expected, got in wrong[:40]:
        print(f"template  {template!r}\n  expected {expected!r}\n  got      {got!r}")
    print(dict(counts))
    sys.exit(1 if wrong or counts["not supported"] > arguments.count // 20 else 0)


if __name__ == "__main__":
    main()
