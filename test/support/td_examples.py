# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every ```mlir example of .td files through fovea-opt, and asks for one of each op.

usage: td_examples.py FILE.td...

An example shows an op, not where its operands come from. What it uses and does not define becomes an argument of a function around it, whose type the parser's own
complaint tells: each is first declared with a type that nothing has. Weights, programs, the model and functions stand outside of that function.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

PLACEHOLDER = "i17"
OUTSIDE = ("fovea.weight ", "fovea.model ", "fovea.program ", "func.func ")
ROUNDS = 12


class Example:
    def __init__(self, place, lines):
        self.place, self.types, self.fault = place, {}, None
        self.outside, self.inside = [], []
        part = self.inside
        for line in lines:
            if not line.startswith((" ", "}")):
                part = self.outside if line.startswith(OUTSIDE) else self.inside
            part.append(line)

    def text(self):
        arguments = ", ".join(f"{name}: {kind}" for name, kind in self.types.items())
        ends = self.inside and self.inside[-1].strip().startswith("fovea.yield")
        body = self.inside if ends else [*self.inside, "return"]
        return "\n".join([*self.outside, f"func.func @example({arguments}) {{", *body, "}"])

    def learn(self, message, source_line, column):
        """Takes what an error says of an operand's type; any other error is the example's fault."""
        if "use of undeclared SSA value name" in message:
            name = re.match(r"%[\w.$-]+", source_line[column - 1:])
            if name and name[0] not in self.types:
                self.types[name[0]] = PLACEHOLDER
                return
        told = re.search(r"use of value '(%\S+)' expects different type than prior uses: '(.+)' vs '(.+)'", message)
        if told and self.types.get(told[1]) == PLACEHOLDER:
            self.types[told[1]] = told[2]
            return
        self.fault = message


def examples(path):
    text = path.read_text()
    for block in re.finditer(r"^ *```mlir\n(.*?)^ *```", text, re.MULTILINE | re.DOTALL):
        line = text.count("\n", 0, block.start()) + 2
        lines = block[1].rstrip("\n").split("\n")
        indent = min(len(l) - len(l.lstrip()) for l in lines if l.strip())
        yield Example(f"{path}:{line}", [l[indent:] for l in lines])


def run(batch):
    """One run of all, apart from each other; what each learns from its first error. Returns whether there was any."""
    source, owners = [], []
    for example in batch:
        lines = [*example.text().split("\n"), "// -----"]
        source += lines
        owners += [example] * len(lines)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("\n".join(source) + "\n")
        file.flush()
        done = subprocess.run(["fovea-opt", "--split-input-file", "--verify-roundtrip", file.name], capture_output=True, text=True)
        errors = re.findall(rf"^{re.escape(file.name)}:(\d+):(\d+): error: (.*)", done.stderr, re.MULTILINE)
    seen = set()
    for line, column, message in errors:
        example = owners[int(line) - 1]
        if example not in seen:
            seen.add(example)
            example.learn(message, source[int(line) - 1], int(column))
    if done.returncode and not errors:
        sys.exit(f"fovea-opt failed without an error at a line:\n{done.stderr}")
    return bool(errors)


def main(paths):
    faults, batch, shown = [], [], ""
    for path in map(pathlib.Path, paths):
        batch += examples(path)
    shown = "\n".join(example.text() for example in batch)
    for path in map(pathlib.Path, paths):
        dialect = "tile" if path.name.startswith("Tile") else "fovea"
        for mnemonic in re.findall(r"^def \w+Op : \w+<\"(\w+)\"", path.read_text(), re.MULTILINE):
            if not re.search(rf"\b{dialect}\.{mnemonic}\b(?!_)", shown):
                faults.append(f"{path}: no example of {dialect}.{mnemonic}")
    tried = list(batch)
    for _ in range(ROUNDS):
        if not run(tried):
            break
        tried = [example for example in tried if not example.fault]
    else:
        faults += [f"{example.place}: its operands' types cannot be found" for example in tried if PLACEHOLDER in example.types.values()]
    faults += [f"{example.place}: {example.fault}" for example in batch if example.fault]
    print("\n".join(faults) or f"{len(batch)} examples parse")
    return 1 if faults or not batch else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
