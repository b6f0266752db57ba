// RUN: fovea-opt %s --fovea-lower-entries | FileCheck %s

fovea.weight @w0 : tensor<4xf32> = #fovea.stored<"a", "w0", tensor<4xf32>>
fovea.weight @w1 : tensor<4xf32> = #fovea.stored<"a", "w1", tensor<4xf32>>

// The plan writes the arena's size, the result's sizes, and the sizes that the steps need.
// CHECK-LABEL: func.func @fovea_run_plan(
// CHECK-SAME: %[[DIMS:.*]]: !llvm.ptr, %[[LOCALS:.*]]: !llvm.ptr) attributes {passthrough = ["noinline", "optnone"]}
// CHECK: llvm.load
// CHECK-COUNT-3: llvm.store

// CHECK-LABEL: func.func @fovea_run_step(
// CHECK-SAME: attributes {passthrough = ["noinline", "optnone"]}
// CHECK: cf.switch %{{.*}} : i64
// CHECK: call @scale_0(
// CHECK-NOT: call @scale_0(
// CHECK: return

// Two launches of one form: one site, two rows of numbers. A row is the site, then buffer 0 of the frame, the place of its
// size, the weight, buffer 1, the place of its size.
// CHECK: llvm.mlir.global internal constant @fovea_run_steps(dense<[0, 0, 2, 0, 1, 1, 0, 0, 2, 1, 1, 1]> : tensor<12xi64>)
// CHECK: fovea.program "run" {{.*}} locals(3) positions(0) steps ["scale_0", "scale_0"] at ["layers.0.mlp", "layers.1.mlp"]
func.func @run(%x: memref<?xf32>, %y: memref<?xf32>) -> index attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?xf32>>], [#fovea.port<"y", tensor<?xf32>>]>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = fovea.arena %c0 : memref<?xi8>
  %w0 = fovea.weight_ref @w0 : memref<4xf32>
  %w1 = fovea.weight_ref @w1 : memref<4xf32>
  fovea.launch @scale_0 ins(%x, %w0 : memref<?xf32>, memref<4xf32>) outs(%y : memref<?xf32>) loc(callsite("layers.*.mlp" at "layers.0"))
  fovea.launch @scale_0 ins(%x, %w1 : memref<?xf32>, memref<4xf32>) outs(%y : memref<?xf32>) loc(callsite("layers.*.mlp" at "layers.1"))
  return %n : index
}

// Kernels are the module's own, and a fault is a store to the frame.
// CHECK-LABEL: func.func private @scale_0(
// CHECK-SAME: %[[FAULT:[^:]*]]: !llvm.ptr, %[[CODE:[^:]*]]: i64)
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK: scf.if
// CHECK: llvm.store %[[CODE]], %[[FAULT]]
// CHECK-NOT: fovea.fault
func.func private @scale_0(%x: memref<?xf32>, %w: memref<4xf32>, %y: memref<?xf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %outside = arith.cmpi ugt, %part, %c0 : index
  fovea.fault %outside
  return
}
