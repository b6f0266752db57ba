// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// What offsets of groups are multiplied by, the sums of the rows' integers in each group, is found where rows become
// bytes, once for all outputs. A schedule of single rows has none: there they are summed beside the products.

// CHECK-LABEL: func.func @many(
// CHECK: fovea.launch @quantize_rows_0 ins({{.*}}) outs({{.*}} : memref<?xf32>, memref<?x320xi8>, memref<?x8xf32>)
// CHECK-LABEL: func.func @one(
// CHECK: fovea.launch @quantize_rows_1 ins({{.*}}) outs(%{{[^,]*}}, %{{[^,]*}} : memref<?xf32>, memref<?x320xi8>)

// CHECK-LABEL: func.func private @quantize_rows_0(
// CHECK: scf.for %[[G:.*]] = %c0 to %c8
// CHECK: %[[FIRST:.*]] = arith.muli %[[G]], %c32
// CHECK: %[[PART:.*]] = tile.load %{{.*}}[%{{.*}}, %[[FIRST]]] : {{.*}} -> !tile.tile<4x32xf32>
// CHECK: %[[N:.*]] = tile.map(%{{.*}} = %[[PART]], %{{.*}} = %{{.*}}) : {{.*}} -> !tile.tile<4x32xf32>
// CHECK: %[[SUM:.*]] = tile.reduce sum %[[N]]
// CHECK: tile.store %[[SUM]], %{{.*}}[%{{.*}}, %[[G]]]

// CHECK-LABEL: func.func private @linear_0(
// CHECK: %[[SUMS:.*]] = tile.load %{{.*}} -> !tile.tile<8x8xf32>
// CHECK: tile.dot %{{.*}}, %{{.*}} transpose_b sums(%[[SUMS]])
func.func @many(%x: tensor<?x256xf32>) -> tensor<?x48xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>>
  %0 = fovea.group(%a = %x, %c = %w) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32], operands = i8>)
      : (tensor<?x256xf32>, tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>>) -> tensor<?x48xf32> {
    %1 = fovea.linear %a, %c quantize_rows : tensor<?x256xf32>, tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>> -> tensor<?x48xf32>
    fovea.yield %1 : tensor<?x48xf32>
  }
  return %0 : tensor<?x48xf32>
}

func.func @one(%x: tensor<?x256xf32>) -> tensor<?x48xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @v : tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>>
  %0 = fovea.group(%a = %x, %c = %w) schedule(#fovea.contraction<tile = [1, 32], chunk = 16, block = [1, 32], operands = i8>)
      : (tensor<?x256xf32>, tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>>) -> tensor<?x48xf32> {
    %1 = fovea.linear %a, %c quantize_rows : tensor<?x256xf32>, tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>> -> tensor<?x48xf32>
    fovea.yield %1 : tensor<?x48xf32>
  }
  return %0 : tensor<?x48xf32>
}

fovea.weight @w : tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>> = #fovea.pack<#fovea.stored<"m.gguf", "w", tensor<48x256x!fovea.blocks<q4_k>>>, #fovea.panels<16, interleave = 4>>
fovea.weight @v : tensor<48x256x!fovea.blocks<q4_k>, #fovea.panels<16, interleave = 4>> = #fovea.pack<#fovea.stored<"m.gguf", "w", tensor<48x256x!fovea.blocks<q4_k>>>, #fovea.panels<16, interleave = 4>>
