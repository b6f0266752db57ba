// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s --check-prefixes=CHECK,SSE

// CHECK-LABEL: @many_rows
// AVX512: #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], outermost = rows>
// AVX2: #fovea.contraction<tile = [48, 16], chunk = 240, block = [6, 16], outermost = rows>
// SSE: #fovea.contraction<tile = [32, 16], chunk = 256, block = [2, 16], outermost = rows>
func.func @many_rows(%x: tensor<?x?x4xf32>, %w: tensor<2048x4xf32>) -> tensor<?x?x2048xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x?x4xf32>, tensor<2048x4xf32>) -> tensor<?x?x2048xf32> {
    %1 = fovea.linear %a, %b : tensor<?x?x4xf32>, tensor<2048x4xf32> -> tensor<?x?x2048xf32>
    fovea.yield %1 : tensor<?x?x2048xf32>
  }
  return %0 : tensor<?x?x2048xf32>
}
