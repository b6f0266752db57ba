// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_PASSES_TD
#define FOVEA_LOWERING_PASSES_TD

include "mlir/Pass/PassBase.td"

//===-- scheduled -> kernels --------------------------------------------------------------------------------===//

def InlineLayersPass : Pass<"fovea-inline-layers", "::mlir::ModuleOp"> {
  let summary = "Flatten the calls of layer functions into the entries";
  let description = [{
    Every call in an entry is replaced by the callee's body, until none is left; functions that are no entries are
    then gone. Refuses a callee with more than one block, one that calls itself, and an external one.
  }];
  let statistics = [Statistic<"inlined", "calls-inlined", "Calls replaced by their callee's body">];
}

def FormLaunchesPass : Pass<"fovea-form-launches", "::mlir::ModuleOp"> {
  let summary = "Turn each entry into a list of kernel launches on buffers";
  let description = [{
    Each `fovea.group` becomes a kernel function on buffers and a `fovea.launch` of it; equal groups share one kernel.
    Views become views of buffers, caches become memory and a length that grow in place, results get the caller's
    buffers or slots of the arena. Slots are reused by liveness over the flat list; their sizes and offsets are index
    expressions of the arguments' sizes.

    ```mlir
    // before
    func.func @f(%x: tensor<?x4xf32> {fovea.name = "x"}) -> (tensor<?x4xf32> {fovea.name = "y"}) attributes {fovea.entry} {
      %0 = fovea.group(%a = %x) schedule(#fovea.loops<parallel = 1>) : (tensor<?x4xf32>) -> tensor<?x4xf32> {
        %1 = fovea.activation relu %a : tensor<?x4xf32>
        fovea.yield %1 : tensor<?x4xf32>
      }
      return %0 : tensor<?x4xf32>
    }
    // after
    func.func private @activation_0(%a: memref<?x4xf32>, %y: memref<?x4xf32>, %part: index, %parts: index) { ... }
    func.func @f(%x: memref<?x4xf32>, %y: memref<?x4xf32>) -> (index, index) attributes {fovea.entry, fovea.signature = ...} {
      %n = memref.dim %x, %c0 : memref<?x4xf32>
      %arena = fovea.arena %c0 : memref<?xi8>
      fovea.launch @activation_0 ins(%x : memref<?x4xf32>) outs(%y : memref<?x4xf32>)
      return %n, %c4 : index, index
    }
    ```

    Refuses, with an error at the op: a cache value that two ops append to, a cache that an entry returns and that
    comes from no argument, and ops outside of groups that are neither views nor index arithmetic.
  }];
  let statistics = [
    Statistic<"launches", "launches", "Launches formed">,
    Statistic<"kernels", "kernels", "Different kernels among them">,
    Statistic<"slots", "arena-slots", "Slots of the arena">];
  let dependentDialects = ["::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::bufferization::BufferizationDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::fovea::tile::TileDialect"];
}

//===-- kernels -> llvm -------------------------------------------------------------------------------------===//

def TileToLoopsPass : Pass<"fovea-tile-to-loops", "::mlir::func::FuncOp"> {
  let summary = "Write a tile program out as scalar loops";
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

def TileToVectorsPass : Pass<"fovea-tile-to-vectors", "::mlir::func::FuncOp"> {
  let summary = "Lower tile programs to a processor's vectors";
  let description = [{
    Blocks of the grid become iterations of one `scf.parallel`. A tile that is read more than once, or by a product, gets a
    buffer that stays in the nearest cache, rows of whole vectors along its `lanes`; what is read once, element by element,
    is computed where it is read, so chains of maps are one loop and a product's accumulators may be scaled while they are
    loaded. A load is read where it lies if its lanes are consecutive in memory and surely inside; else its rows are copied
    under a mask, or turned by shuffles. Products run in register blocks, computed by the level's atoms (DotAtoms.h), over
    as many k as both operands have; rows past the end are computed as the last row and not stored.

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
                        "The vectors to use: avx512, avx2 or sse; empty: the module's fovea.target">];
  let statistics = [Statistic<"numKernels", "num-kernels", "Kernels lowered">];
  let dependentDialects = ["::mlir::vector::VectorDialect", "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::arith::ArithDialect"];
}

def PartitionPass : Pass<"fovea-partition", "::mlir::func::FuncOp"> {
  let summary = "Cut a kernel's parallel loops into parts";
  let description = [{
    Of the iterations of a kernel's outermost `scf.parallel`, counted in order, a call computes those in
    `[total * part / parts, total * (part + 1) / parts)`, row by row: the innermost loop stays a loop. Sums never cross parts, so results do not depend on their number.
    Refuses a kernel whose body has effects outside of such a loop.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect"];
}

def LowerEntriesPass : Pass<"fovea-lower-entries", "::mlir::ModuleOp"> {
  let summary = "Split each entry into a plan and its steps";
  let description = [{
    `fovea_NAME_plan` computes every index value once and stores it; `fovea_NAME_step` loads what one launch needs, builds its
    buffers from the frame's pointers and calls the kernel. Launches that differ in nothing but which weights, buffers and
    planned values they use share their code; a table has these numbers for each step, so code does not grow with depth.
    See runtime/Abi.h for both. Faults become stores to the frame.

    With `launches`, for kernels that run on a device, `fovea_NAME_launch` takes the place of the steps: it computes the number
    of blocks and the parameters of one launch. The number is the product of a `tile.kernel`'s extents, or, of a plain parallel
    loop, its iterations divided by the kernel's `fovea.threads`; what the kernel computes them of is repeated here, its size
    checks too. The kernels themselves are dropped. Refuses a grid that depends on what is in memory, and more parameters than
    the interface has.
  }];
  let options = [Option<"launches", "launches", "bool", /*default=*/"false",
                        "Describe launches on a device instead of running steps">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::cf::ControlFlowDialect",
                           "::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect"];
}

def ExpandMathPass : Pass<"fovea-expand-math", "::mlir::func::FuncOp"> {
  let summary = "Write functions of f32 vectors, or of a GPU's scalars, as arithmetic";
  let description = [{
    Ops of the `math` dialect on `vector<Nxf32>`, N a multiple of 4, become straight-line arithmetic without branches and calls.
    All else (scalars, f64, other shapes, functions not listed) stays and becomes an instruction or a call of the C library later;
    only what the conversions after this pass do not know, `sincos`, `clampf`, `isinf` and `isnormal`, is rewritten for every type.

    With target `avx512`, `exp` and `exp2` of 4, 8 or 16 lanes use VREDUCEPS and VSCALEFPS. A product and a sum are fused where the
    processor can; on `sse` both round, and where that is told apart the bound in parentheses holds there.

    | op | largest error | elsewhere |
    |---|---|---|
    | `exp` | 2e-7 relative on [-87, 88] | below, where a result is no normal number, off by less than 6e-39; exactly 0 and infinity beyond -104 and 88.73 |
    | `exp2` | 1.1e-7 relative on [-126, 128) | the same; exactly 0 from -150, without AVX-512 from -127, and infinity from 128 |
    | `expm1` | 4e-7 relative | -1 below, infinity from 88.73 |
    | `log` | 2e-7 relative, of all positive numbers | -infinity at 0, NaN below |
    | `log1p` | 4e-7 relative | -infinity at -1, NaN below |
    | `tanh` | 3e-7 (4e-7), 1e-6 relative | constant from 9.02 |
    | `erf` | 2e-7 (2.5e-7), 4e-7 relative | constant from 3.92 |
    | `sin`, `cos` | 2e-7 for arguments up to 1e6 | within [-1, 1]; digits are lost from 1e9 on |
    | `rsqrt` | 1.2e-7 relative | as `1 / sqrt` |

    Measured on a Sapphire Rapids, in cycles of the time stamp counter per 16 numbers in L1 (arguments from -20 to 0), with AVX-512:
    `exp2` 2.3, `exp` 4.0, `tanh` 4.3, `erf` 8.3, `log` 9.6, `sin` 10.3; with AVX2 `exp2` 7.3 and `exp` 10. Calls of the C library
    take 68 for `exp` and for `exp2`.

    With a GPU's target (`sm_80`, ...) ops on scalars become the same arithmetic, since there is no library to call: f32 as
    above, but for two that use the instruction ex2.approx.ftz; f16 and bf16 by way of f32; integer powers as loops. What
    PTX has as rounded instructions (square roots, roundings, fused products) stays, and any other op is an error.

    | op on a GPU | largest error | elsewhere |
    |---|---|---|
    | `exp2` | 2.4e-7 relative on [-126, 128) | 0 below -126, infinity from 128 |
    | `exp` | 4e-7 relative on [-87, 88.72] | 0 where the result is no normal number, infinity beyond 88.73 |
    | `exp`, `exp2`, `log`, `log2`, `log10` of f64 | 1e-15 relative | 0, infinity and NaN as in C; subnormal results are rounded twice |
    | `sin`, `cos` of f64 | 4e-16 for arguments up to 1e6 | digits are lost beyond |
    | `tan`, `tanh` of f64 | 2e-15 relative where the cosine is above 0.1; 2e-13 relative | |
    | `powf` of f64 | 5e-13 relative | 0, 1, infinity and NaN as in C |
    | `powf`, `log2`, `log10`, `tan` of f32 | 6.1e-8 relative, by way of f64 | |

    NaN gives NaN everywhere. Sine and cosine of one operand share their reduction and both polynomials after CSE.
    The numbers come from scripts/fit-math and are measured by test/grid/MathTest.cpp.
  }];
  let options = [Option<"target", "target", "std::string", /*default=*/"",
                        "sse, avx2, avx512 or a GPU's chip; empty: the module's fovea.target, or sse">];
  let statistics = [Statistic<"expanded", "ops-expanded", "Ops written as arithmetic">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::scf::SCFDialect"];
}

#endif // FOVEA_LOWERING_PASSES_TD
