# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the hostile library, for Fovea's document and for other programs that load models.

usage: make_hostile.py --out FOLDER      each case to FOLDER/CLASS/NAME/, and index.json with what each is
       make_hostile.py --list            a line for each case
       make_hostile.py --document        docs/hostile.md anew; --check only says whether it is

Needs numpy and onnx; the artifacts are made from the golden one beside the tests of artifacts. Nothing is run of what is written.
"""
import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import library  # noqa: E402

DOCUMENT = HERE.parents[1] / "docs" / "hostile.md"


def document():
    """The page with its table in place of the old one."""
    text = DOCUMENT.read_text()
    mark = "<!-- made by test/hostile/make_hostile.py --document -->\n"
    return text[:text.index(mark) + len(mark)] + "\n" + library.table(library.load())


def write(out):
    index = []
    for case in library.load():
        folder = out / case.kind / case.name
        folder.mkdir(parents=True)
        index.append({"class": case.kind, "case": case.name, "published": case.published, "fault": case.fault, "ends": case.end, "file": f"{case.kind}/{case.name}/{case.write(folder)}",
                      "says": case.says, "call": list(case.call)})
    (out / "index.json").write_text(json.dumps(index, indent=1) + "\n")
    return len(index)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, add_help=True)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=pathlib.Path)
    what.add_argument("--list", action="store_true")
    what.add_argument("--document", action="store_true")
    what.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.out:
        print(f"{write(arguments.out)} cases")
    elif arguments.list:
        for case in library.load():
            print(f"{case.title}: {case.published}: {case.fault} ({case.end})")
    elif arguments.document:
        DOCUMENT.write_text(document())
    elif document() != DOCUMENT.read_text():
        sys.exit("docs/hostile.md: is stale; test/hostile/make_hostile.py --document makes it anew")


if __name__ == "__main__":
    main()
