// RUN: fovea verify %s --quiet | FileCheck %s
// CHECK: 11 outputs agree

// A score reads a bit that is also a mask: it is made up as 0 or 1, and not as a position.
func.func @forward(%x: tensor<?x?x2x8xf32> {fovea.name = "x", fovea.dims = ["batch", "length"]}, %keep: tensor<?x?xi1> {fovea.name = "keep", fovea.dims = ["batch", "length"]})
    -> (tensor<?x?x2x8xf32> {fovea.name = "output", fovea.dims = ["batch", "length"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %x, %c0 : tensor<?x?x2x8xf32>
  %length = tensor.dim %x, %c1 : tensor<?x?x2x8xf32>
  %bits = arith.extui %keep : tensor<?x?xi1> to tensor<?x?xi64>
  %keys = tensor.expand_shape %keep [[0, 1, 2], [3]] output_shape [%batch, 1, 1, %length] : tensor<?x?xi1> into tensor<?x1x1x?xi1>
  %m = fovea.mask_dense %keys : tensor<?x1x1x?xi1>
  %y = fovea.attention %x, %x, %x mask(%m) fill(mean) score(%bits : tensor<?x?xi64> by (b, h, i, j) -> (b, i)) {
    ^bb0(%s: f32, %bit: i64, %b: index, %h: index, %q: i32, %k: i32):
      %f = arith.sitofp %bit : i64 to f32
      %0 = arith.mulf %s, %f : f32
      fovea.yield %0 : f32
  } : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32> -> tensor<?x?x2x8xf32>
  return %y : tensor<?x?x2x8xf32>
}
