// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of score operands and their maps, by the number of the constraint.

func.func @attention_c8_no_region(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{expects a score region for its 1 score operands, got none}}
  %o = "fovea.attention"(%q, %k, %k, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0>, score_maps = [affine_map<(b, h, i, j) -> (h)>]}> ({}, {})
      : (tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<8xf32>) -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_maps(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8xf32>) {
  // expected-error @below {{expects one indexing map for each score operand, got 0 for 1}}
  %o = "fovea.attention"(%q, %k, %k, %s) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0>, resultSegmentSizes = array<i32: 1, 0, 0>, score_maps = []}> ({
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  }, {}) : (tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32>, tensor<8xf32>) -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_results(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8x?xf32>) {
  // expected-error @below {{expects the map of score operand 0 to take (b, h, i, j) to 2 distinct dimensions or to none, got affine_map<(d0, d1, d2, d3) -> (d1)>}}
  %o = fovea.attention %q, %k, %k score(%s : tensor<8x?xf32> by (b, h, i, j) -> (h)) {
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_distinct(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %s: tensor<8x8xf32>) {
  // expected-error @below {{expects the map of score operand 0 to take (b, h, i, j) to 2 distinct dimensions}}
  %o = fovea.attention %q, %k, %k score(%s : tensor<8x8xf32> by (b, h, i, j) -> (h, h)) {
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}

// -----

func.func @attention_c8_sizes(%q: tensor<?x?x8x64xf32>, %k: tensor<?x5x2x64xf32>, %s: tensor<8x6xf32>) {
  // expected-error @below {{expects axis 1 of score operand 0 to have size 5, got 'tensor<8x6xf32>'}}
  %o = fovea.attention %q, %k, %k score(%s : tensor<8x6xf32> by (b, h, i, j) -> (h, j)) {
    ^bb0(%x: f32, %e: f32, %b: index, %h: index, %i: i32, %j: i32):
      fovea.yield %x : f32
  } : tensor<?x?x8x64xf32>, tensor<?x5x2x64xf32>, tensor<?x5x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}
