// RUN: fovea-opt %s --fovea-raise-rope | FileCheck %s

// Not rotations: the sine's sign is that of a reflection; the frequencies are no powers; the result is scaled.

// CHECK-LABEL: func.func @refused
// CHECK-NOT: fovea.rope
// CHECK: return
#q = affine_map<(b, s, h, d) -> (b, s, h, d)>
#s = affine_map<(b, s, h, d) -> (d)>
func.func @refused(%q: tensor<?x?x2x8xf32>, %h: tensor<?x?x2x8xf32>) -> (tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x2x8xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x2x8xf32>
  %f = arith.constant dense<[1.0, 0.1, 0.01, 0.001, 1.0, 0.1, 0.01, 0.001]> : tensor<8xf32>
  %g = arith.constant dense<[1.0, 0.1, 0.05, 0.001, 1.0, 0.1, 0.05, 0.001]> : tensor<8xf32>
  %x1 = tensor.extract_slice %q[0, 0, 0, 0] [%b, %s, 2, 4] [1, 1, 1, 1] : tensor<?x?x2x8xf32> to tensor<?x?x2x4xf32>
  %x2 = tensor.extract_slice %q[0, 0, 0, 4] [%b, %s, 2, 4] [1, 1, 1, 1] : tensor<?x?x2x8xf32> to tensor<?x?x2x4xf32>
  %n = arith.negf %x2 : tensor<?x?x2x4xf32>
  %rot = tensor.concat dim(3) %n, %x1 : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x?x2x8xf32>
  %swap = tensor.concat dim(3) %x2, %x1 : (tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x?x2x8xf32>
  %y1 = linalg.generic {indexing_maps = [#q, #q, #s, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q, %swap, %f : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<8xf32>) outs(%h : tensor<?x?x2x8xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %p = arith.sitofp %j : i32 to f32
    %a = arith.mulf %p, %w : f32
    %co = math.cos %a : f32
    %si = math.sin %a : f32
    %0 = arith.mulf %u, %co : f32
    %1 = arith.mulf %v, %si : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?x2x8xf32>
  %y2 = linalg.generic {indexing_maps = [#q, #q, #s, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q, %rot, %g : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<8xf32>) outs(%h : tensor<?x?x2x8xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %p = arith.sitofp %j : i32 to f32
    %a = arith.mulf %p, %w : f32
    %co = math.cos %a : f32
    %si = math.sin %a : f32
    %0 = arith.mulf %u, %co : f32
    %1 = arith.mulf %v, %si : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?x2x8xf32>
  %y3 = linalg.generic {indexing_maps = [#q, #q, #s, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q, %rot, %f : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<8xf32>) outs(%h : tensor<?x?x2x8xf32>) {
  ^bb0(%u: f32, %v: f32, %w: f32, %out: f32):
    %scale = arith.constant 1.1 : f32
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %p = arith.sitofp %j : i32 to f32
    %a = arith.mulf %p, %w : f32
    %co = math.cos %a : f32
    %si = math.sin %a : f32
    %0 = arith.mulf %u, %co : f32
    %1 = arith.mulf %v, %si : f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.mulf %2, %scale : f32
    linalg.yield %3 : f32
  } -> tensor<?x?x2x8xf32>
  return %y1, %y2, %y3 : tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>, tensor<?x?x2x8xf32>
}
