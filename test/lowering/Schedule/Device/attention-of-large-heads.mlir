// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s

// CHECK-LABEL: @large_heads
// HOPPER: #fovea.attention_tiles<queries = 128,
func.func @large_heads(%q: tensor<?x?x2x256xf16>) -> tensor<?x?x2x256xf16> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x256xf16>) -> tensor<?x?x2x256xf16> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x256xf16>, tensor<?x?x2x256xf16>, tensor<?x?x2x256xf16> -> tensor<?x?x2x256xf16>
    fovea.yield %1 : tensor<?x?x2x256xf16>
  }
  return %0 : tensor<?x?x2x256xf16>
}
