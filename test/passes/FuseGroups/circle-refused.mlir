// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse --split-input-file > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse --split-input-file > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse --split-input-file | FileCheck %s

// The norm's group would also give the sum, but something with unknown effects reads it before the norm.

// CHECK-LABEL: func.func @circle
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.yield
// CHECK: call @f
// CHECK: fovea.group
// CHECK-NEXT: fovea.layer_norm
func.func private @f(tensor<4x32xf32>) -> tensor<32xf32>
func.func @circle(%x: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %0 = arith.addf %x, %x : tensor<4x32xf32>
  %1 = call @f(%0) : (tensor<4x32xf32>) -> tensor<32xf32>
  %2 = fovea.layer_norm %0 weight(%1 : tensor<32xf32>) eps(1.0e-5) : tensor<4x32xf32>
  return %0, %2 : tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// The same with a norm's bias that is computed from the sum: joining would make a circle.

// CHECK-LABEL: func.func @around
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.yield
func.func @around(%x: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %0 = arith.addf %x, %x : tensor<4x32xf32>
  %1 = tensor.extract_slice %0[1, 0] [1, 32] [1, 1] : tensor<4x32xf32> to tensor<32xf32>
  %2 = fovea.layer_norm %0 weight(%1 : tensor<32xf32>) eps(1.0e-5) : tensor<4x32xf32>
  return %0, %2 : tensor<4x32xf32>, tensor<4x32xf32>
}
