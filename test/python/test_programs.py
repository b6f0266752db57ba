# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""fovea.compile of torch.nn.Module and torch.export.ExportedProgram."""
import pytest
import torch

import fovea

pytestmark = pytest.mark.long


class Encoder(torch.nn.Module):
    """Gives a dictionary, and takes a number."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
        self.head = torch.nn.Linear(64, 10)

    def forward(self, x, scale=2.0):
        y = self.layer(x)
        return {"logits": self.head(y) * scale, "states": (y, None)}


@pytest.fixture(scope="module")
def module():
    return Encoder().eval()


@pytest.fixture(scope="module")
def compiled(module):
    open_sizes = {0: torch.export.Dim.DYNAMIC, 1: torch.export.Dim.DYNAMIC}
    return fovea.compile(module, (torch.randn(2, 9, 64),), dynamic_shapes=(open_sizes,))


def test_structure_and_numbers(module, compiled):
    for shape in [(2, 9, 64), (3, 30, 64)]:
        x = torch.randn(*shape)
        with torch.no_grad():
            expected = module(x)
        found = compiled(x)
        assert list(found) == ["logits", "states"] and found["states"][1] is None
        torch.testing.assert_close(found["logits"], expected["logits"], atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(found["states"][0], expected["states"][0], atol=1e-5, rtol=1e-4)


def test_exported_program(module):
    x = torch.randn(2, 9, 64)
    with torch.no_grad():
        program = torch.export.export(module, (x,))
        expected = module(x)
    compiled = fovea.compile(program)
    torch.testing.assert_close(compiled(x)["logits"], expected["logits"], atol=1e-5, rtol=1e-4)
    with pytest.raises(fovea.ArgumentError, match=r"\[2, 9, 64\]"):
        compiled(torch.randn(2, 8, 64))


def test_other_arguments_than_the_example(compiled):
    with pytest.raises(fovea.ArgumentError, match="example"):
        compiled(torch.randn(2, 9, 64), 3.0)


def test_a_clone_is_called_alike(compiled):
    other, x = compiled.clone(threads=1), torch.randn(2, 9, 64)
    assert other.threads == 1 and list(other.stages) == list(compiled.stages)
    assert torch.equal(other(x)["logits"], compiled(x)["logits"])


def test_stages_and_name(compiled):
    assert compiled.name == "Encoder" and any("fovea.attention" in text for text in compiled.stages.values())


def test_what_cannot_be_exported():
    class Branches(torch.nn.Module):
        def forward(self, x):
            return x * 2 if x.sum() > 0 else x

    with pytest.raises(fovea.CompileError, match="torch.export"):
        fovea.compile(Branches().eval(), (torch.ones(3),))
    with pytest.raises(fovea.InputError, match="eval"):
        fovea.compile(Encoder().train(), (torch.randn(2, 9, 64),))
    with pytest.raises(fovea.InputError, match="example_inputs"):
        fovea.compile(Encoder().eval())
