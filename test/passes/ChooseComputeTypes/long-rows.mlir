// RUN: fovea-opt %s --fovea-choose-compute-types=integers | FileCheck %s

// Sums of longer rows do not fit 32 bits: they are rounded to bf16.
// CHECK-LABEL: func.func @long
// CHECK: arith.truncf
// CHECK-NOT: quantize_rows
func.func @long(%x: tensor<?x65538xf32>, %w: tensor<5x65538xi8>, %s: tensor<5xf32>) -> tensor<?x5xf32> {
  %y = fovea.linear %x, %w scales(%s : tensor<5xf32>) : tensor<?x65538xf32>, tensor<5x65538xi8> -> tensor<?x5xf32>
  return %y : tensor<?x5xf32>
}
