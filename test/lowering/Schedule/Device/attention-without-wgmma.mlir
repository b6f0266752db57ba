// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s

// No more than there are; heads that wgmma does not take; f32, which it does not either.

// CHECK-LABEL: @others
// HOPPER: #fovea.attention_tiles<queries = 128,
// HOPPER: #fovea.attention_tiles<queries = 64,
// CHECK: #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [8, 4], values = [8, 4]>
func.func @others(%x: tensor<?x100x2x64xbf16>, %y: tensor<?x?x2x72xbf16>, %z: tensor<?x?x2x64xf32>) -> (tensor<?x100x2x64xbf16>, tensor<?x?x2x72xbf16>, tensor<?x?x2x64xf32>) {
  %0 = fovea.group(%a = %x) : (tensor<?x100x2x64xbf16>) -> tensor<?x100x2x64xbf16> {
    %1 = fovea.attention %a, %a, %a : tensor<?x100x2x64xbf16>, tensor<?x100x2x64xbf16>, tensor<?x100x2x64xbf16> -> tensor<?x100x2x64xbf16>
    fovea.yield %1 : tensor<?x100x2x64xbf16>
  }
  %2 = fovea.group(%a = %y) : (tensor<?x?x2x72xbf16>) -> tensor<?x?x2x72xbf16> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x72xbf16>, tensor<?x?x2x72xbf16>, tensor<?x?x2x72xbf16> -> tensor<?x?x2x72xbf16>
    fovea.yield %1 : tensor<?x?x2x72xbf16>
  }
  %3 = fovea.group(%a = %z) : (tensor<?x?x2x64xf32>) -> tensor<?x?x2x64xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x2x64xf32>
    fovea.yield %1 : tensor<?x?x2x64xf32>
  }
  return %0, %2, %3 : tensor<?x100x2x64xbf16>, tensor<?x?x2x72xbf16>, tensor<?x?x2x64xf32>
}
