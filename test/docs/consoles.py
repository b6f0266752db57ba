# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the console blocks of a document and compares what they print.

A block fenced as ```console holds lines that begin with `$ ` (commands, continued by a backslash at the end of a line) and the lines they print. A line `...` stands for any number of lines, and
`...` inside a line for any text. Commands run in the repository's root with build/bin on the path. A command that fails fails the document, unless its block says `# exit code N` as its first printed line.

In a .mlir file the same stands in comments, indented by two: `//   $ command`, the lines it prints, and an empty comment or the next command behind them.
"""
import os
import re
import subprocess


def blocks(text):
    """Yields (line number, command, expected lines) of each command in the document."""
    inside, command, expected, start = False, None, [], 0
    for number, line in enumerate(text.splitlines(), 1):
        if not inside:
            inside = line.strip() == "```console"
            continue
        if line.strip() == "```" or line.startswith("$ "):
            if command is not None:
                yield start, command, expected
            command, expected = None, []
            inside = line.strip() != "```"
            if inside:
                command, start = line[2:], number
        elif command is not None and command.endswith("\\"):
            command = command[:-1] + line.strip()
        elif command is not None:
            expected.append(line)


def comments(text):
    """The same for the comments of a .mlir file."""
    command, expected, start = None, [], 0
    for number, line in enumerate([*text.splitlines(), ""], 1):
        body = line[5:] if line.startswith("//   ") else None
        if command is not None and command.endswith("\\") and body is not None:
            command = command[:-1] + body.strip()
        elif body is None or body.startswith("$ "):
            if command is not None:
                yield start, command, expected
            command, expected, start = body and body[2:], [], number
        elif command is not None:
            expected.append(body)


def matches(expected, printed):
    """Whether the printed lines are the expected ones."""
    pattern = ""
    for line in expected:
        if line.strip() == "...":
            pattern += r"(?:.*\n)*?"
        else:
            pattern += ".*?".join(re.escape(part) for part in line.rstrip().split("...")) + r"[ \t]*\n"
    return re.fullmatch(pattern, printed if printed.endswith("\n") or not printed else printed + "\n") is not None


def complaints(root, text, path, find=blocks, **variables):
    """Runs the document's commands in order; one complaint for each that does not do as it says. `variables` are for the commands' environment."""
    environment = {**os.environ, "PATH": f"{root / 'build' / 'bin'}:/usr/lib/llvm-22/bin:{os.environ['PATH']}", **variables}
    found = []
    for line, command, expected in find(text):
        code = 0
        if expected and (match := re.fullmatch(r"# exit code (\d+)", expected[0])):
            code, expected = int(match.group(1)), expected[1:]
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        printed = re.sub(r"( s), \d+ of \d+ kernels known", r"\1", done.stdout.decode(errors="replace"))  # by what ran before
        if done.returncode != code:
            found.append(f"{path}:{line}: $ {command}\nexit code {done.returncode}, the document says {code}\n{printed[-2000:]}")
        elif not matches(expected, printed):
            found.append(f"{path}:{line}: $ {command}\nprinted:\n{printed[-4000:]}\nthe document says:\n" + "\n".join(expected))
    return found
