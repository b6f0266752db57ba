// RUN: fovea-opt %s --fovea-to-scheduled=target=avx2 --fovea-to-kernels | FileCheck %s

// Each element is turned where it lies: a sine with its sign for each column, and the other of the pair read from memory.
// CHECK-LABEL: func.func private @rotary_angles_0(
// CHECK: arith.negf
// CHECK-LABEL: func.func private @rope_0(
// CHECK: tile.map
// CHECK: %[[OTHER:.*]] = arith.xori
// CHECK: memref.load
// CHECK: tile.store
func.func @turn(%x: tensor<?x?x2x8xf32> {fovea.name = "x"}, %p: tensor<?x?xi32> {fovea.name = "p"}) -> (tensor<?x?x2x8xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %x, %b = %p) : (tensor<?x?x2x8xf32>, tensor<?x?xi32>) -> tensor<?x?x2x8xf32> {
    %1 = fovea.rope interleaved %a at(%b : tensor<?x?xi32>) dim(8) theta(10000.0) : tensor<?x?x2x8xf32>
    fovea.yield %1 : tensor<?x?x2x8xf32>
  }
  return %0 : tensor<?x?x2x8xf32>
}
