# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Work and code do not grow with the number of equal layers."""
import re

import numpy as np
import pytest

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def both(fovea, checkpoints, tmp_path_factory):
    """For 4 and 32 layers: the IR dumps, and the artifact."""
    folder = tmp_path_factory.mktemp("depth")
    result = {}
    for layers in [4, 32]:
        fovea("compile", checkpoints / f"depth-{layers}" / "model", "-o", folder / f"{layers}.fovea", f"--dump-ir={folder / str(layers)}").ok()
        dump = {re.sub(r"^\d+-", "", path.stem): path.read_text() for path in (folder / str(layers)).glob("*.mlir")}
        result[layers] = (dump, folder / f"{layers}.fovea")
    return result


def test_graph_holds_equal_layers_once(both):
    attentions = {layers: dump["graph"].count("fovea.attention ") for layers, (dump, _) in both.items()}
    assert attentions[4] == attentions[32] >= 1


def test_kernels_are_not_duplicated(both):
    functions = {layers: len(re.findall(r"^\s*func\.func ", dump["kernels"], re.MULTILINE)) for layers, (dump, _) in both.items()}
    assert functions[4] == functions[32]


def count(text):
    """Lines of IR that are no weight and no call of a layer."""
    return sum(not re.search(r"fovea\.weight|call @|#loc", line) for line in text.splitlines())


def test_no_stage_grows_but_by_weights_and_calls(both):
    """What passes work on, and so how long they take. Of a layer more there are a weight and a call; in the plans of `kernels` of four entries, launches, their sizes, and the comparisons of its caches' sizes. A layer compiled anew would have hundreds of lines."""
    grown = {stage: (count(both[32][0][stage]) - count(both[4][0][stage])) / 28 for stage in both[4][0]}
    assert {"import", "graph", "fused", "scheduled", "kernels", "llvm"} == grown.keys()
    assert grown["graph"] == grown["fused"] == grown["scheduled"] == 0, grown
    assert grown["import"] <= 2 and grown["kernels"] <= 150, grown


@pytest.mark.parametrize("layers", [4, 32])
def test_numbers_are_right(fovea_run, checkpoints, both, tmp_path, layers):
    folder = checkpoints / f"depth-{layers}"
    fovea_run("run", both[layers][1], "--entry", "forward", "--inputs", folder / "inputs-0.npz", "--outputs", tmp_path / "out.npz").ok()
    found, expected = np.load(tmp_path / "out.npz")["logits"], np.load(folder / "reference-0.npz")["logits"]
    assert (np.abs(found - expected).max(-1) / np.abs(expected).max(-1)).max() <= 1e-4
