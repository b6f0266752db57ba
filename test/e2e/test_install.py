# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is installed is whole: programs run from the prefix, and after it has moved; C and CMake projects outside of the tree build against it."""
import os
import shutil
import subprocess

import pytest

from programs import BIN, ROOT

pytestmark = pytest.mark.long
EXAMPLE = ROOT / "examples" / "c"


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """Installed, and moved from where it was installed to."""
    folder = tmp_path_factory.mktemp("install")
    run("cmake", "--install", BIN.parent, "--prefix", folder / "first")
    (folder / "first").rename(folder / "prefix")
    return folder / "prefix"


@pytest.fixture(scope="module")
def artifact(prefix, shakespeare, tmp_path_factory):
    path = tmp_path_factory.mktemp("artifact") / "shakespeare.fovea"
    run(prefix / "bin" / "fovea", "compile", shakespeare, "-o", path, "--compute=f32")
    return path


def check(program, prefix, artifact):
    text = run(program, artifact, "ROMEO:", 20, env={**os.environ, "LD_LIBRARY_PATH": str(prefix / "lib")})
    # A newline after the last token is the terminal's.
    assert len(text) > 40 and text.removesuffix("\n") == run(prefix / "bin" / "fovea-run", "generate", artifact, "--prompt", "ROMEO:", "-n", 20, "--temp", 0, "--quiet").removesuffix("\n")


def test_nothing_of_the_package_of_python(prefix):
    assert sorted(path.name for path in prefix.iterdir()) == ["bin", "include", "lib", "share"]
    assert sorted(path.name for path in (prefix / "bin").iterdir()) == ["fovea", "fovea-opt", "fovea-run"]


def test_by_pkg_config(prefix, artifact, tmp_path):
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    flags = run("pkg-config", "--cflags", "--libs", "fovea", env={**os.environ, "PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}).split()
    assert not any(str(ROOT) in flag for flag in flags)
    run("clang-22", "-std=c11", "-Wall", "-Werror", EXAMPLE / "write.c", *flags, "-o", tmp_path / "write")
    check(tmp_path / "write", prefix, artifact)


def test_by_cmake(prefix, artifact, tmp_path):
    shutil.copytree(EXAMPLE, tmp_path / "project")
    run("cmake", "-S", tmp_path / "project", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_C_COMPILER=clang-22")
    run("cmake", "--build", tmp_path / "build")
    check(tmp_path / "build" / "write", prefix, artifact)


def test_bad_use_of_the_example(prefix, artifact, tmp_path):
    library = prefix / "lib"
    run("clang-22", "-std=c11", EXAMPLE / "write.c", f"-I{prefix / 'include'}", f"-L{library}", "-lfovea-runtime", f"-Wl,-rpath,{library}", "-o", tmp_path / "write")
    done = subprocess.run([tmp_path / "write", tmp_path / "nothing.fovea", "a", "1"], capture_output=True, text=True)
    assert done.returncode == 1 and "nothing.fovea" in done.stderr
    assert subprocess.run([tmp_path / "write"], capture_output=True).returncode == 2


@pytest.mark.parametrize("program", ["fovea", "fovea-run"])
def test_pages(prefix, program):
    page = (prefix / "share" / "man" / "man1" / f"{program}.1").read_text()
    assert page.startswith(f".TH {program.upper()} 1") and ".SS generate" in page
    for place in (f"bash-completion/completions/{program}", f"zsh/site-functions/_{program}", f"fish/vendor_completions.d/{program}.fish"):
        assert "generate" in (prefix / "share" / place).read_text()


# What is typed, and what of it bash offers.
TYPED = [
    (["fovea", "gen"], ["generate"]),
    (["fovea", "compile", "--em"], ["--emit"]),
    (["fovea", "compile", "--emit", "=", "sc"], ["scheduled"]),
    (["fovea", "compile", "--dtype", "int"], ["int8", "int4"]),
    (["fovea", "completions", ""], ["bash", "fish", "zsh"]),
    (["fovea", "cache", "cl"], ["clear"]),
]


@pytest.mark.parametrize("words, expected", TYPED, ids=lambda value: " ".join(value))
def test_bash(prefix, words, expected):
    script = f"source {prefix}/share/bash-completion/completions/fovea; COMP_WORDS=({' '.join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; _fovea; " \
             "printf '%s\\n' \"${COMPREPLY[@]}\""
    assert sorted(run("bash", "-c", script).split()) == sorted(expected)
