# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong beside the programs: files that are cut while they are read."""
import os
import pathlib
import shutil
import sys

import onnx
import pytest

from programs import ROOT

sys.path.append(str(ROOT / "test" / "faults"))
import shim

pytestmark = pytest.mark.skipif(not shim.LIBRARY.exists(), reason="sanitizers want to be loaded first")


def cut_each_mapping(program, arguments, file, tmp_path):
    """Runs a program once for each time that it maps `file`, which is emptied behind its back then; the outcomes."""
    log, whole = tmp_path / "log", file.read_bytes()
    calls = shim.run(program, arguments, file.parent, log).calls
    places = [at for at, call in enumerate(calls, 1) if call.name == "mmap" and call.path == os.path.realpath(file)]
    assert places, calls
    for at in places:
        outcome = shim.run(program, arguments, file.parent, log, "cut", at)
        assert outcome.calls[at - 1].went_wrong and file.stat().st_size == 0, outcome
        file.write_bytes(whole)
        yield outcome


def refused(outcome, *words):
    assert outcome.code == 1 and len(outcome.errors) == 1, outcome
    for word in words:
        assert word in outcome.errors[0], outcome


@pytest.fixture
def artifact(shakespeare_artifact, tmp_path):
    (tmp_path / "in").mkdir()
    return pathlib.Path(shutil.copy(shakespeare_artifact, tmp_path / "in" / "m.fovea"))


GENERATE = ["--prompt", "night", "-n", 3, "--temp", 0]


@pytest.mark.parametrize("program", ["fovea", "fovea-run"])
def test_artifact_is_cut_while_it_runs(artifact, tmp_path, program):
    for outcome in cut_each_mapping(program, ["generate", artifact, *GENERATE], artifact, tmp_path):
        refused(outcome, f"{program}: error: {artifact}: was cut", "--no-mmap")


def test_checkpoint_is_cut_while_it_is_compiled(shakespeare, tmp_path):
    """Both where its header is read and where its weights are packed, on other threads."""
    model = pathlib.Path(shutil.copytree(shakespeare, tmp_path / "model"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "m.fovea").write_bytes(b"before")
    words = ["compile", model, "-o", tmp_path / "out" / "m.fovea"]
    for outcome in cut_each_mapping("fovea", words, model / "model.safetensors", tmp_path):
        refused(outcome, "model.safetensors: was cut", "--no-mmap")
        assert [file.name for file in (tmp_path / "out").iterdir()] == ["m.fovea"]


def add_external_weight(folder):
    """A model whose weight lies in a file of its own."""
    weight = onnx.helper.make_tensor("w", onnx.TensorProto.FLOAT, [200, 200], bytes(160000), raw=True)
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2, 200]) for name in "xy"]
    graph = onnx.helper.make_graph([onnx.helper.make_node("MatMul", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weight])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, folder / "model.onnx", save_as_external_data=True, location="tensors", size_threshold=0)


@pytest.mark.parametrize("name", ["model.onnx", "tensors"])
def test_onnx_is_cut_while_it_is_compiled(tmp_path, name):
    folder = tmp_path / "model"
    folder.mkdir()
    add_external_weight(folder)
    out = tmp_path / "m.fovea"
    said = []
    for outcome in cut_each_mapping("fovea", ["compile", folder / "model.onnx", "-o", out], folder / name, tmp_path):
        if outcome.code:
            refused(outcome)
            said += outcome.errors
    # Who opens the file anew finds a short one.
    assert any(f"{name}: was cut" in error and "--no-mmap" in error for error in said), said
    assert all("was cut" in error or "in a file of 0" in error for error in said), said


@pytest.mark.parametrize("program, verb", [("fovea", "compile"), ("fovea", "check"), ("fovea", "verify"), ("fovea", "inspect"), ("fovea", "generate"), ("fovea-run", "generate")])
def test_no_mmap_maps_no_file(request, shakespeare, artifact, tmp_path, program, verb):
    """So that nothing can be cut under a program; and what it says is the same."""
    if program == "fovea-run":
        request.getfixturevalue("this_processor")
    model = shutil.copytree(shakespeare, artifact.parent / "model")
    words = {"compile": [model, "-o", tmp_path / "out.fovea"], "check": [model], "verify": [model], "inspect": [artifact],
             "generate": [model if program == "fovea" else artifact, *GENERATE]}[verb]
    env = {"XDG_CACHE_HOME": str(artifact.parent)}
    copied = shim.run(program, [verb, *words, "--no-mmap"], artifact.parent, tmp_path / "log", env=env)
    assert copied.code == 0 and copied.calls and "mmap" not in {call.name for call in copied.calls}, copied
    mapped = shim.run(program, [verb, *words], artifact.parent, tmp_path / "log", env=env)
    assert mapped.code == 0 and "mmap" in {call.name for call in mapped.calls}, mapped
    if verb != "verify":  # its times differ
        assert mapped.out == copied.out
