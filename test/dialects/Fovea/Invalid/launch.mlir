// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.launch refuses, by the number of the constraint.

func.func @launch_c1_missing(%x: memref<4xf32>) {
  // expected-error @below {{expects a function named @k, found none}}
  fovea.launch @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

func.func private @k(memref<4xf32>, memref<4xf32>)
func.func @launch_c1_part(%x: memref<4xf32>) {
  // expected-error @below {{expects kernel @k to take 'memref<4xf32>', 'memref<4xf32>', 'index', 'index', got 'memref<4xf32>', 'memref<4xf32>'}}
  fovea.launch @k ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
  return
}

// -----

func.func private @k(memref<4xf32>, index, index) -> i32
func.func @launch_c1_result(%x: memref<4xf32>) {
  // expected-error @below {{expects kernel @k to give nothing, got 'i32'}}
  fovea.launch @k outs(%x : memref<4xf32>)
  return
}

// -----

func.func private @k(memref<4xf32>, index, index)
func.func @launch_c2(%x: memref<4xf32>, %n: index) {
  // expected-error @below {{expects operations and bytes as its cost, got 1 values}}
  fovea.launch @k outs(%x : memref<4xf32>) cost(%n)
  return
}
