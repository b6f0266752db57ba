# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The hostile library: one small file, or folder, for each published fault of a program that loads models.

A case is a function that writes the file into a folder and returns its name. It is labelled with the class of the fault (the module that it stands in), where the fault was published and what it was; and it
says how it ends:

  refused      what reads such a file prints `says` as its only error, and leaves nothing behind
  at the call  the model compiles; the call that follows is refused with `says`
  untouched    what is hostile has no meaning here: the artifact has the same bytes as without it
  runs         what brought others down has a meaning, and the call gives it

Where it was published is an identifier of the CVE list or of GitHub's advisories (GHSA-), OWNER/PROJECT#NUMBER for an issue or a change there, or CWE- with the number of the weakness where many programs
had the fault and none is first. The same fault of another format is taken over to the one that it would have here.

In `says` the folder of the case is written as FOLDER, and ` || ` parts the words of the first program that reads the file from those of the second, where they differ.
"""
import dataclasses
import importlib
import pathlib
import typing

CLASSES = {
    "safetensors": "safetensors files", "index": "files that name other files", "config": "configurations", "code": "configurations that bring code", "tokenizer": "tokenizers",
    "template": "chat templates", "pickle": "files that are programs", "gguf": "GGUF files", "onnx": "ONNX graphs", "external": "ONNX external data", "arrays": "arrays (.npz)",
    "artifact": "artifacts", "call": "calls", "ir": "MLIR text",
}
ENDS = ("refused", "at the call", "untouched", "runs")


@dataclasses.dataclass
class Case:
    kind: str
    name: str
    published: str
    fault: str
    says: typing.Optional[str]
    end: str
    #: What the call is given, where there is one.
    call: tuple
    write: typing.Callable

    @property
    def title(self):
        return f"{self.kind}/{self.name}"


CASES = []


def case(published, fault, says=None, end="refused", call=()):
    """Registers a function as a case of the class that its module is named after."""
    def register(function):
        kind, name = function.__module__.rsplit(".", 1)[-1], function.__name__.replace("_", "-")
        assert end in ENDS and bool(call) == (end in ("at the call", "runs")) and (says is None) == (end in ("untouched", "runs")), f"{kind}/{name}: its end and what it has for it do not fit"
        assert all((kind, name) != (other.kind, other.name) for other in CASES), f"{kind}/{name} is there twice"
        CASES.append(Case(kind, name, published, fault, says, end, call, function))
        return function
    return register


def load():
    """All cases, class by class."""
    for kind in CLASSES:
        importlib.import_module(f"classes.{kind}")
    return CASES


def listing(folder):
    """Every name below a folder with what it is and holds; to compare before and after."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = ("link", str(path.readlink()))
        elif path.is_file():
            small = path.stat().st_size < 1 << 24
            found[name] = ("file", path.stat().st_size, path.read_bytes() if small else path.stat().st_mtime_ns)
        else:
            found[name] = ("other", path.stat().st_mode)
    return found


def table(cases):
    """The library as a document."""
    lines = ["| class | cases |", "|---|---|"]
    lines += [f"| [{title}](#{anchor(title)}) | {sum(case.kind == kind for case in cases)} |" for kind, title in CLASSES.items()]
    for kind, title in CLASSES.items():
        lines += ["", f"## {title[0].upper()}{title[1:]}", "", "| case | published as | the fault | ends |", "|---|---|---|---|"]
        lines += [f"| {case.name} | {case.published} | {case.fault} | {case.end} |" for case in cases if case.kind == kind]
    return "\n".join(lines) + "\n"


def anchor(title):
    return "".join(letter for letter in title.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")
