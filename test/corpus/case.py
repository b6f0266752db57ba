# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the programs of the corpus declare their cases: a module, its inputs with named dynamic axes, and what a careful reader sees in it.

A program is plain PyTorch as somebody would write it; only the list CASES at its end knows about the corpus.
"""
import dataclasses
import typing

import numpy as np

# Two sizes of every named axis. All differ, so that no axis can be taken for another; a case may give its own.
SIZES = {
    "batch": (2, 3),
    "length": (7, 12),
    "queries": (5, 8),
    "keys": (9, 11),
    "past": (4, 10),
    "height": (4, 6),
    "width": (3, 5),
    "frames": (6, 13),
}


@dataclasses.dataclass
class Input:
    """An array of the program: its axes (a name is dynamic, a number is not) and how to draw one. `sample` gets a generator, the shape and the sizes by name."""
    dims: tuple
    sample: typing.Callable


def floats(*dims, scale=1.0):
    return Input(dims, lambda random, shape, sizes: (scale * random.standard_normal(shape)).astype(np.float32))


def ids(limit, *dims):
    return Input(dims, lambda random, shape, sizes: random.integers(0, limit, shape))


def keep(*dims, type=bool, empty=False):
    """A mask: true (or 1) means may be seen. Some key of the last axis may always be seen, except that `empty` hides them all from the first row."""

    def sample(random, shape, sizes):
        mask = random.random(shape) < 0.6
        mask[..., 0] = True
        if empty:
            mask.reshape(-1, shape[-1])[0] = False
        return mask.astype(type)

    return Input(dims, sample)


def drop(*dims, empty=False):
    """The opposite of `keep`: true means may not be seen."""
    kept = keep(*dims, empty=empty)
    return Input(dims, lambda random, shape, sizes: ~kept.sample(random, shape, sizes))


def padding(*dims, type=bool, left=False, empty=False):
    """A mask whose rows are a run of ones and then zeros, or the reverse: texts of several lengths in a batch."""

    def sample(random, shape, sizes):
        count = random.integers(1, shape[-1] + 1, (*shape[:-1], 1))
        if empty:
            count.reshape(-1)[0] = 0
        place = np.arange(shape[-1])
        return (place >= shape[-1] - count if left else place < count).astype(type)

    return Input(dims, sample)


def lengths(axis, *dims, empty=False):
    """Numbers from 1 to the size of an axis."""

    def sample(random, shape, sizes):
        count = random.integers(1, sizes[axis] + 1, shape)
        if empty:
            count.reshape(-1)[0] = 0
        return count

    return Input(dims, sample)


def documents(*dims):
    """Rising numbers: which of several documents packed in a row each token belongs to."""
    return Input(dims, lambda random, shape, sizes: np.sort(random.integers(0, 3, shape), -1))


@dataclasses.dataclass
class Case:
    """One program.

    masks: for each attention the set of mask kinds that the report should name; `a|b` stands where either is a fair reading.
    fill: if rows without any allowed key occur in the inputs, what the program gives for them: nan, mean, raw or zero.
    negative: for what is right but no attention, why; then nothing may be fused.
    either: what one reader calls attention and another does not; only its numbers are compared.
    exports: exporter and opset of each stored model. `ts` is the TorchScript exporter, `dynamo` the other.
    reference: the element type in which the stored outputs were computed; f32 only where rounding is part of what the program means.
    """
    name: str
    make: typing.Callable
    inputs: dict
    masks: list = dataclasses.field(default_factory=lambda: [[]])
    outputs: tuple = ("output",)
    fill: str = None
    negative: str = None
    either: bool = False
    exports: str = None
    sizes: dict = dataclasses.field(default_factory=dict)
    tolerance: float = 1e-4
    reference: str = "f64"

    def draw(self, number):
        """The inputs at size 0 or 1, always the same."""
        random = np.random.default_rng([number, *self.name.encode()])
        sizes = {name: both[number] for name, both in {**SIZES, **self.sizes}.items()}
        return {name: input_.sample(random, tuple(sizes.get(dim, dim) for dim in input_.dims), sizes) for name, input_ in self.inputs.items()}


def no_attention(reason, *arguments, **options):
    """A case in which nothing may be fused."""
    return Case(*arguments, masks=[], negative=reason, **options)
