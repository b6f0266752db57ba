// RUN: fovea-opt %s --fovea-raise-linear | FileCheck %s

// A slice of stacked projections and a narrow weight that the graph widens, in a function that is called for two layers.

// CHECK-DAG: fovea.weight @[[$W0:.*]] : tensor<3x2xf16> = #fovea.slice<#fovea.stored<"f", "w0", tensor<6x2xf16>>, 0 from 3 count 3>
// CHECK-DAG: fovea.weight @[[$W1:.*]] : tensor<3x2xf16> = #fovea.slice<#fovea.stored<"f", "w1", tensor<6x2xf16>>, 0 from 3 count 3>
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[X:.*]]: tensor<?x2xf32>, %{{.*}}: tensor<6x2xf16>, %[[W:.*]]: tensor<3x2xf16>)
// CHECK: fovea.linear %[[X]], %[[W]] : tensor<?x2xf32>, tensor<3x2xf16> -> tensor<?x3xf32>
// CHECK-LABEL: func.func @two_layers
// CHECK: %[[R0:.*]] = fovea.weight_ref @[[$W0]]
// CHECK-NEXT: call @layer(%{{.*}}, %{{.*}}, %[[R0]])
// CHECK: %[[R1:.*]] = fovea.weight_ref @[[$W1]]
// CHECK-NEXT: call @layer(%{{.*}}, %{{.*}}, %[[R1]])
fovea.weight @w0 : tensor<6x2xf16> = #fovea.stored<"f", "w0", tensor<6x2xf16>>
fovea.weight @w1 : tensor<6x2xf16> = #fovea.stored<"f", "w1", tensor<6x2xf16>>
func.func private @layer(%x: tensor<?x2xf32>, %w: tensor<6x2xf16>) -> tensor<?x3xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %s = tensor.extract_slice %w[3, 0] [3, 2] [1, 1] : tensor<6x2xf16> to tensor<3x2xf16>
  %f = arith.extf %s : tensor<3x2xf16> to tensor<3x2xf32>
  %init = tensor.empty(%n) : tensor<?x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%init : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = linalg.contract indexing_maps = [affine_map<(b, n, k) -> (b, k)>, affine_map<(b, n, k) -> (n, k)>, affine_map<(b, n, k) -> (b, n)>]
       ins(%x, %f : tensor<?x2xf32>, tensor<3x2xf32>) outs(%0 : tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}

func.func @two_layers(%x: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %w0 = fovea.weight_ref @w0 : tensor<6x2xf16>
  %w1 = fovea.weight_ref @w1 : tensor<6x2xf16>
  %0 = call @layer(%x, %w0) : (tensor<?x2xf32>, tensor<6x2xf16>) -> tensor<?x3xf32>
  %1 = call @layer(%x, %w1) : (tensor<?x2xf32>, tensor<6x2xf16>) -> tensor<?x3xf32>
  return %0, %1 : tensor<?x3xf32>, tensor<?x3xf32>
}
