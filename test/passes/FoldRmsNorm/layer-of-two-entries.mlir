// RUN: fovea-opt %s --fovea-fold-rms-norm | FileCheck %s
// RUN: fovea-opt %s --fovea-fold-rms-norm | fovea-opt --verify-roundtrip

// A layer function that two entries call for two layers. The head stands in the entries themselves, behind a norm of
// each; the weight's distance from one is folded as such. A narrow norm is exact.

// CHECK-DAG: fovea.weight @w0 : tensor<6x4xf32> = #fovea.scale_columns<#fovea.stored<"f", "w0", tensor<6x4xf32>>, #fovea.stored<"f", "n0", tensor<4xbf16>>, 1.000000e+00 : f64>
// CHECK-DAG: fovea.weight @w1 : tensor<6x4xf32> = #fovea.scale_columns<#fovea.stored<"f", "w1", tensor<6x4xf32>>, #fovea.stored<"f", "n1", tensor<4xbf16>>, 1.000000e+00 : f64>
// CHECK-DAG: fovea.weight @head : tensor<9x4xf32> = #fovea.scale_columns<#fovea.stored<"f", "head", tensor<9x4xf32>>, #fovea.stored<"f", "n", tensor<4xf32>>, 0.000000e+00 : f64>
// CHECK-DAG: fovea.weight @o0 : tensor<4x6xf32> = #fovea.stored<"f", "o0", tensor<4x6xf32>>
// CHECK-DAG: fovea.weight @n0 : tensor<4xbf16> = #fovea.stored
fovea.weight @n0 : tensor<4xbf16> = #fovea.stored<"f", "n0", tensor<4xbf16>>
fovea.weight @n1 : tensor<4xbf16> = #fovea.stored<"f", "n1", tensor<4xbf16>>
fovea.weight @w0 : tensor<6x4xf32> = #fovea.stored<"f", "w0", tensor<6x4xf32>>
fovea.weight @w1 : tensor<6x4xf32> = #fovea.stored<"f", "w1", tensor<6x4xf32>>
fovea.weight @o0 : tensor<4x6xf32> = #fovea.stored<"f", "o0", tensor<4x6xf32>>
fovea.weight @o1 : tensor<4x6xf32> = #fovea.stored<"f", "o1", tensor<4x6xf32>>
fovea.weight @n : tensor<4xf32> = #fovea.stored<"f", "n", tensor<4xf32>>
fovea.weight @head : tensor<9x4xf32> = #fovea.stored<"f", "head", tensor<9x4xf32>>

// CHECK-LABEL: func.func private @layer
// CHECK-SAME: (%[[X:[^:]*]]: tensor<?x4xf32>, %[[W:[^:]*]]: tensor<6x4xf32>, %[[O:[^:]*]]: tensor<4x6xf32>)
// CHECK: %[[N:.*]] = fovea.rms_norm %[[X]] eps(1.000000e-05)
// CHECK: %[[Y:.*]] = fovea.linear %[[N]], %[[W]]
// CHECK: fovea.linear %[[Y]], %[[O]]
func.func private @layer(%x: tensor<?x4xf32>, %n: tensor<4xbf16>, %w: tensor<6x4xf32>, %o: tensor<4x6xf32>) -> tensor<?x4xf32> {
  %0 = fovea.rms_norm %x weight(%n : tensor<4xbf16>) offset(1.0) eps(1.0e-5) : tensor<?x4xf32>
  %1 = fovea.linear %0, %w : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
  %2 = fovea.linear %1, %o : tensor<?x6xf32>, tensor<4x6xf32> -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[W0:.*]] = fovea.weight_ref @w0
// CHECK-DAG: %[[O0:.*]] = fovea.weight_ref @o0
// CHECK: call @layer(%{{.*}}, %[[W0]], %[[O0]]) : (tensor<?x4xf32>, tensor<6x4xf32>, tensor<4x6xf32>)
// CHECK: fovea.rms_norm %{{.*}} eps(5.000000e-01)
func.func @forward(%x: tensor<?x4xf32>) -> tensor<?x9xf32> attributes {fovea.entry} {
  %n0 = fovea.weight_ref @n0 : tensor<4xbf16>
  %w0 = fovea.weight_ref @w0 : tensor<6x4xf32>
  %o0 = fovea.weight_ref @o0 : tensor<4x6xf32>
  %n1 = fovea.weight_ref @n1 : tensor<4xbf16>
  %w1 = fovea.weight_ref @w1 : tensor<6x4xf32>
  %o1 = fovea.weight_ref @o1 : tensor<4x6xf32>
  %n = fovea.weight_ref @n : tensor<4xf32>
  %head = fovea.weight_ref @head : tensor<9x4xf32>
  %0 = call @layer(%x, %n0, %w0, %o0) : (tensor<?x4xf32>, tensor<4xbf16>, tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<?x4xf32>
  %1 = call @layer(%0, %n1, %w1, %o1) : (tensor<?x4xf32>, tensor<4xbf16>, tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<?x4xf32>
  %2 = fovea.rms_norm %1 weight(%n : tensor<4xf32>) eps(0.5) : tensor<?x4xf32>
  %3 = fovea.linear %2, %head : tensor<?x4xf32>, tensor<9x4xf32> -> tensor<?x9xf32>
  return %3 : tensor<?x9xf32>
}

// CHECK-LABEL: func.func @decode
// CHECK: fovea.rms_norm %{{.*}} eps(5.000000e-01)
func.func @decode(%x: tensor<?x4xf32>) -> tensor<?x9xf32> attributes {fovea.entry} {
  %n0 = fovea.weight_ref @n0 : tensor<4xbf16>
  %w0 = fovea.weight_ref @w0 : tensor<6x4xf32>
  %o0 = fovea.weight_ref @o0 : tensor<4x6xf32>
  %n = fovea.weight_ref @n : tensor<4xf32>
  %head = fovea.weight_ref @head : tensor<9x4xf32>
  %0 = call @layer(%x, %n0, %w0, %o0) : (tensor<?x4xf32>, tensor<4xbf16>, tensor<6x4xf32>, tensor<4x6xf32>) -> tensor<?x4xf32>
  %2 = fovea.rms_norm %0 weight(%n : tensor<4xf32>) eps(0.5) : tensor<?x4xf32>
  %3 = fovea.linear %2, %head : tensor<?x4xf32>, tensor<9x4xf32> -> tensor<?x9xf32>
  return %3 : tensor<?x9xf32>
}
