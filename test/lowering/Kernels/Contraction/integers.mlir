// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Integers of a weight become numbers where the product reads them. A scale for each output is left to the result, before
// the bias; scales of groups go with the integers.

// CHECK-LABEL: func.func private @linear_0(
// CHECK-DAG: %[[Q:.*]] = tile.load %{{.*}} : !tile.view<48x64xi8> -> !tile.tile<32x64xi8>
// CHECK-DAG: %[[W:.*]] = tile.dequantize %[[Q]] : !tile.tile<32x64xi8> -> !tile.tile<32x64xbf16>
// CHECK-DAG: tile.load %{{.*}} : !tile.view<1x48xf32> -> !tile.tile<1x32xf32>
// CHECK: %[[S:.*]] = tile.dot %{{.*}}, %[[W]] transpose_b
// CHECK: tile.map(%[[P:.*]] = %[[S]], %[[F:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) :
// CHECK: %[[SCALED:.*]] = arith.mulf %[[P]], %[[F]]
// CHECK: arith.addf %[[SCALED]], %[[B]]
// CHECK-LABEL: func.func private @linear_1(
// CHECK-DAG: %[[WV:.*]] = tile.packed %{{.*}} : memref<3x32x16xi8> -> !tile.view<48x64xi4>
// CHECK-DAG: %[[Q:.*]] = tile.load %[[WV]]{{.*}} -> !tile.tile<32x64xi4>
// CHECK-DAG: %[[F:.*]] = tile.load %{{.*}} -> !tile.tile<32x2xf16>
// CHECK-DAG: %[[W:.*]] = tile.dequantize %[[Q]] scales(%[[F]]) : !tile.tile<32x64xi4>, !tile.tile<32x2xf16> -> !tile.tile<32x64xf32>
// CHECK: %[[S:.*]] = tile.dot %{{.*}}, %[[W]] transpose_b
// CHECK: tile.store %[[S]]
func.func @integers(%x: tensor<?x64xf32>, %w: tensor<48x64xi8>, %s: tensor<48xf32>, %b: tensor<48xf32>) -> (tensor<?x48xf32>, tensor<?x48xf32>) attributes {fovea.entry} {
  %q = fovea.weight_ref @q : tensor<48x64xi4, #fovea.panels<16>>
  %t = fovea.weight_ref @q.scales : tensor<48x2xf16, #fovea.panels<16>>
  %0 = fovea.group(%a = %x, %c = %w, %d = %s, %e = %b) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x64xf32>, tensor<48x64xi8>, tensor<48xf32>, tensor<48xf32>) -> tensor<?x48xf32> {
    %1 = fovea.linear %a, %c scales(%d : tensor<48xf32>) bias(%e : tensor<48xf32>) : tensor<?x64xf32>, tensor<48x64xi8> -> tensor<?x48xf32>
    fovea.yield %1 : tensor<?x48xf32>
  }
  %2 = fovea.group(%a = %x, %c = %q, %d = %t) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x64xf32>, tensor<48x64xi4, #fovea.panels<16>>, tensor<48x2xf16, #fovea.panels<16>>) -> tensor<?x48xf32> {
    %1 = fovea.linear %a, %c scales(%d : tensor<48x2xf16, #fovea.panels<16>>) : tensor<?x64xf32>, tensor<48x64xi4, #fovea.panels<16>> -> tensor<?x48xf32>
    fovea.yield %1 : tensor<?x48xf32>
  }
  return %0, %2 : tensor<?x48xf32>, tensor<?x48xf32>
}

fovea.weight @q : tensor<48x64xi4, #fovea.panels<16>> = #fovea.pack<#fovea.quantize<#fovea.stored<"m.safetensors", "q", tensor<48x64xf32>>, i4, f16, group = 32>, #fovea.panels<16>>
fovea.weight @q.scales : tensor<48x2xf16, #fovea.panels<16>> = #fovea.pack<#fovea.quantization_scales<#fovea.stored<"m.safetensors", "q", tensor<48x64xf32>>, i4, f16, group = 32>, #fovea.panels<16>>
