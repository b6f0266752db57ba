// RUN: fovea-opt %s --fovea-form-groups --canonicalize --cse --split-input-file > %t.formed
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse --split-input-file > %t.fused
// RUN: diff %t.formed %t.fused
// RUN: fovea-opt %s --fovea-form-groups --fovea-fuse-groups --canonicalize --cse --split-input-file | FileCheck %s

// What stays in groups of one op.

// Another user of the linear.

// CHECK-LABEL: func.func @second_user
// CHECK-COUNT-2: fovea.group
func.func @second_user(%x: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>) {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = fovea.activation gelu %0 : tensor<?x32xf32>
  return %0, %1 : tensor<?x32xf32>, tensor<?x32xf32>
}

// -----

// An argmax of one row that has no axis of rows; of more columns than f32 counts; in f64; of what is no product.

// CHECK-LABEL: func.func @argmax_vector
// CHECK-COUNT-2: fovea.group
func.func @argmax_vector(%x: tensor<32xf32>, %w: tensor<48x32xf32>) -> tensor<i64> {
  %0 = fovea.linear %x, %w : tensor<32xf32>, tensor<48x32xf32> -> tensor<48xf32>
  %1 = fovea.argmax %0 : tensor<48xf32> -> tensor<i64>
  return %1 : tensor<i64>
}
// CHECK-LABEL: func.func @argmax_wide
// CHECK-COUNT-2: fovea.group
func.func @argmax_wide(%x: tensor<?x2xf32>, %w: tensor<16777217x2xf32>) -> tensor<?xi64> {
  %0 = fovea.linear %x, %w : tensor<?x2xf32>, tensor<16777217x2xf32> -> tensor<?x16777217xf32>
  %1 = fovea.argmax %0 : tensor<?x16777217xf32> -> tensor<?xi64>
  return %1 : tensor<?xi64>
}
// CHECK-LABEL: func.func @argmax_f64
// CHECK-COUNT-2: fovea.group
func.func @argmax_f64(%x: tensor<?x32xf64>, %w: tensor<48x32xf32>) -> tensor<?xi64> {
  %0 = fovea.linear %x, %w : tensor<?x32xf64>, tensor<48x32xf32> -> tensor<?x48xf64>
  %1 = fovea.argmax %0 : tensor<?x48xf64> -> tensor<?xi64>
  return %1 : tensor<?xi64>
}
// CHECK-LABEL: func.func @argmax_norm
// CHECK-COUNT-2: fovea.group
func.func @argmax_norm(%x: tensor<?x32xf32>) -> tensor<?xi64> {
  %0 = fovea.l2_norm %x eps(1.0e-5) : tensor<?x32xf32>
  %1 = fovea.argmax %0 : tensor<?x32xf32> -> tensor<?xi64>
  return %1 : tensor<?xi64>
}

// -----

// Sizes that may differ: two arguments without names, or with different ones.

// CHECK-LABEL: func.func @unnamed
// CHECK-COUNT-2: fovea.group
func.func @unnamed(%x: tensor<?x32xf32>, %r: tensor<?x32xf32>, %w: tensor<32x32xf32>) -> tensor<?x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.addf %r, %0 : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}
// CHECK-LABEL: func.func @named
// CHECK-COUNT-2: fovea.group
func.func @named(%x: tensor<?x32xf32> {fovea.dims = ["n"]}, %r: tensor<?x32xf32> {fovea.dims = ["m"]}, %w: tensor<32x32xf32>) -> tensor<?x32xf32> attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = arith.addf %r, %0 : tensor<?x32xf32>
  return %1 : tensor<?x32xf32>
}
// CHECK-LABEL: func.func @gathered
// CHECK-COUNT-3: fovea.group
func.func @gathered(%i: tensor<?x?xi64>, %j: tensor<?x?xi64>, %t: tensor<9x20xf32>) -> tensor<?x?x20xf32> {
  %0 = fovea.embedding %i, %t : tensor<?x?xi64>, tensor<9x20xf32> -> tensor<?x?x20xf32>
  %1 = fovea.embedding %j, %t : tensor<?x?xi64>, tensor<9x20xf32> -> tensor<?x?x20xf32>
  %2 = arith.addf %0, %1 : tensor<?x?x20xf32>
  return %2 : tensor<?x?x20xf32>
}

// -----

// A view between linear and sum: other shapes, or a cast of open sizes.

// CHECK-LABEL: func.func @reshaped
// CHECK-COUNT-2: fovea.group
func.func @reshaped(%x: tensor<2x3x32xf32>, %r: tensor<6x32xf32>, %w: tensor<32x32xf32>) -> tensor<6x32xf32> {
  %0 = fovea.linear %x, %w : tensor<2x3x32xf32>, tensor<32x32xf32> -> tensor<2x3x32xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x3x32xf32> into tensor<6x32xf32>
  %2 = arith.addf %1, %r : tensor<6x32xf32>
  return %2 : tensor<6x32xf32>
}
// CHECK-LABEL: func.func @cast
// CHECK-COUNT-2: fovea.group
func.func @cast(%x: tensor<?x32xf32>, %r: tensor<4x32xf32>, %w: tensor<32x32xf32>) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %1 = tensor.cast %0 : tensor<?x32xf32> to tensor<4x32xf32>
  %2 = arith.addf %1, %r : tensor<4x32xf32>
  return %2 : tensor<4x32xf32>
}

// -----

// f64 activations, and an f64 weight.

// CHECK-LABEL: func.func @wide
// CHECK-COUNT-2: fovea.group
func.func @wide(%x: tensor<4x32xf64>, %w: tensor<32x32xf64>) -> tensor<4x32xf64> {
  %0 = fovea.linear %x, %w : tensor<4x32xf64>, tensor<32x32xf64> -> tensor<4x32xf64>
  %1 = arith.addf %0, %x : tensor<4x32xf64>
  return %1 : tensor<4x32xf64>
}
// CHECK-LABEL: func.func @wide_weight
// CHECK-COUNT-2: fovea.group
func.func @wide_weight(%x: tensor<4x32xf32>, %w: tensor<32x32xf64>) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<32x32xf64> -> tensor<4x32xf32>
  %1 = arith.addf %0, %x : tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}
// CHECK-LABEL: func.func @wide_norm
// CHECK-COUNT-2: fovea.group
func.func @wide_norm(%x: tensor<4x32xf64>) -> tensor<4x32xf64> {
  %0 = arith.addf %x, %x : tensor<4x32xf64>
  %1 = fovea.rms_norm %0 eps(1.0e-5) : tensor<4x32xf64>
  return %1 : tensor<4x32xf64>
}

// -----

// Ranges that are no multiples of 16, that overlap, or that are not of all rows. Or the whole is read too.

// CHECK-LABEL: func.func @ragged
// CHECK-COUNT-2: fovea.group
func.func @ragged(%x: tensor<4x32xf32>, %w: tensor<40x32xf32>) -> tensor<4x20xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<40x32xf32> -> tensor<4x40xf32>
  %g = tensor.extract_slice %0[0, 0] [4, 20] [1, 1] : tensor<4x40xf32> to tensor<4x20xf32>
  %u = tensor.extract_slice %0[0, 20] [4, 20] [1, 1] : tensor<4x40xf32> to tensor<4x20xf32>
  %1 = fovea.glu silu %g, %u : tensor<4x20xf32>
  return %1 : tensor<4x20xf32>
}
// CHECK-LABEL: func.func @overlap
// CHECK-COUNT-2: fovea.group
func.func @overlap(%x: tensor<4x32xf32>, %w: tensor<48x32xf32>) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<48x32xf32> -> tensor<4x48xf32>
  %g = tensor.extract_slice %0[0, 0] [4, 32] [1, 1] : tensor<4x48xf32> to tensor<4x32xf32>
  %u = tensor.extract_slice %0[0, 16] [4, 32] [1, 1] : tensor<4x48xf32> to tensor<4x32xf32>
  %1 = fovea.glu silu %g, %u : tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}
// CHECK-LABEL: func.func @rows
// CHECK-COUNT-2: fovea.group
func.func @rows(%x: tensor<?x32xf32>, %n: index, %w: tensor<32x32xf32>) -> tensor<?x16xf32> {
  %0 = fovea.linear %x, %w : tensor<?x32xf32>, tensor<32x32xf32> -> tensor<?x32xf32>
  %g = tensor.extract_slice %0[0, 0] [%n, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %u = tensor.extract_slice %0[0, 16] [%n, 16] [1, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %1 = fovea.glu silu %g, %u : tensor<?x16xf32>
  return %1 : tensor<?x16xf32>
}
// CHECK-LABEL: func.func @whole
// CHECK-COUNT-2: fovea.group
func.func @whole(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>) -> (tensor<4x32xf32>, tensor<4x16xf32>) {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  %g = tensor.extract_slice %0[0, 0] [4, 16] [1, 1] : tensor<4x32xf32> to tensor<4x16xf32>
  %u = tensor.extract_slice %0[0, 16] [4, 16] [1, 1] : tensor<4x32xf32> to tensor<4x16xf32>
  %1 = fovea.glu silu %g, %u : tensor<4x16xf32>
  return %0, %1 : tensor<4x32xf32>, tensor<4x16xf32>
}

// -----

// A norm that a linear and something else read, as input or residual; a norm with a weight.

// CHECK-LABEL: func.func @norm
// CHECK: fovea.group
// CHECK-NEXT: fovea.rms_norm
// CHECK-NEXT: fovea.yield
// CHECK-COUNT-3: fovea.group
func.func @norm(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>, %n: tensor<32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>) {
  %0 = fovea.rms_norm %x eps(1.0e-5) : tensor<4x32xf32>
  %1 = fovea.linear %0, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  %2 = fovea.rms_norm %x weight(%n : tensor<32xf32>) eps(1.0e-5) : tensor<4x32xf32>
  %3 = fovea.linear %2, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  return %0, %1, %3 : tensor<4x32xf32>, tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// The user stands in a branch, where it may not run; and groups that have a schedule stay what it was made for.

// CHECK-LABEL: func.func @branch
// CHECK-COUNT-2: fovea.group
func.func @branch(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>, %if: i1) -> tensor<4x32xf32> {
  %0 = fovea.linear %x, %w : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
  %1 = scf.if %if -> tensor<4x32xf32> {
    %2 = fovea.activation gelu %0 : tensor<4x32xf32>
    scf.yield %2 : tensor<4x32xf32>
  } else {
    scf.yield %x : tensor<4x32xf32>
  }
  return %1 : tensor<4x32xf32>
}
// CHECK-LABEL: func.func @scheduled
// CHECK-COUNT-2: fovea.group
func.func @scheduled(%x: tensor<4x32xf32>, %w: tensor<32x32xf32>) -> tensor<4x32xf32> {
  %0 = fovea.group(%a = %x, %b = %w) schedule(#fovea.loops<parallel = 2>) : (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32> {
    %2 = fovea.linear %a, %b : tensor<4x32xf32>, tensor<32x32xf32> -> tensor<4x32xf32>
    fovea.yield %2 : tensor<4x32xf32>
  }
  %1 = fovea.activation gelu %0 : tensor<4x32xf32>
  return %1 : tensor<4x32xf32>
}

// -----

// The norm's group would also give the sum, but something with unknown effects reads it before the norm.

// CHECK-LABEL: func.func @circle
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.yield
// CHECK: call @f
// CHECK: fovea.group
// CHECK-NEXT: fovea.layer_norm
func.func private @f(tensor<4x32xf32>) -> tensor<32xf32>
func.func @circle(%x: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %0 = arith.addf %x, %x : tensor<4x32xf32>
  %1 = call @f(%0) : (tensor<4x32xf32>) -> tensor<32xf32>
  %2 = fovea.layer_norm %0 weight(%1 : tensor<32xf32>) eps(1.0e-5) : tensor<4x32xf32>
  return %0, %2 : tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// The same with a norm's bias that is computed from the sum: joining would make a circle.

// CHECK-LABEL: func.func @around
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK-NEXT: fovea.yield
func.func @around(%x: tensor<4x32xf32>) -> (tensor<4x32xf32>, tensor<4x32xf32>) {
  %0 = arith.addf %x, %x : tensor<4x32xf32>
  %1 = tensor.extract_slice %0[1, 0] [1, 32] [1, 1] : tensor<4x32xf32> to tensor<32xf32>
  %2 = fovea.layer_norm %0 weight(%1 : tensor<32xf32>) eps(1.0e-5) : tensor<4x32xf32>
  return %0, %2 : tensor<4x32xf32>, tensor<4x32xf32>
}

// -----

// Rows whose length is not known: no tile holds one, so each op is computed by itself.

// CHECK-LABEL: func.func @rows_of_any_length
// CHECK-COUNT-2: fovea.group
func.func @rows_of_any_length(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = fovea.activation tanh %x : tensor<?x?xf32>
  %1 = fovea.activation silu %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
