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
// REPORT: "location": "layer.router"
// REPORT: "reason": "its probabilities meet no product with values"
// REPORT: "status": "softmax"
// MISSED: fovea: error: {{.*}}not-fused.mlir:{{[0-9:]+}}: a softmax is not fused: the weights are
func.func @forward(%q: tensor<?x?x2x4xf32> {fovea.name = "q", fovea.dims = ["batch", "sequence"]}, %n: tensor<1xi32> {fovea.name = "n"}, %r: tensor<2x3xf32> {fovea.name = "r"})
    -> (tensor<?x?x2x4xf32> {fovea.name = "o", fovea.dims = ["batch", "sequence"]}, tensor<2x3xf32> {fovea.name = "p"}) attributes {fovea.entry} {
  %w = fovea.mask_window left(7) right(0)
  %l = fovea.mask_length %n : tensor<1xi32>
  %m = fovea.mask_and(%w, %l)
  %o = fovea.attention %q, %q, %q mask(%m) score() {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      %y = arith.mulf %x, %x : f32
      fovea.yield %y : f32
  } : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32> loc("layer.attention")
  %e = tensor.empty() : tensor<2x3xf32>
  %p = linalg.softmax dimension(1) ins(%r : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32> loc("layer.router")
  return %o, %p : tensor<?x?x2x4xf32>, tensor<2x3xf32>
}
