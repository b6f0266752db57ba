// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s

// CHECK-LABEL: @attention_of_many_queries
// CHECK: #fovea.attention_tiles<queries = {{[0-9]+}}, keys = 64, axis = queries, scores = [{{[0-9]}}, {{[0-9]+}}], values = [{{[0-9]}}, {{[0-9]+}}]>
func.func @attention_of_many_queries(%q: tensor<?x65x2x4xf32>) -> tensor<?x65x2x4xf32> {
  %0 = fovea.group(%a = %q) : (tensor<?x65x2x4xf32>) -> tensor<?x65x2x4xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x65x2x4xf32>, tensor<?x65x2x4xf32>, tensor<?x65x2x4xf32> -> tensor<?x65x2x4xf32>
    fovea.yield %1 : tensor<?x65x2x4xf32>
  }
  return %0 : tensor<?x65x2x4xf32>
}
