// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_GPU_PASSES_TD
#define FOVEA_LOWERING_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineDevicePass : Pass<"fovea-outline-device", "::mlir::ModuleOp"> {
  let summary = "Keep a module's kernels, in a module of the device";
  let description = [{
    Of a module of the `kernels` stage, what runs on a GPU: the kernels' functions move into one `gpu.module @gpu`.
    Entries, weights and what else describes the program are left out; the module's attributes, with its
    `fovea.target`, stay.

    ```mlir
    // before
    func.func private @relu_0(%x: memref<?xf32>, %y: memref<?xf32>, %part: index, %parts: index) { ... }
    func.func @f(...) attributes {fovea.entry} { ... }
    // after
    gpu.module @gpu {
      func.func private @relu_0(%x: memref<?xf32>, %y: memref<?xf32>, %part: index, %parts: index) { ... }
    }
    ```
  }];
  let dependentDialects = ["::mlir::gpu::GPUDialect"];
}

def TileToThreadsPass : Pass<"fovea-tile-to-threads", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Write tile programs as the scalar code of one thread";
  let description = [{
    A block of threads runs one point of a `tile.kernel`'s grid: `ctaid.x` is its number, the last index changes
    fastest, and blocks past the last do nothing. Every tile has a layout and becomes as many scalars as a thread has
    registers of it; loops and branches carry those. Scalars outside of maps are computed by every thread, equally.

    - Loads read nothing outside of a view (zero instead); whether a whole tile is inside is asked once for all.
      Of threads that hold copies one stores.
    - Maps run for each register; where their body could fail, only for those that hold an element. Reductions join
      registers, then lanes by shuffles, then groups of threads through `scratch`, which has a row for each thread
      and a column for each of the result's registers; what is past a tile is left out.
    - A `tile.mma` is a loop over k of fused multiply-adds, its operands read from shared memory or in place; the
      latter's k outside of a view are left out.
    - A cast may change the layout if every thread has the element already.
    - `tile.shared` is a place in one external array, whose needed size becomes the function's
      `fovea.shared_bytes`; `fovea.threads` (128 if not set) says how many threads a block has.
    - Of a kernel of plain loops each iteration of the outermost `scf.parallel` is a thread.

    ```mlir
    // before
    tile.kernel grid(%i) = (%rows) {
      %t = tile.load %xv[%i, %c0] : !tile.view<?x128xf32> -> !tile.tile<1x128xf32, #tile.layout<rows = [], columns = [threads 128 by 1]>>
      %s = tile.reduce sum %t axis(1) scratch(%m : !tile.shared<128x1xf32>) : ... -> !tile.tile<1x1xf32, #tile.layout<rows = [], columns = []>>
      ...
    }
    // after
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    scf.if %isBlock {
      %x0 = memref.load %x[%at] : memref<?xf32>
      %x1 = nvvm.shfl.sync bfly %all, %x0, %c16, %c31 : f32 -> f32
      ...
    }
    ```

    Refuses tiles without a layout or with one of more threads, carried views, tile ops in a map, products of tiles
    that are no loads, conversions that need memory, reductions over several warps without a scratch, functions with
    more than one grid, and blocks that are no whole warps.
  }];
  let statistics = [Statistic<"kernels", "kernels", "Kernels lowered">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerDeviceKernelsPass : Pass<"fovea-lower-device-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Give kernels the parameters that a launch passes";
  let description = [{
    A kernel's parameters are words of 64 bits. For each operand in order: a number is itself; a buffer is its
    address, then each of its sizes that is dynamic, its offset if it is, and each of its strides that is. `part` and
    `parts`, the last two of a kernel's arguments, are not passed: a GPU's parts are blocks. A kernel with a
    `fovea.fault` has two more parameters: the address of a word, and what to store to it; any thread may.

    The function becomes a kernel of `fovea.threads` threads (128 without that attribute).

    ```mlir
    // before
    func.func private @relu_0(%x: memref<?x8xf32>, %n: index, %part: index, %parts: index) attributes {fovea.threads = 64 : i32}
    // after: address of %x, its size, %n
    llvm.func @relu_0(%0: i64, %1: i64, %2: i64) attributes {fovea.threads = 64 : i32, nvvm.kernel, nvvm.reqntid = array<i32: 64>}
    ```

    Refuses a function whose arguments are anything but numbers and buffers of known strides or dynamic ones, that
    gives results, or whose last two arguments are not numbers.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // FOVEA_LOWERING_GPU_PASSES_TD
