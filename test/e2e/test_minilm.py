# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The real all-MiniLM-L6-v2 gives the reference's sentence embeddings."""
import json

import numpy as np
import pytest

from programs import DATA

REFERENCE = json.loads((DATA / "minilm-reference.json").read_text())
SENTENCES = REFERENCE["sentences"]
pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def artifact(compiled, minilm):
    return compiled(minilm)


def vectors(result, count):
    """`embed` prints one vector a line, numbers between spaces or commas, with or without brackets."""
    lines = [line for line in result.text.splitlines() if line.strip()]
    assert len(lines) == count, str(result)
    return np.array([[float(word) for word in line.strip("[] ").replace(",", " ").split()] for line in lines])


def embed(program, artifact, texts, *flags):
    return vectors(program("embed", artifact, *[word for text in texts for word in ("--text", text)], *flags).ok(), len(texts))


@pytest.fixture(scope="module")
def batch(fovea_run, artifact):
    return embed(fovea_run, artifact, [sentence["text"] for sentence in SENTENCES])


@pytest.mark.parametrize("number", range(len(SENTENCES)))
def test_sentence(fovea_run, artifact, batch, number):
    sentence = SENTENCES[number]
    expected = np.array(sentence["embedding"])
    single = embed(fovea_run, artifact, [sentence["text"]])[0]
    for found in (single, batch[number]):
        assert found.shape == expected.shape
        assert found @ expected / np.linalg.norm(found) / np.linalg.norm(expected) >= 0.99999
    assert np.abs(single - batch[number]).max() <= 1e-6


def test_compiler_program_and_threads_agree(fovea, fovea_run, artifact):
    texts = [sentence["text"] for sentence in SENTENCES[:3]]
    first = embed(fovea_run, artifact, texts, "--threads=1")
    assert (first == embed(fovea_run, artifact, texts, "--threads=2")).all()
    assert (first == embed(fovea, artifact, texts)).all()


def test_verify(fovea, minilm):
    fovea("verify", minilm).ok()
