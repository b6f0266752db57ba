// RUN: fovea-opt %s --fovea-schedule=target=sse | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule=target=sm_80 | FileCheck %s --check-prefix=GPU
// RUN: fovea-opt %s --fovea-schedule=target=sm_90a | FileCheck %s --check-prefix=GPU

// Each type its panels, through calls of a layer function and groups; a tied weight has one layout. A GPU has 16 bytes of
// inputs beside each other for each of a warp's lanes.

// GPU: fovea.weight @tied : tensor<33x5xbf16, #fovea.panels<32, interleave = 8>>
// GPU: fovea.weight @a : tensor<5x5xf32, #fovea.panels<32, interleave = 4>>
// GPU: fovea.weight @half : tensor<5x5xf16, #fovea.panels<32, interleave = 8>>
// GPU: func.func private @layer(%{{.*}}: tensor<?x5xf32>, %{{.*}}: tensor<5x5xf32, #fovea.panels<32, interleave = 4>>) -> tensor<?x5xf32>

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
