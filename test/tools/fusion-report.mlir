// RUN: fovea compile %s --emit=graph -o %t.graph.mlir --report=%t.json
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: fovea compile %s --emit=graph -o %t.all.mlir --require-fusion
// RUN: not fovea compile %source_root/examples/attention/not-fused.mlir --emit=graph -o %t.missed.mlir --require-fusion 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: not ls %t.missed.mlir

// REPORT: "location": "layer.attention"
// REPORT: "masks": [
// REPORT-NEXT: "window"
// REPORT-NEXT: "causal"
// REPORT-NEXT: "length"
// REPORT: "score": "x * x"
// REPORT: "status": "fused"
// REPORT: "weight": "select(p < 0.001, 0, p)"
// REPORT: "change": "mask the whole score or add -inf to it: the -20000 that places alone choose stands inside of its formula, where it skips none"
// REPORT-NEXT: "location": "layer.inside"
// REPORT: "change": "mask the whole score or add -inf to it: the -2000 that
// REPORT-NEXT: "location": "layer.table"
// REPORT: "change": ""
// REPORT-NEXT: "location": "layer.distances"
// REPORT: "change": ""
// REPORT-NEXT: "location": "layer.numbers"
// REPORT: "location": "layer.router"
// REPORT: "reason": "its probabilities meet no product with values"
// REPORT: "status": "softmax"
// MISSED: fovea: error: {{.*}}not-fused.mlir:{{[0-9:]+}}: a softmax is not fused: the weights are
func.func @forward(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["batch", "sequence"]}, %n: tensor<1xi32> {fovea.name = "n"}, %r: tensor<2x3xf32> {fovea.name = "r"}, %f: tensor<?x3x2x4xf32> {fovea.name = "f", fovea.dims = ["batch"]})
    -> (tensor<?x?x2x4xf32> {fovea.name = "o", fovea.dims = ["batch", "sequence"]}, tensor<2x3xf32> {fovea.name = "p"},
        tensor<?x?x2x4xf32> {fovea.name = "o1", fovea.dims = ["batch", "sequence"]}, tensor<?x3x2x4xf32> {fovea.name = "o2", fovea.dims = ["batch"]},
        tensor<?x3x2x4xf32> {fovea.name = "o3", fovea.dims = ["batch"]}, tensor<?x?x2x4xf32> {fovea.name = "o4", fovea.dims = ["batch", "sequence"]}) attributes {fovea.entry} {
  %w = fovea.mask_window left(7) right(0)
  %l = fovea.mask_length %n : tensor<1xi32>
  %m = fovea.mask_and(%w, %l)
  %o = fovea.attention %q, %q, %q mask(%m) score() {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      %y = arith.mulf %x, %x : f32
      fovea.yield %y : f32
  } probability {
    ^bb0(%p: f32, %b: index, %h: index, %i: i32, %j: i32):
      %least = arith.constant 0.001 : f32
      %none = arith.constant 0.0 : f32
      %small = arith.cmpf olt, %p, %least : f32
      %w_ = arith.select %small, %none, %p : f32
      fovea.yield %w_ : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32> loc("layer.attention")
  // Places choose a number that the formula goes on with; a table does; a table of distances does not;
  // scores do.
  %inside = fovea.attention %q, %q, %q score() {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      %low = arith.constant -20000.0 : f32
      %c = arith.cmpi sle, %j, %i : i32
      %s = arith.select %c, %x, %low : f32
      %y = math.tanh %s : f32
      fovea.yield %y : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32> loc("layer.inside")
  %flags = arith.constant dense<[0.0, 0.0, -2000.0]> : tensor<3xf32>
  %table = fovea.attention %f, %f, %f score(%flags : tensor<3xf32> by (b, h, i, j) -> (j)) {
    ^bb0(%x: f32, %t: f32, %b: index, %h: index, %i: i32, %j: i32):
      %y = arith.addf %x, %t : f32
      fovea.yield %y : f32
  } : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32> loc("layer.table")
  %lengths = arith.constant dense<[0.0, -1000.0, -2000.0]> : tensor<3xf32>
  %distances = fovea.attention %f, %f, %f score(%lengths : tensor<3xf32> by (b, h, i, j) -> (j)) {
    ^bb0(%x: f32, %t: f32, %b: index, %h: index, %i: i32, %j: i32):
      %y = arith.addf %x, %t : f32
      fovea.yield %y : f32
  } : tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32> -> tensor<?x3x2x4xf32> loc("layer.distances")
  %numbers = fovea.attention %q, %q, %q score() {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      %low = arith.constant -20000.0 : f32
      %c = arith.cmpf ogt, %x, %low : f32
      %s = arith.select %c, %x, %low : f32
      %y = math.tanh %s : f32
      fovea.yield %y : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32> loc("layer.numbers")
  %e = tensor.empty() : tensor<2x3xf32>
  %p = linalg.softmax dimension(1) ins(%r : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32> loc("layer.router")
  return %o, %p, %inside, %table, %distances, %numbers : tensor<?x?x2x4xf32>, tensor<2x3xf32>, tensor<?x?x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x3x2x4xf32>, tensor<?x?x2x4xf32>
}
