# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`fovea run` with arrays from the command line and results on standard output."""
import json

import numpy as np
import pytest

TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32, "i64": np.int64}

MODEL = "\n".join(
    f'func.func @{name}(%x: tensor<?x2x{name}> {{fovea.name = "x", fovea.dims = ["n"]}}) -> (tensor<?x2x{name}> {{fovea.name = "y", fovea.dims = ["n"]}}) attributes {{fovea.entry}} {{\n'
    f"  %y = arith.add{'i' if name[0] == 'i' else 'f'} %x, %x : tensor<?x2x{name}>\n  return %y : tensor<?x2x{name}>\n}}" for name in [*TYPES, "bf16"])

TWO = """
func.func @forward(%x: tensor<?x2xf32> {fovea.name = "x", fovea.dims = ["n"]}, %mask: tensor<?xi64> {fovea.name = "mask", fovea.dims = ["n"]},
                   %t: tensor<f32> {fovea.name = "t"})
    -> (tensor<?x2xf32> {fovea.name = "y", fovea.dims = ["n"]}, tensor<?xi64> {fovea.name = "same", fovea.dims = ["n"]}, tensor<f32> {fovea.name = "twice"}) attributes {fovea.entry} {
  %y = arith.addf %x, %x : tensor<?x2xf32>
  %twice = arith.addf %t, %t : tensor<f32>
  return %y, %mask, %twice : tensor<?x2xf32>, tensor<?xi64>, tensor<f32>
}
"""


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "types.mlir").write_text(MODEL)
    (folder / "two.mlir").write_text(TWO)
    return folder


@pytest.fixture
def run(compiled, fovea_run, models):
    return lambda name, *arguments: fovea_run("run", compiled(models / f"{name}.mlir"), *arguments)


@pytest.mark.parametrize("name", [*TYPES, "bf16"])
def test_types(run, name):
    """Numbers are rounded to the entry's type as numpy rounds them, and printed as they are."""
    values = [[1.0, -2.5], [1e-7, 3.14159], [65519.0, 6e-8], [0.1, -0.0]] if "f" in name else [[1, -2], [63, 0]]
    values = [row for row in values if name != "bf16" or row != [65519.0, 6e-8]]
    found = json.loads(run("types", "--entry", name, "--json", "--input", f"x={json.dumps(values)}").ok().text)
    assert found["results"] == {"y": [len(values), 2]}
    x = np.array(values)
    if name == "bf16":
        wide = x.astype(np.float32).view(np.uint32)
        wanted = 2 * ((wide + 0x7fff + (wide >> 16 & 1)) & 0xffff0000).view(np.float32)
    else:
        with np.errstate(over="ignore"):
            wanted = x.astype(TYPES[name]) + x.astype(TYPES[name])
    for y, row in zip(found["values"]["y"], wanted, strict=True):
        assert [value if value is not None else np.inf for value in y] == [float(value) for value in row]


def test_printed(run):
    given = ["--input", "x=[[1, 2.00004], [-30, 4]]", "--input", "mask=[true, 7]", "--input", "t=1.5"]
    assert run("two", *given).ok().text == "y: [2, 2] f32\n  [[  2.0000,   4.0001],\n   [-60.0000,   8.0000]]\nsame: [2] i64\n  [1, 7]\ntwice: [] f32\n  3.0000\n"
    assert run("two", "--input", "x=[[1e-9, 0], [0, 0]]", *given[2:]).ok().text.startswith("y: [2, 2] f32\n  [[2.0000e-09, 0.0000e+00],\n")


def test_what_is_printed_can_be_given(run):
    given = ["--input", "mask=[1, 2, 3]", "--input", "t=0"]
    text = run("two", "--input", "x=random:3x2", *given).ok().text
    rows = "".join(text[text.index("\n"):text.index("same")].split())
    again = run("two", "--input", f"x={rows}", *given).ok().text
    twice = np.array(json.loads("".join(again[again.index("\n"):again.index("same")].split())))
    np.testing.assert_allclose(twice, 2 * np.array(json.loads(rows)), atol=1e-4)


def test_random_numbers(run):
    """Always the same, and about as large as normal ones."""
    record = run("types", "--entry", "f64", "--json", "--input", "x=random:5000x2").ok().text
    assert record == run("types", "--entry", "f64", "--json", "--input", "x=random:5000x2").ok().text
    numbers = np.array(json.loads(record)["values"]["y"]) / 2
    assert abs(numbers.mean()) < 0.05 and abs(numbers.var() - 4 / 3) < 0.05


def test_random_integers(run):
    draw = lambda *words: run("types", "--entry", "i8", "--json", "--input", *words).ok()
    numbers = np.array(json.loads(draw("x=random:5000x2:64").text)["values"]["y"]) // 2
    assert set(numbers.flat) == set(range(64)) and abs(numbers.mean() - 31.5) < 1
    assert draw("x=random:50x2:64").text == draw("x=random:50x2:64", "--seed", "0").text != draw("x=random:50x2:64", "--seed", "1").text
    assert draw("x=random:5x2:64", "--seed", "9").err.decode() == "fovea-run: --input x: integers, --seed=9\n"
    assert not draw("x=random:5x2:64", "--quiet").err
    refused = run("types", "--entry", "i8", "--input", "x=random:5x2:129")
    assert refused.code == 1 and "limit from 1 to 128 of random i8" in refused.err.decode(), str(refused)


EMBEDDING = """
func.func @forward(%ids: tensor<?x?xi64> {fovea.name = "tokens", fovea.role = #fovea.role<token_ids>, fovea.dims = ["b", "s"]}, %mask: tensor<?x?xi64> {fovea.name = "attention_mask", fovea.dims = ["b", "s"]})
    -> (tensor<?x?x1xf32> {fovea.name = "y", fovea.dims = ["b", "s"]}, tensor<?x?xi64> {fovea.name = "same", fovea.dims = ["b", "s"]}, tensor<?x?xi64> {fovea.name = "kept", fovea.dims = ["b", "s"]}) attributes {fovea.entry} {
  %table = arith.constant dense<[[0.0], [1.0], [2.0], [3.0], [4.0]]> : tensor<5x1xf32>
  %y = fovea.embedding %ids, %table : tensor<?x?xi64>, tensor<5x1xf32> -> tensor<?x?x1xf32>
  return %y, %ids, %mask : tensor<?x?x1xf32>, tensor<?x?xi64>, tensor<?x?xi64>
}
"""


def test_random_ids_are_of_the_vocabulary(fovea_run, compiled, shakespeare_artifact, tmp_path):
    """The model's, or, where none is told, the rows of the table; a mask hides nothing."""
    result = fovea_run("run", shakespeare_artifact, "--input", "input_ids=random:1x4", "--json").ok()
    assert result.err.decode() == "fovea-run: --input input_ids: ids below 2048, --seed=0\n"
    (tmp_path / "embedding.mlir").write_text(EMBEDDING)
    result = fovea_run("run", compiled(tmp_path / "embedding.mlir"), "--input", "tokens=random:3x50", "--input", "attention_mask=random:3x50", "--json").ok()
    assert "tokens: ids below 5," in result.err.decode() and "attention_mask: ones\n" in result.err.decode()
    values = json.loads(result.text)["values"]
    assert set(np.array(values["same"]).flat) == {0, 1, 2, 3, 4} and set(np.array(values["kept"]).flat) == {1}


def test_long_results_are_elided(run):
    """As numpy does: the first and last three of each axis beyond 1,000 numbers."""
    given = ["--entry", "i64", "--input", "x=" + json.dumps([[row, -row] for row in range(501)])]
    rows = lambda at: "".join(f"   [{2 * row:5d}, {-2 * row:5d}],\n" for row in at)
    assert run("types", *given).ok().text == ("y: [501, 2] i64\n" + rows(range(3)) + "   ...,\n" + rows(range(498, 501))).replace("\n   [", "\n  [[", 1)[:-2] + "]\n"
    assert run("types", *given, "--full").ok().text.count("\n") == 502
    short = ["--entry", "i64", "--input", "x=" + json.dumps([[row, -row] for row in range(500)])]
    assert "..." not in run("types", *short).ok().text
    assert len(json.loads(run("types", *given, "--json").ok().text)["values"]["y"]) == 501


def test_files_and_words_together(run, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.ones((2, 2), np.float32), t=np.float32(2))
    result = run("two", "--inputs", tmp_path / "in.npz", "--input", "mask=[1, 2]", "--outputs", tmp_path / "out.npz").ok()
    assert not result.out
    out = np.load(tmp_path / "out.npz")
    assert out["same"].tolist() == [1, 2] and out["twice"] == 4 and (out["y"] == 2).all()


X, MASK, T = ["--input", "x=[[1, 2]]"], ["--input", "mask=[1]"], ["--input", "t=1"]


@pytest.mark.parametrize("given, code, words", [
    ([], 1, ["x: [n, 2] f32, mask: [n] i64, t: [] f32", "--input"]),
    ([*X, *T], 1, ["expects mask: [n] i64,"]),
    ([*X, *X, *MASK, *T], 1, ["--input x", "more often"]),
    ([*X, *MASK, *T, "--input", "z=1"], 1, ["--input z", "x: [n, 2] f32"]),
    ([*MASK, *T, "--input", "x"], 2, ["NAME=VALUES", "'x'"]),
    ([*MASK, *T, "--input", "=1"], 2, ["NAME=VALUES"]),
    ([*MASK, *T, "--input", "x=[[1, 2], [3]]"], 1, ["--input x", "lists of 2", "one of 1"]),
    ([*MASK, *T, "--input", "x=[[1, 2], 3]"], 1, ["--input x", "lists of 2", "3"]),
    ([*MASK, *T, "--input", "x=[[1, [2]]]"], 1, ["--input x", "f32", "[2]"]),
    ([*MASK, *T, "--input", "x=[[1, 2"], 1, ["--input x", "[[1, 2"]),
    ([*MASK, *T, "--input", "x=[[1, \"a\"]]"], 1, ["--input x", "f32", "\"a\""]),
    ([*MASK, *T, "--input", "x=[[1, NaN]]"], 1, ["--input x"]),
    ([*MASK, *T, "--input", "x=random:3"], 1, ["--input x", "[n, 2]", "[3]"]),
    ([*MASK, *T, "--input", "x=random:3x"], 1, ["--input x", "random:2x5x8", "3x"]),
    ([*MASK, *T, "--input", "x=random:99999999999999999999x9"], 1, ["--input x", "16777216"]),
    ([*MASK, *T, "--input", "x=random:9999999x9999999"], 1, ["--input x", "16777216"]),
    ([*X, *T, "--input", "mask=random:1"], 1, ["--input mask", "i64", "random:1:100"]),
    ([*X, *T, "--input", "mask=random:1:0"], 1, ["--input mask", "limit from 1", "'0'"]),
    ([*X, *T, "--input", "mask=random:1:"], 1, ["--input mask", "limit from 1", "''"]),
    ([*X, *T, "--input", "mask=random:1:7x"], 1, ["--input mask", "limit from 1", "'7x'"]),
    ([*X, *T, "--input", "mask=random:1y:7"], 1, ["--input mask", "random:2x5x8", "'1y'"]),
    ([*MASK, *T, "--input", "x=random:1x2:7"], 1, ["--input x", "random:2x5x8"]),
    ([*X, *T, "--input", "mask=[1.5]"], 1, ["--input mask", "i64", "1.5"]),
    ([*X, *T, "--input", "mask=[9223372036854775808]"], 1, ["--input mask", "9223372036854775808"]),
    ([*X, *T, "--input", "mask=[1, 2]"], 1, ["'n'"]),
    ([*X, *MASK, "--input", "t=" + "[" * 100000], 1, ["--input t"]),
])
def test_refused(run, given, code, words):
    result = run("two", *given)
    assert result.code == code and not result.out and result.err.decode().count("error:") == 1, str(result)
    for word in words:
        assert word in result.err.decode(), str(result)


def test_integers_stay_in_range(run):
    for name, values in {"i8": [[128, 0]], "i32": [[0, -2**31 - 1]]}.items():
        result = run("types", "--entry", name, "--input", f"x={values}")
        assert result.code == 1 and name in result.err.decode(), str(result)


def test_several_entries_take_no_file(run, tmp_path):
    np.savez(tmp_path / "in.npz", x=np.ones((2, 2), np.float32))
    result = run("types", "--entry", "f32", "--entry", "f64", "--inputs", tmp_path / "in.npz")
    assert result.code == 2 and "--entry" in result.err.decode(), str(result)


def test_several_entries(run):
    """The second array of a name is for the second entry that takes it, in its own type; the last one's results are printed."""
    assert run("types", "--entry", "f32", "--entry", "i64", "--input", "x=[[1.5, 2]]", "--input", "x=[[3, 4]]").ok().text == "y: [1, 2] i64\n  [[6, 8]]\n"
