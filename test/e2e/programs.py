# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the programs and models of the end-to-end tests lie, and how a program is started."""
import pathlib
import re
import resource
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
SHAKESPEARE = ROOT / "examples" / "models" / "shakespeare-llama"
DATA = pathlib.Path(__file__).parent / "data"


class Result:
    def __init__(self, command, done):
        self.command, self.code, self.out, self.err = command, done.returncode, done.stdout, done.stderr

    @property
    def text(self):
        return self.out.decode()

    def __str__(self):
        return f"\n$ {' '.join(map(str, self.command))}\nexit code {self.code}\nstdout: {self.out[-2000:].decode(errors='replace')}\nstderr: {self.err[-4000:].decode(errors='replace')}"

    def ok(self):
        assert self.code == 0, str(self)
        return self


def invoke(program, *arguments, stdin=None, limits=(), timeout=600, **options):
    """Runs a program of build/bin. The test is skipped only if the program does not exist; `limits` are (resource, value) pairs."""
    path = BIN / program
    if not path.exists():
        pytest.skip(f"build/bin/{program} does not exist")

    def limit():
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))

    command = [str(path), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=timeout, preexec_fn=limit if limits else None,
                          **({"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}), **options)
    return Result([program, *command[1:]], done)


#: Kernels that are plain loops, and why they may be.
PLAIN_LOOPS = {
    "alibi_slopes": "a number for each head, computed once a call",
    "concat": "patches of images behind tokens of their own, once a call; latents before what is rotated, copied once a layer",
    "dispatch": "a number for each token and expert that it meets, below a hundredth of the experts' time",
    "equal_offsets": "a number for each head",
    "position_sinusoidal": "a row for each token, below a hundredth of a token's time",
    "top_k": "as dispatch",
}


def unexpected_plain_loops(fovea, artifact):
    """Kernels of an artifact that fall back to plain loops and are not among those that may."""
    found = re.findall(r"^    (\w+?)_\d+: ", fovea("inspect", artifact).ok().text.partition("fallbacks to plain loops")[2].partition("\n\n")[0], re.MULTILINE)
    return sorted(set(found) - set(PLAIN_LOOPS))
