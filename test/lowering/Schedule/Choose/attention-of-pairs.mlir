// RUN: fovea-opt %s --fovea-schedule="target=avx512bf16 assume-covered" | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,NONE

// Products of pairs of bf16 are for many queries; of one, keys and values are read, and f32 is as fast. f16 has none.

// CHECK-LABEL: @attention
// PAIRS: #fovea.attention_tiles<queries = 64, {{.*}}, operands = bf16>
// NONE-NOT: operands
// CHECK: return
func.func @attention(%q: tensor<2x100x4x64xbf16>, %k: tensor<2x100x4x64xbf16>) -> tensor<2x100x4x64xbf16> {
  %0 = fovea.group(%a = %q, %b = %k) : (tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>) -> tensor<2x100x4x64xbf16> {
    %1 = fovea.attention %a, %b, %b : tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16> -> tensor<2x100x4x64xbf16>
    fovea.yield %1 : tensor<2x100x4x64xbf16>
  }
  return %0 : tensor<2x100x4x64xbf16>
}

// CHECK-LABEL: @others
// CHECK-NOT: operands
func.func @others(%q: tensor<2x1x4x64xbf16>, %k: tensor<2x100x4x64xbf16>, %x: tensor<2x100x4x64xf16>) -> (tensor<2x1x4x64xbf16>, tensor<2x100x4x64xf16>) {
  %0 = fovea.group(%a = %q, %b = %k) : (tensor<2x1x4x64xbf16>, tensor<2x100x4x64xbf16>) -> tensor<2x1x4x64xbf16> {
    %1 = fovea.attention %a, %b, %b : tensor<2x1x4x64xbf16>, tensor<2x100x4x64xbf16>, tensor<2x100x4x64xbf16> -> tensor<2x1x4x64xbf16>
    fovea.yield %1 : tensor<2x1x4x64xbf16>
  }
  %2 = fovea.group(%a = %x) : (tensor<2x100x4x64xf16>) -> tensor<2x100x4x64xf16> {
    %1 = fovea.attention %a, %a, %a : tensor<2x100x4x64xf16>, tensor<2x100x4x64xf16>, tensor<2x100x4x64xf16> -> tensor<2x100x4x64xf16>
    fovea.yield %1 : tensor<2x100x4x64xf16>
  }
  return %0, %2 : tensor<2x1x4x64xbf16>, tensor<2x100x4x64xf16>
}
