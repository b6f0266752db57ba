// RUN: fovea-opt %s --fovea-to-fused --fovea-to-scheduled=target=avx512 --fovea-to-kernels | FileCheck %s

// What lies along another axis than the result does is read and stored in squares. Numbers of channels, which are rows of
// the operand's image and columns of the square, come with them.

// CHECK-LABEL: func.func private @generic_0(
// CHECK-SAME: %[[X:[^:]*]]: memref<?x64x96xf32>, %[[B:[^:]*]]: memref<96x1xf32>, {{.*}} %[[Y:[^:]*]]: memref<?x96x64xf32>
// CHECK: tile.kernel grid(%[[N:.*]], %[[I:.*]], %[[J:.*]]) = (%{{.*}}, %{{.*}}, %{{.*}}) {
// CHECK: %[[VX:.*]] = tile.view %[[X]] at(%[[N]]) axes(1, 2) : memref<?x64x96xf32> -> !tile.view<64x96xf32>
// CHECK: %[[TX:.*]] = tile.load %[[VX]]{{.*}} -> !tile.tile<32x32xf32>
// CHECK: %[[VB:.*]] = tile.view %[[B]] at(%{{.*}}) axes(0) : memref<96x1xf32> -> !tile.view<1x96xf32>
// CHECK: tile.load %[[VB]]{{.*}} -> !tile.tile<1x32xf32>
// CHECK: %[[R:.*]] = tile.map
// CHECK: %[[VY:.*]] = tile.view %[[Y]] at(%[[N]]) axes(2, 1) : memref<?x96x64xf32> -> !tile.view<64x96xf32>
// CHECK: tile.store %[[R]], %[[VY]]
func.func @channels_first(%x: tensor<?x64x96xf32> {fovea.dims = ["n"]}, %b: tensor<96x1xf32>)
    -> (tensor<?x96x64xf32> {fovea.dims = ["n"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x64x96xf32>
  %e = tensor.empty(%n) : tensor<?x96x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(n, c, p) -> (n, p, c)>, affine_map<(n, c, p) -> (c, 0)>,
                                        affine_map<(n, c, p) -> (n, c, p)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %b : tensor<?x64x96xf32>, tensor<96x1xf32>) outs(%e : tensor<?x96x64xf32>) {
  ^bb0(%a: f32, %v: f32, %out: f32):
    %0 = arith.addf %a, %v : f32
    linalg.yield %0 : f32
  } -> tensor<?x96x64xf32>
  return %y : tensor<?x96x64xf32>
}
