// RUN: fovea-opt %s --fovea-merge-linears --split-input-file --remarks-filter=merge-linears --remark-policy=all --remark-format=emitRemark -verify-diagnostics | FileCheck %s

// Different element types.

// CHECK-LABEL: @element_types
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xbf16> = #fovea.stored<"f", "b", tensor<3x2xbf16>>
func.func @element_types(%x: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xbf16>
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{element types differ}}
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xbf16> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// A bias on the first alone.

// CHECK-LABEL: @some_biases
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
fovea.weight @c : tensor<3xf32> = #fovea.stored<"f", "c", tensor<3xf32>>
func.func @some_biases(%x: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  %c = fovea.weight_ref @c : tensor<3xf32>
  %0 = fovea.linear %x, %a bias(%c : tensor<3xf32>) : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{only one of them has a bias}}
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// A tied weight: the embedding reads it too.

// CHECK-LABEL: @tied
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
func.func @tied(%ids: tensor<5xi64>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  %x = fovea.embedding %ids, %a : tensor<5xi64>, tensor<3x2xf32> -> tensor<5x2xf32>
  // expected-remark @below {{would be stored twice}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// The same weights in another order, and one weight beside different ones.

// CHECK-LABEL: @order
// CHECK-COUNT-4: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
func.func @order(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  // expected-remark @below {{would be stored twice}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{would be stored twice}}
  %2 = fovea.linear %y, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %3 = fovea.linear %y, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1, %2, %3 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// CHECK-LABEL: @neighbours
// CHECK-COUNT-4: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
fovea.weight @c : tensor<3x2xf32> = #fovea.stored<"f", "c", tensor<3x2xf32>>
func.func @neighbours(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  %c = fovea.weight_ref @c : tensor<3x2xf32>
  // expected-remark @below {{would be stored twice}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  // expected-remark @below {{is merged with others elsewhere}}
  %2 = fovea.linear %y, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %3 = fovea.linear %y, %c : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1, %2, %3 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// One weight twice.

// CHECK-LABEL: @twice
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @c : tensor<3xf32> = #fovea.stored<"f", "c", tensor<3xf32>>
fovea.weight @d : tensor<3xf32> = #fovea.stored<"f", "d", tensor<3xf32>>
func.func @twice(%x: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %c = fovea.weight_ref @c : tensor<3xf32>
  %d = fovea.weight_ref @d : tensor<3xf32>
  // expected-remark @below {{would be stored twice}}
  %0 = fovea.linear %x, %a bias(%c : tensor<3xf32>) : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %a bias(%d : tensor<3xf32>) : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// Arguments of an entry.

// CHECK-LABEL: @entry
// CHECK-COUNT-2: fovea.linear
func.func @entry(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) attributes {fovea.entry} {
  // expected-remark @below {{is not private}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// A call that passes its own argument, a function that nobody calls, and a computed weight.

// CHECK-LABEL: @inner
// CHECK-COUNT-2: fovea.linear
func.func private @inner(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  // expected-remark @below {{a call passes a weight that it does not refer to}}
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: @outer
// CHECK-COUNT-2: fovea.linear
func.func private @outer(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %0, %1 = call @inner(%x, %a, %b) : (tensor<5x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>)
  // expected-remark @below {{the function is never called}}
  %2 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %3 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %3 : tensor<5x3xf32>, tensor<5x3xf32>
}

// CHECK-LABEL: @computed
// CHECK-COUNT-2: fovea.linear
func.func @computed(%x: tensor<5x2xf32>, %a: tensor<3x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %b = arith.negf %a : tensor<3x2xf32>
  %c = arith.negf %b : tensor<3x2xf32>
  // expected-remark @below {{a weight is computed}}
  %0 = fovea.linear %x, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %x, %c : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}

// -----

// Different inputs, and a single linear: there is nothing to refuse.

// CHECK-LABEL: @inputs
// CHECK-COUNT-2: fovea.linear
fovea.weight @a : tensor<3x2xf32> = #fovea.stored<"f", "a", tensor<3x2xf32>>
fovea.weight @b : tensor<3x2xf32> = #fovea.stored<"f", "b", tensor<3x2xf32>>
func.func @inputs(%x: tensor<5x2xf32>, %y: tensor<5x2xf32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
  %a = fovea.weight_ref @a : tensor<3x2xf32>
  %b = fovea.weight_ref @b : tensor<3x2xf32>
  %0 = fovea.linear %x, %a : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  %1 = fovea.linear %y, %b : tensor<5x2xf32>, tensor<3x2xf32> -> tensor<5x3xf32>
  return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
}
