# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where the programs and models of the end-to-end tests lie, and how a program is started."""
import pathlib
import re
import resource
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
#: Programs of another family of processors (scripts/setup --aarch64), and what runs them here: with all instructions that qemu knows.
AARCH64_BIN = ROOT / "build" / "aarch64" / "bin"
QEMU = "qemu-aarch64"
QEMU_FLAGS = ["-L", "/usr/aarch64-linux-gnu"]
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


#: Of `fovea`, those that run what they compiled, or an artifact.
RUNNING_VERBS = ("verify", "run", "generate", "chat", "embed", "translate", "transcribe", "fill-mask", "classify", "tag", "answer", "bench")

#: By --processor: what models are compiled for unless a test says it, and run on.
PROCESSOR = None


def emulate(program, cpu="max"):
    """The words that begin the command of a program for aarch64."""
    path = AARCH64_BIN / program
    if not path.exists() or not shutil.which(QEMU):
        pytest.skip(f"build/aarch64/bin/{program} or {QEMU} does not exist; scripts/setup --aarch64 makes them")
    return [QEMU, *QEMU_FLAGS, "-cpu", cpu, str(path)]


def invoke(program, *arguments, stdin=None, limits=(), timeout=600, cpu="max", **options):
    """Runs a program of build/bin, or fovea-run on the `--processor`. The test is skipped only if the program does not exist; `limits` are (resource, value) pairs."""
    path = BIN / program
    if not path.exists():
        pytest.skip(f"build/bin/{program} does not exist")
    words = [str(path)]
    verb = arguments[0] if arguments else None
    if PROCESSOR and program == "fovea-run":
        words = emulate(program, cpu)
    elif PROCESSOR and program == "fovea" and verb in RUNNING_VERBS:
        pytest.skip(f"fovea {verb} runs code in the compiler's process, not on {PROCESSOR}")
    elif PROCESSOR and program == "fovea" and verb == "compile":
        targets = [str(word) for word in arguments if str(word).startswith("--target")]
        if any("aarch64" not in target for target in targets):
            pytest.skip(f"names processors itself, which are not of the family of {PROCESSOR}")
        arguments += () if targets else (f"--target={PROCESSOR}",)

    def limit():
        for kind, value in limits:
            resource.setrlimit(kind, (value, value))

    command = [*words, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=timeout, preexec_fn=limit if limits else None,
                          **({"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}), **options)
    return Result([program, *command[len(words):]], done)


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
