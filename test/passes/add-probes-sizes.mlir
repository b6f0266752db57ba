// RUN: fovea-opt %s --fovea-add-probes=kinds=masks -split-input-file -verify-diagnostics | FileCheck %s

// A size of an axis that only the call knows starts where it is.
// CHECK-LABEL: func.func @attention_masks(
// CHECK: tensor.dim %{{.*}}, %{{.*}}
func.func @f(%q: tensor<?x?x2x4xf32>, %row: tensor<?x1x1x?xi1>) -> tensor<?x?x2x4xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %b = tensor.dim %q, %c0 : tensor<?x?x2x4xf32>
  %n = arith.remui %b, %c2 : index
  %d = tensor.dim %q, %n : tensor<?x?x2x4xf32>
  %some = tensor.extract_slice %row[0, 0, 0, 0] [%b, 1, 1, %d] [1, 1, 1, 1] : tensor<?x1x1x?xi1> to tensor<?x1x1x?xi1>
  %m = fovea.mask_dense %some : tensor<?x1x1x?xi1>
  %o = fovea.attention %q, %q, %q mask(%m) scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}

// -----

// expected-error @below {{calls itself, which cannot be flattened}}
func.func private @layer(%q: tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %0 = call @layer(%q) : (tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32>
  %o = fovea.attention %0, %0, %0 scale(0.5) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %o : tensor<?x?x2x4xf32>
}
func.func @f(%q: tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> attributes {fovea.entry} {
  %0 = call @layer(%q) : (tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32>
  return %0 : tensor<?x?x2x4xf32>
}
