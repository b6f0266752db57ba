// RUN: fovea-opt %s --fovea-raise-rope | FileCheck %s

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
