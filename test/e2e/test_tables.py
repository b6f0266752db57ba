# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights that are tables of formulas: the numbers, whatever type other weights become, and what is refused."""
import json

import numpy as np
import pytest

pytestmark = pytest.mark.long

TABLE = """fovea.weight @t : tensor<ROWSx4xf32> = #fovea.stored<"", "NAME", tensor<ROWSx4xf32>>
func.func @forward(%x: tensor<?x4xf32> {fovea.name = "x", fovea.dims = ["n"]}) -> (tensor<?xROWSxf32> {fovea.name = "y", fovea.dims = ["n"]})
    attributes {fovea.entry} {
  %w = fovea.weight_ref @t : tensor<ROWSx4xf32>
  %y = fovea.linear %x, %w : tensor<?x4xf32>, tensor<ROWSx4xf32> -> tensor<?xROWSxf32>
  return %y : tensor<?xROWSxf32>
}
"""


def write_table(path, name, rows):
    path.write_text(TABLE.replace("NAME", name).replace("ROWS", str(rows)))
    return path


@pytest.mark.parametrize("flag", ["--dtype=f32", "--dtype=bf16", "--dtype=int8"])
def test_tables_are_computed(fovea, tmp_path, flag):
    """In f32 whatever other weights become."""
    identity = "x=[[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]"
    model = write_table(tmp_path / "dft.mlir", "hann_dft", 6)
    found = json.loads(fovea("run", model, "--input", identity, "--json", flag).ok().text)
    window, angle = [0, 0.5, 1, 0.5], np.arange(3)[:, None] * np.arange(4) * np.pi / 2
    expected = np.concatenate([np.cos(angle), np.sin(angle)]) * window
    assert np.abs(np.array(found["values"]["y"]).T - expected).max() < 1e-7
    import transformers

    model = write_table(tmp_path / "mel.mlir", "slaney_mel:6000:2000", 2)
    found = json.loads(fovea("run", model, "--input", identity, "--json", flag).ok().text)
    expected = transformers.audio_utils.mel_filter_bank(4, 2, 0, 2000, 6000, norm="slaney", mel_scale="slaney")
    assert np.abs(np.array(found["values"]["y"]) - expected).max() < 1e-7 and expected.any()


@pytest.mark.parametrize("name, rows, message", [
    ("hann", 6, "expects the table hann_dft or slaney_mel:RATE:HIGHEST, got 'hann' of 'tensor<6x4xf32>'"),
    ("slaney_mel:0:2000", 2, "expects the table hann_dft or slaney_mel:RATE:HIGHEST, got 'slaney_mel:0:2000'"),
    ("slaney_mel:8000", 2, "expects the table hann_dft or slaney_mel:RATE:HIGHEST, got 'slaney_mel:8000'"),
    ("hann_dft", 8, "expects N even columns and N + 2 rows, got 'tensor<8x4xf32>'"),
    ("hann_dft", 1 << 23, "expects a table to be a matrix of f32 with 1 to 16777216 elements"),
])
def test_other_tables_are_refused(fovea, tmp_path, name, rows, message):
    model = write_table(tmp_path / "model.mlir", name, rows)
    for verb in (["check", model], ["compile", model, "-o", tmp_path / "out.fovea"]):
        result = fovea(*verb)
        assert result.code == 1 and message in (result.err + result.out).decode() and not (tmp_path / "out.fovea").exists(), str(result)
