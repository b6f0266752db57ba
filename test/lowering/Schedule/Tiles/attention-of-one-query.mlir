// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s --check-prefixes=CHECK,SSE

// Queries that fit into a tile leave few blocks of work: keys are split, too.

// CHECK-LABEL: @attention_of_one_query
// AVX512: #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [4, 64], values = [4, 64], split = [512, 64]>
// AVX2: #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [4, 16], values = [4, 16], split = [512, 64]>
// SSE: #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [2, 16], values = [2, 16], split = [512, 64]>
func.func @attention_of_one_query(%q: tensor<?x1x2x4xf32>, %k: tensor<?x?x2x4xf32>) -> tensor<?x1x2x4xf32> {
  %0 = fovea.group(%a = %q, %b = %k) : (tensor<?x1x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %b : tensor<?x1x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %0 : tensor<?x1x2x4xf32>
}
