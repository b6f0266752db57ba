// RUN: fovea-opt %s --fovea-outline-layers | FileCheck %s

// Three layers of an encoder with norms behind; the mask is made in the first layer. Sizes come from arguments again; a
// layer ends with its norm, as then one tensor goes on.

// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32>, %[[W:[^:]*]]: tensor<8x8xf32>, %[[M:.*]]: tensor<?x1x1x?xi64>, %[[N:[^:]*]]: tensor<8xf32>) -> tensor<?x?x8xf32>
// CHECK: %[[L:.*]] = fovea.linear %[[X]], %[[W]]
// CHECK: %[[H:.*]] = tensor.expand_shape %[[L]] {{\[\[}}0], [1], [2, 3]] output_shape [%{{.*}}, %{{.*}}, 2, 4]
// CHECK: %[[K:.*]] = fovea.mask_dense %[[M]]
// CHECK: %[[A:.*]] = fovea.attention %[[H]], %[[H]], %[[H]] mask(%[[K]])
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[A]]
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[C]]
// CHECK: %[[Y:.*]] = fovea.layer_norm %[[S]] weight(%[[N]] : tensor<8xf32>)
// CHECK: return %[[Y]]
// CHECK-LABEL: func.func @encoder
// CHECK-SAME: (%[[X:.*]]: tensor<?x?x8xf32> {{{.*}}}, %[[MASK:.*]]: tensor<?x?xi64> {{{.*}}}, %[[W0:.*]]: tensor<8x8xf32> {{{.*}}}, %[[W1:.*]]: tensor<8x8xf32> {{{.*}}}, %[[W2:.*]]: tensor<8x8xf32> {{{.*}}}, %[[N:.*]]: tensor<8xf32> {{{.*}}})
// CHECK-DAG: %[[E:.*]] = fovea.layer_norm %[[X]]
// CHECK-DAG: %[[M:.*]] = tensor.expand_shape %[[MASK]]
// CHECK: %[[Y0:.*]] = call @layer(%[[E]], %[[W0]], %[[M]], %[[N]])
// CHECK-NEXT: %[[Y1:.*]] = call @layer(%[[Y0]], %[[W1]], %[[M]], %[[N]])
// CHECK-NEXT: %[[Y2:.*]] = call @layer(%[[Y1]], %[[W2]], %[[M]], %[[N]])
// CHECK-NEXT: return %[[Y2]]
func.func @encoder(%x: tensor<?x?x8xf32> {fovea.name = "x", fovea.dims = ["b", "s"]}, %mask: tensor<?x?xi64> {fovea.name = "m", fovea.dims = ["b", "s"]}, %w0: tensor<8x8xf32> {fovea.name = "w0"}, %w1: tensor<8x8xf32> {fovea.name = "w1"},
                   %w2: tensor<8x8xf32> {fovea.name = "w2"}, %n: tensor<8xf32> {fovea.name = "n"}) -> (tensor<?x?x8xf32> {fovea.name = "y", fovea.dims = ["b", "s"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %e = fovea.layer_norm %x weight(%n : tensor<8xf32>) eps(1.0e-5) : tensor<?x?x8xf32>
  %0 = fovea.linear %e, %w0 : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  %h0 = tensor.expand_shape %0 [[0], [1], [2, 3]] output_shape [%b, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %m = tensor.expand_shape %mask [[0], [1, 2, 3]] output_shape [%b, 1, 1, %s] : tensor<?x?xi64> into tensor<?x1x1x?xi64>
  %k = fovea.mask_dense %m : tensor<?x1x1x?xi64>
  %a0 = fovea.attention %h0, %h0, %h0 mask(%k) scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %f0 = tensor.collapse_shape %a0 [[0], [1], [2, 3]] : tensor<?x?x2x4xf32> into tensor<?x?x8xf32>
  %s0 = arith.addf %e, %f0 : tensor<?x?x8xf32>
  %y0 = fovea.layer_norm %s0 weight(%n : tensor<8xf32>) eps(1.0e-5) : tensor<?x?x8xf32>
  %1 = fovea.linear %y0, %w1 : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  // A size of what is inside a layer.
  %b1 = tensor.dim %1, %c0 : tensor<?x?x8xf32>
  %h1 = tensor.expand_shape %1 [[0], [1], [2, 3]] output_shape [%b1, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %a1 = fovea.attention %h1, %h1, %h1 mask(%k) scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %f1 = tensor.collapse_shape %a1 [[0], [1], [2, 3]] : tensor<?x?x2x4xf32> into tensor<?x?x8xf32>
  %s1 = arith.addf %y0, %f1 : tensor<?x?x8xf32>
  %y1 = fovea.layer_norm %s1 weight(%n : tensor<8xf32>) eps(1.0e-5) : tensor<?x?x8xf32>
  %2 = fovea.linear %y1, %w2 : tensor<?x?x8xf32>, tensor<8x8xf32> -> tensor<?x?x8xf32>
  %h2 = tensor.expand_shape %2 [[0], [1], [2, 3]] output_shape [%b, %s, 2, 4] : tensor<?x?x8xf32> into tensor<?x?x2x4xf32>
  %a2 = fovea.attention %h2, %h2, %h2 mask(%k) scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  %f2 = tensor.collapse_shape %a2 [[0], [1], [2, 3]] : tensor<?x?x2x4xf32> into tensor<?x?x8xf32>
  %s2 = arith.addf %y1, %f2 : tensor<?x?x8xf32>
  %y2 = fovea.layer_norm %s2 weight(%n : tensor<8xf32>) eps(1.0e-5) : tensor<?x?x8xf32>
  return %y2 : tensor<?x?x8xf32>
}
