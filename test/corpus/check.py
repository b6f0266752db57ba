# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the stored corpus and judges what a compiled model of it gives: the numbers at both sizes, and what the fusion report says."""
import dataclasses
import json
import pathlib

import numpy as np

HERE = pathlib.Path(__file__).parent


@dataclasses.dataclass
class Model:
    case: dict
    path: pathlib.Path

    @property
    def name(self):
        return self.path.name.removesuffix(".onnx").removesuffix(".mlir")


def index():
    return json.loads((HERE / "corpus.json").read_text())


def models():
    return [Model(case, HERE / model["file"]) for case in index()["cases"] for model in case["models"]]


def references(case):
    """For each size the inputs and the expected outputs by name."""
    arrays = np.load(HERE / "references" / f"{case['name']}.npz")
    sizes = ([{}, {}], [{}, {}])
    for key, array in arrays.items():
        number, kind, name = key.split(".", 2)
        sizes[int(number)][kind == "output"][name] = array
    return [tuple(size) for size in sizes]


def difference(found, expected):
    """max |found - expected| / max |expected| over the finite numbers; infinite where shapes, NaNs or infinities differ."""
    if found.shape != expected.shape:
        return float("inf")
    a, b = found.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True) or not np.isfinite(a[finite]).all():
        return float("inf")
    return np.abs(a[finite] - b[finite]).max() / max(np.abs(b[finite]).max(), 1e-30) if finite.any() else 0.0


def wrong_numbers(case, found, expected):
    """What is wrong with one call's outputs; an empty list if nothing."""
    complaints = [f"has no output {name}" for name in expected if name not in found]
    for name in expected:
        if name in found and not (gap := difference(found[name], expected[name])) <= case["tolerance"]:
            shapes = "" if found[name].shape == expected[name].shape else f", shapes {found[name].shape} and {expected[name].shape}"
            complaints.append(f"{name} differs by {gap:.1e}{shapes}")
    return complaints


def fits(expected, found):
    """Whether a set of mask kinds is what was expected: `a|b` asks for one of both or both, `a?` allows a."""
    required = [set(kinds.split("|")) for kinds in expected if not kinds.endswith("?")]
    allowed = {kind for kinds in expected for kind in kinds.removesuffix("?").split("|")}
    return set(found) <= allowed and all(kinds & set(found) for kinds in required)


def match(expected, found):
    """Whether lists of sets agree in some order. Equal layers are compiled once, so one entry may stand for several equal attentions."""
    if not expected:
        return not found
    return (any(fits(expected[0], one) and match(expected[1:], found[:place] + found[place + 1:]) for place, one in enumerate(found))
            or expected[0] in expected[1:] and match(expected[1:], found))


def fusion(report):
    """The mask kinds of each fused attention, and the reasons of those that were not."""
    entries = report["attention"]
    fused = [sorted(set(entry["masks"])) for entry in entries if entry["status"] == "fused"]
    return fused, [entry.get("reason", "") for entry in entries if entry["status"] == "not fused"]


def wrong_fusion(case, report):
    fused, missed = fusion(report)
    if case.get("either"):
        return []
    if case.get("negative"):
        return [f"fused, though {case['negative']}"] if fused else []
    complaints = [f"not fused: {reason}" for reason in missed]
    if not match(case["masks"], fused):
        complaints.append(f"masks {fused}, expected {case['masks']}")
    return complaints
