// RUN: fovea-opt %s --fovea-to-fused --fovea-schedule=target=avx2 | FileCheck %s

// Tiles of whole rows lie on a thread's stack: of long rows there are fewer, and the longest are
// numbers of rows by a reduction, then a map.

// CHECK-LABEL: @rows
// CHECK: schedule(#fovea.rows<rows = 4>) : (tensor<?x16384xf32>)
// CHECK: schedule(#fovea.rows<rows = 1>) : (tensor<?x65536xf32>)
// CHECK: schedule(#fovea.loops<parallel = 1>) : (tensor<?x262144xf32>, index) -> tensor<?xf32>
// CHECK: schedule(#fovea.rows<rows = 1>) : (tensor<?x262144xf32>, tensor<?xf32>, index) -> tensor<?x262144xf32>
func.func @rows(%x: tensor<?x16384xf32>, %y: tensor<?x65536xf32>, %z: tensor<?x262144xf32>) -> (tensor<?x16384xf32>, tensor<?x65536xf32>, tensor<?x262144xf32>) {
  %0 = fovea.rms_norm %x eps(1.0e-5) : tensor<?x16384xf32>
  %1 = fovea.rms_norm %y eps(1.0e-5) : tensor<?x65536xf32>
  %2 = fovea.rms_norm %z eps(1.0e-5) : tensor<?x262144xf32>
  return %0, %1, %2 : tensor<?x16384xf32>, tensor<?x65536xf32>, tensor<?x262144xf32>
}
