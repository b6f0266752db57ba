# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""MLIR text. It is trusted more than a model (it says what is computed), but must not bring the compiler down; upstream's parsers are behind a net."""
from library import case


def text(folder, content):
    (folder / "model.mlir").write_text(content)
    return "model.mlir"


ENTRY = """func.func @forward(%x: tensor<?x4xf32> {{fovea.name = "x", fovea.dims = ["n"]}}) -> (tensor<?x4xf32> {{fovea.name = "y", fovea.dims = ["n"]}}) attributes {{fovea.entry}} {{
  {}
  return %y : tensor<?x4xf32>
}}
"""


@case("llvm/llvm-project, linalg.generic", "an iterator type that is no word: reported through a reference that is gone", "model.mlir:2: expects IR, got text that brings MLIR's parser down, in this line or behind it")
def iterator_type_that_is_a_number(folder):
    return text(folder, """#m = affine_map<(i) -> (i)>
func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {
  %y = linalg.generic {indexing_maps = [#m, #m], iterator_types = [0]} ins(%a : tensor<3xf32>) outs(%a : tensor<3xf32>) {
  ^bb0(%x: f32, %u: f32):
    linalg.yield %x : f32
  } -> tensor<3xf32>
  return %y : tensor<3xf32>
}
""")


@case("llvm/llvm-project, linalg.reduce", "a list that is cut: an attribute that is null", "model.mlir:2:102: expected ']'")
def list_that_is_cut(folder):
    return text(folder, """func.func @f(%a: tensor<3x3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %s = linalg.reduce {arith.addf} ins(%a : tensor<3x3xf32>) outs(%b : tensor<3xf32>) dimensions = [10
  return %s : tensor<3xf32>
}
""")


@case("CVE-2022-23594", "brackets nested without end: the parser's stack", "model.mlir:1:1025: expects brackets that are nested at most 1000 deep, got more")
def brackets_without_end(folder):
    return text(folder, "module attributes {f.a = " + "[" * 1_000_000)


@case("CVE-2024-12055", "bytes that are no text", "model.mlir:1:2: unexpected character")
def bytes_that_are_no_text(folder):
    (folder / "model.mlir").write_bytes(b"\x00\xff\xfe\x80" * 16)
    return "model.mlir"


@case("CVE-2022-25882", "a weight in a file above the folder", "model.mlir: w: expects the name of a file below the model's folder, got \"../secret.safetensors\" || w: expects the name of a file below the model's folder, got \"../secret.safetensors\"")
def weight_in_the_folder_above(folder):
    return text(folder, 'fovea.weight @w : tensor<4xf32> = #fovea.stored<"../secret.safetensors", "w", tensor<4xf32>>\n' + ENTRY.format(
        "%w = fovea.weight_ref @w : tensor<4xf32>\n  %y = fovea.rms_norm %x weight(%w : tensor<4xf32>) eps(1.0e-5) : tensor<?x4xf32>"))


@case("CWE-22", "a weight by its absolute path", "model.mlir: w: expects the name of a file below the model's folder, got \"/etc/hostname\" || w: expects the name of a file below the model's folder, got \"/etc/hostname\"")
def weight_by_its_absolute_path(folder):
    return text(folder, 'fovea.weight @w : tensor<4xf32> = #fovea.stored<"/etc/hostname", "w", tensor<4xf32>>\n' + ENTRY.format(
        "%w = fovea.weight_ref @w : tensor<4xf32>\n  %y = fovea.rms_norm %x weight(%w : tensor<4xf32>) eps(1.0e-5) : tensor<?x4xf32>"))


@case("CVE-2022-23594", "an operation of another dialect, which no pass knows", "model.mlir:2:8: 'evil.run' is not supported; expects ops of fovea, linalg, tensor, arith and math, of which the nearest is linalg.generic with the formula as its body || model.mlir:2:18: operation being parsed with an unregistered dialect. If this is intended, please use -allow-unregistered-dialect with the MLIR tool used")
def operation_of_another_dialect(folder):
    return text(folder, ENTRY.format('%y = "evil.run"(%x) {command = "touch owned"} : (tensor<?x4xf32>) -> tensor<?x4xf32>'))


@case("CVE-2024-21836", "a tensor type of 2^62 elements", "model.mlir:1:1: 'fovea.weight' op expects a tensor of fewer than 2^63 bytes, got 'tensor<4611686018427387904x4xf32>'")
def tensor_of_2_62_elements(folder):
    return text(folder, 'fovea.weight @w : tensor<4611686018427387904x4xf32> = #fovea.stored<"w.safetensors", "w", tensor<4611686018427387904x4xf32>>\n' + ENTRY.format(
        "%y = math.tanh %x : tensor<?x4xf32>"))
