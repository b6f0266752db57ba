# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The corpus of hand-written attentions (test/corpus): each model compiled, run at two sizes, and its fusion report read."""
import collections
import json
import re
import sys

import numpy as np
import pytest

from programs import ROOT

CORPUS = ROOT / "test" / "corpus"
sys.path.insert(0, str(CORPUS))
import check  # noqa: E402

MODELS = check.models()

# Models that do not pass yet: name, and what is missing. A model that passes may not stand here.
PENDING = {}


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(MODELS)), ids=[model.name for model in MODELS])
def test_model(fovea, fovea_run, tmp_path, number, request):
    model = MODELS[number]
    if model.name in PENDING:
        request.applymarker(pytest.mark.xfail(reason=PENDING[model.name], strict=True))
    if number % 4 == 0:  # compiling checks too
        fovea("check", model.path).ok()
    fovea("compile", model.path, f"-O{1 + number % 2}", "-o", tmp_path / "model.fovea", f"--report={tmp_path / 'report.json'}").ok()
    for size, (inputs, expected) in enumerate(check.references(model.case)):
        np.savez(tmp_path / "in.npz", **inputs)
        fovea_run("run", tmp_path / "model.fovea", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz").ok()
        assert not check.wrong_numbers(model.case, np.load(tmp_path / "out.npz"), expected), f"at size {size}"
    assert not check.wrong_fusion(model.case, json.loads((tmp_path / "report.json").read_text()))


def test_pending_names_models():
    assert set(PENDING) <= {model.name for model in MODELS}


def test_the_corpus_is_as_large_as_it_should_be():
    positive = [case for case in check.index()["cases"] if case["masks"]]
    negative = [case for case in check.index()["cases"] if case.get("negative")]
    assert sum(len(case["masks"]) for case in positive) >= 84 and len(negative) >= 15
    assert len({model["graph"] for case in positive for model in case["models"]}) >= 40
    exporters = collections.Counter(model["exporter"] for case in positive for model in case["models"])
    assert min(exporters["TorchScript"], exporters["dynamo"]) >= 80 and exporters["by hand"] >= 8
    assert {model["opset"] for case in positive for model in case["models"]} >= {13, 14, 15, 16, 17, 18, 20, 23}


def test_stored_files_are_those_of_the_index():
    stored = {str(path.relative_to(CORPUS)) for folder in ("models", "references", "text") for path in (CORPUS / folder).iterdir()}
    assert stored == {model["file"] for case in check.index()["cases"] for model in case["models"]} | {f"references/{case['name']}.npz" for case in check.index()["cases"]}


def test_models_name_no_files():
    """Exporters write stack traces with the paths of whoever exported; make.py takes them out."""
    pattern = re.compile(rb"site-packages|\.py\b|/(?:%s)/" % b"|".join([b"wo" + b"rk", b"ro" + b"ot", b"ho" + b"me", b"usr", b"tmp"]))
    assert not [model.name for model in MODELS if pattern.search(model.path.read_bytes())]


def test_the_two_sizes_differ():
    for case in check.index()["cases"]:
        small, large = (inputs for inputs, _ in check.references(case))
        assert any(small[name].shape != large[name].shape for name in small), case["name"]


def test_a_wrong_number_is_seen():
    case, expected = {"tolerance": 1e-4}, {"output": np.array([[1.0, np.nan], [2.0, -np.inf]], np.float32)}
    assert not check.wrong_numbers(case, expected, expected)
    for place, number in [((0, 0), 1.001), ((0, 1), 0.0), ((0, 0), np.nan), ((1, 1), 0.0)]:
        found = expected["output"].copy()
        found[place] = number
        assert check.wrong_numbers(case, {"output": found}, expected)
    assert check.wrong_numbers(case, {"output": expected["output"][:1]}, expected) and check.wrong_numbers(case, {}, expected)


def test_a_wrong_fusion_is_seen():
    def report(*masks, missed=0):
        return {"attention": [{"status": "fused", "masks": list(kinds)} for kinds in masks] + [{"status": "not fused", "masks": [], "reason": "because"}] * missed}

    positive, negative = {"masks": [["causal", "length|dense"], ["window?"]]}, {"masks": [], "negative": "because"}
    assert not check.wrong_fusion(positive, report([], ["dense", "causal"])) and not check.wrong_fusion(positive, report(["causal", "length"], ["window"]))
    for wrong in [report(["causal"], []), report(["causal", "dense"]), report(["causal", "dense"], [], []), report(["causal", "dense"], [], missed=1), report(["causal", "dense", "segment"], [])]:
        assert check.wrong_fusion(positive, wrong)
    layers = {"masks": [["causal"], ["causal"], ["dense"]]}
    assert not check.wrong_fusion(layers, report(["causal"], ["dense"])) and check.wrong_fusion(layers, report(["dense"])) and check.wrong_fusion(layers, report(["causal"]))
    assert not check.wrong_fusion(negative, report(missed=2)) and check.wrong_fusion(negative, report([]))
