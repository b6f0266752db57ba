// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// One pass over the keys that the mask covers, with a running maximum and sum; no test outside of the interval, no scores
// in memory.
// CHECK-LABEL: func.func private @attention_0(
// CHECK: %[[ROW:.*]] = memref.alloca() : memref<8xf32>
// CHECK: scf.parallel (%{{.*}}, %{{.*}}, %[[I:.*]]) =
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %[[END]] {{.*}} iter_args(%[[MAX:.*]] = %{{.*}}, %[[SUM:.*]] = %{{.*}}, %{{.*}} = %{{.*}}) -> (f32, f32, i1)
// CHECK: arith.cmpi sle
// CHECK: scf.if
// CHECK: %[[X:.*]] = scf.for
// CHECK: %[[RAISED:.*]] = arith.maximumf %[[MAX]],
// CHECK: math.exp
// CHECK: math.exp
// CHECK: memref.store %{{.*}}, %[[ROW]]
// CHECK-NOT: memref.alloc(
func.func @causal(%q: tensor<?x?x2x8xf32> {fovea.name = "q"}, %k: tensor<?x?x1x8xf32> {fovea.name = "k"}, %v: tensor<?x?x1x8xf32> {fovea.name = "v"}) -> (tensor<?x?x2x8xf32> {fovea.name = "o"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %q, %b = %k, %c = %v) schedule(#fovea.loops<parallel = 3>) : (tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) -> tensor<?x?x2x8xf32> {
    %m = fovea.mask_causal
    %o = fovea.attention %a, %b, %c mask(%m) : tensor<?x?x2x8xf32>, tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32> -> tensor<?x?x2x8xf32>
    fovea.yield %o : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}
