// RUN: fovea-opt %s -fovea-refine-shapes | FileCheck %s

// Key and value that cannot be of one length: wrong when it runs, legal until then.
// CHECK-LABEL: @contradiction_stays
// CHECK: fovea.attention {{.*}} : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>
func.func @contradiction_stays(%q: tensor<?x?x2x4xf32>, %k: tensor<?x5x2x4xf32>, %v: tensor<?x6x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %0 = tensor.cast %k : tensor<?x5x2x4xf32> to tensor<?x?x2x4xf32>
  %1 = tensor.cast %v : tensor<?x6x2x4xf32> to tensor<?x?x2x4xf32>
  %2 = fovea.attention %q, %0, %1 : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
  return %2 : tensor<?x?x2x4xf32>
}
