// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s

// CHECK-LABEL: @rows_and_elements
// CHECK: #fovea.rows<rows = 4>
// CHECK: #fovea.elements<count = 1024>
// CHECK: #fovea.rows<rows = 4>
// CHECK: #fovea.rows<rows = 4>
func.func @rows_and_elements(%x: tensor<?x?x4xf32>, %ids: tensor<?xi64>, %t: tensor<6x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = fovea.group(%a = %x) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
    %1 = arith.addf %a, %a : tensor<?x?x4xf32>
    %2 = fovea.rms_norm %1 eps(1.0e-5) : tensor<?x?x4xf32>
    fovea.yield %2 : tensor<?x?x4xf32>
  }
  %3 = fovea.group(%a = %0) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
    %4 = arith.addf %a, %a : tensor<?x?x4xf32>
    fovea.yield %4 : tensor<?x?x4xf32>
  }
  %5 = fovea.group(%a = %ids, %b = %t) : (tensor<?xi64>, tensor<6x4xf32>) -> tensor<?x4xf32> {
    %6 = fovea.embedding %a, %b : tensor<?xi64>, tensor<6x4xf32> -> tensor<?x4xf32>
    fovea.yield %6 : tensor<?x4xf32>
  }
  %7 = fovea.group(%a = %x) : (tensor<?x?x4xf32>) -> tensor<?x4xf32> {
    %8 = fovea.pool mean %a : tensor<?x?x4xf32> -> tensor<?x4xf32>
    fovea.yield %8 : tensor<?x4xf32>
  }
  return %3, %5, %7 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
