// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s --check-prefixes=CHECK,SSE

// One position of each batch row.

// CHECK-LABEL: @one_row
// AVX512: #fovea.contraction<tile = [1, 128], chunk = 16, block = [1, 128]>
// AVX2: #fovea.contraction<tile = [1, 64], chunk = 16, block = [1, 64]>
// SSE: #fovea.contraction<tile = [1, 32], chunk = 16, block = [1, 32]>
func.func @one_row(%x: tensor<?x1x4xf32>, %w: tensor<1024x4xf32>) -> tensor<?x1x1024xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x1x4xf32>, tensor<1024x4xf32>) -> tensor<?x1x1024xf32> {
    %1 = fovea.linear %a, %b : tensor<?x1x4xf32>, tensor<1024x4xf32> -> tensor<?x1x1024xf32>
    fovea.yield %1 : tensor<?x1x1024xf32>
  }
  return %0 : tensor<?x1x1024xf32>
}
