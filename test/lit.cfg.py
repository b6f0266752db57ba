# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""lit's view of test/: every .mlir and .test file is a test, except in the folders named below."""
import os
import pathlib

import lit.formats

config.name = "Fovea"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
# Inputs/ holds what tests read. unit/ is GoogleTest; guard/, docs/ and e2e/ are pytest.
config.excludes = ["Inputs", "unit", "guard", "docs", "e2e", "support"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.fovea_build, "test")

config.environment["PATH"] = os.pathsep.join([os.path.join(config.fovea_build, "bin"), config.fovea_test_tools, config.environment["PATH"]])
config.environment["FILECHECK_OPTS"] = "-enable-var-scope --allow-unused-prefixes=false"

# fovea-opt, fovea, fovea-run, FileCheck, not, split-file and count come from the path; what a test names by place comes from here.
config.substitutions.append(("%source_root", config.fovea_source))
config.substitutions.append(("%build_root", config.fovea_build))
config.substitutions.append(("%models", config.fovea_source + "/examples/models"))
venv_python = pathlib.Path(config.fovea_build, "venv", "bin", "python")
config.substitutions.append(("%python", str(venv_python)))
if venv_python.exists():
    config.available_features.add("python")


def cpu_features():
    """Names for REQUIRES:, as this machine's processor has them."""
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return set()
    flags = next((set(line.split(":", 1)[1].split()) for line in text.splitlines() if line.startswith("flags")), set())
    wanted = {"avx2": {"avx2", "fma"}, "avx512f": {"avx512f"}, "avx512_bf16": {"avx512_bf16"}, "avx512_vnni": {"avx512_vnni"},
              "amx": {"amx_tile", "amx_bf16", "amx_int8"}}
    return {name for name, needs in wanted.items() if needs <= flags}


config.available_features |= cpu_features()
for tool in ["fovea", "fovea-run"]:
    if os.path.exists(os.path.join(config.fovea_build, "bin", tool)):
        config.available_features.add(tool)
