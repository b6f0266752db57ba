// RUN: fovea compile %s --emit=graph -o %t.graph.mlir --report=%t.json --require-fusion
// RUN: FileCheck %s < %t.json
// RUN: fovea inspect %s | FileCheck %s --check-prefix=LINE

// What weighs values without a softmax is named; a softmax that weighs none is no attention; neither is missed. What is not named: weights that
// go through another function, products without one, and linears with a squared ReLU between them.

// LINE: softmax classifier
// LINE-NEXT: its probabilities meet no product with values
// LINE: softmax entropy
// LINE: other sigmoid
// LINE-NEXT: sigmoid attention: its weights are the sigmoid of q k^T, without a softmax; it runs as products and elementwise code

#q = affine_map<(b, i, j, d) -> (b, i, d)>
#k = affine_map<(b, i, j, d) -> (b, j, d)>
#p = affine_map<(b, i, j, d) -> (b, i, j)>
#w = affine_map<(b, i, d, j) -> (b, i, j)>
#v = affine_map<(b, i, d, j) -> (b, j, d)>
#o = affine_map<(b, i, d, j) -> (b, i, d)>
#kd = affine_map<(b, e, d, j) -> (b, j, e)>
#vd = affine_map<(b, e, d, j) -> (b, j, d)>
#s = affine_map<(b, e, d, j) -> (b, e, d)>
#qe = affine_map<(b, i, d, e) -> (b, i, e)>
#se = affine_map<(b, i, d, e) -> (b, e, d)>

// CHECK-COUNT-1: "location": "classifier"
// CHECK: "status": "softmax"
func.func @classifier(%x: tensor<2x6xf32> {fovea.name = "x"}) -> (tensor<2x6xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %e = tensor.empty() : tensor<2x6xf32>
  %p = linalg.softmax dimension(1) ins(%x : tensor<2x6xf32>) outs(%e : tensor<2x6xf32>) -> tensor<2x6xf32> loc("classifier")
  return %p : tensor<2x6xf32>
}

// -sum p log p is no attention either.
// CHECK: "location": "entropy"
// CHECK: "status": "softmax"
func.func @entropy(%x: tensor<2x6xf32> {fovea.name = "x"}) -> (tensor<2xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6xf32>
  %p = linalg.softmax dimension(1) ins(%x : tensor<2x6xf32>) outs(%e : tensor<2x6xf32>) -> tensor<2x6xf32> loc("entropy")
  %l = math.log %p : tensor<2x6xf32>
  %t = arith.mulf %p, %l : tensor<2x6xf32>
  %r = tensor.empty() : tensor<2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%r : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.reduce ins(%t : tensor<2x6xf32>) outs(%z : tensor<2xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  return %s : tensor<2xf32>
}

// CHECK: "location": "sigmoid"
// CHECK: "reason": "sigmoid attention: its weights are the sigmoid of q k^T, without a softmax; it runs as products and elementwise code"
// CHECK: "status": "other"
// CHECK: "location": "squared"
// CHECK: "reason": "squared ReLU attention: its weights are the squared ReLU of q k^T
// CHECK: "location": "linear"
// CHECK: "reason": "linear attention: its weights are phi(q) phi(k)^T
// CHECK: "location": "reordered"
// CHECK: "reason": "linear attention: its weights are phi(q) phi(k)^T
// CHECK-NOT: "location"
func.func @weighs(%q: tensor<2x3x4xf32> {fovea.name = "q"}, %k: tensor<2x5x4xf32> {fovea.name = "k"}, %v: tensor<2x5x7xf32> {fovea.name = "v"}, %ones: tensor<2x3x5xf32> {fovea.name = "ones"})
    -> (tensor<2x3x7xf32> {fovea.name = "a"}, tensor<2x3x7xf32> {fovea.name = "b"}, tensor<2x3x7xf32> {fovea.name = "c"}, tensor<2x3x7xf32> {fovea.name = "d"}, tensor<2x3x7xf32> {fovea.name = "e"}, tensor<2x3x7xf32> {fovea.name = "f"}) attributes {fovea.entry} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant dense<0.5> : tensor<2x3x5xf32>
  %e0 = tensor.empty() : tensor<2x3x5xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %x = linalg.contract indexing_maps = [#q, #k, #p] ins(%q, %k : tensor<2x3x4xf32>, tensor<2x5x4xf32>) outs(%z0 : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %y = arith.mulf %x, %half : tensor<2x3x5xf32>
  %e1 = tensor.empty() : tensor<2x3x7xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>

  %p0 = fovea.activation sigmoid %y : tensor<2x3x5xf32>
  %a = linalg.contract indexing_maps = [#w, #v, #o] ins(%p0, %v : tensor<2x3x5xf32>, tensor<2x5x7xf32>) outs(%z1 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32> loc("sigmoid")

  %r = fovea.activation relu %y : tensor<2x3x5xf32>
  %p1 = arith.mulf %r, %r : tensor<2x3x5xf32>
  %b = linalg.contract indexing_maps = [#w, #v, #o] ins(%p1, %v : tensor<2x3x5xf32>, tensor<2x5x7xf32>) outs(%z1 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32> loc("squared")

  %fq = math.exp %q : tensor<2x3x4xf32>
  %fk = math.exp %k : tensor<2x5x4xf32>
  %p2 = linalg.contract indexing_maps = [#q, #k, #p] ins(%fq, %fk : tensor<2x3x4xf32>, tensor<2x5x4xf32>) outs(%z0 : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %m2 = arith.mulf %p2, %ones : tensor<2x3x5xf32>
  %c = linalg.contract indexing_maps = [#w, #v, #o] ins(%m2, %v : tensor<2x3x5xf32>, tensor<2x5x7xf32>) outs(%z1 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32> loc("linear")

  %e2 = tensor.empty() : tensor<2x4x7xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  %state = linalg.contract indexing_maps = [#kd, #vd, #s] ins(%fk, %v : tensor<2x5x4xf32>, tensor<2x5x7xf32>) outs(%z2 : tensor<2x4x7xf32>) -> tensor<2x4x7xf32>
  %d = linalg.contract indexing_maps = [#qe, #se, #o] ins(%fq, %state : tensor<2x3x4xf32>, tensor<2x4x7xf32>) outs(%z1 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32> loc("reordered")

  %p4 = fovea.activation silu %y : tensor<2x3x5xf32>
  %f = linalg.contract indexing_maps = [#w, #v, #o] ins(%p4, %v : tensor<2x3x5xf32>, tensor<2x5x7xf32>) outs(%z1 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32> loc("silu")
  %g = linalg.contract indexing_maps = [#w, #v, #o] ins(%y, %v : tensor<2x3x5xf32>, tensor<2x5x7xf32>) outs(%z1 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32> loc("plain")
  return %a, %b, %c, %d, %f, %g : tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<2x3x7xf32>, tensor<2x3x7xf32>
}

func.func @feedforward(%x: tensor<2x4xf32> {fovea.name = "x"}, %up: tensor<8x4xf32> {fovea.name = "up"}, %down: tensor<4x8xf32> {fovea.name = "down"}) -> (tensor<2x4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %h = fovea.linear %x, %up : tensor<2x4xf32>, tensor<8x4xf32> -> tensor<2x8xf32>
  %r = fovea.activation relu_squared %h : tensor<2x8xf32>
  %y = fovea.linear %r, %down : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32> loc("feedforward")
  return %y : tensor<2x4xf32>
}
