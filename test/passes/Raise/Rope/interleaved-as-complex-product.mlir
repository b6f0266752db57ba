// RUN: fovea-opt %s --fovea-raise-rope | FileCheck %s

// Interleaved pairs as a complex product, in [B,S,H,D/2,2], at positions that the caller gives; theta 100, divided by 4.

// CHECK-LABEL: func.func @complex
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x2x4xf32> {{.*}}, %[[P:.*]]: tensor<?x?xi64>
// CHECK: %[[I:.*]] = arith.trunci %[[P]] : tensor<?x?xi64> to tensor<?x?xi32>
// CHECK: %[[R:.*]] = fovea.rope interleaved %[[Q]] at(%[[I]] : tensor<?x?xi32>) dim(4) theta(1.000000e+02) scaling(<linear, factor = 4.000000e+00 : f64>) : tensor<?x?x2x4xf32>
// CHECK: return %[[R]]
func.func @complex(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["b", "s"]}, %p: tensor<?x?xi64> {fovea.name = "p", fovea.dims = ["b", "s"]}) -> (tensor<?x?x2x4xf32> {fovea.name = "y", fovea.dims = ["b", "s"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x2x4xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x2x4xf32>
  %f = arith.constant dense<[0.25, 0.025]> : tensor<2xf32>
  %pairs = tensor.expand_shape %q [[0], [1], [2], [3, 4]] output_shape [%b, %s, 2, 2, 2] : tensor<?x?x2x4xf32> into tensor<?x?x2x2x2xf32>
  %re = tensor.extract_slice %pairs[0, 0, 0, 0, 0] [%b, %s, 2, 2, 1] [1, 1, 1, 1, 1] : tensor<?x?x2x2x2xf32> to tensor<?x?x2x2xf32>
  %im = tensor.extract_slice %pairs[0, 0, 0, 0, 1] [%b, %s, 2, 2, 1] [1, 1, 1, 1, 1] : tensor<?x?x2x2x2xf32> to tensor<?x?x2x2xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x2x2xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(b, s, h, i) -> (b, s, h, i)>, affine_map<(b, s, h, i) -> (b, s, h, i)>, affine_map<(b, s, h, i) -> (i)>, affine_map<(b, s, h, i) -> (b, s)>, affine_map<(b, s, h, i) -> (b, s, h, i)>, affine_map<(b, s, h, i) -> (b, s, h, i)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%re, %im, %f, %p : tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>, tensor<2xf32>, tensor<?x?xi64>) outs(%e, %e : tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>) {
  ^bb0(%x: f32, %y: f32, %w: f32, %at: i64, %o1: f32, %o2: f32):
    %pf = arith.sitofp %at : i64 to f32
    %a = arith.mulf %pf, %w : f32
    %c = math.cos %a : f32
    %d = math.sin %a : f32
    %0 = arith.mulf %x, %c : f32
    %1 = arith.mulf %y, %d : f32
    %2 = arith.subf %0, %1 : f32
    %3 = arith.mulf %x, %d : f32
    %4 = arith.mulf %y, %c : f32
    %5 = arith.addf %3, %4 : f32
    linalg.yield %2, %5 : f32, f32
  } -> (tensor<?x?x2x2xf32>, tensor<?x?x2x2xf32>)
  %r0 = tensor.expand_shape %r#0 [[0], [1], [2], [3, 4]] output_shape [%b, %s, 2, 2, 1] : tensor<?x?x2x2xf32> into tensor<?x?x2x2x1xf32>
  %r1 = tensor.expand_shape %r#1 [[0], [1], [2], [3, 4]] output_shape [%b, %s, 2, 2, 1] : tensor<?x?x2x2xf32> into tensor<?x?x2x2x1xf32>
  %both = tensor.concat dim(4) %r0, %r1 : (tensor<?x?x2x2x1xf32>, tensor<?x?x2x2x1xf32>) -> tensor<?x?x2x2x2xf32>
  %y = tensor.collapse_shape %both [[0], [1], [2], [3, 4]] : tensor<?x?x2x2x2xf32> into tensor<?x?x2x4xf32>
  return %y : tensor<?x?x2x4xf32>
}
