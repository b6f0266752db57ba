# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch.compile(backend="fovea"): the numbers of eager, no more graphs than sizes ask for, parameters that are shared, and eager where something is not supported."""
import importlib
import warnings

import pytest
import torch

import torch_models

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def fresh():
    from fovea import dynamo

    torch._dynamo.reset()
    dynamo.warn_once.cache_clear()
    yield
    torch._dynamo.reset()


@pytest.fixture
def built(monkeypatch):
    """The graphs that are compiled."""
    from fovea import dynamo

    graphs, build = [], dynamo.Graph.build

    def note(self, inputs):
        build(self, inputs)
        graphs.append(self)

    monkeypatch.setattr(dynamo.Graph, "build", note)
    return graphs


def compile_model(model, **options):
    from fovea import dynamo

    return torch.compile(model, backend=dynamo.backend, **options)


def tensors(output):
    return [value for value in (output.values() if isinstance(output, dict) else [output]) if isinstance(value, torch.Tensor)]


def compare(found, expected, bound=1e-4):
    assert len(found) == len(expected) > 0
    for one, other in zip(found, expected):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert (one - other).abs().max() <= bound * other.abs().max()


@pytest.mark.parametrize("name", torch_models.MODELS)
def test_models(built, name):
    """Three sizes: the first is compiled as it is, the second makes sizes open, the third compiles nothing. Nothing falls back, and nothing breaks the graph."""
    model, inputs = torch_models.make_model(name)
    compiled, counts = compile_model(model), []
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fovea")
        for given in inputs:
            compare(tensors(compiled(**given)), tensors(model(**given)))
            counts.append(len(built))
    assert counts == [1, 2, 2]


class Net(torch.nn.Module):
    def __init__(self, size=48):
        super().__init__()
        torch.manual_seed(1)
        self.first, self.norm, self.second = torch.nn.Linear(size, 96), torch.nn.LayerNorm(96), torch.nn.Linear(96, size)
        self.register_buffer("shift", torch.arange(size, dtype=torch.float32) / 7)

    def forward(self, x):
        return self.second(torch.nn.functional.gelu(self.norm(self.first(x)))) + self.shift


class Encoder(torch.nn.Module):
    """torch's own layers, which take a way of their own where no gradient is wanted."""

    def __init__(self, **options):
        super().__init__()
        torch.manual_seed(2)
        layer = torch.nn.TransformerEncoderLayer(64, 4, 96, batch_first=True, **options)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x, mask=None, padding=None):
        return self.layers(x, mask=mask, src_key_padding_mask=padding, is_causal=mask is not None)


@pytest.mark.parametrize("options", [{}, {"norm_first": True}, {"activation": "gelu"}], ids=str)
@pytest.mark.parametrize("masks", ["none", "mask", "padding", "both"])
def test_layers_of_torch(built, options, masks):
    model, x = Encoder(**options).eval(), torch.randn(2, 9, 64)
    given = {}
    if masks in ("mask", "both"):
        given["mask"] = torch.ones(9, 9, dtype=torch.bool).triu(1)
    if masks in ("padding", "both"):
        given["padding"] = torch.tensor([[False] * 9, [False] * 6 + [True] * 3])
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fovea")
        found, expected = compile_model(model)(x, **given), model(x, **given)
    kept = ~given["padding"] if "padding" in given else torch.ones(2, 9, dtype=torch.bool)
    compare([found[kept]], [expected[kept]])
    assert len(built) == 1 and any("attention" in step["description"] for step in built[0].entry.steps)


@pytest.mark.parametrize("weights", [False, True])
def test_attention_of_torch(built, weights):
    model = torch.nn.MultiheadAttention(64, 4, batch_first=True).eval()
    x = torch.randn(2, 9, 64)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = compile_model(model)(x, x, x, need_weights=weights), model(x, x, x, need_weights=weights)
    compare([each for each in found if each is not None], [each for each in expected if each is not None])


def randn(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


# What is compiled, and arguments of each call.
OPERATORS = {
    "nothing": (lambda x: x * 2 + 1, [(randn(0, 4),), (randn(3, 4),)]),
    "float": (lambda x, s: x * s + 1, [(randn(3), s) for s in (2.5, 3.5, 4.5)]),
    "integer": (lambda x, s: x * s + x.shape[0], [(randn(3), 2), (randn(3), 3), (randn(5), 4)]),
    "results": (lambda x: (x > 0, x.shape[0], None, x.any(), x.sum()), [(randn(3, 4),), (randn(5, 4),), (randn(6, 4),)]),
    "integers": (lambda x: (x // 2, x % 3, x * 2 - 1, x.float() / 3, x.sum(), x.max(), x.min()), [(torch.tensor([5, -7, 8, 0]),)]),
    "views": (lambda x: (x, x.view(-1), x.t()), [(randn(3, 4),)]),
    "f64": (lambda x: x.exp() @ x, [(randn(4, 4).double(),)]),
    "f16": (lambda x: (x @ x).softmax(-1), [(randn(4, 4).half(),)]),
    "not a number": (lambda x: torch.where(x.isnan(), 0, x).clamp(-1, 1), [(torch.tensor([1.0, float("nan"), -3.0]),)]),
    "mask": (lambda x, m: x.masked_fill(m, float("-inf")).softmax(-1), [(randn(3, 4), torch.tensor([[True, False, False, True]] * 3))]),
    "greatest": (lambda x: (*x.topk(2), *x.max(-1), *x.min(0), x.argmax(-1), x.argmax(), x.amax(1)), [(randn(3, 8),), (randn(4, 8),)]),
    "deviation": (lambda x: (x.var(-1), x.std(-1, keepdim=True), x.var(0, correction=0)), [(randn(4, 6),)]),
    "sums": (lambda x: (x.cumsum(1), x.mean(0), x.sum()), [(randn(4, 6),)]),
    "powers": (lambda x: (x**3, x.abs()**0.5, 2**x, x**2), [(randn(4),)]),
    "order": (lambda x: x.roll(2, 1).flip(0).tril(1), [(randn(4, 6),)]),
    "parts": (lambda x, y: torch.cat([x, y[:, :2]], 1).repeat(2, 1), [(randn(4, 6), randn(4, 3)), (randn(5, 6), randn(5, 3))]),
    "places": (lambda x, i: (torch.zeros(4, 6).scatter(1, i, x), x[i[:, 0] % 2], x[:, i[0] % 2]), [(randn(4, 2), torch.tensor([[0, 5], [1, 2], [3, 0], [4, 4]]))]),
    "heads": (lambda a, b: torch.einsum("bhqd,bhkd->bhqk", a, b), [(randn(2, 3, 4, 5), randn(2, 3, 6, 5)), (randn(2, 3, 7, 5), randn(2, 3, 9, 5))]),
    "convolution": (torch.nn.Sequential(torch.nn.Conv2d(4, 8, 3, stride=2, padding=1, groups=2), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                                        torch.nn.AvgPool2d(2, padding=1), torch.nn.GroupNorm(2, 8), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()).eval(),
                    [(randn(2, 4, 20, 20),), (randn(3, 4, 20, 20),)]),
    "convolution of a row": (torch.nn.Conv1d(4, 6, 3, padding=1).eval(), [(randn(2, 4, 20),), (randn(2, 4, 31),)]),
    "larger": (lambda x: torch.nn.functional.interpolate(x, scale_factor=2, mode="nearest"), [(randn(1, 2, 4, 4),)]),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(built, name):
    function, calls = OPERATORS[name]
    compiled = compile_model(function)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fovea")
        for arguments in calls:
            found, expected = compiled(*arguments), function(*arguments)
            pairs = list(zip(found, expected, strict=True)) if isinstance(expected, tuple) else [(found, expected)]
            for one, other in pairs:
                if isinstance(other, torch.Tensor):
                    torch.testing.assert_close(one, other, atol=1e-3 if other.dtype == torch.float16 else 1e-5, rtol=1e-4)
                else:
                    assert one == other
    assert built


def test_assertions_of_a_model(built):
    """A number that is no class is the error that it is in eager."""
    compiled = compile_model(lambda i: torch.nn.functional.one_hot(i, 7) * 2)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fovea")
        for ids in (torch.tensor([0, 6, 3]), torch.tensor([1, 2, 3, 4])):
            assert torch.equal(compiled(ids), torch.nn.functional.one_hot(ids, 7) * 2)
        with pytest.raises(RuntimeError, match="num_classes"):
            compiled(torch.tensor([0, 7, 3]))
    assert built


def test_the_tutorials_model(built, monkeypatch):
    """A Transformer as one writes it while learning how it works (examples/tutorial-classifier), with its maps of attention."""
    import pathlib

    from torch.utils import _pytree as pytree

    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "tutorial-classifier"))
    import model as tutorial

    torch.manual_seed(0)
    classifier, reverse = tutorial.Classifier().eval(), tutorial.Reverse().eval()
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fovea")
        for function, arguments in ((classifier, (randn(2, 9, 10),)), (classifier, (randn(2, 12, 10), torch.ones(12, 12).tril())), (classifier.with_maps, (randn(2, 9, 10),)),
                                    (reverse, (torch.randint(0, 10, (2, 9)),))):
            torch._dynamo.reset()
            found, expected = compile_model(function)(*arguments), function(*arguments)
            for one, other in zip(pytree.tree_leaves(found), pytree.tree_leaves(expected), strict=True):
                torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)
    assert len(built) == 4


def test_parameters_are_shared(built):
    """A change of a parameter shows without compiling, and the code holds none of it."""
    net = Net().eval()
    compiled, x = compile_model(net), torch.randn(5, 48)
    with torch.no_grad():
        compare([compiled(x)], [net(x)])
        net.first.weight.mul_(-2)
        net.second.bias += 1
        compare([compiled(x)], [net(x)])
        net.load_state_dict(dict(Net().named_parameters()), strict=False)
        compare([compiled(x)], [net(x)])
        net.first.weight.data = torch.randn(96, 48)  # elsewhere
        compare([compiled(x)], [net(x)])
    assert len(built) == 1 and built[0].model._info["weight_bytes"] < 1000


def test_a_buffer_that_changes(built):
    net = Net().eval()
    compiled, x = compile_model(net), torch.randn(5, 48)
    with torch.no_grad():
        compare([compiled(x)], [net(x)])
        net.shift.mul_(3)
        compare([compiled(x)], [net(x)])
    assert len(built) == 2


def test_results_stay():
    net = Net().eval()
    compiled = compile_model(net)
    with torch.no_grad():
        first = compiled(torch.ones(5, 48))
        kept = first.clone()
        compiled(torch.zeros(5, 48))
    assert torch.equal(first, kept)


def test_inputs_in_any_layout(built):
    net = Net().eval()
    compiled = compile_model(net)
    with torch.no_grad():
        for x in (torch.randn(48, 5).T, torch.randn(5, 96)[:, ::2], torch.randn(1, 48).expand(5, 48), torch.randn(5, 48, requires_grad=True)):
            compare([compiled(x)], [net(x)])


def test_what_is_changed_in_place():
    def add(x, total):
        total += x.sum(0)
        return total * 2

    compiled, total, expected = compile_model(add), torch.zeros(4), torch.zeros(4)
    with torch.no_grad():
        for x in torch.randn(3, 5, 4):
            compare([compiled(x, total)], [add(x, expected)])
    compare([total], [expected])


def test_inference_mode(built):
    net = Net().eval()
    compiled, x = compile_model(net), torch.randn(5, 48)
    with torch.inference_mode():
        compare([compiled(x)], [net(x)])
    assert built


@pytest.mark.parametrize("name", ["bert", "llama", "vit"])
def test_halves(built, name):
    model, inputs = torch_models.make_model(name)
    wide = tensors(model(**inputs[0]))
    model = model.to(torch.bfloat16)
    given = {key: value.to(torch.bfloat16) if value.is_floating_point() else value for key, value in inputs[0].items()}
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("error", message="fovea")
        found, eager = tensors(compile_model(model)(**given)), tensors(model(**given))
    for one, other, exact in zip(found, eager, wide):
        assert one.dtype == torch.bfloat16
        off, theirs = ((value.float() - exact).abs().max() for value in (one, other))
        assert off <= 1.5 * theirs + 1e-3 * exact.abs().max()  # no further from the truth than eager


def test_options(built):
    net = Net().eval()
    compiled = compile_model(net, options={"optimization": 0, "threads": 1})
    with torch.no_grad():
        compare([compiled(torch.ones(5, 48))], [net(torch.ones(5, 48))])
    assert built[0].model.threads == 1 and "-O0" in built[0].flags


def test_gradients_run_as_they_are(built):
    net = Net().eval()
    compiled, x = compile_model(net), torch.randn(5, 48)
    with pytest.warns(UserWarning, match="gradients"):
        compiled(x).sum().backward()
    assert net.first.weight.grad is not None and not built


def test_what_is_not_supported_runs_as_it_is(built):
    def sort(x):
        return torch.sort(x).values * 2

    compiled = compile_model(sort)
    with torch.no_grad(), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for x in (torch.randn(5), torch.randn(7)):
            assert torch.equal(compiled(x), sort(x))
    assert len([each for each in said if "aten.sort" in str(each.message)]) == 1 and not built


def test_entry_point():
    """The name is found once the package is installed; pyproject.toml says where."""
    import pathlib
    import tomllib

    project = tomllib.loads((pathlib.Path(__file__).resolve().parents[2] / "pyproject.toml").read_text())["project"]
    module, _, name = project["entry-points"]["torch_dynamo_backends"]["fovea"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))
