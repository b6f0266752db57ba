// RUN: fovea verify %s | FileCheck %s

// Constants that ops read as whole tensors are not lost: each of these would give other numbers, or not compile, without its own.

// CHECK: constants batch 2, length 33 attended {{[0-9.e-]+}} 2.0e-05{{$}}
// CHECK: outputs agree

func.func @constants(%ids: tensor<?x?xi64> {fovea.name = "ids", fovea.dims = ["batch", "tokens"]}, %x: tensor<?x?x2xf32> {fovea.name = "x", fovea.dims = ["batch", "tokens"]})
    -> (tensor<?x?x2xf32> {fovea.name = "rows", fovea.dims = ["batch", "tokens"]}, tensor<?x?x3xf32> {fovea.name = "projected", fovea.dims = ["batch", "tokens"]},
        tensor<?x?x2xf32> {fovea.name = "scaled", fovea.dims = ["batch", "tokens"]}, tensor<?x?x2xf32> {fovea.name = "normed", fovea.dims = ["batch", "tokens"]},
        tensor<?x?x2x1xf32> {fovea.name = "attended", fovea.dims = ["batch", "tokens"]}) attributes {fovea.entry} {
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %bias = arith.constant dense<[10.0, 20.0, 30.0]> : tensor<3xf32>
  %weight = arith.constant dense<[2.0, -3.0]> : tensor<2xf32>
  %rows = fovea.embedding %ids, %table : tensor<?x?xi64>, tensor<3x2xf32> -> tensor<?x?x2xf32>
  %projected = fovea.linear %x, %table bias(%bias : tensor<3xf32>) : tensor<?x?x2xf32>, tensor<3x2xf32> -> tensor<?x?x3xf32>
  %scaled = fovea.rms_norm %x weight(%weight : tensor<2xf32>) eps(1.0e-5) : tensor<?x?x2xf32>
  %normed = fovea.layer_norm %x weight(%weight : tensor<2xf32>) bias(%weight : tensor<2xf32>) eps(1.0e-5) : tensor<?x?x2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x2xf32>
  %t = tensor.dim %x, %c1 : tensor<?x?x2xf32>
  %h = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%b, %t, 2, 1] : tensor<?x?x2xf32> into tensor<?x?x2x1xf32>
  %attended = fovea.attention %h, %h, %h sinks(%weight : tensor<2xf32>) score(%weight : tensor<2xf32> by (b, h, i, j) -> (h)) {
    ^bb0(%s: f32, %w: f32, %bb: index, %hh: index, %q: i32, %k: i32):
      %m = arith.mulf %s, %w : f32
      fovea.yield %m : f32
  } : tensor<?x?x2x1xf32>, tensor<?x?x2x1xf32>, tensor<?x?x2x1xf32> -> tensor<?x?x2x1xf32>
  return %rows, %projected, %scaled, %normed, %attended : tensor<?x?x2xf32>, tensor<?x?x3xf32>, tensor<?x?x2xf32>, tensor<?x?x2xf32>, tensor<?x?x2x1xf32>
}
