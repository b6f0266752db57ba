// RUN: fovea-opt %s --fovea-raise-linear --canonicalize | FileCheck %s

// Where the batch is known to be one, exporters name it in the bias's map: an axis of size one that is no output.

// CHECK-LABEL: func.func @channels
// CHECK: fovea.linear %{{.*}}, %{{.*}} bias(
// CHECK-NOT: linalg.generic
fovea.weight @w : tensor<8x6xf32> = #fovea.stored<"w.safetensors", "w", tensor<8x6xf32>>
fovea.weight @b : tensor<1x8x1xf32> = #fovea.stored<"w.safetensors", "b", tensor<1x8x1xf32>>
func.func @channels(%x: tensor<1x6x10xf32>) -> tensor<1x8x10xf32> {
  %zero = arith.constant 0.0 : f32
  %w = fovea.weight_ref @w : tensor<8x6xf32>
  %b = fovea.weight_ref @b : tensor<1x8x1xf32>
  %e = tensor.empty() : tensor<1x8x10xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x10xf32>) -> tensor<1x8x10xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(n, o, p, k) -> (n, k, p)>, affine_map<(n, o, p, k) -> (o, k)>,
                                        affine_map<(n, o, p, k) -> (n, o, p)>]
      ins(%x, %w : tensor<1x6x10xf32>, tensor<8x6xf32>) outs(%z : tensor<1x8x10xf32>) -> tensor<1x8x10xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(n, o, p) -> (n, o, p)>, affine_map<(n, o, p) -> (n, o, 0)>,
                                        affine_map<(n, o, p) -> (n, o, p)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%0, %b : tensor<1x8x10xf32>, tensor<1x8x1xf32>) outs(%e : tensor<1x8x10xf32>) {
  ^bb0(%a: f32, %v: f32, %out: f32):
    %2 = arith.addf %a, %v : f32
    linalg.yield %2 : f32
  } -> tensor<1x8x10xf32>
  return %1 : tensor<1x8x10xf32>
}
