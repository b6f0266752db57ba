// RUN: fovea-opt %s --fovea-to-fused --fovea-to-scheduled=target=avx512 --fovea-to-kernels | FileCheck %s
// RUN: fovea-opt %s --fovea-to-fused --fovea-to-scheduled=target=sm_90a --fovea-to-kernels | FileCheck %s --check-prefix=GPU

// Rows of experts: a point of the grid is an expert and a block of its outputs. Its rows are those between its offsets, its outputs a part of the weight's rows,
// and results end where its rows do. With a schedule for few rows, which has one of each expert about.

// CHECK: func.func private @linear_1(%{{.*}}: memref<?x2x64xf32>, %[[W:.*]]: memref<1024x64xf32>, %[[B:.*]]: memref<1024xf32>, %[[EXPERTS:.*]]: memref<9xi64>, %[[Y:.*]]: memref<?x2x128xf32>
// CHECK-DAG: %[[N:.*]] = arith.constant 128 : index
// CHECK-DAG: %[[EIGHT:.*]] = arith.constant 8 : index
// CHECK: %[[OUT:.*]] = memref.collapse_shape %[[Y]] {{\[\[}}0, 1], [2]]
// CHECK: %[[COUNT:.*]] = arith.select %{{.*}}, %[[EIGHT]], %c0
// CHECK: tile.kernel grid(%[[EXPERT:.*]], %[[BLOCK:.*]]) = (%[[COUNT]], %c3)
// CHECK: memref.load %[[EXPERTS]][%[[EXPERT]]]
// CHECK: fovea.fault %[[WRONG:.*]]
// CHECK-DAG: %[[END:.*]] = arith.select %[[WRONG]], %c0, %
// CHECK-DAG: %[[BEGIN:.*]] = arith.select %[[WRONG]], %c0, %
// CHECK: %[[COLUMN:.*]] = arith.muli %[[BLOCK]], %c48
// CHECK: %[[FIRST:.*]] = arith.muli %[[EXPERT]], %[[N]]
// CHECK: %[[OWN:.*]] = arith.addi %[[COLUMN]], %[[FIRST]]
// CHECK: tile.load %{{.*}}[%[[OWN]], %c0] : !tile.view<1024x64xf32>
// CHECK: tile.load %{{.*}}[%c0, %[[OWN]]] : !tile.view<1x1024xf32>
// CHECK: %[[PART:.*]] = tile.view %[[OUT]] axes(0, 1) length(%[[END]])
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %[[END]] step
// CHECK: tile.dot
// CHECK: tile.store %{{.*}}, %[[PART]][%[[ROW]], %[[COLUMN]]]

// On a GPU a block has a tile of the rows, if its expert has so many: a loop over them would keep the product from being cut along its sum.

// GPU: func.func private @linear_1(%{{.*}}, %[[EXPERTS:.*]]: memref<9xi64>, %[[Y:.*]]: memref<?x2x128xf32>
// GPU: tile.kernel grid(%[[EXPERT:.*]], %[[TILE:.*]], %[[BLOCK:.*]]) =
// GPU: %[[END:.*]] = arith.select %{{.*}}, %c0, %
// GPU: %[[FIRST:.*]] = arith.select %{{.*}}, %c0, %
// GPU: %[[OWN:.*]] = arith.muli %[[TILE]], %c
// GPU: %[[ROW:.*]] = arith.addi %[[FIRST]], %[[OWN]]
// GPU: %[[THERE:.*]] = arith.cmpi slt, %[[ROW]], %[[END]]
// GPU: scf.if %[[THERE]]
// GPU-NOT: scf.for
// GPU: tile.dot
// GPU: tile.store %{{.*}}[%[[ROW]],
func.func @run(%x: tensor<?x2x64xf32> {fovea.dims = ["s"]}, %w: tensor<1024x64xf32>, %b: tensor<1024xf32>, %e: tensor<9xi64>)
    -> (tensor<?x2x128xf32> {fovea.dims = ["s"]}) attributes {fovea.entry} {
  %y = fovea.linear %x, %w bias(%b : tensor<1024xf32>) experts(%e : tensor<9xi64>) : tensor<?x2x64xf32>, tensor<1024x64xf32> -> tensor<?x2x128xf32>
  return %y : tensor<?x2x128xf32>
}
