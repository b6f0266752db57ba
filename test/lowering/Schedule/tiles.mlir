// RUN: fovea-opt %s --fovea-schedule="target=avx512 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: fovea-opt %s --fovea-schedule="target=avx2 assume-covered" | FileCheck %s --check-prefixes=CHECK,AVX2
// RUN: fovea-opt %s --fovea-schedule="target=sse assume-covered" | FileCheck %s --check-prefixes=CHECK,SSE

// The table: by kind of group, by number of rows, by target.

// CHECK-LABEL: @many_rows
// AVX512: #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48]>
// AVX2: #fovea.contraction<tile = [48, 16], chunk = 240, block = [6, 16]>
// SSE: #fovea.contraction<tile = [32, 16], chunk = 256, block = [2, 16]>
func.func @many_rows(%x: tensor<?x?x4xf32>, %w: tensor<2048x4xf32>) -> tensor<?x?x2048xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x?x4xf32>, tensor<2048x4xf32>) -> tensor<?x?x2048xf32> {
    %1 = fovea.linear %a, %b : tensor<?x?x4xf32>, tensor<2048x4xf32> -> tensor<?x?x2048xf32>
    fovea.yield %1 : tensor<?x?x2048xf32>
  }
  return %0 : tensor<?x?x2048xf32>
}

// One position of each batch row.

// CHECK-LABEL: @one_row
// AVX512: #fovea.contraction<tile = [1, 128], chunk = 16, block = [1, 128]>
// AVX2: #fovea.contraction<tile = [1, 64], chunk = 16, block = [1, 64]>
// SSE: #fovea.contraction<tile = [1, 32], chunk = 16, block = [1, 32]>
func.func @one_row(%x: tensor<?x1x4xf32>, %w: tensor<1024x4xf32>) -> tensor<?x1x1024xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x1x4xf32>, tensor<1024x4xf32>) -> tensor<?x1x1024xf32> {
    %1 = fovea.linear %a, %b : tensor<?x1x4xf32>, tensor<1024x4xf32> -> tensor<?x1x1024xf32>
    fovea.yield %1 : tensor<?x1x1024xf32>
  }
  return %0 : tensor<?x1x1024xf32>
}

// Few outputs: narrower pieces, so that each thread has some. What follows a product is its epilogue.

// CHECK-LABEL: @narrow_row_with_epilogue
// AVX512: #fovea.contraction<tile = [1, 64], chunk = 16, block = [1, 64]>
// AVX2: #fovea.contraction<tile = [1, 64], chunk = 16, block = [1, 64]>
// SSE: #fovea.contraction<tile = [1, 32], chunk = 16, block = [1, 32]>
func.func @narrow_row_with_epilogue(%x: tensor<?x4xf32>, %w: tensor<767x4xf32>) -> tensor<?x767xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<?x4xf32>, tensor<767x4xf32>) -> tensor<?x767xf32> {
    %1 = fovea.linear %a, %b : tensor<?x4xf32>, tensor<767x4xf32> -> tensor<?x767xf32>
    %2 = fovea.activation silu %1 : tensor<?x767xf32>
    fovea.yield %2 : tensor<?x767xf32>
  }
  return %0 : tensor<?x767xf32>
}

// A batch of one is no reason for a tile of one row.

// CHECK-LABEL: @static_batch
// AVX512: #fovea.contraction<tile = [64, 48], chunk = 256, block = [8, 48]>
func.func @static_batch(%x: tensor<1x8x4xf32>, %w: tensor<6x4xf32>) -> tensor<1x8x6xf32> {
  %0 = fovea.group(%a = %x, %b = %w) : (tensor<1x8x4xf32>, tensor<6x4xf32>) -> tensor<1x8x6xf32> {
    %1 = fovea.linear %a, %b : tensor<1x8x4xf32>, tensor<6x4xf32> -> tensor<1x8x6xf32>
    fovea.yield %1 : tensor<1x8x6xf32>
  }
  return %0 : tensor<1x8x6xf32>
}

// CHECK-LABEL: @attention
// AVX512: #fovea.attention_tiles<queries = 64, keys = 64, axis = queries, scores = [4, 64], values = [4, 64]>
// AVX2: #fovea.attention_tiles<queries = 16, keys = 64, axis = queries, scores = [4, 16], values = [4, 16]>
// SSE: #fovea.attention_tiles<queries = 16, keys = 64, axis = queries, scores = [2, 16], values = [2, 16]>
func.func @attention(%q: tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
  %0 = fovea.group(%a = %q) : (tensor<?x?x2x4xf32>) -> tensor<?x?x2x4xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x?x2x4xf32>
    fovea.yield %1 : tensor<?x?x2x4xf32>
  }
  return %0 : tensor<?x?x2x4xf32>
}

// Queries that fit into a tile leave few blocks of work: keys are split, too.

// CHECK-LABEL: @attention_of_one_query
// AVX512: #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [4, 64], values = [4, 64], split = [512, 64]>
// AVX2: #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [4, 16], values = [4, 16], split = [512, 64]>
// SSE: #fovea.attention_tiles<queries = 16, keys = 64, axis = heads, scores = [2, 16], values = [2, 16], split = [512, 64]>
func.func @attention_of_one_query(%q: tensor<?x1x2x4xf32>, %k: tensor<?x?x2x4xf32>) -> tensor<?x1x2x4xf32> {
  %0 = fovea.group(%a = %q, %b = %k) : (tensor<?x1x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x1x2x4xf32> {
    %1 = fovea.attention %a, %b, %b : tensor<?x1x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x1x2x4xf32>
    fovea.yield %1 : tensor<?x1x2x4xf32>
  }
  return %0 : tensor<?x1x2x4xf32>
}

// CHECK-LABEL: @attention_of_few_queries
// AVX512: #fovea.attention_tiles<queries = 48, keys = 64, axis = queries, scores = [4, 48], values = [4, 48], split = [512, 64]>
// AVX2: #fovea.attention_tiles<queries = 16, keys = 64, axis = queries, scores = [4, 16], values = [4, 16], split = [512, 64]>
// SSE: #fovea.attention_tiles<queries = 16, keys = 64, axis = queries, scores = [2, 16], values = [2, 16], split = [512, 64]>
func.func @attention_of_few_queries(%q: tensor<?x5x2x4xf32>, %k: tensor<?x?x2x4xf32>) -> tensor<?x5x2x4xf32> {
  %0 = fovea.group(%a = %q, %b = %k) : (tensor<?x5x2x4xf32>, tensor<?x?x2x4xf32>) -> tensor<?x5x2x4xf32> {
    %1 = fovea.attention %a, %b, %b : tensor<?x5x2x4xf32>, tensor<?x?x2x4xf32>, tensor<?x?x2x4xf32> -> tensor<?x5x2x4xf32>
    fovea.yield %1 : tensor<?x5x2x4xf32>
  }
  return %0 : tensor<?x5x2x4xf32>
}

// CHECK-LABEL: @attention_of_many_queries
// CHECK: #fovea.attention_tiles<queries = {{[0-9]+}}, keys = 64, axis = queries, scores = [{{[0-9]}}, {{[0-9]+}}], values = [{{[0-9]}}, {{[0-9]+}}]>
func.func @attention_of_many_queries(%q: tensor<?x65x2x4xf32>) -> tensor<?x65x2x4xf32> {
  %0 = fovea.group(%a = %q) : (tensor<?x65x2x4xf32>) -> tensor<?x65x2x4xf32> {
    %1 = fovea.attention %a, %a, %a : tensor<?x65x2x4xf32>, tensor<?x65x2x4xf32>, tensor<?x65x2x4xf32> -> tensor<?x65x2x4xf32>
    fovea.yield %1 : tensor<?x65x2x4xf32>
  }
  return %0 : tensor<?x65x2x4xf32>
}

// CHECK-LABEL: @rows_and_elements
// CHECK: #fovea.rows<rows = 4>
// CHECK: #fovea.elements<count = 1024>
// CHECK: #fovea.rows<rows = 4>
// CHECK: #fovea.rows<rows = 4>
func.func @rows_and_elements(%x: tensor<?x?x4xf32>, %ids: tensor<?xi64>, %t: tensor<6x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %0 = fovea.group(%a = %x) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
    %1 = arith.addf %a, %a : tensor<?x?x4xf32>
    %2 = fovea.rms_norm %1 eps(1.0e-5) : tensor<?x?x4xf32>
    fovea.yield %2 : tensor<?x?x4xf32>
  }
  %3 = fovea.group(%a = %0) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32> {
    %4 = arith.addf %a, %a : tensor<?x?x4xf32>
    fovea.yield %4 : tensor<?x?x4xf32>
  }
  %5 = fovea.group(%a = %ids, %b = %t) : (tensor<?xi64>, tensor<6x4xf32>) -> tensor<?x4xf32> {
    %6 = fovea.embedding %a, %b : tensor<?xi64>, tensor<6x4xf32> -> tensor<?x4xf32>
    fovea.yield %6 : tensor<?x4xf32>
  }
  %7 = fovea.group(%a = %x) : (tensor<?x?x4xf32>) -> tensor<?x4xf32> {
    %8 = fovea.pool mean %a : tensor<?x?x4xf32> -> tensor<?x4xf32>
    fovea.yield %8 : tensor<?x4xf32>
  }
  return %3, %5, %7 : tensor<?x?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}
