// RUN: fovea-opt %s --verify-roundtrip | FileCheck %s

// Carried tiles, queries in lanes, every other op.
// CHECK-LABEL: func.func private @ops
func.func private @ops(%k: memref<?x2x?x64xbf16>, %ids: memref<?xi64>, %y: memref<?x64xbf16>, %n: index, %one: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK: tile.view %{{.*}} at(%{{.*}}, %{{.*}}) axes(2, 3) length(%{{.*}}) : memref<?x2x?x64xbf16> -> !tile.view<?x64xbf16>
  %kv = tile.view %k at(%c0, %c1) axes(2, 3) length(%n) : memref<?x2x?x64xbf16> -> !tile.view<?x64xbf16>
  %iv = tile.view %ids axes(0) : memref<?xi64> -> !tile.view<1x?xi64>
  %yv = tile.view %y axes(0, 1) : memref<?x64xbf16> -> !tile.view<?x64xbf16>
  tile.kernel grid(%i, %j) = (%c1, %c1) {
    %id = tile.load %iv[%c0, %i] : !tile.view<1x?xi64> -> !tile.tile<1x1xi64>
    // CHECK: tile.gather
    %rows = tile.gather %kv[%id, %c0] : !tile.view<?x64xbf16>, !tile.tile<1x1xi64> -> !tile.tile<1x64xbf16>
    %wide = tile.cast %rows : !tile.tile<1x64xbf16> -> !tile.tile<1x64xf32>
    // CHECK: tile.splat %{{.*}} : !tile.tile<1x64xf32>
    %z = tile.splat %one : !tile.tile<1x64xf32>
    %at = tile.iota axis(1) from %i : !tile.tile<1x64xi32>
    %sum = scf.for %l = %c0 to %n step %c1 iter_args(%acc = %z) -> (!tile.tile<1x64xf32>) {
      %next = tile.map(%u = %acc, %v = %wide, %p = %at) : (!tile.tile<1x64xf32>, !tile.tile<1x64xf32>, !tile.tile<1x64xi32>) -> !tile.tile<1x64xf32> {
        %f = arith.sitofp %p : i32 to f32
        %g = arith.addf %f, %v : f32
        %h = arith.addf %g, %u : f32
        tile.yield %h : f32
      }
      scf.yield %next : !tile.tile<1x64xf32>
    }
    // CHECK: tile.reduce maximum %{{.*}} axis(1) : !tile.tile<1x64xf32> -> !tile.tile<1x1xf32>
    %m = tile.reduce maximum %sum axis(1) : !tile.tile<1x64xf32> -> !tile.tile<1x1xf32>
    // CHECK: tile.extract %{{.*}} : !tile.tile<1x1xf32>
    %x = tile.extract %m : !tile.tile<1x1xf32>
    %mb = tile.broadcast %m : !tile.tile<1x1xf32> -> !tile.tile<1x64xf32>
    %turned = tile.cast %mb : !tile.tile<1x64xf32> -> !tile.tile<1x64xf32, lanes 0>
    %narrow = tile.cast %turned : !tile.tile<1x64xf32, lanes 0> -> !tile.tile<1x64xbf16, lanes 0>
    tile.store %narrow, %yv[%i, %c0] : !tile.tile<1x64xbf16, lanes 0>, !tile.view<?x64xbf16>
  }
  return
}
