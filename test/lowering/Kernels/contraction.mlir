// RUN: fovea-opt %s --split-input-file --fovea-to-kernels | FileCheck %s

// Blocks of columns by chunks of rows; weight and bias are loaded once for all tiles of a chunk. What is elementwise
// behind the product is one map.

// CHECK-LABEL: func.func private @linear_0(
// CHECK-SAME: %[[X:.*]]: memref<?x33xf32>, %[[W:.*]]: memref<49x33xbf16>, %[[B:.*]]: memref<49xf32>, %[[R:.*]]: memref<?x49xf32>, %[[Y:.*]]: memref<?x49xf32>,
// CHECK-DAG: %[[C2:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[C8:.*]] = arith.constant 8 : index
// CHECK: tile.kernel grid(%[[N:.*]], %[[I:.*]]) = (%[[C2]], %{{.*}}) {
// CHECK-DAG: %[[WT:.*]] = tile.load %{{.*}} : !tile.view<49x33xbf16> -> !tile.tile<32x33xbf16>
// CHECK-DAG: tile.load %{{.*}} : !tile.view<1x49xf32> -> !tile.tile<1x32xf32>
// CHECK-DAG: %[[BT:.*]] = tile.broadcast %{{.*}} : !tile.tile<1x32xf32> -> !tile.tile<8x32xf32>
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step %[[C8]] {
// CHECK-DAG: %[[XT:.*]] = tile.load %{{.*}}[%[[ROW]], %{{.*}}] : !tile.view<?x33xf32> -> !tile.tile<8x33xf32>
// CHECK-DAG: %[[RT:.*]] = tile.load %{{.*}}[%[[ROW]], %{{.*}}] : !tile.view<?x49xf32> -> !tile.tile<8x32xf32>
// CHECK: %[[S:.*]] = tile.dot %[[XT]], %[[WT]] transpose_b block(4, 32) : !tile.tile<8x33xf32>, !tile.tile<32x33xbf16> -> !tile.tile<8x32xf32>
// CHECK: %[[T:.*]] = tile.map({{.*}} = %[[S]], {{.*}} = %[[BT]]
// CHECK: arith.maximumf
// CHECK: arith.addf
// CHECK-NEXT: tile.yield
// CHECK: tile.store %[[T]], %{{.*}}[%[[ROW]], %{{.*}}] : !tile.tile<8x32xf32>, !tile.view<?x49xf32>
// CHECK-NOT: tile.store
func.func @epilogue(%x: tensor<?x33xf32>, %w: tensor<49x33xbf16>, %b: tensor<49xf32>, %r: tensor<?x49xf32>) -> tensor<?x49xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %x, %c = %w, %d = %b, %e = %r) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x33xf32>, tensor<49x33xbf16>, tensor<49xf32>, tensor<?x49xf32>) -> tensor<?x49xf32> {
    %1 = fovea.linear %a, %c bias(%d : tensor<49xf32>) : tensor<?x33xf32>, tensor<49x33xbf16> -> tensor<?x49xf32>
    %2 = fovea.activation relu %1 : tensor<?x49xf32>
    %3 = arith.addf %e, %2 : tensor<?x49xf32>
    fovea.yield %3 : tensor<?x49xf32>
  }
  return %0 : tensor<?x49xf32>
}

// -----

// Halves are multiplied as they are and computed in f32, and what the source rounds is rounded.

// CHECK-LABEL: func.func private @linear_0(
// CHECK: tile.kernel
// CHECK: %[[S:.*]] = tile.dot %{{.*}}, %{{.*}} transpose_b block(4, 32) : !tile.tile<8x33xf16>, !tile.tile<32x33xf16> -> !tile.tile<8x32xf32>
// CHECK: %[[T:.*]] = tile.map(%[[R:.*]] = %{{.*}}, %[[X:.*]] = %[[S]], %[[B:.*]] = %{{.*}}) : (!tile.tile<8x32xf16>, !tile.tile<8x32xf32>, !tile.tile<8x32xf32>) -> !tile.tile<8x32xf16> {
// CHECK-NEXT: %[[BIASED:.*]] = arith.addf %[[X]], %[[B]] : f32
// CHECK-NEXT: %[[LINEAR:.*]] = arith.truncf %[[BIASED]] : f32 to f16
// CHECK-NEXT: %[[AGAIN:.*]] = arith.extf %[[LINEAR]] : f16 to f32
// CHECK: %[[ACTIVE:.*]] = arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[R]] : f16 to f32
// CHECK-NEXT: %[[AGAIN:.*]] = arith.extf %[[ACTIVE]] : f16 to f32
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[WIDE]], %[[AGAIN]] : f32
// CHECK-NEXT: %[[Y:.*]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT: tile.yield %[[Y]] : f16
// CHECK: tile.store %[[T]], %{{.*}} : !tile.tile<8x32xf16>, !tile.view<?x49xf16>
func.func @halves(%x: tensor<?x33xf16>, %w: tensor<49x33xf16>, %b: tensor<49xf16>, %r: tensor<?x49xf16>) -> tensor<?x49xf16> attributes {fovea.entry} {
  %0 = fovea.group(%a = %x, %c = %w, %d = %b, %e = %r) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x33xf16>, tensor<49x33xf16>, tensor<49xf16>, tensor<?x49xf16>) -> tensor<?x49xf16> {
    %1 = fovea.linear %a, %c bias(%d : tensor<49xf16>) : tensor<?x33xf16>, tensor<49x33xf16> -> tensor<?x49xf16>
    %2 = fovea.activation relu %1 : tensor<?x49xf16>
    %3 = arith.addf %e, %2 : tensor<?x49xf16>
    fovea.yield %3 : tensor<?x49xf16>
  }
  return %0 : tensor<?x49xf16>
}

// -----

// Both ranges of a gate are products with the same rows of x; a weight in panels is read as the matrix that it is.

// CHECK-LABEL: func.func private @linear_0(
// CHECK: tile.kernel
// CHECK: %[[W:.*]] = tile.packed %{{.*}} : memref<4x16x16xf32> -> !tile.view<64x16xf32>
// CHECK: scf.for
// CHECK: %[[X:.*]] = tile.load %{{.*}} -> !tile.tile<8x16xf32>
// CHECK: %[[G:.*]] = tile.dot %[[X]], %{{.*}} transpose_b
// CHECK: %[[U:.*]] = tile.dot %[[X]], %{{.*}} transpose_b
// CHECK: tile.map({{.*}} = %[[G]], {{.*}} = %[[U]])
// CHECK: tile.store %{{.*}} : !tile.tile<8x32xf32>, !tile.view<?x32xf32>
fovea.weight @w : tensor<64x16xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<64x16xf32>>, #fovea.panels<16>>
func.func @gate(%x: tensor<?x16xf32>) -> tensor<?x32xf32> attributes {fovea.entry} {
  %w = fovea.weight_ref @w : tensor<64x16xf32, #fovea.panels<16>>
  %0 = fovea.group(%a = %x, %c = %w) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<?x16xf32>, tensor<64x16xf32, #fovea.panels<16>>) -> tensor<?x32xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?x16xf32>
    %1 = fovea.linear %a, %c : tensor<?x16xf32>, tensor<64x16xf32, #fovea.panels<16>> -> tensor<?x64xf32>
    %2 = tensor.extract_slice %1[0, 0] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
    %3 = tensor.extract_slice %1[0, 32] [%n, 32] [1, 1] : tensor<?x64xf32> to tensor<?x32xf32>
    %4 = fovea.glu silu %2, %3 : tensor<?x32xf32>
    fovea.yield %4 : tensor<?x32xf32>
  }
  return %0 : tensor<?x32xf32>
}

// -----

// A folded norm's factors and the angles of rotary pairs are launches before; each range of columns has its own blocks,
// halves of heads are products of their own, and keys go to the cache.

// CHECK-LABEL: func.func @split(
// CHECK: fovea.launch @row_factor_0 ins(%[[X:[a-z0-9_]*]] : memref<1x?x16xf32>) outs(%[[F:[a-z0-9_]*]] : memref<1x?xf32>)
// CHECK: fovea.launch @rotary_angles_0
// CHECK: fovea.launch @linear_0 ins(%[[X]], {{.*}}) outs({{.*}}%[[F]], {{.*}}) cost

// CHECK-LABEL: func.func private @row_factor_0(
// CHECK: tile.reduce sum
// CHECK: math.sqrt
// CHECK: tile.store {{.*}} : !tile.tile<4x1xf32>, !tile.view<?x1xf32>

// CHECK-LABEL: func.func private @rotary_angles_0(
// CHECK: arith.truncf {{.*}} : f64 to f32
// CHECK: math.cos {{.*}} : f32
// CHECK: math.sin {{.*}} : f32

// CHECK-LABEL: func.func private @linear_0(
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: tile.kernel grid(%[[BLOCK:.*]], %{{.*}}, %{{.*}}) = (%[[C2]],
// CHECK: scf.if
// CHECK: scf.for
// CHECK-COUNT-4: tile.dot {{.*}} -> !tile.tile<8x8xf32>
// CHECK: } else {
// CHECK: scf.for
// CHECK-COUNT-2: tile.dot {{.*}} -> !tile.tile<8x8xf32>
// CHECK: tile.view %{{.*}} at(%{{.*}}, %{{.*}}) axes(2, 3) length(%{{.*}}) : memref<?x2x?x16xf32>
// CHECK: tile.store {{.*}} : !tile.tile<8x8xf32>, !tile.view<?x16xf32>
func.func @split(%x: tensor<1x?x16xf32>, %w: tensor<64x16xf32>, %k: !fovea.cache<key, 2x16xf32> {fovea.name = "k"}) -> (tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32> {fovea.name = "k"}) attributes {fovea.entry} {
  %first = fovea.cache_length %k : !fovea.cache<key, 2x16xf32>
  %0:2 = fovea.group(%a = %x, %c = %w, %d = %k, %f = %first) schedule(#fovea.contraction<tile = [8, 32], chunk = 16, block = [4, 32]>)
      : (tensor<1x?x16xf32>, tensor<64x16xf32>, !fovea.cache<key, 2x16xf32>, index) -> (tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32>) {
    %c1 = arith.constant 1 : index
    %n = tensor.dim %a, %c1 : tensor<1x?x16xf32>
    %p = fovea.positions from %f count %n : tensor<1x?xi32>
    %1 = fovea.rms_norm %a eps(1.0e-5) : tensor<1x?x16xf32>
    %2 = fovea.linear %1, %c : tensor<1x?x16xf32>, tensor<64x16xf32> -> tensor<1x?x64xf32>
    %3 = tensor.extract_slice %2[0, 0, 0] [1, %n, 32] [1, 1, 1] : tensor<1x?x64xf32> to tensor<1x?x32xf32>
    %4 = tensor.extract_slice %2[0, 0, 32] [1, %n, 32] [1, 1, 1] : tensor<1x?x64xf32> to tensor<1x?x32xf32>
    %5 = tensor.expand_shape %3 [[0], [1], [2, 3]] output_shape [1, %n, 2, 16] : tensor<1x?x32xf32> into tensor<1x?x2x16xf32>
    %6 = tensor.expand_shape %4 [[0], [1], [2, 3]] output_shape [1, %n, 2, 16] : tensor<1x?x32xf32> into tensor<1x?x2x16xf32>
    %7 = fovea.rope half %5 at(%p : tensor<1x?xi32>) dim(16) theta(10000.0) : tensor<1x?x2x16xf32>
    %8 = fovea.rope half %6 at(%p : tensor<1x?xi32>) dim(16) theta(10000.0) : tensor<1x?x2x16xf32>
    %9 = fovea.cache_append %d, %8 : !fovea.cache<key, 2x16xf32>, tensor<1x?x2x16xf32>
    fovea.yield %7, %9 : tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32>
  }
  return %0#0, %0#1 : tensor<1x?x2x16xf32>, !fovea.cache<key, 2x16xf32>
}

// -----

// Blocks find the greatest of their own columns, of which those past the last are none; the smaller launch behind joins
// what they found, and the work counts as the product's.

// CHECK-LABEL: func.func @argmax(
// CHECK: fovea.launch @linear_0 ins({{.*}}) outs({{.*}}, %[[G:.*]], %[[C:.*]] : {{.*}}) cost
// CHECK: fovea.launch @argmax_0 outs(%{{.*}}, %[[G]], %[[C]] : memref<?xi64>, memref<?x3xf32>, memref<?x3xi32>) cost(%[[NONE:.*]], %[[NONE]])

// CHECK-LABEL: func.func private @linear_0(
// CHECK-DAG: %[[N:.*]] = arith.constant 65 : i32
// CHECK-DAG: %[[NAN:.*]] = arith.constant 0x7FC00000 : f32
// CHECK: tile.kernel grid(%[[BLOCK:.*]], %[[ROW:.*]]) = (%{{.*}}, %{{.*}}) {
// CHECK: %[[S:.*]] = tile.dot
// CHECK: tile.store %[[S]]
// CHECK: %[[I:.*]] = tile.iota axis(1) from %{{.*}} : !tile.tile<1x32xi32>
// CHECK: %[[X:.*]] = tile.map({{.*}} = %[[S]], {{.*}} = %[[I]])
// CHECK: arith.cmpi slt, %{{.*}}, %[[N]]
// CHECK: %[[M:.*]] = tile.reduce maximum %[[X]]
// CHECK: %[[B:.*]] = tile.broadcast %[[M]]
// CHECK: %[[R:.*]] = tile.map({{.*}} = %[[X]], {{.*}} = %[[B]], {{.*}} = %[[I]])
// CHECK: %[[F:.*]] = tile.reduce maximum %[[R]]
// CHECK: %[[V:.*]] = tile.map({{.*}} = %[[M]], {{.*}} = %[[F]])
// CHECK: arith.select %{{.*}}, %[[NAN]]
// CHECK: %[[P:.*]] = tile.map({{.*}} = %[[F]])
// CHECK: tile.store %[[V]], %{{.*}}[%[[ROW]], %[[BLOCK]]] : !tile.tile<1x1xf32>, !tile.view<?x3xf32>
// CHECK: tile.store %[[P]], %{{.*}}[%[[ROW]], %[[BLOCK]]] : !tile.tile<1x1xi32>, !tile.view<?x3xi32>

// CHECK-LABEL: func.func private @argmax_0(
// CHECK-SAME: %[[TOKENS:.*]]: memref<?xi64>, %[[FOUND:.*]]: memref<?x3xf32>, %[[COLUMNS:.*]]: memref<?x3xi32>,
// CHECK: tile.kernel grid(%[[B:.*]]) = (%{{.*}}) {
// CHECK: %[[BEST:.*]]:2 = scf.for
// CHECK: %[[NEXT:.*]] = memref.load %[[FOUND]][%[[B]], %{{.*}}]
// CHECK: arith.cmpf ugt, %[[NEXT]]
// CHECK: arith.cmpf ord
// CHECK: %[[WHERE:.*]] = memref.load %[[COLUMNS]][%[[B]], %[[BEST]]#1]
// CHECK: %[[TOKEN:.*]] = arith.extsi %[[WHERE]] : i32 to i64
// CHECK: memref.store %[[TOKEN]], %[[TOKENS]][%[[B]]]
func.func @argmax(%x: tensor<?x33xf32>, %w: tensor<65x33xf32>) -> (tensor<?x65xf32>, tensor<?xi64>) attributes {fovea.entry} {
  %0:2 = fovea.group(%a = %x, %c = %w) schedule(#fovea.contraction<tile = [1, 32], chunk = 1, block = [1, 32]>)
      : (tensor<?x33xf32>, tensor<65x33xf32>) -> (tensor<?x65xf32>, tensor<?xi64>) {
    %1 = fovea.linear %a, %c : tensor<?x33xf32>, tensor<65x33xf32> -> tensor<?x65xf32>
    %2 = fovea.argmax %1 : tensor<?x65xf32> -> tensor<?xi64>
    fovea.yield %1, %2 : tensor<?x65xf32>, tensor<?xi64>
  }
  return %0#0, %0#1 : tensor<?x65xf32>, tensor<?xi64>
}

// -----

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
