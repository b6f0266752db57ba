// RUN: fovea-opt %s --fovea-plan-shared | FileCheck %s
// RUN: not fovea-opt %s --fovea-plan-shared=limit=8192 2>&1 | FileCheck %s --check-prefix=LESS

// LESS: error: {{.*}}expects to need at most 8192 bytes of shared memory, needs 10240

// Two operands of one product live together; those of the next product come after them and take their place.
// CHECK-LABEL: func.func private @sequence
// CHECK-SAME: fovea.shared_bytes = 10240 : i64
func.func private @sequence(%x: !tile.view<?x32xf32>, %zero: !tile.tile<64x16xf32>, %n: index) {
  tile.kernel grid(%i) = (%n) {
    // CHECK: tile.shared at(8192) : !tile.shared<16x32xf32>
    %a = tile.shared : !tile.shared<16x32xf32>
    // CHECK: tile.shared at(0) : !tile.shared<64x32xf32>
    %b = tile.shared : !tile.shared<64x32xf32>
    // CHECK: tile.shared at(0) : !tile.shared<16x64xf32>
    %c = tile.shared : !tile.shared<16x64xf32>
    // CHECK: tile.shared at(4096) : !tile.shared<16x64xf32>
    %d = tile.shared : !tile.shared<16x64xf32>
    tile.copy %x[%i, %i] to %b : !tile.view<?x32xf32>, !tile.shared<64x32xf32>
    tile.copy %x[%i, %i] to %a : !tile.view<?x32xf32>, !tile.shared<16x32xf32>
    %0 = tile.mma %b, %a transpose_b into %zero : !tile.shared<64x32xf32>, !tile.shared<16x32xf32> -> !tile.tile<64x16xf32>
    tile.copy %x[%i, %i] to %c : !tile.view<?x32xf32>, !tile.shared<16x64xf32>
    tile.copy %x[%i, %i] to %d : !tile.view<?x32xf32>, !tile.shared<16x64xf32>
    %1 = tile.local_load %c : !tile.shared<16x64xf32> -> !tile.tile<16x64xf32>
    %2 = tile.local_load %d : !tile.shared<16x64xf32> -> !tile.tile<16x64xf32>
  }
  return
}
