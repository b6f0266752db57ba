// RUN: fovea-opt %s --fovea-schedule="target=avx512bf16 assume-covered" | FileCheck %s --check-prefixes=CHECK,PAIRS
// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,NONE

// Products of pairs of bf16 are for many queries, and for one where at most sixteen heads share keys and rows are whole vectors of pairs:
// these are made as keys and values are read. f16 has none.

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

// CHECK-LABEL: @one
// PAIRS: #fovea.attention_tiles<queries = 16, {{.*}}, axis = heads, {{.*}}, operands = bf16>
// NONE-NOT: operands
// CHECK: return
func.func @one(%q: tensor<2x1x4x64xbf16>, %k: tensor<2x100x1x64xbf16>) -> tensor<2x1x4x64xbf16> {
  %0 = fovea.group(%a = %q, %b = %k) : (tensor<2x1x4x64xbf16>, tensor<2x100x1x64xbf16>) -> tensor<2x1x4x64xbf16> {
    %1 = fovea.attention %a, %b, %b : tensor<2x1x4x64xbf16>, tensor<2x100x1x64xbf16>, tensor<2x100x1x64xbf16> -> tensor<2x1x4x64xbf16>
    fovea.yield %1 : tensor<2x1x4x64xbf16>
  }
  return %0 : tensor<2x1x4x64xbf16>
}

// CHECK-LABEL: @others
// CHECK-NOT: operands
func.func @others(%q: tensor<2x1x17x64xbf16>, %k: tensor<2x100x1x64xbf16>, %r: tensor<2x1x4x48xbf16>, %l: tensor<2x100x4x48xbf16>,
                  %x: tensor<2x100x4x64xf16>) -> (tensor<2x1x17x64xbf16>, tensor<2x1x4x48xbf16>, tensor<2x100x4x64xf16>) {
  %0 = fovea.group(%a = %q, %b = %k) : (tensor<2x1x17x64xbf16>, tensor<2x100x1x64xbf16>) -> tensor<2x1x17x64xbf16> {
    %1 = fovea.attention %a, %b, %b : tensor<2x1x17x64xbf16>, tensor<2x100x1x64xbf16>, tensor<2x100x1x64xbf16> -> tensor<2x1x17x64xbf16>
    fovea.yield %1 : tensor<2x1x17x64xbf16>
  }
  %3 = fovea.group(%a = %r, %b = %l) : (tensor<2x1x4x48xbf16>, tensor<2x100x4x48xbf16>) -> tensor<2x1x4x48xbf16> {
    %1 = fovea.attention %a, %b, %b : tensor<2x1x4x48xbf16>, tensor<2x100x4x48xbf16>, tensor<2x100x4x48xbf16> -> tensor<2x1x4x48xbf16>
    fovea.yield %1 : tensor<2x1x4x48xbf16>
  }
  %2 = fovea.group(%a = %x) : (tensor<2x100x4x64xf16>) -> tensor<2x100x4x64xf16> {
    %1 = fovea.attention %a, %a, %a : tensor<2x100x4x64xf16>, tensor<2x100x4x64xf16>, tensor<2x100x4x64xf16> -> tensor<2x100x4x64xf16>
    fovea.yield %1 : tensor<2x100x4x64xf16>
  }
  return %0, %3, %2 : tensor<2x1x17x64xbf16>, tensor<2x1x4x48xbf16>, tensor<2x100x4x64xf16>
}
