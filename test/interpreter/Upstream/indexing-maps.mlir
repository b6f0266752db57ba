// RUN: fovea-interpret %s | FileCheck %s

// Elements by indexing maps: sums of multiples of loops, by strides; divisions, one by one.

// CHECK-LABEL: @every_other
// CHECK-NEXT: 4 [1, 3, 5, 7]
func.func @every_other() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 * 2 + 1)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @backwards
// CHECK-NEXT: 4 [7, 6, 5, 4]
func.func @backwards() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (7 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @one_element
// CHECK-NEXT: 4 [3, 3, 3, 3]
func.func @one_element() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (3)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @each_twice
// CHECK-NEXT: 4 [0, 0, 1, 1]
func.func @each_twice() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 floordiv 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @around
// CHECK-NEXT: 4 [1, 2, 0, 1]
func.func @around() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> ((d0 + 1) mod 3)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @rounded_up
// CHECK-NEXT: 4 [0, 1, 1, 2]
func.func @rounded_up() -> tensor<?xf32> {
  %x = arith.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
  %y = arith.constant dense<0.0> : tensor<4xf32>
  %from = tensor.cast %x : tensor<8xf32> to tensor<?xf32>
  %to = tensor.cast %y : tensor<4xf32> to tensor<?xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0 ceildiv 2)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
    ins(%from : tensor<?xf32>) outs(%to : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
