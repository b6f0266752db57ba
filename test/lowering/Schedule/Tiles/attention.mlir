// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s --check-prefixes=CHECK,SSE

// CHECK-LABEL: @attention
// AVX512: #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64]>
// AVX2: #fovea.attention_tiles<queries = 16, keys = 64, axis = queries, scores = [4, 16], values = [4, 16]>
// SSE: #fovea.attention_tiles<queries = 16, keys = 64, axis = queries, scores = [2, 16], values = [2, 16]>
func.func @attention(%q: tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
    fovea.yield %1 : tensor<?x?x2x4xf32>
  }
  return %0 : tensor<?x?x2x4xf32>
}
