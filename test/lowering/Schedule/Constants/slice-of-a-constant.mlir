// RUN: fovea-opt %s --fovea-schedule=target=sm_80 | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule=target=avx512 | FileCheck %s --check-prefix=CPU

// A slice of a constant that a group gets: on a GPU a kernel writes the constant, which lies in the device's code, to memory.
// CHECK-LABEL: func.func @positions
// CHECK: %[[TABLE:.*]] = fovea.group() schedule(#fovea.loops<parallel = 2>) : () -> tensor<4x2xf32> {
// CHECK: %[[VALUES:.*]] = arith.constant dense<{{.*}}> : tensor<4x2xf32>
// CHECK: %[[COPY:.*]] = linalg.copy ins(%[[VALUES]] : tensor<4x2xf32>)
// CHECK: fovea.yield %[[COPY]]
// CHECK: tensor.extract_slice %[[TABLE]]
// CPU-LABEL: func.func @positions
// CPU: %[[VALUES:.*]] = arith.constant dense<{{.*}}> : tensor<4x2xf32>
// CPU-NOT: linalg.copy
// CPU: tensor.extract_slice %[[VALUES]]
func.func @positions(%x: tensor<?x2xf32>) -> tensor<?x2xf32> attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %table = arith.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]> : tensor<4x2xf32>
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %rows = tensor.extract_slice %table[0, 0] [%n, 2] [1, 1] : tensor<4x2xf32> to tensor<?x2xf32>
  %y = fovea.group(%a = %x, %b = %rows) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32> {
    %0 = arith.addf %a, %b : tensor<?x2xf32>
    fovea.yield %0 : tensor<?x2xf32>
  }
  return %y : tensor<?x2xf32>
}
