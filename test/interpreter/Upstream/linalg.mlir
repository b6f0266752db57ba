// RUN: fovea-interpret %s | FileCheck %s

// CHECK-LABEL: @linalg_ops
// CHECK-NEXT: 2x2 [19, 22, 43, 50]
// CHECK-NEXT: 2x2 [1, 3, 2, 4]
// CHECK-NEXT: 2 [3, 7]
// CHECK-NEXT: 2x2 [3, 3, 7, 7]
// CHECK-NEXT: 2x2 [0.25, 0.75, 0.5, 0.5]
// CHECK-NEXT: 2x2 [0.5, 0.25, 0.5, 0.75]
// CHECK-NEXT: 2x2 [0, 10, 1, 11]
// CHECK-NEXT: 2x2 [17, 23, 39, 53]
func.func @linalg_ops() -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xi32>, tensor<2x2xf32>) {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.transpose ins(%a : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %v = arith.constant dense<0.0> : tensor<2xf32>
  %2 = linalg.reduce { arith.addf } ins(%a : tensor<2x2xf32>) outs(%v : tensor<2xf32>) dimensions = [1]
  %3 = linalg.broadcast ins(%2 : tensor<2xf32>) outs(%e : tensor<2x2xf32>) dimensions = [1]
  %x = arith.constant dense<[[0.0, 1.09861228866810969], [5.0, 5.0]]> : tensor<2x2xf64>
  %e64 = tensor.empty() : tensor<2x2xf64>
  %4 = linalg.softmax dimension(1) ins(%x : tensor<2x2xf64>) outs(%e64 : tensor<2x2xf64>) -> tensor<2x2xf64>
  %y = arith.constant dense<[[5.0, 0.0], [5.0, 1.09861228866810969]]> : tensor<2x2xf64>
  %5 = linalg.softmax dimension(0) ins(%y : tensor<2x2xf64>) outs(%e64 : tensor<2x2xf64>) -> tensor<2x2xf64>
  %ei = tensor.empty() : tensor<2x2xi32>
  %6 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%ei : tensor<2x2xi32>) {
  ^bb0(%o: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %ten = arith.constant 10 : index
    %jj = arith.muli %j, %ten : index
    %s = arith.addi %i, %jj : index
    %r = arith.index_cast %s : index to i32
    linalg.yield %r : i32
  } -> tensor<2x2xi32>
  %7 = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x2xf64>, tensor<2x2xf64>, tensor<2x2xi32>, tensor<2x2xf32>
}
