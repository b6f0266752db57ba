// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// A cache grows in place: its memory is written, its new length returned.
// CHECK-LABEL: func.func @cache_grows_in_place(
// CHECK-SAME: %[[X:.*]]: memref<?x1x1x2xf32>, %[[C:.*]]: memref<?x1x?x2xf32>, %[[N:.*]]: index) -> index
// CHECK-SAME: continues = 1
// CHECK: %[[NEW:.*]] = arith.addi %[[N]], %{{.*}} : index
// CHECK: fovea.launch @cache_append_0 ins(%[[N]], %[[X]] : index, memref<?x1x1x2xf32>) outs(%[[C]] : memref<?x1x?x2xf32>)
// CHECK: return %[[NEW]] : index
func.func @cache_grows_in_place(%x: tensor<?x1x1x2xf32> {fovea.name = "x"}, %c: !fovea.cache<key, 1x2xf32> {fovea.name = "c"}) -> !fovea.cache<key, 1x2xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %c, %b = %x) schedule(#fovea.rows<rows = 4>) : (!fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %i = fovea.cache_append %a, %b : !fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>
    fovea.yield %i : !fovea.cache<key, 1x2xf32>
  }
  return %0 : !fovea.cache<key, 1x2xf32>
}
