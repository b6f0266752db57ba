// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s

// The scores of a mask that is read at each place, for a head of 64: there is room for them.

// CHECK-LABEL: @small_heads
// HOPPER: #fovea.attention_tiles<queries = 192,
func.func @small_heads(%q: tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x64xbf16>) -> tensor<?x?x2x64xbf16> {
    %1 = fovea.attention %a, %a, %a score() {
      ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
        %y = math.tanh %x : f32
        fovea.yield %y : f32
    } : tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16>, tensor<?x?x2x64xbf16> -> tensor<?x?x2x64xbf16>
    fovea.yield %1 : tensor<?x?x2x64xbf16>
  }
  return %0 : tensor<?x?x2x64xbf16>
}
