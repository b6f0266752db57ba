// RUN: fovea-opt %s --fovea-schedule=target=sm_80 | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s --check-prefix=CPU

// Tiles of large heads and of f64 take fewer queries and keys: shared memory holds no more, nor a processor's caches.

// CHECK-LABEL: @heads
// CHECK: #fovea.attention_tiles<queries = 64, keys = 64, {{.*}}tensor<1x100x2x256xf32>
// CHECK: #fovea.attention_tiles<queries = 32, keys = 32, {{.*}}tensor<1x100x2x512xf32>
// CHECK: #fovea.attention_tiles<queries = 32, keys = 64, {{.*}}tensor<1x100x2x128xf64>
// CPU-LABEL: @heads
// CPU: #fovea.attention_tiles<queries = 16, keys = 64, {{.*}}tensor<1x100x2x256xf32>
// CPU: #fovea.attention_tiles<queries = 16, keys = 64, {{.*}}tensor<1x100x2x512xf32>
// CPU: #fovea.attention_tiles<queries = 16, keys = 64, {{.*}}tensor<1x100x2x128xf64>
func.func @heads(%x: tensor<1x100x2x256xf32>, %y: tensor<1x100x2x512xf32>, %z: tensor<1x100x2x128xf64>) -> (tensor<1x100x2x256xf32>, tensor<1x100x2x512xf32>, tensor<1x100x2x128xf64>) {
  %0 = fovea.group(%a = %x) : (tensor<1x100x2x256xf32>) -> tensor<1x100x2x256xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<1x100x2x256xf32>, tensor<1x100x2x256xf32>, tensor<1x100x2x256xf32> -> tensor<1x100x2x256xf32>
    fovea.yield %1 : tensor<1x100x2x256xf32>
  }
  %2 = fovea.group(%a = %y) : (tensor<1x100x2x512xf32>) -> tensor<1x100x2x512xf32> {
    %3 = fovea.attention %a, %a, %a : tensor<1x100x2x512xf32>, tensor<1x100x2x512xf32>, tensor<1x100x2x512xf32> -> tensor<1x100x2x512xf32>
    fovea.yield %3 : tensor<1x100x2x512xf32>
  }
  %4 = fovea.group(%a = %z) : (tensor<1x100x2x128xf64>) -> tensor<1x100x2x128xf64> {
    %5 = fovea.attention %a, %a, %a : tensor<1x100x2x128xf64>, tensor<1x100x2x128xf64>, tensor<1x100x2x128xf64> -> tensor<1x100x2x128xf64>
    fovea.yield %5 : tensor<1x100x2x128xf64>
  }
  return %0, %2, %4 : tensor<1x100x2x256xf32>, tensor<1x100x2x512xf32>, tensor<1x100x2x128xf64>
}
