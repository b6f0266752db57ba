# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example that opens the C header compiles, as C11 and as C++17, and runs as it stands."""
import re
import shutil
import subprocess

import pytest

from programs import BIN, ROOT

HEADER = ROOT / "runtime" / "include" / "fovea" / "runtime.h"


def example():
    """The program in the header's opening comment: its lines begin with ` *   `, from the first #include to the closing brace of main."""
    lines = []
    for line in HEADER.read_text().splitlines():
        if lines or line.startswith(" *   #include"):
            if line.strip() != "*" and not line.startswith(" *   "):
                break
            lines.append(line[5:])
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("language", ["c", "c++"])
def test_header_example(this_processor, shakespeare_artifact, tmp_path, language):
    library = BIN.parent / "lib" / "libfovea-runtime.so"
    if not library.exists():
        pytest.skip("build/lib/libfovea-runtime.so does not exist")
    text = example()
    assert "int main(" in text
    if language == "c++":  # the header itself, from C++
        text = '#include <fovea/runtime.h>\nint main() { fovea_module *module = nullptr; fovea_module_free(module); return 0; }\n'
    source = tmp_path / f"example.{'c' if language == 'c' else 'cpp'}"
    source.write_text(text)
    compiler = shutil.which("clang-22" if language == "c" else "clang++-22")
    subprocess.run([compiler, "-std=c11" if language == "c" else "-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{HEADER.parents[1]}", source, "-o", tmp_path / "example",
                    library, f"-Wl,-rpath,{library.parent}"], check=True)
    if language == "c++":
        subprocess.run([tmp_path / "example"], check=True)
        return
    done = subprocess.run([tmp_path / "example", shakespeare_artifact], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\d+ is the most likely of 2048", done.stdout)
    done = subprocess.run([tmp_path / "example", tmp_path / "nothing.fovea"], capture_output=True, text=True)
    assert done.returncode == 1 and "nothing.fovea" in done.stderr
