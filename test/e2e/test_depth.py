# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compile time and code do not grow with the number of equal layers."""
import re
import time

import numpy as np
import pytest

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def both(fovea, checkpoints, tmp_path_factory):
    """For 4 and 32 layers: the best of two compile times, and the IR dumps."""
    folder = tmp_path_factory.mktemp("depth")
    result = {}
    for layers in [4, 32]:
        seconds = []
        for _ in range(2):
            start = time.monotonic()
            fovea("compile", checkpoints / f"depth-{layers}" / "model", "-o", folder / f"{layers}.fovea", f"--dump-ir={folder / str(layers)}").ok()
            seconds.append(time.monotonic() - start)
        dump = {re.sub(r"^\d+-", "", path.stem): path.read_text() for path in (folder / str(layers)).glob("*.mlir")}
        result[layers] = (min(seconds), dump, folder / f"{layers}.fovea")
    return result


def test_graph_holds_equal_layers_once(both):
    attentions = {layers: dump["graph"].count("fovea.attention ") for layers, (_, dump, _) in both.items()}
    assert attentions[4] == attentions[32] >= 1


def test_kernels_are_not_duplicated(both):
    functions = {layers: len(re.findall(r"^\s*func\.func ", dump["kernels"], re.MULTILINE)) for layers, (_, dump, _) in both.items()}
    assert functions[4] == functions[32]


def test_compile_time_does_not_grow_with_depth(both):
    """28 layers more of 120 KB weights: their bytes, their names, and nothing else. Compiling each layer anew would take about eight times as long."""
    assert both[32][0] <= 1.5 * both[4][0] + 0.5, f"4 layers {both[4][0]:.2f} s, 32 layers {both[32][0]:.2f} s"


@pytest.mark.parametrize("layers", [4, 32])
def test_numbers_are_right(fovea_run, checkpoints, both, tmp_path, layers):
    folder = checkpoints / f"depth-{layers}"
    fovea_run("run", both[layers][2], "--entry", "forward", "--inputs", folder / "inputs-0.npz", "--outputs", tmp_path / "out.npz").ok()
    found, expected = np.load(tmp_path / "out.npz")["logits"], np.load(folder / "reference-0.npz")["logits"]
    assert (np.abs(found - expected).max(-1) / np.abs(expected).max(-1)).max() <= 1e-4
