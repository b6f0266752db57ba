// RUN: fovea-opt %s --fovea-lower-entries=launches -verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-to-host -verify-diagnostics | FileCheck %s --check-prefix=HOST

fovea.weight @w0 : tensor<4xf32> = #fovea.stored<"a", "w0", tensor<4xf32>>

// The plan is the CPU's; a launch gives blocks, fault, and as words: the number, the address of %x and its size, that of the
// weight, that of %y and its size, where to write a fault and what.
// CHECK-LABEL: func.func @fovea_run_plan(
// CHECK-LABEL: func.func @fovea_run_launch(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %[[STEP:[^:]*]]: i64, %{{[^:]*}}: !llvm.ptr)
// CHECK: cf.switch
// CHECK: %[[CODE:.*]] = llvm.add %[[STEP]]
// CHECK: %[[WRONG:.*]] = arith.cmpi ugt
// CHECK: arith.select %[[WRONG]], %[[CODE]]
// CHECK: llvm.store
// CHECK: llvm.store
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: memref.extract_aligned_pointer_as_index
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(8 : i64)
// CHECK: llvm.store %[[COUNT]]
// CHECK-COUNT-8: llvm.store
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: %[[MAPS:.*]] = llvm.getelementptr %{{.*}}[2072]
// CHECK: llvm.store %[[NONE]], %[[MAPS]]
// CHECK-NOT: llvm.store
// CHECK: return
// CHECK: fovea.program "run"
// CHECK-NOT: @scale_0(
// HOST-LABEL: llvm.func @fovea_run_launch(
// HOST-NOT: tile.
func.func @run(%x: memref<?xf32>, %y: memref<?xf32>) -> index attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?xf32>>], [#fovea.port<"y", tensor<?xf32>>]>} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  %a = fovea.arena %c0 : memref<?xi8>
  %w0 = fovea.weight_ref @w0 : memref<4xf32>
  fovea.launch @scale_0 ins(%n, %x, %w0 : index, memref<?xf32>, memref<4xf32>) outs(%y : memref<?xf32>)
  return %n : index
}

func.func private @scale_0(%n: index, %x: memref<?xf32>, %w: memref<4xf32>, %y: memref<?xf32>, %part: index, %parts: index) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %size = memref.dim %x, %c0 : memref<?xf32>
  %outside = arith.cmpi ugt, %size, %n : index
  fovea.fault %outside
  %blocks = arith.ceildivui %size, %c4 : index
  tile.kernel grid(%i, %j) = (%blocks, %c4) {
  }
  return
}
