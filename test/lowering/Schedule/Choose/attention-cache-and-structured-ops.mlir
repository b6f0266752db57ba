// RUN: fovea-opt %s --fovea-schedule=target=avx2 | FileCheck %s

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
