// RUN: fovea-opt %s --fovea-raise-norms | FileCheck %s

// Channels of a group and all places of an image as one row: the norm reads what the source's reshape reads, although
// digits of the row's places are spread over three axes.

// CHECK-LABEL: func.func @group_norm
// CHECK-SAME: %[[X:.*]]: tensor<?x12x4x6xf32>
// CHECK-NOT: linalg.generic
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2, 3]]
// CHECK: %[[R:.*]] = tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2]]
// CHECK: fovea.layer_norm %[[R]] eps({{.*}}) : tensor<?x3x96xf32>
func.func @group_norm(%x: tensor<?x12x4x6xf32>) -> tensor<?x3x96xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tensor.dim %x, %c0 : tensor<?x12x4x6xf32>
  %flat = tensor.collapse_shape %x [[0], [1, 2, 3]] : tensor<?x12x4x6xf32> into tensor<?x288xf32>
  %rows = tensor.expand_shape %flat [[0], [1, 2]] output_shape [%b, 3, 96] : tensor<?x288xf32> into tensor<?x3x96xf32>
  %e = tensor.empty(%b) : tensor<?x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %sum = linalg.reduce { arith.addf } ins(%rows : tensor<?x3x96xf32>) outs(%z : tensor<?x3xf32>) dimensions = [2]
  %o = tensor.empty(%b) : tensor<?x3x96xf32>
  %centred = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>,
                                              affine_map<(i, j, k) -> (i, j, k)>],
                             iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%rows, %sum : tensor<?x3x96xf32>, tensor<?x3xf32>) outs(%o : tensor<?x3x96xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %n = arith.constant 96.0 : f32
    %mean = arith.divf %s, %n : f32
    %d = arith.subf %a, %mean : f32
    linalg.yield %d : f32
  } -> tensor<?x3x96xf32>
  %squares = arith.mulf %centred, %centred : tensor<?x3x96xf32>
  %sum2 = linalg.reduce { arith.addf } ins(%squares : tensor<?x3x96xf32>) outs(%z : tensor<?x3xf32>) dimensions = [2]
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>,
                                        affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%centred, %sum2 : tensor<?x3x96xf32>, tensor<?x3xf32>) outs(%o : tensor<?x3x96xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %n = arith.constant 96.0 : f32
    %eps = arith.constant 1.0e-05 : f32
    %v = arith.divf %s, %n : f32
    %w = arith.addf %v, %eps : f32
    %r = math.sqrt %w : f32
    %d = arith.divf %a, %r : f32
    linalg.yield %d : f32
  } -> tensor<?x3x96xf32>
  return %y : tensor<?x3x96xf32>
}
