// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s

// A batch of one is no reason for a tile of one row.

// CHECK-LABEL: @static_batch
// AVX512: #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], outermost = rows>
func.func @static_batch(%x: tensor<1x8x4xf32>, %w: tensor<6x4xf32>) -> tensor<1x8x6xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<1x8x4xf32>, tensor<6x4xf32>) -> tensor<1x8x6xf32> {
    %1 = fovea.linear %a, %b : tensor<1x8x4xf32>, tensor<6x4xf32> -> tensor<1x8x6xf32>
    fovea.yield %1 : tensor<1x8x6xf32>
  }
  return %0 : tensor<1x8x6xf32>
}
