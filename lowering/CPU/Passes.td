// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_CPU_PASSES_TD
#define FOVEA_LOWERING_CPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def TileToVectorsPass : Pass<"fovea-tile-to-vectors", "::mlir::func::FuncOp"> {
  let summary = "Lower tile programs to vectors";
  let description = [{
    Blocks of the grid become iterations of one `scf.parallel`. A tile that is read more than once, or by a product, gets a
    buffer that stays in the nearest cache, rows of whole vectors along its `lanes`; what is read once, element by element,
    is computed where it is read, so chains of maps are one loop and a product's accumulators may be scaled while they are
    loaded. A load is read where it lies if its lanes are consecutive in memory and surely inside; else its rows are copied
    under a mask, or turned by shuffles. Products run in register blocks, computed by the level's atoms (DotAtoms.h: multiply-and-add
    with a broadcast element, or pairs of bf16 by VDPBF16PS; MatrixAtoms.h: tiles of bf16 by AMX), over as many k as both operands have; rows past the end are computed as the last row and not stored.

    ```mlir
    // before
    %a = tile.load %xv[%i, %c0] : !tile.view<?x384xf32> -> !tile.tile<64x384xf32>
    %b = tile.load %wv[%j, %c0] : !tile.view<1536x384xf32> -> !tile.tile<48x384xf32>
    %s = tile.dot %a, %b transpose_b block(8, 48) : !tile.tile<64x384xf32>, !tile.tile<48x384xf32> -> !tile.tile<64x48xf32>
    // after, for lanes of 16
    scf.for %m = %c0 to %rows step %c8 {
      %sums:24 = scf.for %k = %c0 to %c384 step %c4 iter_args(...) -> (vector<16xf32>, ...) {
        %w0 = vector.load %w[...] : memref<?xf32>, vector<16xf32>
        %x0 = memref.load %x[...] : memref<?xf32>
        ...
      }
      vector.store %sums#0, %scratch[...] : memref<3088xf32>, vector<16xf32>
      ...
    }
    ```

    Sums are added in another order than the program's. Refuses tiles that are carried by anything but `scf.for` and
    `scf.if`, and products of elements that no atom of the level knows.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"",
                        "The vectors to use: amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2, sse, aarch64-i8mm, aarch64-dotprod or aarch64; empty: the module's fovea.target">];
  let statistics = [Statistic<"numKernels", "num-kernels", "Kernels lowered">];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect"];
}

def PartitionPass : Pass<"fovea-partition", "::mlir::func::FuncOp"> {
  let summary = "Partition parallel loops of kernels among threads";
  let description = [{
    Of the iterations of a kernel's outermost `scf.parallel`, counted in order, a call computes those in
    `[total * part / parts, total * (part + 1) / parts)`, row by row: the innermost loop stays a loop. Sums never cross parts, so results do not depend on their number.
    Refuses a kernel whose body has effects outside of such a loop.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

#endif // FOVEA_LOWERING_CPU_PASSES_TD
