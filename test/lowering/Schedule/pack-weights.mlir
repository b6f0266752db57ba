// RUN: fovea-opt %s --fovea-schedule=target=sse --split-input-file | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule=target=sm_80 --split-input-file | FileCheck %s --check-prefix=GPU
// RUN: fovea-opt %s --fovea-schedule=target=sm_90a --split-input-file | FileCheck %s --check-prefix=GPU

// Each type its panels, through calls of a layer function and groups; a tied weight has one layout. A GPU has 16 bytes of
// inputs beside each other for each of a warp's lanes.

// GPU: fovea.weight @tied : tensor<33x5xbf16, #fovea.panels<32, interleave = 8>>
// GPU: fovea.weight @a : tensor<5x5xf32, #fovea.panels<32, interleave = 4>>
// GPU: fovea.weight @half : tensor<5x5xf16, #fovea.panels<32, interleave = 8>>
// GPU: func.func private @layer(%{{.*}}: tensor<?x5xf32>, %{{.*}}: tensor<5x5xf32, #fovea.panels<32, interleave = 4>>) -> tensor<?x5xf32>
// GPU: fovea.weight @table : tensor<5x5xf32> = #fovea.pack<#fovea.stored<"f", "t", tensor<5x5xf32>>>
// GPU-NOT: panels

// CHECK-LABEL: fovea.weight @tied
// CHECK-SAME: tensor<33x5xbf16, #fovea.panels<16, interleave = 2>> = #fovea.pack<#fovea.stored<"f", "t", tensor<33x5xbf16>>, #fovea.panels<16, interleave = 2>>
fovea.weight @tied : tensor<33x5xbf16> = #fovea.stored<"f", "t", tensor<33x5xbf16>>
// CHECK: fovea.weight @a : tensor<5x5xf32, #fovea.panels<16>>
fovea.weight @a : tensor<5x5xf32> = #fovea.stored<"f", "a", tensor<5x5xf32>>
// CHECK: fovea.weight @b : tensor<5x5xf32, #fovea.panels<16>>
fovea.weight @b : tensor<5x5xf32> = #fovea.stored<"f", "b", tensor<5x5xf32>>
// CHECK: fovea.weight @half : tensor<5x5xf16, #fovea.panels<16>>
fovea.weight @half : tensor<5x5xf16> = #fovea.stored<"f", "h", tensor<5x5xf16>>

// CHECK: func.func private @layer(%{{.*}}: tensor<?x5xf32>, %[[W:.*]]: tensor<5x5xf32, #fovea.panels<16>>) -> tensor<?x5xf32>
// CHECK: fovea.group({{.*}}, %[[V:.*]] = %[[W]]) schedule({{.*}}) : (tensor<?x5xf32>, tensor<5x5xf32, #fovea.panels<16>>)
// CHECK: fovea.linear %{{.*}}, %[[V]] : tensor<?x5xf32>, tensor<5x5xf32, #fovea.panels<16>>
func.func private @layer(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32> {
    %1 = fovea.linear %a, %b : tensor<?x5xf32>, tensor<5x5xf32> -> tensor<?x5xf32>
    fovea.yield %1 : tensor<?x5xf32>
  }
  return %0 : tensor<?x5xf32>
}
// CHECK: func.func @model(%{{.*}}: tensor<?xi64>) -> tensor<?x33xf32>
// CHECK: %[[T:.*]] = fovea.weight_ref @tied : tensor<33x5xbf16, #fovea.panels<16, interleave = 2>>
// CHECK: fovea.embedding {{.*}} tensor<33x5xbf16, #fovea.panels<16, interleave = 2>>
// CHECK: call @layer({{.*}}) : (tensor<?x5xf32>, tensor<5x5xf32, #fovea.panels<16>>) -> tensor<?x5xf32>
func.func @model(%ids: tensor<?xi64>) -> tensor<?x33xf32> attributes {fovea.entry} {
  %t = fovea.weight_ref @tied : tensor<33x5xbf16>
  %a = fovea.weight_ref @a : tensor<5x5xf32>
  %b = fovea.weight_ref @b : tensor<5x5xf32>
  %h = fovea.weight_ref @half : tensor<5x5xf16>
  %0 = fovea.embedding %ids, %t : tensor<?xi64>, tensor<33x5xbf16> -> tensor<?x5xf32>
  %1 = call @layer(%0, %a) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %2 = call @layer(%1, %b) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %3 = fovea.linear %2, %h : tensor<?x5xf32>, tensor<5x5xf16> -> tensor<?x5xf32>
  %4 = fovea.linear %3, %t : tensor<?x5xf32>, tensor<33x5xbf16> -> tensor<?x33xf32>
  return %4 : tensor<?x33xf32>
}

// -----

// Row-major stay: a table that no linear reads, a type without panels, a weight that something else reads, an
// unused one, and one that shares a layer function's argument with such a one, directly or not.

// CHECK-LABEL: fovea.weight @table : tensor<5x5xf32> = #fovea.pack<#fovea.stored<"f", "t", tensor<5x5xf32>>>
// CHECK-NOT: panels
fovea.weight @table : tensor<5x5xf32> = #fovea.stored<"f", "t", tensor<5x5xf32>>
fovea.weight @double : tensor<5x5xf64> = #fovea.stored<"f", "d", tensor<5x5xf64>>
fovea.weight @sliced : tensor<5x5xf32> = #fovea.stored<"f", "s", tensor<5x5xf32>>
fovea.weight @unused : tensor<5x5xf32> = #fovea.stored<"f", "u", tensor<5x5xf32>>
fovea.weight @shares : tensor<5x5xf32> = #fovea.stored<"f", "c", tensor<5x5xf32>>
fovea.weight @by_hand : tensor<5x5xf32> = #fovea.pack<#fovea.stored<"f", "h", tensor<5x5xf32>>>
fovea.weight @with_hand : tensor<5x5xf32> = #fovea.stored<"f", "w", tensor<5x5xf32>>
func.func private @outer(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %0 = call @inner(%x, %w) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
func.func private @inner(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %0 = fovea.linear %x, %w : tensor<?x5xf32>, tensor<5x5xf32> -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
func.func private @other(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> {
  %0 = fovea.linear %x, %w : tensor<?x5xf32>, tensor<5x5xf32> -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
// What a caller gives is row-major.
func.func @given(%x: tensor<?x5xf32>, %w: tensor<5x5xf32>) -> tensor<?x5xf32> attributes {fovea.entry} {
  %0 = fovea.linear %x, %w : tensor<?x5xf32>, tensor<5x5xf32> -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
func.func @model(%ids: tensor<?xi64>, %x: tensor<?x5xf64>) -> (tensor<?x5xf32>, tensor<?x5xf64>, tensor<2x5xf32>) attributes {fovea.entry} {
  %t = fovea.weight_ref @table : tensor<5x5xf32>
  %d = fovea.weight_ref @double : tensor<5x5xf64>
  %s = fovea.weight_ref @sliced : tensor<5x5xf32>
  %c = fovea.weight_ref @shares : tensor<5x5xf32>
  %h = fovea.weight_ref @by_hand : tensor<5x5xf32>
  %w = fovea.weight_ref @with_hand : tensor<5x5xf32>
  %0 = fovea.embedding %ids, %t : tensor<?xi64>, tensor<5x5xf32> -> tensor<?x5xf32>
  %1 = fovea.linear %x, %d : tensor<?x5xf64>, tensor<5x5xf64> -> tensor<?x5xf64>
  %2 = tensor.extract_slice %s[0, 0] [2, 5] [1, 1] : tensor<5x5xf32> to tensor<2x5xf32>
  %3 = call @outer(%0, %s) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %4 = call @inner(%3, %c) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %5 = call @other(%4, %h) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %6 = call @other(%5, %w) : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  return %6, %1, %2 : tensor<?x5xf32>, tensor<?x5xf64>, tensor<2x5xf32>
}

// -----

// Quantised weights: panels of bytes, and scales of groups in panels by their own type; one scale for each output is no
// matrix.

// CHECK-LABEL: fovea.weight @bytes : tensor<6x8xi8, #fovea.panels<16>>
// CHECK: fovea.weight @bytes.scales : tensor<6xf32> = #fovea.pack<#fovea.stored<"f", "bs", tensor<6xf32>>>
// CHECK: fovea.weight @halves : tensor<6x8xi4, #fovea.panels<16>>
// CHECK: fovea.weight @halves.scales : tensor<6x2xf16, #fovea.panels<16>>
// GPU: fovea.weight @bytes : tensor<6x8xi8, #fovea.panels<32, interleave = 16>>
// GPU: fovea.weight @bytes.scales : tensor<6xf32> = #fovea.pack<#fovea.stored<"f", "bs", tensor<6xf32>>>
// GPU: fovea.weight @halves : tensor<6x8xi4, #fovea.panels<32, interleave = 16>>
// GPU: fovea.weight @halves.scales : tensor<6x2xf16, #fovea.panels<32>>
fovea.weight @bytes : tensor<6x8xi8> = #fovea.stored<"f", "b", tensor<6x8xi8>>
fovea.weight @bytes.scales : tensor<6xf32> = #fovea.stored<"f", "bs", tensor<6xf32>>
fovea.weight @halves : tensor<6x8xi4> = #fovea.stored<"f", "h", tensor<6x8xi4>>
fovea.weight @halves.scales : tensor<6x2xf16> = #fovea.stored<"f", "hs", tensor<6x2xf16>>
// CHECK: func.func @quantized
// CHECK: fovea.linear {{.*}} scales({{.*}} : tensor<6xf32>) : tensor<?x8xf32>, tensor<6x8xi8, #fovea.panels<16>>
// CHECK: fovea.linear {{.*}} scales({{.*}} : tensor<6x2xf16, #fovea.panels<16>>) : tensor<?x8xf32>, tensor<6x8xi4, #fovea.panels<16>>
func.func @quantized(%x: tensor<?x8xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) attributes {fovea.entry} {
  %b = fovea.weight_ref @bytes : tensor<6x8xi8>
  %bs = fovea.weight_ref @bytes.scales : tensor<6xf32>
  %h = fovea.weight_ref @halves : tensor<6x8xi4>
  %hs = fovea.weight_ref @halves.scales : tensor<6x2xf16>
  %0 = fovea.linear %x, %b scales(%bs : tensor<6xf32>) : tensor<?x8xf32>, tensor<6x8xi8> -> tensor<?x6xf32>
  %1 = fovea.linear %x, %h scales(%hs : tensor<6x2xf16>) : tensor<?x8xf32>, tensor<6x8xi4> -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}
