// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s --check-prefixes=CHECK,AMPERE

// Attention of bf16 by warpgroups: as many queries share a tile of keys as there are registers for.

// CHECK-LABEL: @many
// HOPPER: #fovea.attention_tiles<queries = 192, keys = 64, axis = queries, {{.*}}, operands = bf16>
// AMPERE: #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, {{.*}}, operands = bf16>
func.func @many(%q: tensor<?x?x2x128xbf16>) -> tensor<?x?x2x128xbf16> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x128xbf16>) -> tensor<?x?x2x128xbf16> {
    %m = fovea.mask_causal
    %1 = fovea.attention %a, %a, %a mask(%m) : tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16> -> tensor<?x?x2x128xbf16>
    fovea.yield %1 : tensor<?x?x2x128xbf16>
  }
  return %0 : tensor<?x?x2x128xbf16>
}
