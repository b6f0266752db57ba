// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_TILE_PASSES_TD
#define FOVEA_LOWERING_TILE_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToLoopsPass : Pass<"fovea-tile-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Lower tile programs to scalar loops";
  let description = [{
    The meaning of the `tile` dialect, and the oracle of every other lowering: each tile is a row-major buffer on the
    stack whatever its `lanes`, each op two loops over its elements, `tile.kernel` an `scf.parallel` that
    `fovea-partition` cuts. Loops and branches that carry tiles copy them. Elements that a load or a gather finds
    outside of its view are zero. Sums of `tile.reduce` run in f64; casts between f64 and f16 or bf16 go by f32.

    ```mlir
    // before
    tile.kernel grid(%i) = (%rows) {
      %t = tile.load %xv[%i, %c0] : !tile.view<?x8xf32> -> !tile.tile<1x8xf32>
      tile.store %t, %yv[%i, %c0] : !tile.tile<1x8xf32>, !tile.view<?x8xf32>
    }
    // after
    %t = memref.alloca() {alignment = 64 : i64} : memref<1x8xf32>
    scf.parallel (%i) = (%c0) to (%rows) step (%c1) {
      scf.for %r = %c0 to %c1 step %c1 {
        scf.for %c = %c0 to %c8 step %c1 {
          // %t[%r, %c] = inside of %x ? %x[%i + %r, %c] : 0
        }
      }
      // the same loops store %t to %y
    }
    ```

    Refuses, with an error at the op: tiles carried by another op than `scf.for` and `scf.if`, carried views, tile ops
    in a `tile.map`, a `tile.kernel` that does not stand in the function itself, and tiles of more than 4 MiB together.
  }];
  let statistics = [
    Statistic<"kernels", "kernels", "Tile programs lowered">,
    Statistic<"buffers", "buffers", "Buffers made for their tiles">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect",
                           "::mlir::memref::MemRefDialect"];
}

def ExpandViewsPass : Pass<"fovea-expand-views"> {
  let summary = "Write views of buffers as arithmetic on addresses";
  let description = [{
    Upstream's `expand-strided-metadata`, with its patterns, in a third of the time: ops are neither folded nor are regions
    simplified, which the sweep of canonicalisation that follows does once for all. Subviews, expanded and collapsed shapes
    become a buffer, an offset, sizes and strides.

    ```mlir
    // before
    %v = memref.subview %m[%i, 0] [1, 8] [1, 1] : memref<?x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    // after
    %base, %o, %s:2, %t:2 = memref.extract_strided_metadata %m : memref<?x8xf32> -> memref<f32>, index, index, index, index, index
    %offset = affine.apply affine_map<()[s0] -> (s0 * 8)>()[%i]
    %v = memref.reinterpret_cast %base to offset: [%offset], sizes: [8], strides: [1] : memref<f32> to memref<8xf32, strided<[1], offset: ?>>
    ```
  }];
  let dependentDialects = ["::mlir::affine::AffineDialect", "::mlir::memref::MemRefDialect"];
}

#endif // FOVEA_LOWERING_TILE_PASSES_TD
