// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of a score region, by the number of the constraint.

func.func @attention_c7_arguments(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects score arguments of types 'f32', 'index', 'index', 'i32', 'i32', got 'f32', 'index'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c7_accumulation_type(%q: tensor<?x?x8x64xf64>, %k: tensor<?x?x2x64xf64>) {
  // expected-error @below {{expects score arguments of types 'f64', 'index', 'index', 'i32', 'i32', got 'f32'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf64>, tensor<?x?x2x64xf64>, tensor<?x?x2x64xf64> -> tensor<?x?x8x64xf64>
  return
}

// -----

func.func @attention_c7_yield(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects the score region to yield one 'f32'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %i : i32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

// The region is looked at only when its own structure is known to be right.
func.func @attention_c7_empty_block(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{empty block: expect at least a terminator}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c7_effects(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>) {
  // expected-error @below {{expects pure ops in the score region, got 'memref.alloc'}}
  %o = fovea.attention %q, %k, %k score {
    ^bb0(%x: f32, %b: index, %h: index, %i: i32, %j: i32):
      %m = memref.alloc() : memref<f32>
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}
