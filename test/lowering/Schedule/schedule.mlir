// RUN: fovea-opt %s --fovea-schedule=target=avx2 --split-input-file | FileCheck %s

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

// -----

// No builder computes in f64: plain loops, of which a product shares all axes of its result, a norm its rows.

// CHECK-LABEL: @loops
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 3>)
// CHECK-NEXT: fovea.linear
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 2>)
// CHECK-NEXT: fovea.rms_norm
func.func @loops(%x: tensor<?x?x4xf64>, %w: tensor<6x4xf32>) -> tensor<?x?x6xf64> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x?x4xf64>, tensor<6x4xf32>) -> tensor<?x?x6xf64> {
    %1 = fovea.linear %a, %b : tensor<?x?x4xf64>, tensor<6x4xf32> -> tensor<?x?x6xf64>
    fovea.yield %1 : tensor<?x?x6xf64>
  }
  %2 = fovea.group(%a = %0) : (tensor<?x?x6xf64>) -> tensor<?x?x6xf64> {
    %3 = fovea.rms_norm %a eps(1.0e-5) : tensor<?x?x6xf64>
    fovea.yield %3 : tensor<?x?x6xf64>
  }
  return %2 : tensor<?x?x6xf64>
}

// -----

// Keys of few queries are split, unless the model is for sequences so short that there never would be two parts.

// CHECK-LABEL: @short_context
// CHECK: schedule(#fovea.attention_tiles<{{.*}}, axis = heads, scores = [{{[0-9, ]+}}], values = [{{[0-9, ]+}}]>)
fovea.model "llama" in "somewhere" {max_positions = 1023}
func.func @short_context(%q: tensor<?x1x2x4xf32>, %c: !fovea.cache<key, 2x4xf32>, %d: !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
  %o = fovea.group(%a = %q, %b = %c, %e = %d) : (tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %e : tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %o : tensor<?x1x2x4xf32>
}

// -----

// CHECK-LABEL: @long_context
// CHECK: schedule(#fovea.attention_tiles<{{.*}}, axis = heads, {{.*}}, split = [512, 64]>)
fovea.model "llama" in "somewhere" {max_positions = 1024}
func.func @long_context(%q: tensor<?x1x2x4xf32>, %c: !fovea.cache<key, 2x4xf32>, %d: !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
  %o = fovea.group(%a = %q, %b = %c, %e = %d) : (tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %e : tensor<?x1x2x4xf32>, !fovea.cache<key, 2x4xf32>, !fovea.cache<value, 2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %o : tensor<?x1x2x4xf32>
}

// -----

// Attention and a cache's rows have builders; a structured op shares its leading parallel iterators.

// CHECK-LABEL: @kinds
// CHECK: fovea.group({{.*}}) schedule(#fovea.by_rows<most = 1, few = #fovea.attention_tiles<{{.*}} axis = heads, {{.*}}>, many = #fovea.attention_tiles<{{.*}} axis = queries, {{.*}}>>)
// CHECK: fovea.attention
// CHECK: fovea.group({{.*}}) schedule(#fovea.rows<
// CHECK-NEXT: fovea.cache_append
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 1>)
// CHECK: linalg.reduce
func.func @kinds(%q: tensor<?x?x2x4xf32>, %c: !fovea.cache<key, 2x4xf32>, %t: tensor<3x5xf32>) -> (tensor<?x?x2x4xf32>, !fovea.cache<key, 2x4xf32>, tensor<3xf32>) {
  %o = fovea.group(%a = %q) : (tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
    %m = fovea.mask_causal
    %1 = fovea.attention %a, %a, %a mask(%m) : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
    fovea.yield %1 : tensor<?x?x2x4xf32>
  }
  %d = fovea.group(%a = %c, %b = %o) : (!fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>) -> !fovea.cache<key, 2x4xf32> {
    %1 = fovea.cache_append %a, %b : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
    fovea.yield %1 : !fovea.cache<key, 2x4xf32>
  }
  %s = fovea.group(%a = %t) : (tensor<3x5xf32>) -> tensor<3xf32> {
    %e = arith.constant dense<0.0> : tensor<3xf32>
    %r = linalg.reduce { arith.addf } ins(%a : tensor<3x5xf32>) outs(%e : tensor<3xf32>) dimensions = [1]
    fovea.yield %r : tensor<3xf32>
  }
  return %o, %d, %s : tensor<?x?x2x4xf32>, !fovea.cache<key, 2x4xf32>, tensor<3xf32>
}

// -----

// A place of the greatest is found in the tiles of a product, and nowhere else: not of a matrix in memory, not beside
// heads that are rotated, not twice.

// CHECK-LABEL: @argmax
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<parallel = 2>)
// CHECK-NEXT: fovea.argmax
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<
// CHECK: fovea.rope
// CHECK: fovea.group({{.*}}) schedule(#fovea.loops<
// CHECK-NOT: schedule
func.func @argmax(%x: tensor<?x3x4xf32>, %w: tensor<16x4xf32>, %p: tensor<1x3xi32>) -> (tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>) {
  %0:2 = fovea.group(%a = %x, %b = %w) : (tensor<?x3x4xf32>, tensor<16x4xf32>) -> (tensor<?x3x16xf32>, tensor<?x3xi64>) {
    %1 = fovea.linear %a, %b : tensor<?x3x4xf32>, tensor<16x4xf32> -> tensor<?x3x16xf32>
    %2 = fovea.argmax %1 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %1, %2 : tensor<?x3x16xf32>, tensor<?x3xi64>
  }
  %3 = fovea.group(%a = %0#0) : (tensor<?x3x16xf32>) -> tensor<?x3xi64> {
    %4 = fovea.argmax %a : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %4 : tensor<?x3xi64>
  }
  %5:2 = fovea.group(%a = %x, %b = %w, %c = %p) : (tensor<?x3x4xf32>, tensor<16x4xf32>, tensor<1x3xi32>) -> (tensor<?x3xi64>, tensor<?x3x1x16xf32>) {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %a, %c0 : tensor<?x3x4xf32>
    %6 = fovea.linear %a, %b : tensor<?x3x4xf32>, tensor<16x4xf32> -> tensor<?x3x16xf32>
    %7 = tensor.expand_shape %6 [[0], [1], [2, 3]] output_shape [%n, 3, 1, 16] : tensor<?x3x16xf32> into tensor<?x3x1x16xf32>
    %8 = fovea.rope half %7 at(%c : tensor<1x3xi32>) dim(16) theta(10000.0) : tensor<?x3x1x16xf32>
    %9 = fovea.argmax %6 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %9, %8 : tensor<?x3xi64>, tensor<?x3x1x16xf32>
  }
  %10:2 = fovea.group(%a = %x, %b = %w) : (tensor<?x3x4xf32>, tensor<16x4xf32>) -> (tensor<?x3xi64>, tensor<?x3xi64>) {
    %11 = fovea.linear %a, %b : tensor<?x3x4xf32>, tensor<16x4xf32> -> tensor<?x3x16xf32>
    %12 = fovea.activation relu %11 : tensor<?x3x16xf32>
    %13 = fovea.argmax %11 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    %14 = fovea.argmax %12 : tensor<?x3x16xf32> -> tensor<?x3xi64>
    fovea.yield %13, %14 : tensor<?x3xi64>, tensor<?x3xi64>
  }
  return %0#1, %3, %5#0, %10#0 : tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>, tensor<?x3xi64>
}

// What a group computed was folded: it hands on what it gets.
// CHECK-LABEL: func.func @passes_through(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>
// CHECK-NOT: fovea.group
// CHECK: return %[[X]]
func.func @passes_through(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = fovea.group(%a = %x) : (tensor<2xf32>) -> tensor<2xf32> {
    fovea.yield %a : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// -----

// Where the number of rows is open, one has a schedule of its own: of a batch, and of weights that are shorter than f32. A
// number that is known chooses now.

// CHECK-LABEL: @open_rows
// CHECK: fovea.group({{.*}}) schedule(#fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 64], {{.*}}>, many = #fovea.contraction<tile = [48, 16], {{.*}}>>)
// CHECK: fovea.group({{.*}}) schedule(#fovea.by_rows<most = 1, few = #fovea.contraction<tile = [1, 64], {{.*}}>, many = #fovea.contraction<tile = [48, 16], {{.*}}>>)
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<tile = [48, 16],
// CHECK: fovea.group({{.*}}) schedule(#fovea.contraction<tile = [1, 64],
func.func @open_rows(%x: tensor<?x4xf32>, %y: tensor<?x?x4xf32>, %z: tensor<2x4xf32>, %u: tensor<1x4xf32>, %w: tensor<6x4xf32>, %h: tensor<6x4xbf16>)
    -> (tensor<?x6xf32>, tensor<?x?x6xf32>, tensor<2x6xf32>, tensor<1x6xf32>) {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x4xf32>, tensor<6x4xf32>) -> tensor<?x6xf32> {
    %4 = fovea.linear %a, %b : tensor<?x4xf32>, tensor<6x4xf32> -> tensor<?x6xf32>
    fovea.yield %4 : tensor<?x6xf32>
  }
  %1 = fovea.group(%a = %y, %b = %h) : (tensor<?x?x4xf32>, tensor<6x4xbf16>) -> tensor<?x?x6xf32> {
    %4 = fovea.linear %a, %b : tensor<?x?x4xf32>, tensor<6x4xbf16> -> tensor<?x?x6xf32>
    fovea.yield %4 : tensor<?x?x6xf32>
  }
  %2 = fovea.group(%a = %z, %b = %w) : (tensor<2x4xf32>, tensor<6x4xf32>) -> tensor<2x6xf32> {
    %4 = fovea.linear %a, %b : tensor<2x4xf32>, tensor<6x4xf32> -> tensor<2x6xf32>
    fovea.yield %4 : tensor<2x6xf32>
  }
  %3 = fovea.group(%a = %u, %b = %w) : (tensor<1x4xf32>, tensor<6x4xf32>) -> tensor<1x6xf32> {
    %4 = fovea.linear %a, %b : tensor<1x4xf32>, tensor<6x4xf32> -> tensor<1x6xf32>
    fovea.yield %4 : tensor<1x6xf32>
  }
  return %0, %1, %2, %3 : tensor<?x6xf32>, tensor<?x?x6xf32>, tensor<2x6xf32>, tensor<1x6xf32>
}
