// RUN: fovea-opt %s --fovea-schedule="target=avx512bf16" | FileCheck %s --check-prefixes=CHECK,BYTES
// RUN: fovea-opt %s --fovea-schedule="target=amx" | FileCheck %s --check-prefixes=CHECK,AMX
// RUN: fovea-opt %s --fovea-schedule="target=avx2" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fovea-opt %s --fovea-schedule="target=avx512" | FileCheck %s --check-prefixes=CHECK,FLOATS
// RUN: fovea-opt %s --fovea-schedule="target=sm_90a" | FileCheck %s --check-prefixes=CHECK,HALVES

// Rows that are quantised are multiplied as bytes where instructions do, in bf16 on a GPU, and else in f32. With a scale
// for each group a block has sums of integers and of floats, and half the rows. Without, a unit of matrices has blocks of its own.

// CHECK-LABEL: @products
// BYTES: #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], outermost = rows, operands = i8>
// BYTES: #fovea.contraction<tile = [64, 48], chunk = 256, block = [4, 48], outermost = rows, operands = i8>
// AMX: #fovea.contraction<tile = [256, 32], chunk = 256, block = [32, 32], outermost = rows, operands = i8>
// AMX: #fovea.contraction<tile = [64, 48], chunk = 256, block = [4, 48], outermost = rows, operands = i8>
// AVX2-COUNT-2: #fovea.contraction<tile = [48, 16], chunk = 240, block = [4, 16], outermost = rows, operands = i8>
// FLOATS-NOT: operands
// HALVES-COUNT-2: #fovea.contraction<tile = [128, 128], chunk = 128, block = [8, 4], operands = bf16>
func.func @products(%x: tensor<2x?x64xf32>, %w: tensor<256x64xi8>, %s: tensor<256xf32>, %v: tensor<256x64xi4>, %t: tensor<256x2xf16>) -> (tensor<2x?x256xf32>, tensor<2x?x256xf32>) {
  %0 = fovea.group(%a = %x, %b = %w, %c = %s) : (tensor<2x?x64xf32>, tensor<256x64xi8>, tensor<256xf32>) -> tensor<2x?x256xf32> {
    %1 = fovea.linear %a, %b quantize_rows scales(%c : tensor<256xf32>) : tensor<2x?x64xf32>, tensor<256x64xi8> -> tensor<2x?x256xf32>
    fovea.yield %1 : tensor<2x?x256xf32>
  }
  %2 = fovea.group(%a = %x, %b = %v, %c = %t) : (tensor<2x?x64xf32>, tensor<256x64xi4>, tensor<256x2xf16>) -> tensor<2x?x256xf32> {
    %1 = fovea.linear %a, %b quantize_rows scales(%c : tensor<256x2xf16>) : tensor<2x?x64xf32>, tensor<256x64xi4> -> tensor<2x?x256xf32>
    fovea.yield %1 : tensor<2x?x256xf32>
  }
  return %0, %2 : tensor<2x?x256xf32>, tensor<2x?x256xf32>
}
