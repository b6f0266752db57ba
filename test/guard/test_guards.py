# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the guards on the repository, and shows of each that it can fail."""
import re
import shutil
import subprocess

import guards
import pytest


@pytest.fixture(scope="module")
def files(root):
    return guards.tracked_files(root)


def discovered_by_lit(root, build):
    lit = re.search(r"^FOVEA_LIT:\w+=(.+)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE).group(1)
    shown = subprocess.run([lit, "--show-tests", str(build / "test")], check=True, capture_output=True, text=True).stdout
    return {f"test/{name}" for name in re.findall(r"^\s*Fovea :: (.+)$", shown, re.MULTILINE)}


def complain(complaints):
    assert not complaints, "\n" + "\n".join(complaints)


def test_every_check_line_is_read(root, files):
    complain(guards.unused_checks(root, files))


def test_lit_runs_every_test_file(root, build, files):
    complain(guards.undiscovered_tests(root, files, discovered_by_lit(root, build)))


def test_no_machine_paths(root, files):
    complain(guards.machine_paths(root, files))


def test_every_source_names_its_licence(root, files):
    complain(guards.missing_licence_line(root, files))


def test_includes_follow_the_layers(root, files):
    complain(guards.wrong_includes(root, files) + guards.unused_arrows(root, files))


def test_no_layer_uses_one_above():
    complain(guards.arrows_up())


def test_libraries_have_no_hidden_options(root, files):
    complain(guards.hidden_state(root, files))


def test_modules_have_names_of_their_own(root, files):
    complain(guards.shared_module_names(root, files))


def test_functions_are_small(root, files):
    complain(guards.large_functions(root, files))


def test_sources_are_formatted(root):
    done = subprocess.run([root / "scripts" / "format", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, "\n" + done.stdout + done.stderr


def test_generated_docs_are_fresh(root):
    done = subprocess.run([root / "scripts" / "generate-docs", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, "\n" + done.stdout + done.stderr


# The guards themselves, on trees with one fault.


def tree(tmp_path, name, text):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return tmp_path, [name]


@pytest.mark.parametrize("text", [
    "// RUN: fovea-opt %s\n// CHECK: nothing reads me\n",
    "// RUN: fovea-opt %s | FileCheck %s --check-prefix=FAST\n// FAST: read\n// CHECK: not read\n",
    "// RUN: fovea-opt %s | FileCheck %s\n// CHECK: read\n// CHECK-SLOW-NEXT: not read\n",
    "// RUN: fovea-opt %s | FileCheck %s\n// CHECK: read\n// SLOW-LABEL: not read\n",
    "// CHECK: there is no RUN line at all\n",
    "# no test at all\n",
    "RUN: fovea-opt x\nCHECK: without a comment's mark\n",
])
def test_guard_finds_unread_checks(tmp_path, text):
    assert guards.unused_checks(*tree(tmp_path, "test/a.mlir", text))


@pytest.mark.parametrize("text", [
    "// RUN: fovea-opt %s | FileCheck %s\n// CHECK-LABEL: @f\n// CHECK-COUNT-2: x\n// NOTE: a remark\n",
    "// RUN: fovea-opt %s \\\n// RUN:   | FileCheck %s --check-prefixes=A,B\n// A: x\n// B-NOT: y\n",
    "// RUN: fovea-opt %s -verify-diagnostics\n",
    "A text.\nRUN: fovea check x | FileCheck %s --check-prefix=RIGHT\nRIGHT: read\nRIGHT-NOT: read\n",
])
def test_guard_accepts_read_checks(tmp_path, text):
    assert not guards.unused_checks(*tree(tmp_path, "test/a.mlir", text))


def test_guard_finds_undiscovered_tests(tmp_path):
    assert guards.undiscovered_tests(tmp_path, ["test/e2e/lost.mlir", "test/a.test", "test/Inputs/data.mlir"], {"test/a.test"}) == [
        "test/e2e/lost.mlir: lit does not find it"]


@pytest.mark.parametrize("line, found", [
    ("see /%s/main/x", True),
    ('open("/%s/x")', True),
    ("-I/%s/include", True),
    ("a/%s/b", False),
    ("https://example.org/%s/b", False),
])
@pytest.mark.parametrize("folder", ["wo" + "rk", "ro" + "ot", "ho" + "me"])
def test_guard_finds_machine_paths(tmp_path, folder, line, found):
    assert bool(guards.machine_paths(*tree(tmp_path, "docs/a.md", line % folder))) == found


def test_guard_finds_missing_licence(tmp_path):
    assert guards.missing_licence_line(*tree(tmp_path, "runtime/a.cpp", "int x;\n"))


@pytest.mark.parametrize("file, include, found", [
    ("runtime/cpu/a.cpp", '"llvm/ADT/ArrayRef.h"', True),
    ("runtime/a.cpp", "<mlir-c/IR.h>", True),
    ("passes/a.cpp", '"lowering/Target.h"', True),
    ("dialects/a.h", '"passes/Passes.h"', True),
    ("interpreter/a.h", '"passes/Passes.h"', True),
    ("passes/Raise/a.cpp", '"passes/Passes.h"', True),
    ("lowering/GPU/a.cpp", '"lowering/CPU/DotAtoms.h"', True),
    ("lowering/CPU/a.cpp", '"lowering/GPU/GPU.h"', True),
    ("lowering/Tile/a.h", '"lowering/Kernels/KernelBuilder.h"', True),
    ("lowering/Schedule/a.cpp", '"lowering/CPU/DotAtoms.h"', True),
    ("artifact/a.cpp", '"runtime/Module.h"', True),
    ("runtime/tokenizer/a.cpp", '"runtime/Call.h"', True),
    ("runtime/a.cpp", '"runtime/emulator/EncodeTensorMap.h"', True),
    ("lowering/RISCV/a.cpp", '"lowering/CPU/DotAtoms.h"', True),
    ("dialects/Tile/a.td", '"lowering/GPU/Passes.td"', True),
    ("lowering/GPU/a.cpp", '"lowering/Tile/Emitter.h"', False),
    ("runtime/a.cpp", '"abi/Abi.h"', False),
    ("lowering/Kernels/a.cpp", '"llvm/ADT/ArrayRef.h"', False),
    ("tools/fovea/a.cpp", '"lowering/Target.h"', False),
])
def test_guard_finds_wrong_includes(tmp_path, file, include, found):
    assert bool(guards.wrong_includes(*tree(tmp_path, file, f"#include {include}\n"))) == found


def test_guard_finds_folders_without_a_layer(tmp_path):
    assert "has no line" in guards.wrong_includes(*tree(tmp_path, "abi/a.h", ""), layers={"runtime": ""})[0]


@pytest.mark.parametrize("layers, found", [
    ({"a": "", "b": "a"}, False),
    ({"a": "b", "b": ""}, True),
    ({"a": "b", "b": "a"}, True),
    ({"a": "a"}, True),
    ({"a": "gone"}, True),
])
def test_guard_finds_arrows_up_and_circles(layers, found):
    assert bool(guards.arrows_up(layers)) == found


def test_guard_finds_arrows_that_nobody_uses(tmp_path):
    layers = {"abi": "", "artifact": "abi"}
    assert guards.unused_arrows(*tree(tmp_path, "artifact/a.h", ""), layers) == ["artifact/ includes nothing from abi/, which it may"]
    assert not guards.unused_arrows(*tree(tmp_path, "artifact/a.h", '#include "abi/Abi.h"\n'), layers)


def test_storeys_stand_on_what_they_use():
    assert guards.storeys({"a": "", "b": "a", "c": "", "d": "b c"}) == [["a", "c"], ["b"], ["d"]]


@pytest.mark.parametrize("file, line, found", [
    ("passes/a.cpp", "static llvm::cl::opt<bool> x;", True),
    ("runtime/a.cpp", 'if (getenv("FOVEA_THREADS"))', True),
    ("tools/a.cpp", 'getenv("HOME")', False),
    ("runtime/a.cpp", "int budgetenv();", False),
])
def test_guard_finds_hidden_options(tmp_path, file, line, found):
    assert bool(guards.hidden_state(*tree(tmp_path, file, line + "\n"))) == found


def test_guard_finds_modules_of_one_name(tmp_path):
    tree(tmp_path, "test/a/compare.py", "")
    at = tree(tmp_path, "bench/compare.py", "")
    both = ["test/a/compare.py", "bench/compare.py", "test/b.py"]
    assert not guards.shared_module_names(*tree(tmp_path, "test/b.py", "import compared\n"))
    (at[0] / "test/b.py").write_text("  from compare import say\n")
    assert len(guards.shared_module_names(at[0], both)) == 2


LONG = "int f(int x) {\n" + "  ++x;\n" * 80 + "  return x;\n}\n"
BRANCHED = "int f(int x) {\n  return " + " && ".join(f"x != {i}" for i in range(31)) + ";\n}\n"
SMALL = "int f(int x) {\n" + "  if (x == 1)\n    return 2;\n" * 20 + "  return x;\n}\n"


@pytest.mark.parametrize("file, text, found", [
    ("passes/a.cpp", LONG, True),
    ("runtime/a.h", "#pragma once\nstruct S {\n" + LONG + "};\n", True),
    ("emulator/a.inc", BRANCHED, True),
    ("test/unit/a.cpp", BRANCHED, True),
    ("passes/a.cpp", SMALL, False),
    ("docs/a.md", LONG, False),
])
def test_guard_finds_large_functions(tmp_path, file, text, found):
    assert bool(guards.large_functions(*tree(tmp_path, file, text), tables=set(), known=set())) == found


def test_guard_knows_tables_and_large_functions(tmp_path):
    at = tree(tmp_path, "passes/a.cpp", LONG)
    assert not guards.large_functions(*at, tables={"passes/a.cpp"}, known=set())
    assert not guards.large_functions(*at, tables=set(), known={"passes/a.cpp f"})


def test_guard_tells_tests_of_a_file_apart(tmp_path):
    at = tree(tmp_path, "test/unit/a.cpp", LONG.replace("int f(int x)", "TEST(Suite, one)") + LONG.replace("int f(int x)", "TEST(Suite, two)"))
    complaints = guards.large_functions(*at, tables=set(), known={"test/unit/a.cpp TEST(Suite,one)"})
    assert len(complaints) == 1 and "TEST(Suite,two)" in complaints[0]


def test_guard_finds_known_functions_that_are_small(tmp_path):
    complaints = guards.large_functions(*tree(tmp_path, "passes/a.cpp", SMALL), tables=set(), known={"passes/a.cpp f"})
    assert complaints == ["passes/a.cpp f is in LARGE_FUNCTIONS of test/guard/guards.py, and is not large"]


def test_tidy_finds_mistakes(tmp_path, root):
    text = "#include <string>\n#include <utility>\nint main() {\n  std::string a = \"x\";\n  std::string b = std::move(a);\n  return static_cast<int>(%s.size());\n}\n"
    for name, code in (("a", 1), ("b", 0)):
        (tmp_path / "planted.cpp").write_text(text % name)
        done = subprocess.run([root / "scripts" / "tidy", tmp_path / "planted.cpp"], capture_output=True, text=True)
        assert done.returncode == code and ("bugprone-use-after-move" in done.stdout) == bool(code), done.stdout + done.stderr


def test_guard_finds_stale_docs(tmp_path, root):
    """A copy of the pages' sources with one page altered."""
    for folder in ["dialects", "passes", "lowering", "docs", "scripts", "test/guard"]:
        if (root / folder).exists():
            shutil.copytree(root / folder, tmp_path / folder)
    page = next((tmp_path / "docs" / "generated").glob("*.md"))
    page.write_text(page.read_text() + "an edit by hand\n")
    done = subprocess.run([tmp_path / "scripts" / "generate-docs", "--check"], capture_output=True, text=True)
    assert done.returncode == 1 and f"docs/generated/{page.name}: is stale" in done.stdout


def test_lit_really_lists_tests(root, build):
    assert "test/tools/fovea-opt.mlir" in discovered_by_lit(root, build)
