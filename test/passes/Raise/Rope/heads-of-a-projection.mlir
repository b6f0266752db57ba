// RUN: fovea-opt %s --fovea-raise-rope | FileCheck %s

// Heads that are a part of a projection's columns.

// CHECK-LABEL: func.func @heads
// CHECK: %[[R:.*]] = fovea.rope interleaved %expanded{{[_0-9]*}} at(%{{.*}} : tensor<1x5xi32>) dim(4) theta(1.000000e+04) : tensor<3x5x2x4xf32>
// CHECK: return %[[R]]
func.func @heads(%x: tensor<3x5x8xf32>) -> tensor<3x5x2x4xf32> {
  %q = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [3, 5, 2, 4] : tensor<3x5x8xf32> into tensor<3x5x2x4xf32>
  %f = arith.constant dense<[1.0, 0.01]> : tensor<2xf32>
  %e = tensor.empty() : tensor<3x5x2x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, s, h, d) -> (b, s, h, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<3x5x2x4xf32>) {
  ^bb0(%out: f32):
    %zero = arith.constant 0 : index
    %n = linalg.index 0 : index
    %one = arith.constant 1 : index
    %two = arith.constant 2 : index
    %s = linalg.index 1 : index
    %h = linalg.index 2 : index
    %d = linalg.index 3 : index
    %i = arith.divui %d, %two : index
    %odd = arith.remui %d, %two : index
    %first = arith.muli %i, %two : index
    %second = arith.addi %first, %one : index
    %a = tensor.extract %q[%n, %s, %h, %first] : tensor<3x5x2x4xf32>
    %b = tensor.extract %q[%n, %s, %h, %second] : tensor<3x5x2x4xf32>
    %w = tensor.extract %f[%i] : tensor<2xf32>
    %si = arith.index_cast %s : index to i64
    %p = arith.sitofp %si : i64 to f32
    %angle = arith.mulf %p, %w : f32
    %cos = math.cos %angle : f32
    %sin = math.sin %angle : f32
    %ac = arith.mulf %a, %cos : f32
    %bs = arith.mulf %b, %sin : f32
    %bc = arith.mulf %b, %cos : f32
    %as = arith.mulf %a, %sin : f32
    %y1 = arith.subf %ac, %bs : f32
    %y2 = arith.addf %bc, %as : f32
    %is = arith.cmpi eq, %odd, %zero : index
    %yy = arith.select %is, %y1, %y2 : f32
    linalg.yield %yy : f32
  } -> tensor<3x5x2x4xf32>
  return %y : tensor<3x5x2x4xf32>
}
