# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the stored part of the corpus from programs/: models/*.onnx by PyTorch's two exporters, references/*.npz, and corpus.json.

    build/venv/bin/python test/corpus/make.py [NAME...]

With names, only the cases whose name begins with one of them are made anew; the others stay as they are. Needs, beside what test/requirements.txt lists, onnxscript
of the version in corpus.json. A program that gives other outputs in f64 than in f32, a model that ONNX Runtime does not run to the same outputs, and a model that
names a file of this machine are errors.
"""
import argparse
import contextlib
import importlib
import inspect
import io
import itertools
import json
import logging
import pathlib
import re
import sys
import warnings

import numpy as np
import onnx
import onnxruntime
import torch

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "programs")]
import check  # noqa: E402
import graphs  # noqa: E402
import texts  # noqa: E402

# Each case is exported by both exporters unless it says otherwise; opsets are dealt out in turn.
TORCHSCRIPT_OPSETS = (13, 14, 15, 16, 17, 18)
DYNAMO_OPSETS = (18, 20, 18, 21, 23)


def programs():
    """(module name, cases) of each program file."""
    for path in sorted((HERE / "programs").glob("*.py")):
        yield path.stem, importlib.import_module(path.stem).CASES


def exports_of(case, number):
    text = case.exports or f"ts{TORCHSCRIPT_OPSETS[number % len(TORCHSCRIPT_OPSETS)]} dynamo{DYNAMO_OPSETS[number % len(DYNAMO_OPSETS)]}"
    return [(re.match(r"[a-z]+", word).group(), int(re.search(r"\d+", word).group())) for word in text.split()]


def build(case):
    torch.manual_seed(int.from_bytes(case.name.encode()[-4:], "little"))
    return case.make().eval()


def as_list(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def run_torch(case, arrays, double):
    try:
        module = build(case)
        if double:
            torch.set_default_dtype(torch.float64)
            module = module.double()
        inputs = [torch.from_numpy(np.ascontiguousarray(array)) for array in arrays.values()]
        with torch.no_grad():
            outputs = as_list(module(*[t.double() if double and t.is_floating_point() else t for t in inputs]))
    finally:
        torch.set_default_dtype(torch.float32)
    outputs = [output.float().numpy() if output.is_floating_point() else output.numpy() for output in outputs]
    assert len(outputs) == len(case.outputs), f"{case.name}: {len(outputs)} outputs"
    return dict(zip(case.outputs, outputs))


def difference(found, expected):
    return max(check.difference(np.asarray(found[name]), expected[name]) for name in expected)


def references(case):
    """The inputs and expected outputs at each size."""
    made = []
    for number in (0, 1):
        arrays = case.draw(number)
        single = run_torch(case, arrays, False)
        expected = single
        if case.reference == "f64":
            expected = run_torch(case, arrays, True)
            gap = difference(single, expected)
            assert gap <= case.tolerance / 2, f"{case.name}: f32 and f64 differ by {gap:.1e}"
        empty = any(np.isnan(array).any() for array in expected.values())
        assert empty == (case.fill == "nan"), f"{case.name}: outputs with NaN: {empty}"
        made.append((arrays, expected))
    return made


def export(case, exporter, opset):
    module = build(case)
    arrays = case.draw(0)
    arguments = tuple(torch.from_numpy(np.ascontiguousarray(array)) for array in arrays.values())
    axes = {name: {axis: dim for axis, dim in enumerate(input_.dims) if isinstance(dim, str)} for name, input_ in case.inputs.items()}
    options = dict(input_names=list(case.inputs), output_names=list(case.outputs), opset_version=opset)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        if exporter == "ts":
            stream = io.BytesIO()
            torch.onnx.export(module, arguments, stream, dynamo=False, dynamic_axes={name: found for name, found in axes.items() if found}, **options)
            model = onnx.load_from_string(stream.getvalue())
        else:
            program = torch.onnx.export(module, arguments, None, dynamo=True, dynamic_shapes=like_parameters(module, list(axes.values())), verbose=False, external_data=False, **options)
            model = program.model_proto
    assert next(entry.version for entry in model.opset_import if entry.domain == "") == opset, f"{case.name}: the exporter did not give opset {opset}"
    strip(model)
    onnx.checker.check_model(model, full_check=True)
    data = model.SerializeToString(deterministic=True)
    assert not re.search(rb"/(?:usr|tmp|var|opt|mnt|%s)/|site-packages|\.py\b" % b"|".join([b"wo" + b"rk", b"ro" + b"ot", b"ho" + b"me"]), data), f"{case.name}: the model names a file"
    return model, data


def like_parameters(module, values):
    """The values as the exporter pairs them with forward's parameters: what `*rest` takes is a tuple of its own."""
    parameters = list(inspect.signature(module.forward).parameters.values())
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_POSITIONAL]
    if len(named) == len(parameters) or len(named) == len(values):
        return tuple(values)
    return (*values[:len(named)], tuple(values[len(named):]))


def strip(message):
    """Clears what exporters write for readers of stack traces: comments and metadata."""
    fields = {field.name for field in message.DESCRIPTOR.fields}
    if "doc_string" in fields:
        message.ClearField("doc_string")
    if "metadata_props" in fields:
        message.ClearField("metadata_props")
    if isinstance(message, onnx.TensorProto):
        return
    for field, value in message.ListFields():
        if field.message_type and not isinstance(message, onnx.TypeProto):
            for part in value if not hasattr(value, "ListFields") else [value]:
                if hasattr(part, "ListFields"):
                    strip(part)


def run_onnxruntime(data, arrays, names):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    # An input that the exporter found unused is no input of the model.
    wanted = {argument.name for argument in session.get_inputs()}
    return dict(zip(names, session.run(list(names), {name: array for name, array in arrays.items() if name in wanted})))


def store_reference(name, made):
    """Both sizes in one file; members are called 0.input.x, 1.output.y."""
    (HERE / "references").mkdir(exist_ok=True)
    named = {f"{number}.{kind}.{key}": array for number, both in enumerate(made) for kind, arrays in zip(("input", "output"), both) for key, array in arrays.items()}
    np.savez_compressed(HERE / "references" / f"{name}.npz", **named)


def entry(case, program, models):
    found = {"name": case.name, "program": program, "models": models, "masks": case.masks, "tolerance": case.tolerance}
    if case.fill:
        found["fill"] = case.fill
    if case.either:
        found["either"] = True
    if case.negative:
        found["negative"] = case.negative
    return found


def make(case, program, number):
    made = references(case)
    models = []
    for exporter, opset in exports_of(case, number):
        try:
            model, data = export(case, exporter, opset)
        except torch.onnx.errors.UnsupportedOperatorError:
            opset += 1  # Trilu and some others came with 14, GridSample and others with 16; a second refusal is an error.
            model, data = export(case, exporter, opset)
        for arrays, expected in made:
            gap = difference(run_onnxruntime(data, arrays, case.outputs), expected)
            if not gap <= case.tolerance:
                raise AssertionError(f"{case.name}: ONNX Runtime differs by {gap:.1e} for {exporter}{opset}")
        file = f"models/{case.name}.{exporter}{opset}.onnx"
        (HERE / "models").mkdir(exist_ok=True)
        (HERE / file).write_bytes(data)
        models.append({"file": file, "exporter": "TorchScript" if exporter == "ts" else "dynamo", "opset": opset, "graph": graphs.hash_of(model.graph)})
    store_reference(case.name, made)
    return entry(case, f"programs/{program}.py", models)


def make_text(case):
    made = references(case)
    store_reference(case.name, made)
    file = f"text/{case.name}.mlir"
    return entry(case, file, [{"file": file, "exporter": "by hand", "opset": 0, "graph": graphs.hash_of_text((HERE / file).read_text())}])


def main():
    parser = argparse.ArgumentParser(description="Makes the stored part of the corpus.")
    parser.add_argument("names", nargs="*", help="only cases whose names begin so")
    names = parser.parse_args().names
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    index = HERE / "corpus.json"
    old = {found["name"]: found for found in json.loads(index.read_text())["cases"]} if names and index.exists() else {}
    found, failed = [], []
    numbers = itertools.count()
    todo = [(case, program, next(numbers)) for program, cases in programs() for case in cases] + [(case, None, 0) for case in texts.CASES]
    assert len({case.name for case, _, _ in todo}) == len(todo), "two cases have one name"
    for case, program, number in todo:
        if names and not case.name.startswith(tuple(names)):
            if case.name in old:
                found.append(old[case.name])
            continue
        try:
            found.append(make(case, program, number) if program else make_text(case))
            print(f"{case.name}", flush=True)
        except Exception as error:
            failed.append(case.name)
            print(f"{case.name} FAILED: {type(error).__name__}: {str(error)[-700:]}", flush=True)
    text = ",\n".join("  " + json.dumps(case) for case in found)
    versions = {"torch": torch.__version__.split("+")[0], "onnx": onnx.__version__, "onnxscript": importlib.import_module("onnxscript").__version__}
    index.write_text('{"made_with": ' + json.dumps(versions) + ',\n "cases": [\n' + text + "\n]}\n")
    if not names:
        kept = {model["file"] for case in found for model in case["models"]} | {f"references/{case['name']}.npz" for case in found}
        for path in [*(HERE / "models").iterdir(), *(HERE / "references").iterdir()]:
            if str(path.relative_to(HERE)) not in kept:
                path.unlink()
    print(graphs.summary(found))
    if failed:
        sys.exit(f"{len(failed)} failed: {' '.join(failed)}")


if __name__ == "__main__":
    main()
