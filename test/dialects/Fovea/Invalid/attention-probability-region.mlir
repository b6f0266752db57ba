// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What fovea.attention refuses of a probability region, by the number of the constraint.

func.func @attention_c7_probability_yields(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>) {
  // expected-error @below {{expects the probability region to yield one 'f32'}}
  %o = fovea.attention %q, %k, %k probability {
    ^bb0(%p: f32, %b: index, %h: index, %qp: i32, %kp: i32):
      fovea.yield %b : index
  } : tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16> -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @attention_c7_probability_arguments(%q: tensor<?x?x8x64xf16>, %k: tensor<?x?x2x64xf16>, %d: tensor<8xf16>) {
  // expected-error @below {{expects probability arguments of types 'f32', 'f16', 'index', 'index', 'i32', 'i32', got 'f32', 'index', 'index', 'i32', 'i32'}}
  %o = fovea.attention %q, %k, %k probability(%d : tensor<8xf16> by (b, h, i, j) -> (h)) {
    ^bb0(%p: f32, %b: index, %h: index, %qp: i32, %kp: i32):
      fovea.yield %p : f32
  } : tensor<?x?x8x64xf16>, tensor<?x?x2x64xf16>, tensor<?x?x2x64xf16> -> tensor<?x?x8x64xf16>
  return
}

// -----

func.func @attention_c8_probability_operand(%q: tensor<?x?x8x64xf32>, %k: tensor<?x?x2x64xf32>, %d: tensor<7x?xf32>) {
  // expected-error @below {{expects axis 0 of probability operand 0 to have size 8, got 'tensor<7x?xf32>'}}
  %o = fovea.attention %q, %k, %k probability(%d : tensor<7x?xf32> by (b, h, i, j) -> (h, j)) {
    ^bb0(%p: f32, %e: f32, %b: index, %h: index, %qp: i32, %kp: i32):
      fovea.yield %p : f32
  } : tensor<?x?x8x64xf32>, tensor<?x?x2x64xf32>, tensor<?x?x2x64xf32> -> tensor<?x?x8x64xf32>
  return
}
