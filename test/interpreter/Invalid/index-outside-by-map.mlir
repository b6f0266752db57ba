// RUN: fovea-interpret %s --verify-diagnostics

// The last index of a sum, the first, one that would wrap around, and one of a division.

func.func @behind() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  // expected-error @below {{expects an index inside [8], got [8]}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 2 + 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @before() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  // expected-error @below {{expects an index inside [8], got [-1]}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (2 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @wrapped() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  // expected-error @below {{expects an index inside [8], got [-3]}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 9223372036854775807 - 3)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @divided() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  // expected-error @below {{expects an index inside [8], got [8]}}
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2 + 7)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
