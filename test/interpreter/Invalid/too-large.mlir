// RUN: fovea-interpret %s --verify-diagnostics

func.func @too_large() -> tensor<?x?xf32> {
  %n = arith.constant 4294967296 : index
  // expected-error @below {{expects sizes that are not negative and at most 1073741824 elements, got a tensor of [4294967296, 4294967296]}}
  %a = tensor.empty(%n, %n) : tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}
