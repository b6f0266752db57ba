// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule="target=sm_80 assume-covered" | FileCheck %s --check-prefix=GPU

// Of a weight that fits beside each core's rows in its cache, rows are outermost: a thread goes on with those it made. A
// larger one is read once by all threads together. Blocks of a GPU share one cache.

// CHECK-LABEL: @products
// CHECK: outermost = rows>) : (tensor<2x?x320xf32>, tensor<512x320xf32>)
// CHECK: block = [8, 48]>) : (tensor<2x?x320xf32>, tensor<513x320xf32>)
// GPU-NOT: outermost
func.func @products(%x: tensor<2x?x320xf32>, %w: tensor<512x320xf32>, %v: tensor<513x320xf32>) -> (tensor<2x?x512xf32>, tensor<2x?x513xf32>) {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<2x?x320xf32>, tensor<512x320xf32>) -> tensor<2x?x512xf32> {
    %1 = fovea.linear %a, %b : tensor<2x?x320xf32>, tensor<512x320xf32> -> tensor<2x?x512xf32>
    fovea.yield %1 : tensor<2x?x512xf32>
  }
  %2 = fovea.group(%a = %x, %b = %v) : (tensor<2x?x320xf32>, tensor<513x320xf32>) -> tensor<2x?x513xf32> {
    %1 = fovea.linear %a, %b : tensor<2x?x320xf32>, tensor<513x320xf32> -> tensor<2x?x513xf32>
    fovea.yield %1 : tensor<2x?x513xf32>
  }
  return %0, %2 : tensor<2x?x512xf32>, tensor<2x?x513xf32>
}
