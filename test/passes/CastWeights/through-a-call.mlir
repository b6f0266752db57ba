// RUN: fovea-opt %s --fovea-cast-weights=type=bf16 | FileCheck %s

// Through a call into the argument of a function; what has the type already, and integers, stay.

// CHECK: fovea.weight @w : tensor<6x4xbf16> = #fovea.cast<#fovea.stored<"f", "w", tensor<6x4xf32>>, bf16>
fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>
// CHECK: fovea.weight @there : tensor<4xbf16> = #fovea.stored<"f", "there", tensor<4xbf16>>
fovea.weight @there : tensor<4xbf16> = #fovea.stored<"f", "there", tensor<4xbf16>>
// CHECK: fovea.weight @ids : tensor<4xi64> = #fovea.stored<
fovea.weight @ids : tensor<4xi64> = #fovea.stored<"f", "ids", tensor<4xi64>>

// CHECK-LABEL: func.func private @layer
// CHECK-SAME: tensor<2x4xf32>, %{{[^:]*}}: tensor<6x4xbf16>)
// CHECK: fovea.linear {{.*}} : tensor<2x4xf32>, tensor<6x4xbf16> -> tensor<2x6xf32>
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<6x4xf32>) -> tensor<2x6xf32> {
  %y = fovea.linear %x, %w : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @entry
// CHECK: call @layer({{.*}}) : (tensor<2x4xf32>, tensor<6x4xbf16>)
func.func @entry(%x: tensor<2x4xf32>) -> tensor<2x6xf32> {
  %w = fovea.weight_ref @w : tensor<6x4xf32>
  %y = call @layer(%x, %w) : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}
