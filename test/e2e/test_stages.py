# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every stage that --dump-ir writes is legal IR: fovea-opt reads it back, and compiling on from it gives the same program."""
import json
import re

import pytest

from programs import DATA

STAGES = ["import", "graph", "fused", "scheduled", "kernels", "llvm"]
REFERENCE = json.loads((DATA / "shakespeare-reference.json").read_text())[0]


@pytest.fixture(scope="module")
def dumps(fovea, shakespeare, tmp_path_factory):
    folder = tmp_path_factory.mktemp("dumps")
    fovea("compile", shakespeare, "-o", folder / "model.fovea", f"--dump-ir={folder / 'ir'}").ok()
    files = {}
    for stage in STAGES:
        found = [path for path in (folder / "ir").glob("*.mlir") if re.fullmatch(rf"(\d+-)?{stage}", path.stem)]
        assert len(found) == 1, f"{stage}: {sorted(path.name for path in (folder / 'ir').iterdir())}"
        files[stage] = found[0]
    return files


@pytest.mark.parametrize("stage", STAGES)
def test_stage_is_read_back(fovea_opt, dumps, stage):
    again = fovea_opt(dumps[stage]).ok().out
    assert len(again) > 1000
    assert fovea_opt("-", stdin=again).ok().out == again


@pytest.mark.parametrize("stage", STAGES)
def test_stage_compiles_on(fovea, fovea_run, dumps, shakespeare_artifact, tmp_path, stage):
    fovea("compile", dumps[stage], f"--from-stage={stage}", "-o", tmp_path / "model.fovea").ok()
    result = fovea_run("generate", tmp_path / "model.fovea", "--prompt", REFERENCE["prompt"], "-n", 64, "--temp", 0).ok()
    assert result.text.rstrip("\n") == REFERENCE["text"].rstrip("\n"), str(result)


@pytest.mark.parametrize("stage", STAGES)
def test_emit_writes_the_dump(fovea, fovea_opt, shakespeare, dumps, tmp_path, stage):
    fovea("compile", shakespeare, f"--emit={stage}", "-o", tmp_path / "stage.mlir").ok()
    assert fovea_opt(tmp_path / "stage.mlir").ok().out == fovea_opt(dumps[stage]).ok().out


def test_one_function_for_equal_layers(dumps):
    """Four layers: each entry calls one layer function four times, and there is one kind of attention a layer function."""
    text = dumps["graph"].read_text()
    functions = re.split(r"(?=^  func\.func )", text, flags=re.MULTILINE)[1:]
    attentions = sum("fovea.attention" in function for function in functions)
    # `forward`, `prefill` and `decode` may each have their own specialised layer.
    assert 1 <= attentions <= 3
    assert text.count("fovea.attention") == attentions
    for function in functions:
        if "fovea.entry" in function:
            assert len(re.findall(r"call @", function)) >= 4


def test_fused_holds_only_groups(dumps):
    """In `fused`, computing stands in groups; nothing of linalg is left beside them."""
    text = dumps["fused"].read_text()
    assert "fovea.group" in text


def test_unknown_stage_is_a_usage_error(fovea, dumps, tmp_path):
    assert fovea("compile", dumps["graph"], "--from-stage=nonsense", "-o", tmp_path / "model.fovea").code == 2


def test_code_that_llvm_refuses_is_its_authors(fovea, dumps, tmp_path):
    """MLIR knows no bound of a shuffle's places, LLVM does: one message at the function, and no word of a fault of the compiler."""
    text = dumps["llvm"].read_text()
    function = "  llvm.func @wrong(%a: vector<4xf32>) -> vector<4xf32> {\n    %0 = llvm.shufflevector %a, %a [0, 1, 2, 65536] : vector<4xf32>\n    llvm.return %0 : vector<4xf32>\n  }\n"
    at = text.index("  llvm.func ")
    path = tmp_path / "wrong.mlir"
    path.write_text(text[:at] + function + text[at:])
    line = text[:at].count("\n") + 1
    for flags in ([], ["--emit=obj"], ["--emit=asm"]):
        result = fovea("compile", path, "--from-stage=llvm", "-o", tmp_path / "out", *flags)
        errors = [one for one in result.err.decode().splitlines() if one]
        assert result.code == 1 and len(errors) == 1 and f"{path}:{line}:3: LLVM refuses this: Invalid shufflevector operands!" in errors[0], str(result)
        assert not (tmp_path / "out").exists()


SUMS = """func.func @f(%a: tensor<?x?x7xf32> {fovea.name = "a"}, %b: tensor<?x?x5xf32> {fovea.name = "b"}, %t: tensor<?x7x5xf32> {fovea.name = "t"})
    -> (tensor<?x?x7xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %y = linalg.generic {indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, j, k)>, affine_map<(b, i, j, k) -> (b, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%b, %t : tensor<?x?x5xf32>, tensor<?x7x5xf32>) outs(%a : tensor<?x?x7xf32>) {
  ^bb0(%l: f32, %r: f32, %sum: f32):
    %d = arith.subf %l, %r : f32
    %q = math.absf %d : f32
    %s = arith.addf %sum, %q : f32
    linalg.yield %s : f32
  } -> tensor<?x?x7xf32>
  return %y : tensor<?x?x7xf32>
}
"""


def test_the_same_text_each_time(fovea, tmp_path):
    """Where things lie in memory, which the system draws anew for each process, decides nothing."""
    source = tmp_path / "sums.mlir"
    source.write_text(SUMS)
    texts = {fovea("compile", source, "--emit=kernels", "--target=x86-64-v3", "-o", "-").ok().out for _ in range(8)}
    assert len(texts) == 1
