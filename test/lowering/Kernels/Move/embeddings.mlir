// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Rows of tables, gathered by numbers; a number outside of its table is recorded.

// CHECK-LABEL: func.func private @layer_norm_0(
// CHECK: tile.kernel
// CHECK: scf.for
// CHECK: %[[ID:.*]] = memref.load
// CHECK: arith.cmpi uge
// CHECK: fovea.fault
// CHECK: tile.gather {{.*}} : !tile.view<30x8xbf16>, !tile.tile<4x1xi64> -> !tile.tile<4x8xbf16>
// CHECK: fovea.fault
// CHECK: %[[P:.*]] = tile.iota axis(0)
// CHECK: tile.gather %{{.*}}[%[[P]], %{{.*}}] : !tile.view<9x8xf32>, !tile.tile<4x1xi32> -> !tile.tile<4x8xf32>
// CHECK: arith.extf
// CHECK: arith.addf
// CHECK: tile.reduce sum
func.func @embeddings(%x: tensor<?x?xi64>, %t: tensor<30x8xbf16>, %q: tensor<9x8xf32>) -> tensor<?x?x8xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %x, %b = %t, %c = %q) schedule(#fovea.rows<rows = 4>) : (tensor<?x?xi64>, tensor<30x8xbf16>, tensor<9x8xf32>) -> tensor<?x?x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = tensor.dim %a, %c0 : tensor<?x?xi64>
    %n = tensor.dim %a, %c1 : tensor<?x?xi64>
    %1 = fovea.embedding %a, %b : tensor<?x?xi64>, tensor<30x8xbf16> -> tensor<?x?x8xf32>
    %p = fovea.positions from %c0 count %n : tensor<1x?xi32>
    %2 = fovea.position_learned %p, %c : tensor<1x?xi32>, tensor<9x8xf32> -> tensor<1x?x8xf32>
    %3 = tensor.collapse_shape %2 [[0, 1], [2]] : tensor<1x?x8xf32> into tensor<?x8xf32>
    %e = tensor.empty(%m, %n) : tensor<?x?x8xf32>
    %4 = linalg.broadcast ins(%3 : tensor<?x8xf32>) outs(%e : tensor<?x?x8xf32>) dimensions = [0]
    %5 = arith.addf %1, %4 : tensor<?x?x8xf32>
    %6 = fovea.layer_norm %5 eps(1.0e-5) : tensor<?x?x8xf32>
    fovea.yield %6 : tensor<?x?x8xf32>
  }
  return %0 : tensor<?x?x8xf32>
}
