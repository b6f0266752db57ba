// RUN: fovea-interpret %s --verify-diagnostics

func.func @unknown_op() -> i32 {
  %x = arith.constant 1 : i32
  // expected-error @below {{'math.ctlz' op is not known to the reference interpreter}}
  %y = math.ctlz %x : i32
  return %y : i32
}

func.func @complex_numbers() -> tensor<1xcomplex<f32>> {
  // expected-error @below {{expects floats or integers to interpret, got 'tensor<1xcomplex<f32>>'}}
  %x = arith.constant dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>
  return %x : tensor<1xcomplex<f32>>
}

func.func @launch() -> index {
  %n = arith.constant 1 : index
  // expected-error @below {{'fovea.arena' op is not known to the reference interpreter}}
  %a = fovea.arena %n : memref<?xi8>
  return %n : index
}
