// RUN: not fovea compile %s -o %t.fovea 2>&1 | FileCheck %s
// RUN: not fovea check %s 2>&1 | FileCheck %s

// An axis that the tensor does not have, which MLIR's verifier lets pass.
func.func @forward(%x: tensor<?x4xf32> {fovea.name = "x", fovea.dims = ["words"]}) -> (tensor<?xf32> {fovea.name = "y", fovea.dims = ["words"]})
    attributes {fovea.entry} {
  %c9 = arith.constant 9 : index
  // CHECK: dim-without-axis.mlir:[[#@LINE+1]]{{.*}}: 'tensor.dim' op expects an axis of 'tensor<?x4xf32>', got 9
  %n = tensor.dim %x, %c9 : tensor<?x4xf32>
  %slice = tensor.extract_slice %x[0, 0] [%n, 1] [1, 1] : tensor<?x4xf32> to tensor<?xf32>
  return %slice : tensor<?xf32>
}
