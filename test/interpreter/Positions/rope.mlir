// RUN: fovea-interpret %s | FileCheck %s

// theta such that pair 1 turns by a tenth of pair 0; position 1. Elements past dim stay.
// CHECK-LABEL: @rope
// CHECK-NEXT: 1x1x1x5 [0.540302, 0, 0.841471, 1, 9]
// CHECK-NEXT: 1x1x1x5 [0.540302, 0.841471, -0.0998334, 0.995004, 9]
func.func @rope() -> (tensor<1x1x1x5xf32>, tensor<1x1x1x5xf32>) {
  %p = arith.constant dense<1> : tensor<1x1xi32>
  %x = arith.constant dense<[[[[1.0, 0.1, 0.0, 0.995004165278025766, 9.0]]]]> : tensor<1x1x1x5xf64>
  %h = fovea.rope half %x at(%p : tensor<1x1xi32>) dim(4) theta(100.0) : tensor<1x1x1x5xf64>
  %x1 = arith.constant dense<[[[[1.0, 0.0, 0.0, 1.0, 9.0]]]]> : tensor<1x1x1x5xf32>
  %i = fovea.rope interleaved %x1 at(%p : tensor<1x1xi32>) dim(4) theta(100.0) : tensor<1x1x1x5xf32>
  %h1 = call @close(%h) : (tensor<1x1x1x5xf64>) -> tensor<1x1x1x5xf32>
  return %h1, %i : tensor<1x1x1x5xf32>, tensor<1x1x1x5xf32>
}

func.func private @close(%x: tensor<1x1x1x5xf64>) -> tensor<1x1x1x5xf32> {
  // (0.1 cos a - 0.995 sin a, 0.995 cos a + 0.1 sin a) with sin a = 0.0998334: to three digits (0, 1).
  %k = arith.constant dense<1000.0> : tensor<1x1x1x5xf64>
  %keep = arith.constant dense<[[[[false, true, false, true, false]]]]> : tensor<1x1x1x5xi1>
  %a = arith.mulf %x, %k : tensor<1x1x1x5xf64>
  %b = math.round %a : tensor<1x1x1x5xf64>
  %c = arith.divf %b, %k : tensor<1x1x1x5xf64>
  %s = arith.select %keep, %c, %x : tensor<1x1x1x5xi1>, tensor<1x1x1x5xf64>
  %n = arith.truncf %s : tensor<1x1x1x5xf64> to tensor<1x1x1x5xf32>
  return %n : tensor<1x1x1x5xf32>
}

// Each batch row at its own position: 0 leaves the vector.
// CHECK-LABEL: @rope_rows
// CHECK-NEXT: 2x1x1x2 [1, 0, -0.416147, 0.909297]
func.func @rope_rows() -> tensor<2x1x1x2xf32> {
  %p = arith.constant dense<[[0], [2]]> : tensor<2x1xi32>
  %x = arith.constant dense<[[[[1.0, 0.0]]], [[[1.0, 0.0]]]]> : tensor<2x1x1x2xf32>
  %r = fovea.rope half %x at(%p : tensor<2x1xi32>) dim(2) theta(10000.0) : tensor<2x1x1x2xf32>
  return %r : tensor<2x1x1x2xf32>
}
