# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images that PyTorch's exporters resize, the number of images open: the numbers are PyTorch's."""
import warnings

import numpy as np
import pytest

pytestmark = pytest.mark.long
WAYS = {
    "nearest": dict(scale_factor=2, mode="nearest"),
    "bilinear": dict(size=(20, 14), mode="bilinear"),
    "corners": dict(size=(3, 14), mode="bilinear", align_corners=True),
    "bicubic": dict(scale_factor=1.5, mode="bicubic"),
    "antialias": dict(size=(5, 4), mode="bilinear", antialias=True),
}


def export(path, shape, dynamo, **how):
    import torch

    class Resize(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.interpolate(x, **how)

    model = Resize()
    dynamic = {"dynamic_shapes": {"x": {0: torch.export.Dim("images")}}, "verbose": False} if dynamo else {"dynamic_axes": {"x": {0: "images"}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model, (torch.zeros(shape),), path, input_names=["x"], output_names=["y"], dynamo=dynamo, **dynamic)
    return lambda array: model(torch.from_numpy(array)).numpy()


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize("name", WAYS)
def test_numbers(fovea_run, compiled, tmp_path, name, dynamo):
    if name == "antialias" and not dynamo:
        pytest.skip("PyTorch's older exporter has no word for it")
    reference = export(tmp_path / "model.onnx", (2, 3, 8, 7), dynamo, **WAYS[name])
    x = np.random.default_rng(3).standard_normal((3, 3, 8, 7)).astype(np.float32)
    np.savez(tmp_path / "in.npz", x=x)
    fovea_run("run", compiled(tmp_path / "model.onnx"), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
    expected = reference(x)
    found = np.load(tmp_path / "out.npz")["y"]
    assert found.shape == expected.shape and np.abs(found - expected).max() <= 1e-5


def test_no_rows_of_a_scale_below_one(fovea_run, compiled, tmp_path):
    from onnx import save

    from onnx_cases import TensorProto, helper, model

    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], axes=[2, 3], mode="linear")
    scales = np.array([0.75, 2.0], np.float32)
    save(model([node], {"x": (TensorProto.FLOAT, [1, 1, 1, 3])}, {"y": (TensorProto.FLOAT, None)}, {"scales": scales}), tmp_path / "model.onnx")
    np.savez(tmp_path / "in.npz", x=np.ones((1, 1, 1, 3), np.float32))
    fovea_run("run", compiled(tmp_path / "model.onnx"), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
    assert np.load(tmp_path / "out.npz")["y"].shape == (1, 1, 0, 6)
