# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiled attention, every two choices of its clauses together, at lengths from 0 to 129: against the formula in numpy, and against the interpreter."""
import itertools
import random

import attention_cases
import numpy as np
import pytest

pytestmark = pytest.mark.long
MODULES = attention_cases.modules()
CASES = [(module, case) for module, cases in enumerate(MODULES) for case in cases]
EDGES = [(0, 0), (0, 3), (3, 0), (1, 1), (1, 2), (2, 1), (1, 129), (129, 1), (16, 16), (17, 33)]


def lengths():
    """Pairs of lengths for each case: some edges, and of all from 0 to 129 some in turn, so that the whole grid meets each as queries and as keys."""
    generator = random.Random(1)
    queries, keys = (itertools.cycle(generator.sample(range(130), 130)) for _ in range(2))
    return [generator.sample(EDGES, 3) + [(next(queries), next(keys)) for _ in range(3)] for _ in CASES]


LENGTHS = lengths()


@pytest.fixture(scope="module")
def artifacts(fovea, tmp_path_factory):
    """Compiles each module once, when it is first needed."""
    folder = tmp_path_factory.mktemp("attention")
    done = {}

    def artifact(number):
        if number not in done:
            source = folder / f"{number}.mlir"
            source.write_text("\n".join(case.ir() for case in MODULES[number]))
            done[number] = (fovea("compile", source, "-o", folder / f"{number}.fovea"), folder / f"{number}.fovea", source)
        return done[number]

    return artifact


def test_the_grid_covers_every_pair_and_length():
    names = list(attention_cases.CHOICES)
    for a, b in itertools.combinations(names, 2):
        found = {(case.choice[a], case.choice[b]) for _, case in CASES}
        assert found == set(itertools.product(attention_cases.CHOICES[a], attention_cases.CHOICES[b]))
    for side in (0, 1):
        assert {pair[side] for pairs in LENGTHS for pair in pairs} == set(range(130))
    assert len(MODULES) <= 400


def agrees(found, expected, what):
    assert found.shape == expected.shape, what
    assert (np.isnan(found) == np.isnan(expected)).all() and (np.isneginf(found) == np.isneginf(expected)).all(), what
    finite = np.isfinite(expected)
    if finite.any():
        difference = np.abs(found[finite] - expected[finite]).max() / max(np.abs(expected[finite]).max(), 1e-30)
        assert difference <= 2e-5, f"{what}: {difference:.2e}"


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case.entry for _, case in CASES])
def test_attention(fovea_run, artifacts, tmp_path, number):
    module, case = CASES[number]
    compiled, artifact, _ = artifacts(module)
    compiled.ok()
    for seed, (Sq, Sk) in enumerate(LENGTHS[number]):
        arrays = case.inputs(1000 * number + seed, 1 + seed % 3, Sq, Sk)
        np.savez(tmp_path / "in.npz", **arrays)
        fovea_run("run", artifact, "--entry", case.entry, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        found = np.load(tmp_path / "out.npz")
        expected, _ = case.expected(arrays)
        for name in expected:
            agrees(found[name], expected[name], f"{name} with {Sq} queries and {Sk} keys of {case.choice}")


@pytest.mark.parametrize("module", range(len(MODULES)))
def test_interpreter_agrees(fovea, artifacts, module):
    compiled, artifact, source = artifacts(module)
    compiled.ok()
    fovea("verify", artifact, "--source", source).ok()
