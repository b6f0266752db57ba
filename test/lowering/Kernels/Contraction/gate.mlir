// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Both ranges of a gate are products with the same rows of x; a weight in panels is read as the matrix that it is.

// CHECK-LABEL: func.func private @linear_0(
// CHECK: tile.kernel
// CHECK: %[[W:.*]] = tile.packed %{{.*}} : memref<4x16x16xf32> -> !tile.view<64x16xf32>
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load %{{.*}} -> !tile.tile<8x16xf32>
// CHECK: %[[G:.*]] = tile.dot %[[X]], %{{.*}} transpose_b
// CHECK: %[[U:.*]] = tile.dot %[[X]], %{{.*}} transpose_b
// CHECK: tile.map({{.*}} = %[[G]], {{.*}} = %[[U]])
// CHECK: tile.store %{{.*}} : !tile.tile<8x32xf32>, !tile.view<?x32xf32>
fovea.weight @w : tensor<64x16xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<64x16xf32>>, #fovea.panels<16>>
func.func @gate(%x: tensor<?x16xf32>) -> tensor<?x32xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<64x16xf32, #fovea.panels<16>>
  %0 = fovea.group(%a = %x, %c = %w) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x16xf32>, tensor<64x16xf32, #fovea.panels<16>>) -> tensor<?x32xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?x16xf32>
    %1 = fovea.linear %a, %c : tensor<?x16xf32>, tensor<64x16xf32, #fovea.panels<16>> -> tensor<?x64xf32>
    %2 = tensor.extract_slice %1[0, 0] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
    %3 = tensor.extract_slice %1[0, 32] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
    %4 = fovea.glu silu %2, %3 : tensor<?x32xf32>
    fovea.yield %4 : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}
