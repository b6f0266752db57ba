// RUN: fovea-opt %s --fovea-raise-rope --split-input-file | FileCheck %s

// Rotated halves as transformers writes them: frequencies of a buffer times positions by a product of one summand, side by side
// twice; heads before the sequence.

// CHECK-LABEL: func.func @half
// CHECK-SAME: (%[[Q:.*]]: tensor<?x2x?x8xf32>)
// CHECK: %[[X:.*]] = linalg.transpose ins(%[[Q]] : tensor<?x2x?x8xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK: %[[P:.*]] = fovea.positions from %{{.*}} count %{{.*}} : tensor<1x?xi32>
// CHECK: %[[R:.*]] = fovea.rope half %[[X]] at(%[[P]] : tensor<1x?xi32>) dim(8) theta(1.000000e+04) : tensor<?x?x2x8xf32>
// CHECK: %[[Y:.*]] = linalg.transpose ins(%[[R]] : tensor<?x?x2x8xf32>) {{.*}} permutation = [0, 2, 1, 3]
// CHECK: return %[[Y]]
#q = affine_map<(b, h, s, d) -> (b, h, s, d)>
#sd = affine_map<(b, h, s, d) -> (s, d)>
func.func @half(%q: tensor<?x2x?x8xf32>) -> tensor<?x2x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %q, %c0 : tensor<?x2x?x8xf32>
  %s = tensor.dim %q, %c2 : tensor<?x2x?x8xf32>
  %f = arith.constant dense<[1.0, 0.1, 0.01, 0.001]> : tensor<4xf32>
  %pe = tensor.empty(%s) : tensor<?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%pe : tensor<?xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i64
    %x = arith.sitofp %j : i64 to f32
    linalg.yield %x : f32
  } -> tensor<?xf32>
  %f1 = tensor.expand_shape %f [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %p1 = tensor.expand_shape %p [[0, 1]] output_shape [1, %s] : tensor<?xf32> into tensor<1x?xf32>
  %ae = tensor.empty(%s) : tensor<?x4xf32>
  %af = linalg.fill ins(%zero : f32) outs(%ae : tensor<?x4xf32>) -> tensor<?x4xf32>
  %angle = linalg.contract indexing_maps = [affine_map<(s, i, k) -> (i, k)>, affine_map<(s, i, k) -> (k, s)>, affine_map<(s, i, k) -> (s, i)>]
      ins(%f1, %p1 : tensor<4x1xf32>, tensor<1x?xf32>) outs(%af : tensor<?x4xf32>) -> tensor<?x4xf32>
  %twice = tensor.concat dim(1) %angle, %angle : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
  %cos = math.cos %twice : tensor<?x8xf32>
  %sin = math.sin %twice : tensor<?x8xf32>
  %x1 = tensor.extract_slice %q[0, 0, 0, 0] [%b, 2, %s, 4] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x2x?x4xf32>
  %x2 = tensor.extract_slice %q[0, 0, 0, 4] [%b, 2, %s, 4] [1, 1, 1, 1] : tensor<?x2x?x8xf32> to tensor<?x2x?x4xf32>
  %n = arith.negf %x2 : tensor<?x2x?x4xf32>
  %rot = tensor.concat dim(3) %n, %x1 : (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x8xf32>
  %m1 = linalg.generic {indexing_maps = [#q, #sd, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q, %cos : tensor<?x2x?x8xf32>, tensor<?x8xf32>) outs(%q : tensor<?x2x?x8xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %0 = arith.mulf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<?x2x?x8xf32>
  %m2 = linalg.generic {indexing_maps = [#q, #sd, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%rot, %sin : tensor<?x2x?x8xf32>, tensor<?x8xf32>) outs(%q : tensor<?x2x?x8xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %0 = arith.mulf %u, %v : f32
    linalg.yield %0 : f32
  } -> tensor<?x2x?x8xf32>
  %y = arith.addf %m1, %m2 : tensor<?x2x?x8xf32>
  return %y : tensor<?x2x?x8xf32>
}

// -----

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

// -----

// Half of each head turns, by tables of cosines and sines, from a position on.

// CHECK-LABEL: func.func @tables
// CHECK-SAME: (%[[Q:.*]]: tensor<1x2x3x4xf32>, %[[PAST:.*]]: index)
// CHECK: %[[P:.*]] = fovea.positions from %[[PAST]] : tensor<1x2xi32>
// CHECK: %[[R:.*]] = fovea.rope half %[[Q]] at(%[[P]] : tensor<1x2xi32>) dim(2) theta(1.000000e+04) : tensor<1x2x3x4xf32>
// CHECK: return %[[R]]
#q = affine_map<(b, s, h, d) -> (b, s, h, d)>
#s = affine_map<(b, s, h, d) -> (s, 0)>
func.func @tables(%q: tensor<1x2x3x4xf32>, %past: index) -> tensor<1x2x3x4xf32> {
  %cos = arith.constant dense<[[1.0], [0.540302277], [-0.416146845], [-0.9899925], [-0.653643608], [0.283662200], [0.960170269], [0.753902256], [-0.1455], [-0.91113]]> : tensor<10x1xf32>
  %sin = arith.constant dense<[[0.0], [0.841470956], [0.909297406], [0.14112], [-0.756802499], [-0.95892428], [-0.279415488], [0.656986594], [0.989358246], [0.412118494]]> : tensor<10x1xf32>
  %c = tensor.extract_slice %cos[%past, 0] [2, 1] [1, 1] : tensor<10x1xf32> to tensor<2x1xf32>
  %d = tensor.extract_slice %sin[%past, 0] [2, 1] [1, 1] : tensor<10x1xf32> to tensor<2x1xf32>
  %x1 = tensor.extract_slice %q[0, 0, 0, 0] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x1xf32>
  %x2 = tensor.extract_slice %q[0, 0, 0, 1] [1, 2, 3, 1] [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x1xf32>
  %x3 = tensor.extract_slice %q[0, 0, 0, 2] [1, 2, 3, 2] [1, 1, 1, 1] : tensor<1x2x3x4xf32> to tensor<1x2x3x2xf32>
  %e = tensor.empty() : tensor<1x2x3x1xf32>
  %y1 = linalg.generic {indexing_maps = [#q, #q, #s, #s, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x1, %x2, %c, %d : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3x1xf32>) {
  ^bb0(%u: f32, %v: f32, %co: f32, %si: f32, %out: f32):
    %0 = arith.mulf %u, %co : f32
    %1 = arith.mulf %v, %si : f32
    %2 = arith.subf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x2x3x1xf32>
  %y2 = linalg.generic {indexing_maps = [#q, #q, #s, #s, #q], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x1, %x2, %c, %d : tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) outs(%e : tensor<1x2x3x1xf32>) {
  ^bb0(%u: f32, %v: f32, %co: f32, %si: f32, %out: f32):
    %0 = arith.mulf %v, %co : f32
    %1 = arith.mulf %u, %si : f32
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x2x3x1xf32>
  %y = tensor.concat dim(3) %y1, %y2, %x3 : (tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>, tensor<1x2x3x2xf32>) -> tensor<1x2x3x4xf32>
  return %y : tensor<1x2x3x4xf32>
}

// -----

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

// -----

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

// -----

// One table of sines and cosines side by side (GPT-J), read at given positions as ONNX's Gather reads: negative ones count
// from the end, and all are kept inside the table.

// CHECK-LABEL: func.func @one_table
// CHECK-SAME: (%[[Q:.*]]: tensor<?x?x2x4xf32> {{.*}}, %[[P:.*]]: tensor<?x?xi64>
// CHECK: %[[I:.*]] = arith.trunci %[[P]] : tensor<?x?xi64> to tensor<?x?xi32>
// CHECK: %[[R:.*]] = fovea.rope interleaved %[[Q]] at(%[[I]] : tensor<?x?xi32>) dim(4) theta(1.000000e+04) : tensor<?x?x2x4xf32>
// CHECK: return %[[R]]
#one = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @one_table(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["b", "s"]}, %p: tensor<?x?xi64> {fovea.name = "p", fovea.dims = ["b", "s"]}) -> (tensor<?x?x2x4xf32> {fovea.name = "r", fovea.dims = ["b", "s"]}) attributes {fovea.entry} {
  %table = arith.constant dense<[[0.0, 0.0, 1.0, 1.0], [0.841470985, 0.00999983333, 0.540302306, 0.99995], [0.909297427, 0.0199986667, -0.416146837, 0.999800007], [0.141120008, 0.0299955002, -0.989992497, 0.999550034], [-0.756802495, 0.0399893342, -0.653643621, 0.999200107], [-0.958924275, 0.0499791693, 0.283662185, 0.99875026], [-0.279415498, 0.0599640065, 0.960170287, 0.99820054], [0.656986599, 0.0699428473, 0.753902254, 0.997551]]> : tensor<8x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %last = arith.constant 7 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x2x4xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x2x4xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x2x4xf32>
  %r = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<?x?x2x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %h = linalg.index 2 : index
    %d = linalg.index 3 : index
    %id = tensor.extract %p[%i, %j] : tensor<?x?xi64>
    %place = arith.index_cast %id : i64 to index
    %isnegative = arith.cmpi slt, %place, %c0 : index
    %fromend = arith.addi %place, %c8 : index
    %wrapped = arith.select %isnegative, %fromend, %place : index
    %below = arith.minsi %wrapped, %last : index
    %row = arith.maxsi %below, %c0 : index
    %pair = arith.divui %d, %c2 : index
    %odd = arith.remui %d, %c2 : index
    %column = arith.addi %pair, %c2 : index
    %sin = tensor.extract %table[%row, %pair] : tensor<8x4xf32>
    %cos = tensor.extract %table[%row, %column] : tensor<8x4xf32>
    %even = arith.muli %pair, %c2 : index
    %first = tensor.extract %q[%i, %j, %h, %even] : tensor<?x?x2x4xf32>
    %next = arith.addi %even, %c1 : index
    %second = tensor.extract %q[%i, %j, %h, %next] : tensor<?x?x2x4xf32>
    %isfirst = arith.cmpi eq, %odd, %c0 : index
    %x = arith.select %isfirst, %first, %second : f32
    %minus = arith.negf %second : f32
    %y = arith.select %isfirst, %minus, %first : f32
    %a = arith.mulf %x, %cos : f32
    %c = arith.mulf %y, %sin : f32
    %sum = arith.addf %a, %c : f32
    linalg.yield %sum : f32
  } -> tensor<?x?x2x4xf32>
  return %r : tensor<?x?x2x4xf32>
}

// -----

// Positions past the fifth turn no further.

// CHECK-LABEL: func.func @turns_no_further
// CHECK-NOT: fovea.rope
// CHECK: return
#one = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
func.func @turns_no_further(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["b", "s"]}, %p: tensor<?x?xi64> {fovea.name = "p", fovea.dims = ["b", "s"]}) -> (tensor<?x?x2x4xf32> {fovea.name = "r", fovea.dims = ["b", "s"]}) attributes {fovea.entry} {
  %table = arith.constant dense<[[0.0, 0.0, 1.0, 1.0], [0.841470985, 0.00999983333, 0.540302306, 0.99995], [0.909297427, 0.0199986667, -0.416146837, 0.999800007], [0.141120008, 0.0299955002, -0.989992497, 0.999550034], [-0.756802495, 0.0399893342, -0.653643621, 0.999200107], [-0.958924275, 0.0499791693, 0.283662185, 0.99875026], [-0.279415498, 0.0599640065, 0.960170287, 0.99820054], [0.656986599, 0.0699428473, 0.753902254, 0.997551]]> : tensor<8x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %last = arith.constant 5 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x2x4xf32>
  %s = tensor.dim %q, %c1 : tensor<?x?x2x4xf32>
  %e = tensor.empty(%b, %s) : tensor<?x?x2x4xf32>
  %r = linalg.generic {indexing_maps = [#one], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<?x?x2x4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %h = linalg.index 2 : index
    %d = linalg.index 3 : index
    %id = tensor.extract %p[%i, %j] : tensor<?x?xi64>
    %place = arith.index_cast %id : i64 to index
    %isnegative = arith.cmpi slt, %place, %c0 : index
    %fromend = arith.addi %place, %c8 : index
    %wrapped = arith.select %isnegative, %fromend, %place : index
    %below = arith.minsi %wrapped, %last : index
    %row = arith.maxsi %below, %c0 : index
    %pair = arith.divui %d, %c2 : index
    %odd = arith.remui %d, %c2 : index
    %column = arith.addi %pair, %c2 : index
    %sin = tensor.extract %table[%row, %pair] : tensor<8x4xf32>
    %cos = tensor.extract %table[%row, %column] : tensor<8x4xf32>
    %even = arith.muli %pair, %c2 : index
    %first = tensor.extract %q[%i, %j, %h, %even] : tensor<?x?x2x4xf32>
    %next = arith.addi %even, %c1 : index
    %second = tensor.extract %q[%i, %j, %h, %next] : tensor<?x?x2x4xf32>
    %isfirst = arith.cmpi eq, %odd, %c0 : index
    %x = arith.select %isfirst, %first, %second : f32
    %minus = arith.negf %second : f32
    %y = arith.select %isfirst, %minus, %first : f32
    %a = arith.mulf %x, %cos : f32
    %c = arith.mulf %y, %sin : f32
    %sum = arith.addf %a, %c : f32
    linalg.yield %sum : f32
  } -> tensor<?x?x2x4xf32>
  return %r : tensor<?x?x2x4xf32>
}
