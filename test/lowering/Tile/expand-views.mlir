// RUN: fovea-opt %s --fovea-expand-views --lower-affine --canonicalize | FileCheck %s
//
// A row of a buffer is its base, an offset of whole rows, and the sizes and strides of the view.

// CHECK-LABEL: func.func @row
// CHECK: %[[AT:.*]] = arith.muli %arg1, %c8
// CHECK: memref.reinterpret_cast %arg0 to offset: [%[[AT]]], sizes: [8], strides: [1]
// CHECK-NOT: memref.subview
func.func @row(%m: memref<?x8xf32>, %i: index) -> memref<8xf32, strided<[1], offset: ?>> {
  %v = memref.subview %m[%i, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<8xf32, strided<[1], offset: ?>>
  return %v : memref<8xf32, strided<[1], offset: ?>>
}
