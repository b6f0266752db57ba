// RUN: fovea-opt %s --fovea-schedule=target=sse | FileCheck %s
// RUN: fovea-opt %s --fovea-schedule=target=sm_80 | FileCheck %s --check-prefix=GPU
// RUN: fovea-opt %s --fovea-schedule=target=sm_90a | FileCheck %s --check-prefix=GPU

// Quantised weights: panels of words of bytes, and scales of groups in panels by their own type; one scale for each output is no
// matrix.

// CHECK-LABEL: fovea.weight @bytes : tensor<6x8xi8, #fovea.panels<16, interleave = 4>>
// CHECK: fovea.weight @bytes.scales : tensor<6xf32> = #fovea.pack<#fovea.stored<"f", "bs", tensor<6xf32>>>
// CHECK: fovea.weight @halves : tensor<6x8xi4, #fovea.panels<16, interleave = 4>>
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
// CHECK: fovea.linear {{.*}} scales({{.*}} : tensor<6xf32>) : tensor<?x8xf32>, tensor<6x8xi8, #fovea.panels<16, interleave = 4>>
// CHECK: fovea.linear {{.*}} scales({{.*}} : tensor<6x2xf16, #fovea.panels<16>>) : tensor<?x8xf32>, tensor<6x8xi4, #fovea.panels<16, interleave = 4>>
func.func @quantized(%x: tensor<?x8xf32>) -> (tensor<?x6xf32>, tensor<?x6xf32>) attributes {fovea.entry} {
  %b = fovea.weight_ref @bytes : tensor<6x8xi8>
  %bs = fovea.weight_ref @bytes.scales : tensor<6xf32>
  %h = fovea.weight_ref @halves : tensor<6x8xi4>
  %hs = fovea.weight_ref @halves.scales : tensor<6x2xf16>
  %0 = fovea.linear %x, %b scales(%bs : tensor<6xf32>) : tensor<?x8xf32>, tensor<6x8xi8> -> tensor<?x6xf32>
  %1 = fovea.linear %x, %h scales(%hs : tensor<6x2xf16>) : tensor<?x8xf32>, tensor<6x8xi4> -> tensor<?x6xf32>
  return %0, %1 : tensor<?x6xf32>, tensor<?x6xf32>
}
