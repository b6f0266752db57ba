// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

// The module says what was chosen for. Weights get a layout, once.

// CHECK: module attributes {fovea.target = #fovea.target<"avx2", lanes = 8, registers = 16>}
// CHECK: fovea.weight @w : tensor<6x4xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<6x4xf32>>, #fovea.panels<16>>
fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>
// CHECK: fovea.weight @p : tensor<4xf32> = #fovea.pack<#fovea.stored<"f", "p", tensor<4xf32>>>
fovea.weight @p : tensor<4xf32> = #fovea.pack<#fovea.stored<"f", "p", tensor<4xf32>>>

// What tile builders compute gets tiles of the target; a schedule that is there stays.

// CHECK-LABEL: @rows
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<
// CHECK-NEXT: fovea.linear
// CHECK: fovea.group({{.*}}) schedule(#fovea.rows<
// CHECK-NEXT: fovea.rms_norm
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 1>)
// CHECK-NEXT: fovea.activation
func.func @rows(%x: tensor<?x?x4xf32>) -> tensor<?x?x6xf32> {
  %w = fovea.weight_ref @w : tensor<6x4xf32>
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x?x4xf32>, tensor<6x4xf32>) -> tensor<?x?x6xf32> {
    %1 = fovea.linear %a, %b : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
    fovea.yield %1 : tensor<?x?x6xf32>
  }
  %2 = fovea.group(%a = %0) : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
    %3 = fovea.rms_norm %a eps(1.0e-5) : tensor<?x?x6xf32>
    fovea.yield %3 : tensor<?x?x6xf32>
  }
  %4 = fovea.group(%a = %2) schedule(#fovea.loops<parallel = 1>) : (tensor<?x?x6xf32>) -> tensor<?x?x6xf32> {
    %5 = fovea.activation gelu %a : tensor<?x?x6xf32>
    fovea.yield %5 : tensor<?x?x6xf32>
  }
  return %4 : tensor<?x?x6xf32>
}
