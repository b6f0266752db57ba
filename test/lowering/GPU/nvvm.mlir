// RUN: fovea-opt %s --fovea-outline-device | FileCheck %s --check-prefix=OUTLINE
// RUN: fovea-opt %s --fovea-outline-device --fovea-to-threads --fovea-to-nvvm | FileCheck %s

// Entries stay behind.
// OUTLINE: module attributes {fovea.target = #fovea.target<"sm_80"
// OUTLINE-NOT: @entry
// OUTLINE: gpu.module @gpu {
// OUTLINE-NEXT: func.func private @scale(%{{.*}}: memref<?x4xf32>

module attributes {fovea.target = #fovea.target<"sm_80", lanes = 1, registers = 255>} {
  // The address of %x and its rows; %n; of %s address, offset and the stride that is open; then
  // where faults go, and what.
  // CHECK-LABEL: llvm.func @scale
  // CHECK-SAME: (%[[X:.*]]: i64, %[[ROWS:.*]]: i64, %{{[^:]*}}: i64, %[[S:.*]]: i64, %[[OFFSET:.*]]: i64, %[[STRIDE:.*]]: i64, %[[FAULT:.*]]: i64, %[[WORD:[^:]*]]: i64)
  // CHECK-SAME: nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 128>
  // CHECK-DAG: llvm.inttoptr %[[X]] : i64 to !llvm.ptr<1>
  // CHECK-DAG: llvm.inttoptr %[[S]] : i64 to !llvm.ptr<1>
  // CHECK-DAG: %[[WHERE:.*]] = llvm.inttoptr %[[FAULT]] : i64 to !llvm.ptr<1>
  // CHECK: llvm.store %[[WORD]], %[[WHERE]] : i64, !llvm.ptr<1>
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
  func.func private @scale(%x: memref<?x4xf32>, %n: index, %s: memref<4x4xf32, strided<[?, 1], offset: ?>>, %part: index, %parts: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %rows = memref.dim %x, %c0 : memref<?x4xf32>
    scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
      %bad = arith.cmpi uge, %i, %n : index
      fovea.fault %bad
      %at = arith.remui %i, %c4 : index
      %0 = memref.load %s[%at, %c1] : memref<4x4xf32, strided<[?, 1], offset: ?>>
      %1 = math.exp2 %0 : f32
      memref.store %1, %x[%i, %c0] : memref<?x4xf32>
    }
    return
  }
  func.func @entry() -> index attributes {fovea.entry} {
    %c0 = arith.constant 0 : index
    return %c0 : index
  }
}
