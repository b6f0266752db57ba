// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Only where a row has no key at all is there a second pass.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: %[[ANY:.*]] = tile.extract
// CHECK: %[[TEST:.*]] = arith.cmpf olt, %{{.*}}, %[[ANY]]
// CHECK: scf.if %[[TEST]]
func.func @mean(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}, %k: tensor<?x?x1x8xf32> {fovea.name = "k"}, %v: tensor<?x?x1x8xf32> {fovea.name = "v"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v) schedule(#fovea.attention_tiles<queries = 16, keys = 32, axis = queries, scores = [4, 16], values = [4, 16]>) : (tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) -> tensor<?x?x2x8xf32> {
    %m = fovea.mask_window right(-1)
    %o = fovea.attention %a, %b, %c mask(%m) fill(mean) : tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}
