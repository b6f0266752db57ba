// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.group refuses, by the number of the constraint.

func.func @group_syntax(%x: tensor<4xf32>) {
  // expected-error @below {{expects 1 operand types, got 2}}
  %y = fovea.group(%a = %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    fovea.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @group_c1_arguments(%x: tensor<4xf32>) {
  // expected-error @below {{expects region arguments of types 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %y = "fovea.group"(%x) ({
    ^bb0(%a: tensor<5xf32>):
      fovea.yield %a : tensor<5xf32>
  }) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @group_c1_yield(%x: tensor<4xf32>) {
  // expected-error @below {{expects the region to yield 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %y = fovea.group(%a = %x) : (tensor<4xf32>) -> tensor<5xf32> {
    fovea.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @group_c1_terminator(%x: tensor<4xf32>) {
  // expected-error @below {{expects regions to end with 'fovea.yield', found 'llvm.unreachable'}}
  // expected-note @below {{the absence of terminator implies 'fovea.yield'}}
  %y = "fovea.group"(%x) ({
    ^bb0(%a: tensor<4xf32>):
      llvm.unreachable
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @group_c2(%x: memref<4xf32>) {
  // expected-error @below {{expects tensors, caches and index values at its border, got 'memref<4xf32>'}}
  fovea.group(%a = %x) : (memref<4xf32>) -> () {
  }
  return
}

// -----

func.func @group_c2_mask() {
  // expected-error @below {{expects tensors, caches and index values at its border, got '!fovea.mask'}}
  %m = fovea.group() : () -> !fovea.mask {
    %c = fovea.mask_causal
    fovea.yield %c : !fovea.mask
  }
  return
}
