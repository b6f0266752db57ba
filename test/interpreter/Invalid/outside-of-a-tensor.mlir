// RUN: fovea-interpret %s --verify-diagnostics

func.func @id_outside_table() -> tensor<1x1x2xf32> {
  %ids = arith.constant dense<3> : tensor<1x1xi64>
  %t = arith.constant dense<1.0> : tensor<3x2xf32>
  // expected-error @below {{expects an id inside the table's 3 rows, got 3}}
  %x = fovea.embedding %ids, %t : tensor<1x1xi64>, tensor<3x2xf32> -> tensor<1x1x2xf32>
  return %x : tensor<1x1x2xf32>
}

func.func @position_outside_table() -> tensor<1x1x2xf32> {
  %p = arith.constant dense<-1> : tensor<1x1xi32>
  %t = arith.constant dense<1.0> : tensor<3x2xf32>
  // expected-error @below {{expects a position inside the table's 3 rows, got -1 with offset 0}}
  %x = fovea.position_learned %p, %t : tensor<1x1xi32>, tensor<3x2xf32> -> tensor<1x1x2xf32>
  return %x : tensor<1x1x2xf32>
}

func.func @element_outside_tensor() -> f32 {
  %t = arith.constant dense<1.0> : tensor<3xf32>
  %i = arith.constant -1 : index
  // expected-error @below {{expects an index inside [3], got [-1]}}
  %x = tensor.extract %t[%i] : tensor<3xf32>
  return %x : f32
}

func.func @slice_outside_tensor() -> tensor<?xf32> {
  %t = arith.constant dense<1.0> : tensor<3xf32>
  %i = arith.constant 2 : index
  // expected-error @below {{expects a slice inside [3], got offsets [2], sizes [2], strides [1]}}
  %x = tensor.extract_slice %t[%i] [%i] [1] : tensor<3xf32> to tensor<?xf32>
  return %x : tensor<?xf32>
}

func.func @mask_outside_keys() -> tensor<1x1x1x?xi1> {
  %d = arith.constant dense<true> : tensor<2xi1>
  %n = arith.constant 3 : index
  // expected-error @below {{'fovea.mask_dense' op expects an index inside [2], got [2]}}
  %m = fovea.mask_dense %d : tensor<2xi1>
  %t = fovea.mask_materialize %m [%n] : tensor<1x1x1x?xi1>
  return %t : tensor<1x1x1x?xi1>
}
