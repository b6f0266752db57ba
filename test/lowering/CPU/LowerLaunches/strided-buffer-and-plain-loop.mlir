// RUN: fovea-opt %s --fovea-lower-entries=launches -verify-diagnostics | FileCheck %s
// RUN: fovea-opt %s --fovea-to-host -verify-diagnostics | FileCheck %s --check-prefix=HOST

// Of a buffer with a layout, the strides that its type leaves open; of a plain loop, its iterations by the threads of a block.
// HOST-NOT: tile.
// CHECK-LABEL: func.func @fovea_strided_launch(
// CHECK: arith.muli
// CHECK: arith.muli
// CHECK: %[[THREADS:.*]] = arith.constant 128 : index
// CHECK: arith.ceildivui %{{.*}}, %[[THREADS]]
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK: arith.index_cast %[[STRIDES]]#0
// CHECK: llvm.mlir.constant(5 : i64)
func.func @strided(%x: memref<?x8xf32>, %y: memref<?x4xf32>) -> index attributes {fovea.entry,
    fovea.signature = #fovea.signature<[#fovea.port<"x", tensor<?x8xf32>>], [#fovea.port<"y", tensor<?x4xf32>>]>} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %x, %c0 : memref<?x8xf32>
  %a = fovea.arena %c0 : memref<?xi8>
  %part = memref.reinterpret_cast %x to offset: [4], sizes: [%n, 4], strides: [%c8, 1]
    : memref<?x8xf32> to memref<?x4xf32, strided<[?, 1], offset: 4>>
  fovea.launch @copy_0 ins(%part : memref<?x4xf32, strided<[?, 1], offset: 4>>) outs(%y : memref<?x4xf32>)
  return %n : index
}

func.func private @copy_0(%x: memref<?x4xf32, strided<[?, 1], offset: 4>>, %y: memref<?x4xf32>, %part: index, %parts: index)
    attributes {fovea.threads = 128} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32, strided<[?, 1], offset: 4>>
  scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c4) step (%c1, %c1) {
    %v = memref.load %x[%i, %j] : memref<?x4xf32, strided<[?, 1], offset: 4>>
    memref.store %v, %y[%i, %j] : memref<?x4xf32>
  }
  return
}
