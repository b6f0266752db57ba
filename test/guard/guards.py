# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Finds tests that can never fail, files that name the machine they were written on, includes against the layers, and functions that are too large.

Each guard takes the root of a tree and the files in it, and returns a list of complaints; test_guards.py runs them on the repository, and on small trees with
the fault in them.
"""
import collections
import pathlib
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


# What each room of the house may include from, from the ground up: a room is a top folder or a folder in it. A room may name rooms above its
# own line only, so no arrow runs up and none in a circle. What code, artifact and runtime agree on is abi/; frontend/tokenizer checks a tokenizer's parts with the code that will run them; runtime/emulator is a library of its own, which the runtime opens by name.
# tools/ and what is for developers (test/, bench/, examples/) may see all; python/ uses tools/images besides what it names.
LAYERS = {
    "abi": "",
    "dialects": "",
    "dialects/Fovea": "abi dialects",
    "dialects/Tile": "dialects",
    "artifact": "abi",
    "weights": "abi artifact dialects dialects/Fovea",
    "emulator": "",
    "interpreter": "dialects/Fovea weights",
    "runtime/include": "",
    "runtime/status": "runtime/include",
    "runtime/tokenizer": "artifact runtime/status",
    "runtime/template": "runtime/tokenizer",
    "runtime": "abi artifact runtime/include runtime/status runtime/template runtime/tokenizer",
    "runtime/emulator": "emulator runtime runtime/status",
    "python": "runtime/include",
    "frontend": "",
    "frontend/HuggingFace": "artifact frontend",
    "frontend/GGUF": "artifact frontend",
    "frontend/Attributes": "dialects/Fovea frontend",
    "frontend/ONNX": "artifact dialects/Fovea frontend frontend/Attributes",
    "frontend/tokenizer": "artifact frontend frontend/GGUF runtime/template runtime/tokenizer",
    "frontend/Builder": "dialects/Fovea frontend frontend/Attributes frontend/GGUF frontend/HuggingFace frontend/ONNX weights",
    "passes/Analysis": "dialects dialects/Fovea",
    "passes/Elements": "dialects/Fovea passes/Analysis",
    "passes/Raise": "dialects/Fovea passes/Analysis passes/Elements",
    "passes": "dialects dialects/Fovea passes/Analysis passes/Raise",
    "lowering/Targets": "dialects",
    "lowering/CodeGen": "dialects/Fovea lowering/Targets",
    "lowering/Tile": "dialects dialects/Fovea dialects/Tile",
    "lowering/Math": "dialects dialects/Fovea lowering/Targets lowering/Tile",
    "lowering/Kernels": "dialects dialects/Fovea dialects/Tile passes/Analysis lowering/Targets lowering/Tile",
    "lowering/Schedule": "dialects/Fovea dialects/Tile passes/Analysis lowering/Kernels lowering/Targets",
    "lowering/Entries": "abi dialects/Fovea dialects/Tile passes/Analysis lowering/Kernels lowering/Tile",
    "lowering/CPU": "dialects dialects/Fovea dialects/Tile lowering/Targets lowering/Tile",
    "lowering/GPU": "abi dialects dialects/Fovea dialects/Tile lowering/CodeGen lowering/Entries lowering/Math lowering/Tile",
    "lowering": "lowering/CPU lowering/Entries lowering/Math lowering/Tile",
}
HOUSE = {room.split("/")[0] for room in LAYERS}
WITHOUT_MLIR = ("abi", "artifact", "emulator", "runtime")
INCLUDE = re.compile(r'^\s*#?\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
CPP = (".cpp", ".h", ".c", ".inc")


def room_of(path, layers):
    """The room that a file belongs to, or none: a folder inside a top folder is a room of its own, deeper ones are part of it."""
    room = "/".join(path.split("/")[:-1][:2])
    return room if room in layers else None


def wrong_includes(root, files, layers=LAYERS):
    """A source that includes from a room that its own may not use, or MLIR and LLVM where none may be."""
    complaints = []
    for file in files:
        folder, room = file.split("/")[0], room_of(file, layers)
        if folder not in HOUSE or not file.endswith((*CPP, ".td")):
            continue
        if not room:
            complaints.append(f"{file}: stands in a folder that has no line in LAYERS of test/guard/guards.py")
            continue
        allowed = {room, *layers[room].split()}
        for name in INCLUDE.findall((root / file).read_text()):
            other = room_of(name, layers)
            if other and other not in allowed:
                complaints.append(f"{file}: {room}/ may not include {name}")
            if folder in WITHOUT_MLIR and re.match(r"(mlir|llvm)(-c)?/", name):
                complaints.append(f"{file}: {folder}/ is free of MLIR and LLVM, but includes {name}")
    return complaints


def arrows_up(layers=LAYERS):
    """A room that uses one whose line does not stand above its own."""
    rooms = list(layers)
    return [f"{room}/ uses {used}/, whose line does not stand above it" for at, room in enumerate(rooms) for used in layers[room].split() if used not in rooms[:at]]


def unused_arrows(root, files, layers=LAYERS):
    """A room that may use another, and does not."""
    seen = {(room_of(file, layers), room_of(name, layers)) for file in files if file.endswith((*CPP, ".td")) for name in INCLUDE.findall((root / file).read_text())}
    return [f"{room}/ includes nothing from {used}/, which it may" for room in layers for used in layers[room].split() if (room, used) not in seen]


def storeys(layers=LAYERS):
    """The rooms by height: those of a storey use only what lies below it."""
    height = {}
    for room in layers:
        height[room] = 1 + max((height[used] for used in layers[room].split()), default=-1)
    return [[room for room in layers if height[room] == at] for at in range(max(height.values()) + 1)]


def print_layers(layers=LAYERS):
    """The layers from the roof down, each room with what it uses directly."""
    lines = []
    for at, rooms in reversed(list(enumerate(storeys(layers)))):
        for number, room in enumerate(rooms):
            lines.append(f"{at if number == 0 else ' '}  {room + '/':<22} {' '.join(layers[room].split()) or '-'}")
    return "\n".join(lines)


# A function that is longer, or has more branches, is hard to read and to test.
MOST_LINES, MOST_BRANCHES = 80, 30
# Tables, written as functions.
TABLES = {
    "emulator/AluLanes.inc",
    "test/fuzz/support/Words.cpp",
}
# Functions that are still larger. The list only shrinks: one that is not larger any more is a complaint too.
LARGE_FUNCTIONS = {
    "test/grid/NativeProgram.cpp NativeProgram::call",
    "test/grid/TileProductCases.cpp makeAttention",
    "test/grid/TileRowCases.cpp makeNorm",
    "test/mutation/Explain.cpp fovea::mutation::Judge::explainValue",
    "test/mutation/Explain.cpp fovea::mutation::Judge::isBarrierIdle",
    "test/mutation/Explain.cpp fovea::mutation::Judge::isForAnyCopy",
    "test/mutation/Explain.cpp fovea::mutation::Judge::isStoredByOthers",
    "test/mutation/Operators.cpp fovea::mutation::operators",
    "test/mutation/program/main.cpp main",
    "test/smith/Builder.cpp fovea::smith::Builder::build",
    "test/smith/Choices.cpp fovea::smith::draw",
    "test/smith/Choices.cpp fovea::smith::settle",
    "test/smith/Masks.cpp fovea::smith::Builder::expectMasks",
    "test/smith/Masks.cpp fovea::smith::Builder::mask",
    "test/smith/Rules.cpp fovea::smith::Builder::rule",
    "test/smith/Softmax.cpp fovea::smith::Builder::softmax",
    "test/threads/TileTest.cpp TEST_P(Products,Agree)",
    "test/unit/emulator/HopperTest.cpp fovea::emulator::test::TEST_P(Wgmma,AgreesWithCanonicalLayouts)",
    "test/unit/emulator/MatrixTest.cpp fovea::emulator::test::TEST_P(Mma,AgreesWithTheLayoutsOfTheManual)",
    "test/unit/emulator/ScalarTest.cpp fovea::emulator::test::TEST(Scalar,Bits)",
    "test/unit/emulator/ScalarTest.cpp fovea::emulator::test::TEST(Scalar,Conversions)",
    "test/unit/emulator/ScalarTest.cpp fovea::emulator::test::TEST(Scalar,Integers)",
    "test/unit/runtime/DeviceTest.h fovea::test::DeviceTest::write",
}


def large_functions(root, files, tables=TABLES, known=LARGE_FUNCTIONS):
    """A function of C++ with too many lines or branches, and a known one that has not, or is gone."""
    import lizard

    complaints, found = [], set()
    for file in files:
        if not file.endswith(CPP) or file in tables:
            continue
        # By their names alone lizard does not know that .inc files are C++.
        name = file if file.endswith((".cpp", ".h", ".c")) else file + ".cpp"
        for function in lizard.analyze_file.analyze_source_code(name, (root / file).read_text()).function_list:
            if function.length <= MOST_LINES and function.cyclomatic_complexity <= MOST_BRANCHES:
                continue
            # All tests of a file have one name, that of their macro.
            is_test = re.search(r"\bTEST(_[FP])?$", function.name)
            label = re.sub(r" *([(,)]) *", r"\1", function.long_name) if is_test else function.name
            large = f"{file} {label}"
            found.add(large)
            if large not in known:
                complaints.append(f"{file}:{function.start_line}: {label} has {function.length} lines and {function.cyclomatic_complexity} branches, "
                                  f"more than {MOST_LINES} or {MOST_BRANCHES}")
    return complaints + [f"{large} is in LARGE_FUNCTIONS of test/guard/guards.py, and is not large" for large in sorted(known - found)]


IMPORT = re.compile(r"^[ ]*(?:from|import) (\w+)(?=$|[ .])", re.MULTILINE)
HIDDEN_STATE = re.compile(r"\bcl::(opt|list)\b|\b(secure_)?getenv\s*\(")


def hidden_state(root, files):
    """A library that reads its options from somewhere other than its caller."""
    return [f"{file}:{number}: a library takes its options from its caller: {line.strip()}" for file in files
            if file.split("/")[0] in HOUSE and file.endswith(CPP)
            for number, line in enumerate((root / file).read_text().splitlines(), 1) if HIDDEN_STATE.search(line)]


def shared_module_names(root, files):
    """Two Python files of tests and benchmarks with one name, which something imports: one process that runs both has the module of whichever came first."""
    modules = [pathlib.PurePath(file) for file in files if file.startswith(("test/", "bench/")) and file.endswith(".py")]
    imported = {name for file in modules for name in IMPORT.findall((root / file).read_text())}
    named = collections.Counter(file.stem for file in modules)
    return [f"{file}: another module has this name, and `{file.stem}` is imported" for file in modules if named[file.stem] > 1 and file.stem in imported]


if __name__ == "__main__":
    print(print_layers())
