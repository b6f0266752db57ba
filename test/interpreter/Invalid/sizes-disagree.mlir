// RUN: fovea-interpret %s --verify-diagnostics

func.func @sizes_disagree() -> tensor<?xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %a = tensor.empty(%two) : tensor<?xf32>
  %b = tensor.empty(%three) : tensor<?xf32>
  // expected-error @below {{expects operands of one shape, got [2] and [3]}}
  %c = arith.addf %a, %b : tensor<?xf32>
  return %c : tensor<?xf32>
}

func.func @keys_and_values_disagree() -> tensor<1x1x1x1xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %q = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %k = tensor.empty(%two) : tensor<1x?x1x1xf32>
  %v = tensor.empty(%three) : tensor<1x?x1x1xf32>
  // expected-error @below {{expects key and value lengths to agree, got 2 and 3}}
  %o = fovea.attention %q, %k, %v : tensor<1x1x1x1xf32>, tensor<1x?x1x1xf32>, tensor<1x?x1x1xf32> -> tensor<1x1x1x1xf32>
  return %o : tensor<1x1x1x1xf32>
}

func.func @cast_to_another_size() -> tensor<3xf32> {
  %two = arith.constant 2 : index
  %a = tensor.empty(%two) : tensor<?xf32>
  // expected-error @below {{expects 'tensor<3xf32>', got a tensor of 2 floats}}
  %c = tensor.cast %a : tensor<?xf32> to tensor<3xf32>
  return %c : tensor<3xf32>
}

func.func @loops_disagree() -> tensor<?xf32> {
  %two = arith.constant 2 : index
  %three = arith.constant 3 : index
  %a = tensor.empty(%two) : tensor<?xf32>
  %b = tensor.empty(%three) : tensor<?xf32>
  // expected-error @below {{expects loop 0 to be of one size, got 2 and 3}}
  %c = linalg.exp ins(%a : tensor<?xf32>) outs(%b : tensor<?xf32>) -> tensor<?xf32>
  return %c : tensor<?xf32>
}
