// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s --check-prefixes=CHECK,SSE

// Few outputs: narrower pieces, so that each thread has some. What follows a product is its epilogue.

// CHECK-LABEL: @narrow_row_with_epilogue
// AVX512: #fovea.contraction<tile = [1, 64], chunk = 16, block = [1, 64]>
// AVX2: #fovea.contraction<tile = [1, 64], chunk = 16, block = [1, 64]>
// SSE: #fovea.contraction<tile = [1, 32], chunk = 16, block = [1, 32]>
func.func @narrow_row_with_epilogue(%x: tensor<?x4xf32>, %w: tensor<767x4xf32>) -> tensor<?x767xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x4xf32>, tensor<767x4xf32>) -> tensor<?x767xf32> {
    %1 = fovea.linear %a, %b : tensor<?x4xf32>, tensor<767x4xf32> -> tensor<?x767xf32>
    %2 = fovea.activation silu %1 : tensor<?x767xf32>
    fovea.yield %2 : tensor<?x767xf32>
  }
  return %0 : tensor<?x767xf32>
}
