// RUN: fovea-opt %s --fovea-form-groups --split-input-file -verify-diagnostics

func.func @scalar_argument(%x: f32) -> tensor<2xf32> {
  // expected-error @below {{expects operands that are tensors, caches, index values or computed from them in its block, got one of type 'f32'}}
  %y = tensor.splat %x : tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @side_effect(%x: memref<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{expects no side effects}}
  %y = bufferization.to_tensor %x restrict : memref<2xf32> to tensor<2xf32>
  return %y : tensor<2xf32>
}

// -----

func.func @unranked(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{expects results that are ranked tensors, caches or index values, to stand in a group, got 'tensor<*xf32>'}}
  %y = arith.negf %x : tensor<*xf32>
  return %y : tensor<*xf32>
}
