# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each case of the hostile library: it ends as it says, within 20 s and 2 GiB, with one message and nothing left behind."""
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

import pytest

import library
import make_hostile
import seeds

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / "build" / "bin"
SECONDS, BYTES = 20, 2 << 30
CASES = library.load()


class Run:
    """A program that ran in a case's folder, within the limits."""

    def __init__(self, folder, program, *arguments):
        path = BIN / program
        if not path.exists():
            pytest.skip(f"build/bin/{program} does not exist")

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        home = {"XDG_CACHE_HOME": str(folder.parent / "cache"), "HOME": str(folder.parent / "home"), "TMPDIR": str(folder.parent / "tmp")}
        begin = time.monotonic()
        done = subprocess.run([path, *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, preexec_fn=limit, env={**os.environ, **home})
        self.words = f"$ {program} {' '.join(map(str, arguments))[:200]}"
        self.code, self.out, self.seconds = done.returncode, done.stdout, time.monotonic() - begin
        self.err = done.stderr.decode(errors="backslashreplace").replace(str(folder), "FOLDER")
        self.errors = [line.split(": error: ", 1)[1] for line in self.err.splitlines() if line.startswith(f"{program}: error: ")]

    def __str__(self):
        return f"\n{self.words}\nexit code {self.code} after {self.seconds:.1f} s\n{self.out[-500:]!r}\n{self.err[-3000:]}"

    def ok(self):
        assert self.code == 0, str(self)
        return self

    def refuses(self, says):
        """Exit code 1 and one error, whatever else is said being notes; nothing on standard output."""
        assert self.code == 1 and self.out == b"" and self.errors == [says], f"expected: {says}{self}"
        program = self.words.split()[1]
        others = [line for line in self.err.splitlines() if not line.startswith((f"{program}: error: ", f"{program}: note: "))]
        assert others == [] and not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", self.err), str(self)


def is_kernel(path):
    """Code of a kernel that is kept for other models, or a folder of such."""
    return bool(re.fullmatch(r"cache(/fovea(/kernels(/([0-9a-f]{32}\.o|trimmed))?)?)?", str(path)))


def compile_model(folder, name):
    return Run(folder, "fovea", "compile", name, "-o", "../out/model.fovea", "--threads", "1")


def call(folder, artifact, arguments):
    verb = "run" if arguments[0] == "--input" else "generate"
    return Run(folder, "fovea-run", verb, artifact, *arguments, *(["--seed", "1"] if verb == "generate" else []), "--threads", "1")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The artifacts of what hostile models were before; by how they are written."""
    made = {}

    def artifact(write):
        if write not in made:
            folder = tmp_path_factory.mktemp("sound") / "case"
            folder.mkdir()
            for beside in ("out", "tmp"):
                (folder.parent / beside).mkdir()
            name = write(folder)
            compile_model(folder, name).ok()
            made[write] = folder.parent / "out" / "model.fovea"
        return made[write]
    return artifact


def checkpoint(folder):
    return seeds.checkpoint(folder).name


def external_data(folder):
    from classes import external
    return external.external(folder, "w.bin", offset=16, length=80)


@pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])
def test_case(case, sound, tmp_path):
    folder, out = tmp_path / "case", tmp_path / "out"
    for path in (folder, out, tmp_path / "tmp"):
        path.mkdir()
    name = case.write(folder)
    before = library.listing(folder)
    first, _, second = (case.says or "").partition(" || ")
    if case.kind == "artifact":
        if case.end == "refused":
            Run(folder, "fovea", "inspect", name).refuses(first)
            call(folder, name, ("--input", "input_ids=[[3, 4]]")).refuses(second or first)
        else:
            call(folder, name, case.call).refuses(first)
    elif case.kind == "arrays":
        Run(folder, "fovea-run", "run", sound(checkpoint), "--entry", "forward", "--inputs", name, "--outputs", "../out/out.npz").refuses(first)
    elif case.end == "refused":
        Run(folder, "fovea", "check", name).refuses(first)
        compile_model(folder, name).refuses(second or first)
    else:
        Run(folder, "fovea", "check", name).ok()
        compile_model(folder, name).ok()
        artifact = out / "model.fovea"
        if case.end == "at the call":
            call(folder, artifact, case.call).refuses(first)
        elif case.end == "runs":
            assert call(folder, artifact, case.call).ok().out
        else:
            assert artifact.read_bytes() == sound(external_data if case.kind == "external" else checkpoint).read_bytes()
        artifact.unlink()
    assert library.listing(folder) == before, "the case's folder is another"
    left = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if folder not in path.parents}
    assert {str(path) for path in left if not is_kernel(path)} == {"case", "out", "tmp"}, "something is left behind"


# The library itself -----------------------------------------------------------------------------------------------------------------------------------------

def test_every_class_has_cases():
    assert len(CASES) >= 300
    for kind in library.CLASSES:
        assert sum(case.kind == kind for case in CASES) >= 8, kind


def test_labels():
    published = re.compile(r"CVE-\d{4}-\d{4,}|GHSA(-[23456789cfghjmpqrvwx]{4}){3}|CWE-\d+|[\w.-]+/[\w.-]+(#\d+|, [\w. ]+)?|[\w. ]+, [\w. ]+")
    for case in CASES:
        assert published.fullmatch(case.published), (case.title, case.published)
        assert case.fault and not case.fault.endswith("."), (case.title, case.fault)


#: Words that say what was expected, or what is wrong with what was found.
TELLING = re.compile(r"\b(expects|expected|not supported|missing|damaged|cut short|cannot|is not understood|has no argument|there twice|shares bytes|lacks|unexpected|unregistered|this program|bytes after its end"
                     r"|is of an unknown kind|does not fit)\b")


def test_messages_name_the_file_and_what_was_expected(tmp_path):
    """The file at fault comes first: the one that was given, or one below it."""
    for case in CASES:
        if case.end == "refused":
            folder = tmp_path / case.kind / case.name
            folder.mkdir(parents=True)
            name = case.write(folder)
            for says in case.says.split(" || "):
                assert says.startswith(name.split("/")[0]) or case.kind == "ir", (case.title, says)
                assert TELLING.search(says), (case.title, says)


def test_messages_are_their_own():
    """What a reader says tells the cases of its class apart. What is not read at all is refused by one message for all."""
    seen = {}
    for case in CASES:
        if case.end == "refused" and case.kind != "pickle":
            seen.setdefault((case.kind, case.says), []).append(case.name)
    shared = {says: names for (_, says), names in seen.items() if len(names) > 1}
    assert not shared, shared


def test_files_are_the_same_each_time(tmp_path):
    """What is written does not depend on when and where."""
    for case in CASES:
        listings = []
        for side in ("a", "b"):
            folder = tmp_path / side / case.kind / case.name
            folder.mkdir(parents=True)
            case.write(folder)
            listings.append({name: entry for name, entry in library.listing(folder).items() if not isinstance(entry[-1], int) or entry[0] == "other"})
        assert listings[0] == listings[1], case.title


def test_library_is_written(tmp_path):
    done = subprocess.run([sys.executable, make_hostile.__file__, "--out", tmp_path / "all"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == f"{len(CASES)} cases\n", done.stderr
    assert len(list((tmp_path / "all").iterdir())) == len(library.CLASSES) + 1


def test_document_is_fresh():
    assert make_hostile.document() == make_hostile.DOCUMENT.read_text()
