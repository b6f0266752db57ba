// RUN: fovea-opt %s --fovea-schedule="target=sm_90a assume-covered" | FileCheck %s --check-prefixes=CHECK,HOPPER
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s

// A mask that is read at each place has registers of its own.

// CHECK-LABEL: @masked
// HOPPER: #fovea.attention_tiles<queries = 128,
func.func @masked(%q: tensor<?x?x2x128xbf16>, %d: tensor<?x?xi1>) -> tensor<?x?x2x128xbf16> {
  %0 = fovea.group(%a = %q, %t = %d) : (tensor<?x?x2x128xbf16>, tensor<?x?xi1>) -> tensor<?x?x2x128xbf16> {
    %c = fovea.mask_causal
    %e = fovea.mask_dense %t : tensor<?x?xi1>
    %m = fovea.mask_and(%c, %e)
    %1 = fovea.attention %a, %a, %a mask(%m) : tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16>, tensor<?x?x2x128xbf16> -> tensor<?x?x2x128xbf16>
    fovea.yield %1 : tensor<?x?x2x128xbf16>
  }
  return %0 : tensor<?x?x2x128xbf16>
}
