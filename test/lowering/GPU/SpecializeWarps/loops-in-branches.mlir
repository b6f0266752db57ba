// RUN: fovea-opt %s --fovea-specialize-warps | FileCheck %s
// RUN: fovea-opt %s --fovea-specialize-warps=limit=100000 | FileCheck %s --check-prefix=SMALL

// Loops in branches of a loop: the count goes through both sides. Rows of 40 bytes are no multiple of 16, so all threads of
// the producer copy; what a loop carries besides stays with the consumer. Three slots fit where four do not.
// CHECK-LABEL: func.func private @branches
// CHECK-NOT: fovea.tensor_maps
// SMALL-LABEL: func.func private @branches
func.func private @branches(%k: memref<?x20xbf16>, %n: index, %any: i1, %sum0: !tile.tile<192x512xf32>) attributes {fovea.threads = 384 : i32} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  %kv = tile.view %k axes(0, 1) : memref<?x20xbf16> -> !tile.view<?x20xbf16>
  tile.kernel grid(%i) = (%n) {
    %b = tile.shared : !tile.shared<512x32xbf16, swizzle 64>
    %q = tile.shared : !tile.shared<192x32xbf16, swizzle 64>
    // CHECK: tile.shared stages(4) guarded
    // SMALL: tile.shared stages(3) guarded
    // CHECK: tile.warp_specialize producer(%[[FIRST:.*]]) registers(56) {
    // CHECK: %[[END:.*]] = scf.for %{{.*}} iter_args(%[[N:.*]] = %[[FIRST]]) -> (index) {
    // CHECK-NEXT: %[[BOTH:.*]] = scf.if %{{.*}} -> (index) {
    // CHECK: %[[INNER:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[N]]) -> (index) {
    // CHECK: tile.copy {{.*}} async :
    // CHECK: scf.yield %[[INNER]] : index
    // CHECK-NEXT: } else {
    // CHECK-NEXT: scf.yield %[[N]] : index
    // CHECK: scf.yield %[[BOTH]] : index
    // CHECK: tile.yield %[[END]] : index
    // CHECK: } consumer(%[[FIRST2:.*]]) registers(152) {
    // CHECK: scf.for %{{.*}} iter_args(%{{.*}} = %{{.*}}, %[[M:.*]] = %[[FIRST2]])
    // CHECK: %[[S:.*]]:2 = scf.if %{{.*}} -> (!tile.tile<192x512xf32>, index) {
    // CHECK: } else {
    // CHECK: scf.yield %{{.*}}, %[[M]] : !tile.tile<192x512xf32>, index
    %r = scf.for %p = %c0 to %c8 step %c1 iter_args(%carried = %sum0) -> (!tile.tile<192x512xf32>) {
      %s = scf.if %any -> (!tile.tile<192x512xf32>) {
        %t = scf.for %j = %c0 to %n step %c512 iter_args(%sum = %carried) -> (!tile.tile<192x512xf32>) {
          tile.copy %kv[%j, %c0] to %b : !tile.view<?x20xbf16>, !tile.shared<512x32xbf16, swizzle 64>
          %read = tile.local_load %b : !tile.shared<512x32xbf16, swizzle 64> -> !tile.tile<512x32xbf16>
          scf.yield %sum : !tile.tile<192x512xf32>
        }
        scf.yield %t : !tile.tile<192x512xf32>
      } else {
        scf.yield %carried : !tile.tile<192x512xf32>
      }
      scf.yield %s : !tile.tile<192x512xf32>
    }
  }
  return
}
