// RUN: fovea compile %s --emit=graph -o %t.mlir --report=%t.json
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: fovea compile %t.mlir --from-stage=graph --emit=fused -o - | FileCheck %s --check-prefix=AGAIN

// What the author calls values, stages call so too; a number is no name. In messages and reports places are what they were.
// CHECK-LABEL: func.func @forward(%words: tensor<?x?x2x4xf32>
// CHECK-SAME: %rate: tensor<2xf32>
// CHECK: %batch = tensor.dim %words
// CHECK: %band = fovea.mask_window
// CHECK: %mixed = fovea.attention %words, %words, %words mask(%band)
// CHECK-NEXT: ^bb0(%x: f32, %r: f32, %b: index, %h: index, %i: i32, %j: i32):
// CHECK: %[[SUM:[0-9]+]] = arith.addf %mixed, %words
// CHECK: %both:2 = call @two(%[[SUM]])
// CHECK: func.func private @two(%thing: tensor<?x?x2x4xf32>)
// REPORT: "location": "{{.*}}names.mlir:[[# @LINE + 12]]:12"
// REPORT: "score": "x * rate[h]"
// AGAIN: func.func @forward(%words:
// AGAIN: %mixed = fovea.group

func.func @forward(%words: tensor<?x?x2x4xf32> {fovea.name = "x", fovea.dims = ["batch", "sequence"]}, %rate: tensor<2xf32> {fovea.name = "r"})
    -> (tensor<?x?x2x4xf32> {fovea.name = "o", fovea.dims = ["batch", "sequence"]}, tensor<1xf32> {fovea.name = "n"}) attributes {fovea.entry} {
  %zero = arith.constant 0 : index
  %batch = tensor.dim %words, %zero : tensor<?x?x2x4xf32>
  %number = arith.index_cast %batch : index to i64
  %float = arith.sitofp %number : i64 to f32
  %band = fovea.mask_window left(7) right(0)
  %mixed = fovea.attention %words, %words, %words mask(%band) score(%rate : tensor<2xf32> by (b, h, i, j) -> (h)) {
    ^bb0(%x: f32, %r: f32, %b: index, %h: index, %i: i32, %j: i32):
      %y = arith.mulf %x, %r : f32
      fovea.yield %y : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %0 = arith.addf %mixed, %words : tensor<?x?x2x4xf32>
  %both:2 = call @two(%0) : (tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>)
  %sum = arith.addf %both#0, %both#1 : tensor<?x?x2x4xf32>
  %count = tensor.from_elements %float : tensor<1xf32>
  return %sum, %count : tensor<?x?x2x4xf32>, tensor<1xf32>
}

func.func private @two(%thing: tensor<?x?x2x4xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) {
  return %thing, %thing : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
}
