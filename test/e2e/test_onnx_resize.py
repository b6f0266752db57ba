# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Images that PyTorch's exporters resize, the number of images open: the numbers are PyTorch's."""
import numpy as np
import pytest

from exporters import compare, export

pytestmark = pytest.mark.long
WAYS = {
    "nearest": dict(scale_factor=2, mode="nearest"),
    "bilinear": dict(size=(20, 14), mode="bilinear"),
    "corners": dict(size=(3, 14), mode="bilinear", align_corners=True),
    "bicubic": dict(scale_factor=1.5, mode="bicubic"),
    "antialias": dict(size=(5, 4), mode="bilinear", antialias=True),
}


def make_module(**how):
    import torch

    class Resize(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.interpolate(x, **how)

    return Resize()


def make_images(count):
    return {"x": np.random.default_rng(3).standard_normal((count, 3, 8, 7)).astype(np.float32)}


@pytest.mark.parametrize("dynamo", [True, False])
@pytest.mark.parametrize("name", WAYS)
def test_numbers(fovea_run, compiled, tmp_path, name, dynamo):
    if name == "antialias" and not dynamo:
        pytest.skip("PyTorch's older exporter has no word for it")
    module = make_module(**WAYS[name])
    export(module, make_images(2), tmp_path / "model.onnx", {"x": {0: "images"}}, dynamo, result="y")
    compare(fovea_run, compiled(tmp_path / "model.onnx"), module, make_images(3), tmp_path, result="y", bound=2e-6)


def test_no_rows_of_a_scale_below_one(fovea_run, compiled, tmp_path):
    from onnx import save

    from onnx_cases import TensorProto, helper, model

    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], axes=[2, 3], mode="linear")
    scales = np.array([0.75, 2.0], np.float32)
    save(model([node], {"x": (TensorProto.FLOAT, [1, 1, 1, 3])}, {"y": (TensorProto.FLOAT, None)}, {"scales": scales}), tmp_path / "model.onnx")
    np.savez(tmp_path / "in.npz", x=np.ones((1, 1, 1, 3), np.float32))
    fovea_run("run", compiled(tmp_path / "model.onnx"), "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
    assert np.load(tmp_path / "out.npz")["y"].shape == (1, 1, 0, 6)
