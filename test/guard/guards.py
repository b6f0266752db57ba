# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds tests that can never fail, and files that name the machine they were written on.

Each guard takes the root of a tree and the files in it, and returns a list of complaints; test_guards.py runs them on the repository, and on small trees with
the fault in them.
"""
import re
import subprocess

CHECK_LINE = re.compile(r"^\s*(?://|#|;)?\s*([A-Z][A-Z0-9_-]*?)(?:-(?:LABEL|NEXT|SAME|NOT|DAG|EMPTY|COUNT-\d+))?:", re.MULTILINE)
RUN_LINE = re.compile(r"^\s*(?://|#|;)?\s*RUN:(.*)$", re.MULTILINE)
# Built from parts, so that this file does not name what it looks for.
MACHINE_PATH = re.compile(r"(?:(?<![\w.~>)}])|(?<=-[IL]))/(?:%s)/" % "|".join(["wo" + "rk", "ro" + "ot", "ho" + "me"]))
LIT_SUFFIXES = (".mlir", ".test")


def tracked_files(root):
    """The files of the repository: those in git, and new ones that git does not ignore."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=root, check=True, capture_output=True).stdout
    return sorted({name for name in listed.decode().split("\0") if name and (root / name).is_file()})


def text_of(path):
    data = path.read_bytes()
    return None if b"\0" in data[:8192] else data.decode(errors="replace")


def lit_files(files):
    return [file for file in files if file.startswith("test/") and file.endswith(LIT_SUFFIXES) and "/Inputs/" not in file]


def run_lines(text):
    """The RUN lines, those that end in a backslash joined with the next."""
    return re.sub(r"\\\n", " ", "\n".join(RUN_LINE.findall(text))).splitlines()


def unused_checks(root, files):
    """A prefix with check lines that no FileCheck of the file reads, and a file without any RUN line."""
    complaints = []
    for file in lit_files(files):
        text = text_of(root / file)
        runs = run_lines(text)
        if not runs:
            complaints.append(f"{file}: has no RUN line")
            continue
        read = set()
        for run in runs:
            for command in re.split(r"\||&&|;", run):
                words = command.split()
                if any(word == "FileCheck" or word.endswith("/FileCheck") for word in words):
                    named = re.findall(r"--?check-prefix(?:es)?[= ]([\w,-]+)", command)
                    read |= {prefix for prefixes in named for prefix in prefixes.split(",")} or {"CHECK"}
        for prefix in sorted(set(CHECK_LINE.findall(text))):
            if ("CHECK" in prefix or prefix in read or is_used_as_prefix(text, prefix)) and prefix not in read:
                complaints.append(f"{file}: no FileCheck reads its {prefix} lines")
    return complaints


def is_used_as_prefix(text, prefix):
    """Whether a word in capitals with a colon is meant as a check: it also appears with a suffix that only FileCheck knows."""
    return re.search(rf"^\s*(?://|#|;)?\s*{re.escape(prefix)}-(?:LABEL|NEXT|SAME|NOT|DAG|EMPTY):", text, re.MULTILINE) is not None


def undiscovered_tests(root, files, discovered):
    """A file that looks like a lit test but that lit does not run. `discovered` holds the paths that lit lists, from the root."""
    return [f"{file}: lit does not find it" for file in lit_files(files) if file not in discovered]


def machine_paths(root, files):
    """A text file that names a folder of somebody's machine."""
    complaints = []
    for file in files:
        text = text_of(root / file)
        if text is None:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if match := MACHINE_PATH.search(line):
                complaints.append(f"{file}:{number}: names a path of one machine: {line[match.start():match.start() + 40]!r}")
    return complaints


def missing_licence_line(root, files):
    """A source file whose first three lines do not hold the licence line."""
    sources = (".cpp", ".h", ".c", ".td", ".py", ".cmake", "CMakeLists.txt", ".fbs")
    return [f"{file}: has no SPDX line at its top" for file in files
            if file.endswith(sources) and "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception" not in "".join((root / file).read_text().splitlines()[:3])]


# docs/design.md, section 1: what each folder may include from other folders. Generated code, the compiler and the runtime agree on runtime/Abi.h; the frontend
# checks a tokenizer's parts with the code that will run them.
MAY_INCLUDE = {
    "dialects": (),
    "frontend": ("artifact/", "dialects/", "runtime/Abi.h", "runtime/tokenizer/"),
    "passes": ("dialects/",),
    "lowering": ("artifact/", "dialects/", "passes/", "runtime/Abi.h"),
    "interpreter": ("dialects/",),
    "emulator": (),
    "artifact": ("runtime/Abi.h",),
    "runtime": ("artifact/",),
}
# A library of its own, which the runtime opens by name.
MAY_INCLUDE_TOO = {"runtime/emulator/": ("emulator/",)}
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
CPP = (".cpp", ".h", ".c", ".inc")


def wrong_includes(root, files):
    """A source that includes from a folder its own may not use, or MLIR and LLVM where none may be."""
    complaints = []
    for file in files:
        folder = file.split("/")[0]
        if folder not in MAY_INCLUDE or not file.endswith(CPP):
            continue
        allowed = MAY_INCLUDE[folder] + sum((more for path, more in MAY_INCLUDE_TOO.items() if file.startswith(path)), ())
        for name in INCLUDE.findall((root / file).read_text()):
            other = name.split("/")[0]
            if other in MAY_INCLUDE and other != folder and not name.startswith(allowed):
                complaints.append(f"{file}: {folder}/ may not include {name}")
            if folder in ("artifact", "emulator", "runtime") and re.match(r"(mlir|llvm)(-c)?/", name):
                complaints.append(f"{file}: {folder}/ is free of MLIR and LLVM, but includes {name}")
    return complaints


HIDDEN_STATE = re.compile(r"\bcl::(opt|list)\b|\b(secure_)?getenv\s*\(")


def hidden_state(root, files):
    """A library that reads its options from somewhere other than its caller."""
    return [f"{file}:{number}: a library takes its options from its caller: {line.strip()}" for file in files
            if file.split("/")[0] in MAY_INCLUDE and file.endswith(CPP)
            for number, line in enumerate((root / file).read_text().splitlines(), 1) if HIDDEN_STATE.search(line)]
