// RUN: fovea-opt %s --fovea-schedule="target=amx assume-covered" | FileCheck %s --check-prefixes=CHECK,AMX
// RUN: fovea-opt %s --fovea-schedule="target=avx512bf16 assume-covered" | FileCheck %s --check-prefixes=CHECK,PAIRS

// Of bf16 by bf16 a unit of matrices has blocks of its own, gate or not; of other types it has none.

// CHECK-LABEL: @products
// AMX: #fovea.contraction<tile = [256, 32], chunk = 256, block = [32, 32], outermost = rows>
// AMX: #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], outermost = rows>
// PAIRS-COUNT-2: #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48], outermost = rows>
func.func @products(%x: tensor<2x?x64xbf16>, %y: tensor<2x?x64xf16>, %w: tensor<256x64xbf16>, %v: tensor<256x64xf16>) -> (tensor<2x?x256xf32>, tensor<2x?x256xf16>) {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<2x?x64xbf16>, tensor<256x64xbf16>) -> tensor<2x?x256xf32> {
    %1 = fovea.linear %a, %b : tensor<2x?x64xbf16>, tensor<256x64xbf16> -> tensor<2x?x256xf32>
    fovea.yield %1 : tensor<2x?x256xf32>
  }
  %2 = fovea.group(%a = %y, %b = %v) : (tensor<2x?x64xf16>, tensor<256x64xf16>) -> tensor<2x?x256xf16> {
    %1 = fovea.linear %a, %b : tensor<2x?x64xf16>, tensor<256x64xf16> -> tensor<2x?x256xf16>
    fovea.yield %1 : tensor<2x?x256xf16>
  }
  return %0, %2 : tensor<2x?x256xf32>, tensor<2x?x256xf16>
}
