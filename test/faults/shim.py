# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program while one of its system calls goes wrong, by the library that Faults.c makes."""
import dataclasses
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
LIBRARY = ROOT / "build" / "lib" / "fovea_faults.so"


@dataclasses.dataclass
class Call:
    """One that the library counted."""
    name: str
    path: str
    went_wrong: bool


@dataclasses.dataclass
class Outcome:
    command: str
    code: int
    out: bytes
    err: str
    calls: list

    @property
    def errors(self):
        return [line for line in self.err.splitlines() if "error:" in line]


def run(program, arguments, folder, log, fault=None, at=None, env=None):
    """Runs a program of build/bin; what it calls on files in `folder` is counted from 1, and call `at` goes wrong in the way `fault`."""
    log = pathlib.Path(log)
    log.unlink(missing_ok=True)
    words = list(map(str, arguments))
    settings = {"LD_PRELOAD": str(LIBRARY), "FOVEA_FAULT_PROGRAM": program, "FOVEA_FAULT_FOLDER": os.path.realpath(folder), "FOVEA_FAULT_LOG": str(log)}
    if at is not None:
        settings |= {"FOVEA_FAULT": fault, "FOVEA_FAULT_AT": str(at)}
    done = subprocess.run([BIN / program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, env={**os.environ, **(env or {}), **settings})
    lines = log.read_text().splitlines() if log.exists() else []
    calls = []
    for line in lines:
        name, path = line.split(" ", 1)
        calls.append(Call(name.lstrip("!"), path, name.startswith("!")))
    return Outcome(" ".join([program, *words]), done.returncode, done.stdout, done.stderr.decode(errors="replace"), calls)
