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

func.func @cache_is_full() -> index {
  %one = arith.constant 1 : index
  %c = fovea.cache_create %one, %one : !fovea.cache<key, 1x1xf32>
  %k = arith.constant dense<1.0> : tensor<1x2x1x1xf32>
  // expected-error @below {{expects at most 1 positions, got 0 and 2 more}}
  %d = fovea.cache_append %c, %k : !fovea.cache<key, 1x1xf32>, tensor<1x2x1x1xf32>
  return %one : index
}

func.func @division_by_zero() -> i32 {
  %a = arith.constant 7 : i32
  %b = arith.constant 0 : i32
  // expected-error @below {{expects a divisor that is not zero, got 7 / 0}}
  %c = arith.divsi %a, %b : i32
  return %c : i32
}

func.func @shift_by_the_width() -> i32 {
  %a = arith.constant 7 : i32
  %b = arith.constant 32 : i32
  // expected-error @below {{expects a shift below 32, got 32}}
  %c = arith.shli %a, %b : i32
  return %c : i32
}

func.func @too_large() -> tensor<?x?xf32> {
  %n = arith.constant 4294967296 : index
  // expected-error @below {{expects sizes that are not negative and at most 1073741824 elements, got a tensor of [4294967296, 4294967296]}}
  %a = tensor.empty(%n, %n) : tensor<?x?xf32>
  return %a : tensor<?x?xf32>
}

func.func @calls_without_end() -> f32 {
  // expected-error @below {{expects at most 64 calls inside each other}}
  %a = call @calls_without_end() : () -> f32
  return %a : f32
}

func.func private @declaration() -> f32 // expected-error {{expects a body, got a declaration}}
func.func @calls_a_declaration() -> f32 {
  %a = call @declaration() : () -> f32
  return %a : f32
}

func.func @loop_stands_still() -> index {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @below {{expects a positive step, got 0}}
  %a = scf.for %i = %zero to %one step %zero iter_args(%s = %zero) -> index {
    scf.yield %s : index
  }
  return %a : index
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

func.func @launch() -> index {
  %n = arith.constant 1 : index
  // expected-error @below {{'fovea.arena' op is not known to the reference interpreter}}
  %a = fovea.arena %n : memref<?xi8>
  return %n : index
}

func.func @weight_without_file() -> tensor<2xf32> {
  %w = fovea.weight_ref @absent : tensor<2xf32>
  return %w : tensor<2xf32>
}
fovea.weight @absent : tensor<2xf32> = #fovea.stored<"no-such.safetensors", "w", tensor<2xf32>>
// expected-error @unknown {{no-such.safetensors}}

func.func @weight_outside_folder() -> tensor<2xf32> {
  %w = fovea.weight_ref @outside : tensor<2xf32>
  return %w : tensor<2xf32>
}
fovea.weight @outside : tensor<2xf32> = #fovea.stored<"../w.safetensors", "w", tensor<2xf32>>
// expected-error @unknown {{expects the name of a file below the model's folder}}
