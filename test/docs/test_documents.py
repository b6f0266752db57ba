# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The commands in the documents do what the documents say; links lead somewhere."""
import pathlib
import re

import consoles
import pytest

from guards import tracked_files

DOCUMENTS = ["README.md", "CONTRIBUTING.md", "docs/tour.md", "examples/tutorial-classifier/README.md"]


@pytest.mark.long
@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands(root, build, name):
    path = root / name
    if not path.exists():
        pytest.skip(f"{name} does not exist")
    text = path.read_text()
    for program in ["fovea", "fovea-run"]:
        if "```console" in text and not (build / "bin" / program).exists():
            pytest.skip(f"build/bin/{program} does not exist")
    found = consoles.complaints(root, text, name)
    assert not found, "\n\n".join(found)


def test_links_lead_to_files(root):
    dead = []
    for name in tracked_files(root):
        if name.endswith(".md") and not name.startswith("docs/generated/"):
            for target in re.findall(r"\]\(([^)#\s]+)", (root / name).read_text()):
                if "://" not in target and not (root / name).parent.joinpath(target).exists():
                    dead.append(f"{name}: {target}")
    assert not dead, "\n".join(dead)


def anchors(text):
    """What a link may name after `#`: the headings, as the hosting platform writes them."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}


def dead_anchors(folder, name):
    """Links of a document to headings that are not there."""
    dead = []
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#([^)\s]+)\)", (folder / name).read_text()):
        page = (folder / name).parent / target if target else folder / name
        if "://" not in target and page.suffix == ".md" and anchor not in anchors(page.read_text()):
            dead.append(f"{name}: {target}#{anchor}")
    return dead


def test_links_lead_to_headings(root):
    names = [name for name in tracked_files(root) if name.endswith(".md") and not name.startswith("docs/generated/")]
    dead = [link for name in names for link in dead_anchors(root, name)]
    assert not dead, "\n".join(dead)


def test_dead_anchors_are_found(tmp_path):
    (tmp_path / "a.md").write_text("# One `two`, three\n[here](#one-two-three) [gone](#four) [there](b.md#five-six) [away](b.md#seven) [web](https://a.b/c#d)\n")
    (tmp_path / "b.md").write_text("## Five-six\n")
    assert dead_anchors(tmp_path, "a.md") == ["a.md: #four", "a.md: b.md#seven"]


SOURCE = re.compile(r"`([\w./-]*\w\.(?:cpp|h|td|inc|fbs|py|mlir))`")
STANDS_FOR_ANY = {"NAME", "FAMILY"}


def unknown_sources(text, tracked):
    """Sources that a document names, by path or by name alone, and that are not there."""
    known = {*tracked, *(name.rpartition("/")[2] for name in tracked)}
    return [name for name in SOURCE.findall(text) if name not in known and pathlib.PurePath(name).stem not in STANDS_FOR_ANY]


def test_named_sources_exist(root):
    tracked = tracked_files(root)
    documents = [name for name in tracked if name.endswith(".md") and not name.startswith("docs/generated/") and name != "CHANGELOG.md"]
    unknown = [f"{name}: {source}" for name in documents for source in unknown_sources((root / name).read_text(), tracked)]
    assert not unknown, "\n".join(unknown)


def test_unknown_sources_are_found():
    tracked = ["passes/Raise/Masks.cpp", "abi/Abi.h"]
    text = "`passes/Raise/Masks.cpp`, `Masks.cpp`, `abi/Abi.h`, `passes/NAME.cpp`, `.cpp`, `passes/Masks.cpp`, `Gone.h`"
    assert unknown_sources(text, tracked) == ["passes/Masks.cpp", "Gone.h"]


def test_overviews_stay_short(root):
    """Details of the design go to docs/rationale/; a term that needs no translation needs no line in the glossary."""
    assert len((root / "docs/design.md").read_text().split()) <= 1500
    terms = re.findall(r"^\| (?!here \|)\w", (root / "docs/glossary.md").read_text(), re.MULTILINE)
    assert 0 < len(terms) <= 40


def test_every_rationale_is_in_the_index(root):
    pages = {name for name in tracked_files(root) if name.startswith("docs/rationale/")}
    named = {f"docs/{target}" for target in re.findall(r"\]\((rationale/[\w-]+\.md)\)", (root / "docs/design.md").read_text())}
    assert named == pages


# The checker itself.


def document(*lines):
    return "\n".join(["text", "```console", *lines, "```", ""])


@pytest.mark.parametrize("text", [
    document("$ echo a b", "a b"),
    document("$ printf 'a\\nb\\nc\\n'", "a", "...", "$ echo x | sed 's/x/long y line/'", "long ... line"),
    document("$ echo a \\", "    b", "a b"),
    document("$ exit 3", "# exit code 3"),
    document("$ true"),
    "no block\n```\n$ false\n```\n",
])
def test_checker_accepts(root, text):
    assert consoles.complaints(root, text, "x") == []


@pytest.mark.parametrize("text", [
    document("$ echo a", "b"),
    document("$ printf 'a\\nb\\n'", "a"),
    document("$ echo a"),
    document("$ false"),
    document("$ true", "# exit code 1"),
    document("$ false | cat"),
])
def test_checker_refuses(root, text):
    assert len(consoles.complaints(root, text, "x")) == 1
