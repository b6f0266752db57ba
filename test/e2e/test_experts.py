# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Words of routed experts with numbers that a caller gives: what is none of a row, of an expert, or no order is a fault; and what top_k makes of NaN and infinities."""
import numpy as np
import pytest

PROGRAM = """
func.func @main(%x: tensor<4x2x8xf32> {fovea.name = "x"}, %w: tensor<24x8xf32> {fovea.name = "w"}, %e: tensor<4xi64> {fovea.name="e"}) -> (tensor<4x2x8xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %y = fovea.linear %x, %w experts(%e : tensor<4xi64>) : tensor<4x2x8xf32>, tensor<24x8xf32> -> tensor<4x2x8xf32>
  return %y : tensor<4x2x8xf32>
}
func.func @route(%e: tensor<4x2xi64> {fovea.name = "e"}) -> (tensor<4x2xi64> {fovea.name = "t"}, tensor<4x2xi64> {fovea.name = "p"}, tensor<4xi64> {fovea.name = "o"}) attributes {fovea.entry} {
  %t, %p, %o = fovea.dispatch %e : tensor<4x2xi64> -> tensor<4xi64>
  return %t, %p, %o : tensor<4x2xi64>, tensor<4x2xi64>, tensor<4xi64>
}
func.func @rows(%x: tensor<5x8xf32> {fovea.name = "x"}, %e: tensor<4x2xi64> {fovea.name = "e"}, %w: tensor<4x2xf32> {fovea.name = "w"}) -> (tensor<4x2x8xf32> {fovea.name = "t"}, tensor<4x8xf32> {fovea.name = "p"}) attributes {fovea.entry} {
  %t = fovea.gather_rows %x rows(%e) : tensor<5x8xf32>, tensor<4x2xi64> -> tensor<4x2x8xf32>
  %p = fovea.combine %x rows(%e) weights(%w) : tensor<5x8xf32>, tensor<4x2xi64>, tensor<4x2xf32> -> tensor<4x8xf32>
  return %t, %p : tensor<4x2x8xf32>, tensor<4x8xf32>
}
func.func @view(%e: tensor<4x4xi64> {fovea.name = "e"}) -> (tensor<4x2xi64> {fovea.name = "t"}, tensor<4x2xi64> {fovea.name = "p"}, tensor<4xi64> {fovea.name = "o"}) attributes {fovea.entry} {
  %s = tensor.extract_slice %e[0, 1] [4, 2] [1, 1] : tensor<4x4xi64> to tensor<4x2xi64>
  %t, %p, %o = fovea.dispatch %s : tensor<4x2xi64> -> tensor<4xi64>
  return %t, %p, %o : tensor<4x2xi64>, tensor<4x2xi64>, tensor<4xi64>
}
func.func @best(%x: tensor<?x5xf32> {fovea.name = "x", fovea.dims = ["n"]}) -> (tensor<?x3xf32> {fovea.name = "v", fovea.dims = ["n"]}, tensor<?x3xi64> {fovea.name = "i", fovea.dims = ["n"]})
    attributes {fovea.entry} {
  %v, %i = fovea.top_k %x : tensor<?x5xf32> -> tensor<?x3xf32>, tensor<?x3xi64>
  return %v, %i : tensor<?x3xf32>, tensor<?x3xi64>
}
"""
GIVEN = {"main": ["--input", "x=random:4x2x8", "--input", "w=random:24x8"], "route": [], "rows": ["--input", "x=random:5x8", "--input", "w=random:4x2"]}


@pytest.fixture(scope="module")
def artifact(compiled, tmp_path_factory):
    path = tmp_path_factory.mktemp("experts") / "experts.mlir"
    path.write_text(PROGRAM)
    return compiled(path, "--gpu=sm_80", "-O0")


@pytest.mark.parametrize("where", ["cpu", "emulator"])
@pytest.mark.parametrize("entry, numbers, fits", [
    ("main", [0, 3, 5, 8], True), ("main", [0, 8, 8, 8], True), ("main", [0, 0, 0, 8], True),
    ("main", [0, 3, 2, 8], False), ("main", [1, 3, 5, 8], False), ("main", [0, 3, 5, 7], False), ("main", [0, 3, 5, 9], False), ("main", [0, -3, 5, 8], False),
    ("route", [[0, 1], [2, 0], [1, 1], [0, 2]], True), ("route", [[0, 1], [3, 0], [1, 1], [0, 2]], False), ("route", [[0, 1], [-1, 0], [1, 1], [0, 2]], False),
    ("rows", [[0, 1], [4, 0], [1, 1], [0, 2]], True), ("rows", [[0, 1], [5, 0], [1, 1], [0, 2]], False), ("rows", [[0, 1], [-1, 0], [1, 1], [0, 2]], False),
])
def test_numbers_are_checked(fovea_run, artifact, where, entry, numbers, fits):
    result = fovea_run("run", artifact, "--entry", entry, *GIVEN[entry], "--input", f"e={numbers}", "--device", where)
    assert result.code == (0 if fits else 1), str(result)
    assert fits or "met an index or a size out of bounds; look at the values of 'e'" in result.err.decode()


@pytest.mark.parametrize("where", ["cpu", "emulator"])
def test_what_is_no_number_is_minus_infinity(fovea_run, artifact, tmp_path, where):
    nan, inf = np.nan, np.inf
    np.savez(tmp_path / "in.npz", x=np.array([[1, nan, 3, 2, 3], [nan] * 5, [-inf, nan, -inf, -inf, 0], [inf, 1, inf, nan, inf]], np.float32))
    fovea_run("run", artifact, "--entry", "best", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz", "--device", where).ok()
    found = np.load(tmp_path / "out.npz")
    assert found["i"].tolist() == [[2, 4, 3], [0, 1, 2], [4, 0, 1], [0, 2, 4]]
    np.testing.assert_array_equal(found["v"], np.array([[3, 3, 2], [nan] * 3, [0, -inf, nan], [inf] * 3], np.float32))


@pytest.mark.parametrize("where", ["cpu", "emulator"])
@pytest.mark.parametrize("entry, numbers", [("route", [[2, 1], [0, 1], [2, 2], [1, 0]]), ("view", [[9, 2, 1, 9], [9, 0, 1, 9], [9, 2, 2, 9], [9, 1, 0, 9]])])
def test_pairs_are_in_the_order_of_their_experts(fovea_run, artifact, tmp_path, where, entry, numbers):
    fovea_run("run", artifact, "--entry", entry, "--input", f"e={numbers}", "--outputs", tmp_path / "out.npz", "--device", where).ok()
    found = np.load(tmp_path / "out.npz")
    assert found["t"].ravel().tolist() == [1, 3, 0, 1, 3, 0, 2, 2]
    assert found["p"].ravel().tolist() == [5, 2, 0, 3, 6, 7, 4, 1] and found["o"].tolist() == [0, 2, 5, 8]
