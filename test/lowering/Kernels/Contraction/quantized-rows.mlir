// RUN: fovea-opt %s --fovea-to-kernels | FileCheck %s

// Rows become bytes in a launch before, once for all blocks of outputs, with a scale each in which a norm's factor is; the
// integers are the same with it and without.

// CHECK-LABEL: func.func @rows(
// CHECK: fovea.launch @quantize_rows_0 ins(%[[X:.*]] : memref<?x64xf32>) outs(%[[S:.*]], %[[Q:.*]] : memref<?xf32>, memref<?x64xi8>)
// CHECK: fovea.launch @linear_0

// CHECK-LABEL: func.func private @quantize_rows_0(
// CHECK: %[[ROWS:.*]] = tile.load
// CHECK: tile.reduce sum
// CHECK: math.sqrt
// CHECK: %[[A:.*]] = tile.map(%{{.*}} = %[[ROWS]])
// CHECK: arith.cmpf ord
// CHECK: math.absf
// CHECK: %[[MOST:.*]] = tile.reduce maximum %[[A]]
// CHECK: tile.map(%{{.*}} = %[[MOST]], %{{.*}} = %{{.*}}) :
// CHECK: arith.divf %{{.*}}, %{{.*}} : f32
// CHECK: tile.map(%{{.*}} = %[[ROWS]], %{{.*}} = %{{.*}}) : ({{.*}}) -> !tile.tile<4x64xi8>
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.trunci %{{.*}} : i32 to i8

// CHECK-LABEL: func.func private @linear_0(
// CHECK: %[[W:.*]] = tile.dequantize %{{.*}} : !tile.tile<32x64xi8> -> !tile.tile<32x64xbf16>
// CHECK: %[[B:.*]] = tile.load %{{.*}} -> !tile.tile<8x64xi8>
// CHECK: tile.dot %[[B]], %[[W]] transpose_b {{.*}}: !tile.tile<8x64xi8>, !tile.tile<32x64xbf16> -> !tile.tile<8x32xf32>
func.func @rows(%x: tensor<?x64xf32>, %w: tensor<48x64xi8>, %s: tensor<48xf32>) -> tensor<?x48xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %x, %c = %w, %d = %s) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32], operands = i8>)
      : (tensor<?x64xf32>, tensor<48x64xi8>, tensor<48xf32>) -> tensor<?x48xf32> {
    %1 = fovea.rms_norm %a eps(1.0e-5) : tensor<?x64xf32>
    %2 = fovea.linear %1, %c quantize_rows scales(%d : tensor<48xf32>) : tensor<?x64xf32>, tensor<48x64xi8> -> tensor<?x48xf32>
    fovea.yield %2 : tensor<?x48xf32>
  }
  return %0 : tensor<?x48xf32>
}
