// RUN: fovea-verify-planted %s | FileCheck %s
// RUN: not fovea-verify-planted %s --json --plant=fovea.activation@%s:14:8 | FileCheck %s --check-prefix=JSON

// Modules without a model are held to the bound of single ops. Each kind of integer argument gets numbers that its op can take.

// CHECK: chain batch 1 y 0.0e+00 2.0e-05{{$}}
// CHECK: every_integer batch 2, length 33 keep 0.0e+00 2.0e-05{{$}}
// CHECK: outputs agree

func.func @chain(%x: tensor<?xf32> {fovea.name = "x", fovea.dims = ["batch"]}) -> (tensor<?xf32> {fovea.name = "y", fovea.dims = ["batch"]}) attributes {fovea.entry} {
  // One of these three departs; its place is in the second command.
  %0 = fovea.activation tanh %x : tensor<?xf32>
  // The one:
  %1 = fovea.activation silu %0 : tensor<?xf32>
  %2 = fovea.activation sigmoid %1 : tensor<?xf32>
  return %2 : tensor<?xf32>
}

// JSON: "departure": {
// JSON-NEXT: "entry": "chain",
// JSON-NEXT: "error": 0.0{{.*}},
// JSON-NEXT: "location": "{{.*}}ops.mlir:14:8",
// JSON-NEXT: "op": "fovea.activation",
// JSON: "passed": false,
// JSON: "case": "batch 1"
// JSON-NEXT: "entry": "chain"
// JSON: "output": "y",
// JSON-NEXT: "passed": false

func.func @every_integer(%ids: tensor<?x?xi64> {fovea.name = "ids", fovea.dims = ["batch", "tokens"]}, %p: tensor<1x?xi32> {fovea.name = "p", fovea.dims = ["tokens"]},
    %n: tensor<?xi32> {fovea.name = "n", fovea.dims = ["batch"]}, %s: tensor<?x?xi32> {fovea.name = "s", fovea.dims = ["batch", "tokens"]},
    %d: tensor<?x1x1x?xi1> {fovea.name = "d", fovea.dims = ["batch", "tokens"]}) -> (tensor<?x?x2xf32> {fovea.name = "rows", fovea.dims = ["batch", "tokens"]},
    tensor<?x2x?x?xi1> {fovea.name = "keep", fovea.dims = ["batch", "tokens", "tokens"]}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %batch = tensor.dim %ids, %c0 : tensor<?x?xi64>
  %length = tensor.dim %ids, %c1 : tensor<?x?xi64>
  %table = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %e = call @lookup(%ids, %table) : (tensor<?x?xi64>, tensor<3x2xf32>) -> tensor<?x?x2xf32>
  %a = fovea.mask_length %n : tensor<?xi32>
  %b = fovea.mask_segment %s, %s : tensor<?x?xi32>, tensor<?x?xi32>
  %c = fovea.mask_dense %d : tensor<?x1x1x?xi1>
  %f = fovea.mask_causal
  %m = fovea.mask_and(%a, %b, %c, %f)
  %t = fovea.mask_materialize %m [%batch, %length, %length] q_pos(%p : tensor<1x?xi32>) k_pos(%p : tensor<1x?xi32>) : tensor<?x2x?x?xi1>
  return %e, %t : tensor<?x?x2xf32>, tensor<?x2x?x?xi1>
}
func.func private @lookup(%ids: tensor<?x?xi64>, %table: tensor<3x2xf32>) -> tensor<?x?x2xf32> {
  %e = fovea.embedding %ids, %table : tensor<?x?xi64>, tensor<3x2xf32> -> tensor<?x?x2xf32>
  return %e : tensor<?x?x2xf32>
}
