// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Elements of dense tensors are one long row.

// CHECK-LABEL: func.func private @glu_0(
// CHECK-COUNT-3: memref.collapse_shape %{{.*}} {{\[\[}}0, 1, 2]] : memref<?x?x24xf32> into memref<?xf32>
// CHECK: tile.kernel grid(%{{.*}}) = (%{{.*}}) {
// CHECK: tile.map({{.*}}) : (!tile.tile<1x256xf32>, !tile.tile<1x256xf32>) -> !tile.tile<1x256xf32>
// CHECK: tile.store {{.*}} : !tile.tile<1x256xf32>, !tile.view<1x?xf32>
func.func @elements(%g: tensor<?x?x24xf32>, %u: tensor<?x?x24xf32>) -> tensor<?x?x24xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %g, %b = %u) schedule(#fovea.elements<count = 256>) : (tensor<?x?x24xf32>, tensor<?x?x24xf32>) -> tensor<?x?x24xf32> {
    %1 = fovea.glu silu %a, %b : tensor<?x?x24xf32>
    fovea.yield %1 : tensor<?x?x24xf32>
  }
  return %0 : tensor<?x?x24xf32>
}
