// RUN: fovea-opt %s --split-input-file --fovea-to-kernels | FileCheck %s

// One kernel serves both calls of the layer; its results go to the arena, the last one to the caller's buffer.
// CHECK-LABEL: func.func @two_layers(
// CHECK-SAME: %[[X:.*]]: memref<?x4xf32>, %[[Y:.*]]: memref<?x4xf32>) -> (index, index)
// CHECK: %[[ARENA:.*]] = fovea.arena
// CHECK: %[[H:.*]] = memref.view %[[ARENA]]
// CHECK: fovea.launch @activation_0 ins(%[[X]] : memref<?x4xf32>) outs(%[[H]] : memref<?x4xf32>)
// CHECK: fovea.launch @activation_0 ins(%[[H]] : memref<?x4xf32>) outs(%[[Y]] : memref<?x4xf32>)
// CHECK-NOT: func.func private @layer
// CHECK: func.func private @activation_0(
// CHECK-NOT: @activation_1
func.func private @layer(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = fovea.group(%a = %x) schedule(#fovea.loops<parallel = 1>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %1 = fovea.activation relu %a : tensor<?x4xf32>
    fovea.yield %1 : tensor<?x4xf32>
  }
  return %0 : tensor<?x4xf32>
}
func.func @two_layers(%x: tensor<?x4xf32> {fovea.name = "x"}) -> (tensor<?x4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0 = call @layer(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = call @layer(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----

// Three results in a row need two slots: the third lies where the first was.
// CHECK-LABEL: func.func @slots_are_reused(
// CHECK: %[[ARENA:.*]] = fovea.arena
// CHECK: %[[A:.*]] = memref.view %[[ARENA]][
// CHECK: %[[B:.*]] = memref.view %[[ARENA]][
// CHECK: fovea.launch @activation_1 ins(%[[A]] : memref<?x4xf32>) outs(%[[B]] : memref<?x4xf32>)
// CHECK-NOT: memref.view
// CHECK: fovea.launch @activation_2 ins(%[[B]] : memref<?x4xf32>) outs(%[[A]] : memref<?x4xf32>)
func.func @slots_are_reused(%x: tensor<?x4xf32> {fovea.name = "x"}) -> (tensor<?x4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
  %0 = fovea.group(%a = %x) schedule(#fovea.loops<parallel = 1>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation relu %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  %1 = fovea.group(%a = %0) schedule(#fovea.loops<parallel = 1>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation silu %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  %2 = fovea.group(%a = %1) schedule(#fovea.loops<parallel = 1>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation tanh %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  %3 = fovea.group(%a = %2) schedule(#fovea.loops<parallel = 1>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
    %i = fovea.activation sigmoid %a : tensor<?x4xf32>
    fovea.yield %i : tensor<?x4xf32>
  }
  return %3 : tensor<?x4xf32>
}

// -----

// A cache grows in place: its memory is written, its new length returned.
// CHECK-LABEL: func.func @cache_grows_in_place(
// CHECK-SAME: %[[X:.*]]: memref<?x1x1x2xf32>, %[[C:.*]]: memref<?x1x?x2xf32>, %[[N:.*]]: index) -> index
// CHECK-SAME: continues = 1
// CHECK: %[[NEW:.*]] = arith.addi %[[N]], %{{.*}} : index
// CHECK: fovea.launch @cache_append_0 ins(%[[N]], %[[X]] : index, memref<?x1x1x2xf32>) outs(%[[C]] : memref<?x1x?x2xf32>)
// CHECK: return %[[NEW]] : index
func.func @cache_grows_in_place(%x: tensor<?x1x1x2xf32> {fovea.name = "x"}, %c: !fovea.cache<key, 1x2xf32> {fovea.name = "c"}) -> !fovea.cache<key, 1x2xf32> attributes {fovea.entry} {
  %0 = fovea.group(%a = %c, %b = %x) schedule(#fovea.loops<parallel = 2>) : (!fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %i = fovea.cache_append %a, %b : !fovea.cache<key, 1x2xf32>, tensor<?x1x1x2xf32>
    fovea.yield %i : !fovea.cache<key, 1x2xf32>
  }
  return %0 : !fovea.cache<key, 1x2xf32>
}

// -----

// Two layers that start from one empty cache value grow two memories.
// CHECK-LABEL: func.func @empty_cache_serves_two_appends(
// CHECK: %[[FIRST:.*]] = memref.cast {{.*}} to memref<?x1x?x2xf32>
// CHECK: fovea.launch @cache_append_0 {{.*}}outs(%[[FIRST]] :
// CHECK: %[[SECOND:.*]] = memref.cast {{.*}} to memref<?x1x?x2xf32>
// CHECK: fovea.launch @cache_append_0 {{.*}}outs(%[[SECOND]] :
func.func @empty_cache_serves_two_appends(%x: tensor<?x4x1x2xf32> {fovea.name = "x"}, %y: tensor<?x4x1x2xf32> {fovea.name = "y"}) -> (tensor<?x4x1x2xf32> {fovea.name = "z"}) attributes {fovea.entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %b = tensor.dim %x, %c0 : tensor<?x4x1x2xf32>
  %c = fovea.cache_create %b, %c4 : !fovea.cache<key, 1x2xf32>
  %v = fovea.cache_create %b, %c4 : !fovea.cache<value, 1x2xf32>
  %0 = fovea.group(%a = %c, %i = %x) schedule(#fovea.loops<parallel = 2>) : (!fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %r = fovea.cache_append %a, %i : !fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>
    fovea.yield %r : !fovea.cache<key, 1x2xf32>
  }
  %1 = fovea.group(%a = %c, %i = %y) schedule(#fovea.loops<parallel = 2>) : (!fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>) -> !fovea.cache<key, 1x2xf32> {
    %r = fovea.cache_append %a, %i : !fovea.cache<key, 1x2xf32>, tensor<?x4x1x2xf32>
    fovea.yield %r : !fovea.cache<key, 1x2xf32>
  }
  %2 = fovea.group(%a = %v, %i = %y) schedule(#fovea.loops<parallel = 2>) : (!fovea.cache<value, 1x2xf32>, tensor<?x4x1x2xf32>) -> !fovea.cache<value, 1x2xf32> {
    %r = fovea.cache_append %a, %i : !fovea.cache<value, 1x2xf32>, tensor<?x4x1x2xf32>
    fovea.yield %r : !fovea.cache<value, 1x2xf32>
  }
  %3 = fovea.group(%q = %x, %k = %0, %w = %2) schedule(#fovea.loops<parallel = 3>) : (tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32>) -> tensor<?x4x1x2xf32> {
    %r = fovea.attention %q, %k, %w : tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32> -> tensor<?x4x1x2xf32>
    fovea.yield %r : tensor<?x4x1x2xf32>
  }
  %4 = fovea.group(%q = %3, %k = %1, %w = %2) schedule(#fovea.loops<parallel = 3>) : (tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32>) -> tensor<?x4x1x2xf32> {
    %r = fovea.attention %q, %k, %w : tensor<?x4x1x2xf32>, !fovea.cache<key, 1x2xf32>, !fovea.cache<value, 1x2xf32> -> tensor<?x4x1x2xf32>
    fovea.yield %r : tensor<?x4x1x2xf32>
  }
  return %4 : tensor<?x4x1x2xf32>
}

// -----

// Two schedules by the number of rows: the plan says which of the two kernels works in a call, the other has no blocks; none
// works where there are no rows.
// CHECK-LABEL: func.func @by_rows(
// CHECK: %[[ROWS:.*]] = arith.muli %{{.*}}, %{{.*}} : index
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[ROWS]], %c0
// CHECK: %[[LESS:.*]] = arith.cmpi slt, %[[ROWS]], %c2
// CHECK: %[[FEW:.*]] = arith.andi %[[ANY]], %[[LESS]]
// CHECK: %[[FEW_FLOPS:.*]] = arith.select %[[FEW]], %[[FLOPS:.*]], %c0
// CHECK: %[[FEW_BYTES:.*]] = arith.select %[[FEW]], %[[BYTES:.*]], %c0
// CHECK: %[[MANY:.*]] = arith.cmpi sgt, %[[ROWS]], %c1
// CHECK: %[[MANY_FLOPS:.*]] = arith.select %[[MANY]], %[[FLOPS]], %c0
// CHECK: %[[MANY_BYTES:.*]] = arith.select %[[MANY]], %[[BYTES]], %c0
// CHECK: fovea.launch @linear_0 {{.*}} cost(%[[FEW_FLOPS]], %[[FEW_BYTES]])
// CHECK: fovea.launch @linear_1 {{.*}} cost(%[[MANY_FLOPS]], %[[MANY_BYTES]])
// CHECK: func.func private @linear_0({{.*}} fovea.schedule = #fovea.contraction<tile = [1, 16]
// CHECK: %[[ROWS0:.*]] = arith.muli
// CHECK: %[[ONE:.*]] = arith.andi
// CHECK: %[[BLOCKS0:.*]] = arith.select %[[ONE]], %{{.*}}, %c0
// CHECK: tile.kernel grid(%{{.*}}) = (%[[BLOCKS0]])
// CHECK: func.func private @linear_1({{.*}} fovea.schedule = #fovea.contraction<tile = [8, 16]
// CHECK: %[[MORE:.*]] = arith.cmpi sgt, %{{.*}}, %c1
// CHECK: %[[BLOCKS1:.*]] = arith.select %[[MORE]], %{{.*}}, %c0
// CHECK: tile.kernel grid(%{{.*}}) = (%[[BLOCKS1]])
func.func @by_rows(%x: tensor<?x?x4xf32>, %w: tensor<6x4xf32>) -> tensor<?x?x6xf32> attributes {fovea.entry} {
  %y = fovea.group(%a = %x, %b = %w) schedule(#fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 16], chunk = 1, block = [1, 16]>, many = #fovea.contraction<tile = [8, 16], chunk = 8, block = [8, 16]>>) : (tensor<?x?x4xf32>, tensor<6x4xf32>) -> tensor<?x?x6xf32> {
    %1 = fovea.linear %a, %b : tensor<?x?x4xf32>, tensor<6x4xf32> -> tensor<?x?x6xf32>
    fovea.yield %1 : tensor<?x?x6xf32>
  }
  return %y : tensor<?x?x6xf32>
}
