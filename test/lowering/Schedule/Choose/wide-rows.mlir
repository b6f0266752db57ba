// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

// Tiles of whole rows lie on a thread's stack: of long rows there are fewer, and of the longest none.

// CHECK-LABEL: @rows
// CHECK: schedule(#fovea.rows<rows = 4>) : (tensor<?x16384xf32>)
// CHECK: schedule(#fovea.rows<rows = 1>) : (tensor<?x65536xf32>)
// CHECK: schedule(#fovea.loops<parallel = 1>) : (tensor<?x262144xf32>)
func.func @rows(%x: tensor<?x16384xf32>, %y: tensor<?x65536xf32>, %z: tensor<?x262144xf32>) -> (tensor<?x16384xf32>, tensor<?x65536xf32>, tensor<?x262144xf32>) {
  %0 = fovea.group(%a = %x) : (tensor<?x16384xf32>) -> tensor<?x16384xf32> {
    %1 = fovea.rms_norm %a eps(1.0e-5) : tensor<?x16384xf32>
    fovea.yield %1 : tensor<?x16384xf32>
  }
  %2 = fovea.group(%a = %y) : (tensor<?x65536xf32>) -> tensor<?x65536xf32> {
    %3 = fovea.rms_norm %a eps(1.0e-5) : tensor<?x65536xf32>
    fovea.yield %3 : tensor<?x65536xf32>
  }
  %4 = fovea.group(%a = %z) : (tensor<?x262144xf32>) -> tensor<?x262144xf32> {
    %5 = fovea.rms_norm %a eps(1.0e-5) : tensor<?x262144xf32>
    fovea.yield %5 : tensor<?x262144xf32>
  }
  return %0, %2, %4 : tensor<?x16384xf32>, tensor<?x65536xf32>, tensor<?x262144xf32>
}
