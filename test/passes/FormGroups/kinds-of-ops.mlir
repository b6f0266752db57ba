// RUN: fovea-opt %s --fovea-form-groups --canonicalize | FileCheck %s

// Every kind of computation; inside branches; a cache that is made and measured outside.

// CHECK-LABEL: func.func @kinds
// CHECK: fovea.cache_create
// CHECK: fovea.group({{.*}}) : (!fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>) -> !fovea.cache<key, 2x4xf32> {
// CHECK-NEXT: fovea.cache_append
// CHECK: fovea.cache_length
// CHECK: fovea.group({{.*}}) : (index, index) -> tensor<1x?xi32> {
// CHECK-NEXT: fovea.positions
// CHECK: fovea.group({{.*}}) : (tensor<?x?x2x4xf32>, tensor<1x?xi32>)
// CHECK-NEXT: fovea.rope
// CHECK: scf.if
// CHECK: fovea.group
// CHECK-NEXT: arith.addf
// CHECK: fovea.group
// CHECK: tensor.pad
func.func @kinds(%x: tensor<?x?x2x4xf32>, %b: index, %n: index, %if: i1) -> (!fovea.cache<key, 2x4xf32>, tensor<?x?x2x5xf32>) {
  %c = fovea.cache_create %b, %n : !fovea.cache<key, 2x4xf32>
  %d = fovea.cache_append %c, %x : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x4xf32>
  %l = fovea.cache_length %d : !fovea.cache<key, 2x4xf32>
  %p = fovea.positions from %l count %n : tensor<1x?xi32>
  %r = fovea.rope half %x at(%p : tensor<1x?xi32>) dim(4) theta(10000.0) : tensor<?x?x2x4xf32>
  %z = scf.if %if -> tensor<?x?x2x4xf32> {
    %y = arith.addf %r, %x : tensor<?x?x2x4xf32>
    scf.yield %y : tensor<?x?x2x4xf32>
  } else {
    scf.yield %r : tensor<?x?x2x4xf32>
  }
  %f = arith.constant 0.0 : f32
  %q = tensor.pad %z low[0, 0, 0, 0] high[0, 0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index, %m: index):
    tensor.yield %f : f32
  } : tensor<?x?x2x4xf32> to tensor<?x?x2x5xf32>
  return %d, %q : !fovea.cache<key, 2x4xf32>, tensor<?x?x2x5xf32>
}
