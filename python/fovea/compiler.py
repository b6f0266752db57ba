# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler: the program `fovea`, which is in the package, in a process of its own. Nothing that happens in it can end this one."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from . import errors

PACKAGE = pathlib.Path(__file__).parent
# In a wheel beside the package's files; in a build tree, whose python/fovea refers to the sources, in bin/.
LINE = "\r\033[K"  # begins a line of progress in place of the last
PROGRAMS = [PACKAGE / "bin", PACKAGE.parent.parent / "bin"]


def find_program():
    """The path of `fovea`: $FOVEA, or the one that belongs to this package."""
    if named := os.environ.get("FOVEA"):
        return named
    for folder in PROGRAMS:
        if (folder / "fovea").is_file():
            return str(folder / "fovea")
    raise errors.InternalError(f"the package has no program 'fovea'; looked in {', '.join(map(str, PROGRAMS))}")


def read_messages(stream, terminal):
    """All that the compiler says, without its line of progress, which goes to `terminal` if there is one."""
    said = ""
    while chunk := os.read(stream.fileno(), 1 << 16):
        said += chunk.decode(errors="replace")
        if terminal and (at := said.rfind(LINE)) >= 0:
            terminal.write(said[at:].partition("\n")[0])
            terminal.flush()
    if terminal and LINE in said:
        terminal.write(LINE)
        terminal.flush()
    return "\n".join(line.rpartition(LINE)[2] for line in said.split("\n"))


def invoke(*arguments, progress=False):
    """Runs `fovea` with these arguments and gives what it printed. Raises CompileError, or InternalError if it crashed.

    With `progress`, and where standard error is a terminal, its line of progress is seen; else notes go to nobody."""
    command = [find_program(), *map(str, arguments)]
    shows = progress and sys.stderr is not None and sys.stderr.isatty()
    try:
        with tempfile.TemporaryFile() as out, subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                                               env={**os.environ, "FOVEA_PROGRESS": "1"} if shows else None) as process:
            said = read_messages(process.stderr, sys.stderr if shows else None)
            process.wait()
            out.seek(0)
            printed = out.read()
    except OSError as error:
        raise errors.InternalError(f"cannot start {command[0]}: {error.strerror}") from None
    if process.returncode == 0:
        return printed.decode()
    problems = [line.removeprefix("fovea: error: ") for line in said.splitlines() if line.startswith("fovea: error: ")]
    if process.returncode < 0 or process.returncode == 70:
        how = f"was ended by {signal.Signals(-process.returncode).name}" if process.returncode < 0 else "found a fault in itself"
        raise errors.InternalError(f"the compiler {how}: {said.strip() or ' '.join(command)}")
    raise errors.CompileError(problems or [said.strip() or f"{' '.join(command)}: exit code {process.returncode}"])


def as_flags(options):
    """Keyword arguments as the command line spells them: max_tokens=3 is --max-tokens=3; True is the flag alone; None and False are left out."""
    flags = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is True:
            flags.append(flag)
        elif value is not None and value is not False:
            flags.append(f"{flag}={value}")
    return flags


def inspect(artifact):
    """All that an artifact says of itself: what `fovea inspect --json` prints."""
    return json.loads(invoke("inspect", "--json", artifact))
