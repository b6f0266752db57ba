// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s --check-prefixes=CHECK,AMPERE

// Halves by a weight of the same type: two warpgroups; by another one, or by few columns, as all else.

// CHECK-LABEL: @products
// HOPPER: #fovea.contraction<tile = [128, 128], chunk = 128, block = [8, 4]>
// HOPPER: #fovea.contraction<tile = [64, 64], chunk = 64, block = [8, 4]>
// HOPPER: #fovea.contraction<tile = [64, 64], chunk = 64, block = [8, 4]>
// AMPERE-COUNT-3: #fovea.contraction<tile = [64, 64], chunk = 64, block = [8, 4]>
func.func @products(%x: tensor<?x?x64xf16>, %w: tensor<256x64xf16>, %v: tensor<256x64xbf16>, %u: tensor<96x64xf16>) -> (tensor<?x?x256xf16>, tensor<?x?x256xf16>, tensor<?x?x96xf16>) {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x?x64xf16>, tensor<256x64xf16>) -> tensor<?x?x256xf16> {
    %1 = fovea.linear %a, %b : tensor<?x?x64xf16>, tensor<256x64xf16> -> tensor<?x?x256xf16>
    fovea.yield %1 : tensor<?x?x256xf16>
  }
  %2 = fovea.group(%a = %x, %b = %v) : (tensor<?x?x64xf16>, tensor<256x64xbf16>) -> tensor<?x?x256xf16> {
    %1 = fovea.linear %a, %b : tensor<?x?x64xf16>, tensor<256x64xbf16> -> tensor<?x?x256xf16>
    fovea.yield %1 : tensor<?x?x256xf16>
  }
  %3 = fovea.group(%a = %x, %b = %u) : (tensor<?x?x64xf16>, tensor<96x64xf16>) -> tensor<?x?x96xf16> {
    %1 = fovea.linear %a, %b : tensor<?x?x64xf16>, tensor<96x64xf16> -> tensor<?x?x96xf16>
    fovea.yield %1 : tensor<?x?x96xf16>
  }
  return %0, %2, %3 : tensor<?x?x256xf16>, tensor<?x?x256xf16>, tensor<?x?x96xf16>
}
