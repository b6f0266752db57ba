// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// The parts of a panel of blocks are matrices: codes as of i4, behind them scales and offsets of groups of 32, which are
// integers times an f16 of each block of 256.

// CHECK-LABEL: func.func private @linear_0(
// CHECK-DAG: %[[BYTES:.*]] = memref.collapse_shape %{{.*}} {{\[}}[0, 1]] : memref<3x4736xi8> into memref<14208xi8>
// CHECK-DAG: %[[CODES:.*]] = memref.reinterpret_cast %[[BYTES]] to offset: [0], sizes: [3, 64, 16, 4], strides: [4736, 64, 4, 1]
// CHECK-DAG: %[[CV:.*]] = tile.packed %[[CODES]] : memref<3x64x16x4xi8, strided<[4736, 64, 4, 1]>> -> !tile.view<48x512xi4>
// CHECK-DAG: %[[SCALES:.*]] = memref.reinterpret_cast %[[BYTES]] to offset: [4096], sizes: [3, 16, 16], strides: [4736, 16, 1]
// CHECK-DAG: %[[OFFSETS:.*]] = memref.reinterpret_cast %[[BYTES]] to offset: [4352], sizes: [3, 16, 16], strides: [4736, 16, 1]
// CHECK-DAG: memref.reinterpret_cast %{{.*}} to offset: [2304], sizes: [3, 2, 16], strides: [2368, 16, 1] : memref<7104xf16>
// CHECK-DAG: memref.reinterpret_cast %{{.*}} to offset: [2336], sizes: [3, 2, 16], strides: [2368, 16, 1] : memref<7104xf16>
// CHECK-DAG: %[[S:.*]] = tile.dequantize %{{.*}} scales(%{{.*}}) : !tile.tile<32x16xi8>, !tile.tile<32x2xf16> -> !tile.tile<32x16xf32>
// CHECK-DAG: %[[O:.*]] = tile.dequantize %{{.*}} scales(%{{.*}}) : !tile.tile<32x16xi8>, !tile.tile<32x2xf16> -> !tile.tile<32x16xf32>
// CHECK: %[[W:.*]] = tile.dequantize %{{.*}} bias 8 scales(%{{.*}}) offsets(%{{.*}}) : !tile.tile<32x512xi4>, !tile.tile<32x16xf32> offsets !tile.tile<32x16xf32> -> !tile.tile<32x512xf32>
// CHECK: tile.dot %{{.*}}, %[[W]] transpose_b
func.func @blocks(%x: tensor<?x512xf32>) -> tensor<?x48xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<48x512x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>>
  %0 = fovea.group(%a = %x, %c = %w) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x512xf32>, tensor<48x512x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>>) -> tensor<?x48xf32> {
    %1 = fovea.linear %a, %c : tensor<?x512xf32>, tensor<48x512x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>> -> tensor<?x48xf32>
    fovea.yield %1 : tensor<?x48xf32>
  }
  return %0 : tensor<?x48xf32>
}

fovea.weight @w : tensor<48x512x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>> = #fovea.pack<#fovea.stored<"m.gguf", "w", tensor<48x512x!fovea.blocks<q4_k>>>, #fovea.panels<16, interleave = 4>>
