// RUN: fovea-opt %s -split-input-file -verify-diagnostics

// What routing refuses, by the number of the constraint.

func.func @top_k_c1_axis(%x: tensor<4x?xf32>) {
  // expected-error @below {{expects a static last axis, got 'tensor<4x?xf32>'}}
  %v, %i = fovea.top_k %x : tensor<4x?xf32> -> tensor<4x2xf32>, tensor<4x2xi64>
  return
}

// -----

func.func @top_k_c1_count(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects 1 to 4 values of each row, got 'tensor<?x5xf32>'}}
  %v, %i = fovea.top_k %x : tensor<?x4xf32> -> tensor<?x5xf32>, tensor<?x5xi64>
  return
}

// -----

func.func @top_k_c2_values(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects values like 'tensor<?x2xf32>', got 'tensor<?x2xbf16>'}}
  %v, %i = fovea.top_k %x : tensor<?x4xf32> -> tensor<?x2xbf16>, tensor<?x2xi64>
  return
}

// -----

func.func @top_k_c2_indices(%x: tensor<?x4xf32>) {
  // expected-error @below {{expects indices like 'tensor<?x2xi64>', got 'tensor<?x3xi64>'}}
  %v, %i = fovea.top_k %x : tensor<?x4xf32> -> tensor<?x2xf32>, tensor<?x3xi64>
  return
}

// -----

func.func @top_k_c3(%x: tensor<?x8xf32>, %b: tensor<7xf32>) {
  // expected-error @below {{expects a bias of 8 elements, got 'tensor<7xf32>'}}
  %v, %i = fovea.top_k %x bias(%b : tensor<7xf32>) : tensor<?x8xf32> -> tensor<?x3xf32>, tensor<?x3xi64>
  return
}

// -----

func.func @top_k_c4_groups(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects 1 to 64 groups that divide 8, got 3}}
  %v, %i = fovea.top_k %x groups(1 of 3 by 1) : tensor<?x8xf32> -> tensor<?x2xf32>, tensor<?x2xi64>
  return
}

// -----

func.func @top_k_c4_many(%x: tensor<?x128xf32>) {
  // expected-error @below {{expects 1 to 64 groups that divide 128, got 128}}
  %v, %i = fovea.top_k %x groups(2 of 128 by 1) : tensor<?x128xf32> -> tensor<?x2xf32>, tensor<?x2xi64>
  return
}

// -----

func.func @top_k_c4_chosen(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects at most 4 chosen groups that have 3 elements, got 1}}
  %v, %i = fovea.top_k %x groups(1 of 4 by 1) : tensor<?x8xf32> -> tensor<?x3xf32>, tensor<?x3xi64>
  return
}

// -----

func.func @top_k_c4_all(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects at most 4 chosen groups that have 3 elements, got 5}}
  %v, %i = fovea.top_k %x groups(5 of 4 by 1) : tensor<?x8xf32> -> tensor<?x3xf32>, tensor<?x3xi64>
  return
}

// -----

func.func @top_k_c4_top(%x: tensor<?x8xf32>) {
  // expected-error @below {{expects sums of 1 to 2 elements of a group, got 3}}
  %v, %i = fovea.top_k %x groups(2 of 4 by 3) : tensor<?x8xf32> -> tensor<?x3xf32>, tensor<?x3xi64>
  return
}

// -----

func.func @equal_offsets_c1(%n: index) {
  // expected-error @below {{expects a static number of offsets, two or more, got 'tensor<1xi64>'}}
  %o = fovea.equal_offsets %n : tensor<1xi64>
  return
}

// -----

func.func @dispatch_c1(%e: tensor<4x?xi64>) {
  // expected-error @below {{expects a static last axis, got 'tensor<4x?xi64>'}}
  %t, %p, %o = fovea.dispatch %e : tensor<4x?xi64> -> tensor<9xi64>
  return
}

// -----

func.func @dispatch_c2(%e: tensor<?x2xi64>) {
  // expected-error @below {{expects a static number of offsets, two or more, got 'tensor<1xi64>'}}
  %t, %p, %o = fovea.dispatch %e : tensor<?x2xi64> -> tensor<1xi64>
  return
}

// -----

func.func @gather_c1(%x: tensor<8xf32>, %r: tensor<?xi64>) {
  // expected-error @below {{expects rows of a static last axis, got 'tensor<8xf32>'}}
  %y = fovea.gather_rows %x rows(%r) : tensor<8xf32>, tensor<?xi64> -> tensor<?x8xf32>
  return
}

// -----

func.func @gather_c2(%x: tensor<?x8xf32>, %r: tensor<?x2xi64>) {
  // expected-error @below {{expects a result like 'tensor<?x2x8xf32>', got 'tensor<?x8xf32>'}}
  %y = fovea.gather_rows %x rows(%r) : tensor<?x8xf32>, tensor<?x2xi64> -> tensor<?x8xf32>
  return
}

// -----

func.func @combine_c2_rows(%x: tensor<?x8xf32>, %r: tensor<4x?xi64>, %w: tensor<4x?xf32>) {
  // expected-error @below {{expects a static number of rows for each sum, got 'tensor<4x?xi64>'}}
  %y = fovea.combine %x rows(%r) weights(%w) : tensor<?x8xf32>, tensor<4x?xi64>, tensor<4x?xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @combine_c2_weights(%x: tensor<?x8xf32>, %r: tensor<?x2xi64>, %w: tensor<?x3xf32>) {
  // expected-error @below {{expects weights like 'tensor<?x2xf32>', got 'tensor<?x3xf32>'}}
  %y = fovea.combine %x rows(%r) weights(%w) : tensor<?x8xf32>, tensor<?x2xi64>, tensor<?x3xf32> -> tensor<?x8xf32>
  return
}

// -----

func.func @combine_c3(%x: tensor<?x8xf32>, %r: tensor<?x2xi64>, %w: tensor<?x2xf32>) {
  // expected-error @below {{expects a result like 'tensor<?x8xf32>', got 'tensor<?x2x8xf32>'}}
  %y = fovea.combine %x rows(%r) weights(%w) : tensor<?x8xf32>, tensor<?x2xi64>, tensor<?x2xf32> -> tensor<?x2x8xf32>
  return
}

// -----

func.func @linear_c8_count(%x: tensor<?x2x8xf32>, %w: tensor<30x8xf32>, %o: tensor<5xi64>) {
  // expected-error @below {{expects rows that experts share, and a number of experts that divides 30, got 'tensor<?x2x8xf32>' and 'tensor<5xi64>'}}
  %y = fovea.linear %x, %w experts(%o : tensor<5xi64>) : tensor<?x2x8xf32>, tensor<30x8xf32> -> tensor<?x2x7xf32>
  return
}

// -----

func.func @linear_c8_rows(%x: tensor<8xf32>, %w: tensor<32x8xf32>, %o: tensor<5xi64>) {
  // expected-error @below {{expects rows that experts share}}
  %y = fovea.linear %x, %w experts(%o : tensor<5xi64>) : tensor<8xf32>, tensor<32x8xf32> -> tensor<8xf32>
  return
}

// -----

func.func @linear_c2_experts(%x: tensor<?x2x8xf32>, %w: tensor<32x8xf32>, %o: tensor<5xi64>) {
  // expected-error @below {{expects a result like 'tensor<?x2x8xf32>', got 'tensor<?x2x32xf32>'}}
  %y = fovea.linear %x, %w experts(%o : tensor<5xi64>) : tensor<?x2x8xf32>, tensor<32x8xf32> -> tensor<?x2x32xf32>
  return
}
