# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What we build has the protections of cmake/FoveaHardening.cmake: read from the programs and libraries themselves."""
import re
import shutil
import subprocess

import pytest

BUILT = ["bin/fovea", "bin/fovea-run", "bin/fovea-opt", "bin/fovea-ptx", "lib/libfovea-runtime.so", "lib/libfovea-emulator.so"]
SOURCE = """
#include <string.h>
#include <stdio.h>
int main(int count, char **arguments) {
  char text[64];
  strcpy(text, arguments[0]);
  puts(text);
  return 0;
}
"""
FLAGS = ["-O2", "-fPIE", "-pie", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=3", "-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]


def read(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def missing(path):
    """The protections that a program or library lacks."""
    dynamic, segments = read("readelf", "-dW", path), read("readelf", "-lW", path)
    imports = read("nm", "-D", "--undefined-only", path)
    stack = re.search(r"GNU_STACK\s+(?:0x\w+\s+){5}(\w+)", segments)
    has = {
        "position independence": "Elf file type is DYN" in segments,
        "relocations that are read-only": "GNU_RELRO" in segments,
        "symbols bound before the start": re.search(r"FLAGS_1.*\bNOW\b", dynamic) is not None,
        "a stack without code": stack is not None and "E" not in stack[1],
        "stack protectors": "__stack_chk_fail" in imports,
        "checked calls of the C library": re.search(r"__\w+_chk\b", imports) is not None,
    }
    return [name for name, here in has.items() if not here]


@pytest.mark.parametrize("path", BUILT)
def test_protections(build, path):
    cache = (build / "CMakeCache.txt").read_text()
    if "FOVEA_HARDENED:BOOL=OFF" in cache or "-fsanitize" in cache:
        pytest.skip("this build is configured without them")
    assert not missing(build / path)


@pytest.mark.parametrize("without, name", [
    ("-pie", "position independence"), ("-Wl,-z,relro", "relocations that are read-only"), ("-Wl,-z,now", "symbols bound before the start"),
    ("-Wl,-z,noexecstack", "a stack without code"), ("-fstack-protector-strong", "stack protectors"), ("-D_FORTIFY_SOURCE=3", "checked calls of the C library")])
def test_a_protection_that_is_left_out_is_seen(tmp_path, without, name):
    """A program with all of them has all; with one turned off, that one is missed."""
    compiler = shutil.which("cc")
    (tmp_path / "a.c").write_text(SOURCE)
    opposite = {"-pie": "-no-pie", "-Wl,-z,relro": "-Wl,-z,norelro", "-Wl,-z,now": "-Wl,-z,lazy", "-Wl,-z,noexecstack": "-Wl,-z,execstack", "-fstack-protector-strong": "-fno-stack-protector"}
    for flags, expected in [(FLAGS, []), ([opposite.get(flag, "-O2") if flag == without else flag for flag in FLAGS], [name])]:
        subprocess.run([compiler, tmp_path / "a.c", "-o", tmp_path / "a", *flags], check=True)
        assert missing(tmp_path / "a") == expected
