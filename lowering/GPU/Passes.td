// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_GPU_PASSES_TD
#define FOVEA_LOWERING_GPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def OutlineDevicePass : Pass<"fovea-outline-device", "::mlir::ModuleOp"> {
  let summary = "Outline kernels into a gpu.module";
  let description = [{
    Of a module of the `kernels` stage, what runs on a GPU: the kernels' functions, and the tables that they read, move
    into one `gpu.module @gpu`. Entries, weights and what else describes the program are left out; the module's attributes, with its
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

def ChooseAtomsPass : Pass<"fovea-choose-atoms", "::mlir::func::FuncOp"> {
  let summary = "Select MMA instructions";
  let description = [{
    A product with as many rows and columns as an instruction for matrices has, or more, gets it as its atom: `m16n8k16`
    where both operands are f16 or both bf16, else `m16n8k8`, where an f32 is two tf32. With `warpgroups`, on sm_90a, halves
    of whole 64 rows, eights of up to 256 columns and a depth of whole 16 get `m64k16`. Products of f64 and those of few rows
    are done by element.

    Where a product has `m64k16`, the function gets `fovea.threads`: warpgroups that each have as many times 64 rows, up
    to three, and share what the block copies to its memory. More would leave each thread less than 168 registers.

    A `tile.dequantize` without scales becomes a `tile.map` where its rows are a cache's, or where anything else reads it than
    products along its rows.

    ```mlir
    // before
    %y = tile.dot %x, %w transpose_b : !tile.tile<64x192xbf16>, !tile.tile<48x192xbf16> -> !tile.tile<64x48xf32>
    // after
    %y = tile.dot %x, %w transpose_b atom(m16n8k16) : !tile.tile<64x192xbf16>, !tile.tile<48x192xbf16> -> !tile.tile<64x48xf32>
    ```
  }];
  let options = [Option<"tensorCores", "tensor-cores", "bool", /*default=*/"true",
                        "Use instructions for matrices at all">,
                 Option<"warpgroups", "warpgroups", "bool", /*default=*/"false",
                        "Use those of four warps, wgmma">];
  let dependentDialects = ["::mlir::fovea::tile::TileDialect"];
}

def StageOperandsPass : Pass<"fovea-stage-operands", "::mlir::func::FuncOp"> {
  let summary = "Stage operands of MMAs in shared memory";
  let description = [{
    Every `tile.dot` becomes `tile.mma`. An operand that is a load is copied to shared memory, in a loop over k where it is
    deep: as many k at a time as `chunk-bytes` hold, and what is left behind the loop. If the product uses each of its
    elements once (one row, one column), it is read where it lies. Integers that `tile.dequantize` makes numbers of
    are loads too: their copies convert them. Any other tile is put into shared memory as a whole,
    where it is computed, with zeros where the other operand's view ends, if it does: such k take no part in a product.

    Where only one of two loads' views may end within the product's depth, both are read in place: opposite of the zeros that
    a copy has there may stand what is no number.

    The left operand lies in rows of k, the right one in columns: threads of a warp share rows. For a product with an atom
    both lie as their memory does, and a left operand that is computed, or that stands outside of the product's loop,
    stays in registers if all warps stand below each other and have room. What `m64k16` reads lies in the widest swizzle
    that it fills; a left operand that is loaded does so too.

    ```mlir
    // before
    %x = tile.load %xv[%i, %c0] : !tile.view<?x192xf32> -> !tile.tile<64x192xf32>
    %w = tile.load %wv[%j, %c0] : !tile.view<512x192xbf16> -> !tile.tile<48x192xbf16>
    %y = tile.dot %x, %w transpose_b into %s : !tile.tile<64x192xf32>, !tile.tile<48x192xbf16> -> !tile.tile<64x48xf32>
    // after
    %xs = tile.shared : !tile.shared<64x32xf32, strides [36, 1]>
    %ws = tile.shared : !tile.shared<48x32xbf16, strides [1, 56]>
    %y = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %s) -> (!tile.tile<64x48xf32>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32, strides [36, 1]>
      tile.copy %wv[%j, %k] to %ws : !tile.view<512x192xbf16>, !tile.shared<48x32xbf16, strides [1, 56]>
      %next = tile.mma %xs, %ws transpose_b into %sum : ...
      scf.yield %next : !tile.tile<64x48xf32>
    }
    ```

    Refuses products outside of a `tile.kernel`, and of views that are carried.
  }];
  let options = [Option<"chunkBytes", "chunk-bytes", "int64_t", /*default=*/"16384",
                        "Shared memory for the operands of one product, where they are loads">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::fovea::tile::TileDialect"];
}

def AssignLayoutsPass : Pass<"fovea-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "Assign register layouts to tiles";
  let description = [{
    A kernel's tiles get layouts of one family: groups of threads for rows, threads of a group for columns, by the largest
    tile; or, where a product has an atom, as atoms give their sums, with warps below each other as far as there are
    rows for them. What a layout says of an axis depends on its size alone, so sums of rows lie where the rows are. `lanes` are
    dropped, and casts that only change them. A reduction along an axis that threads of several warps hold gets its
    scratch memory; so does a product whose right operand streams from memory and whose result has copies in a block, which then
    share its depth. Loads that products read in place have no layout.

    ```mlir
    // before
    %m = tile.reduce maximum %s axis(1) : !tile.tile<64x64xf32, lanes 0> -> !tile.tile<64x1xf32, lanes 0>
    // after, for 128 threads
    #layout = #tile.layout<rows = [threads 8 by 16, registers 8], columns = [registers 4, threads 16 by 1]>
    #layout1 = #tile.layout<rows = [threads 8 by 16, registers 8], columns = []>
    %m = tile.reduce maximum %s axis(1) : !tile.tile<64x64xf32, #layout> -> !tile.tile<64x1xf32, #layout1>
    ```

    The function's `fovea.threads`, or 128, are the block's. Refuses what are no whole warps or more than 1024, and without
    atoms what is no power of two.
  }];
  let dependentDialects = ["::mlir::fovea::tile::TileDialect"];
}

def SpecializeWarpsPass : Pass<"fovea-specialize-warps", "::mlir::func::FuncOp"> {
  let summary = "Specialize warps: a producer warpgroup issues the copies of loops";
  let description = [{
    Of a kernel of several warpgroups, what loops copy to shared memory goes through guarded rings: one warpgroup more, the
    producer, makes the copies as far ahead as the rings have slots, and the others compute (`tile.warp_specialize`). Nobody waits for
    a round's copies in a barrier of the whole block. The producer's program is the kernel's own without what no copy needs.

    ```mlir
    // before
    tile.kernel grid(%i) = (%n) {
      %ks = tile.shared : !tile.shared<64x64xbf16, swizzle 128>
      %y = scf.for %j = %c0 to %keys step %c64 iter_args(%sum = %zero) -> (!tile.tile<128x64xf32>) {
        tile.copy %k[%j, %c0] to %ks : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
        %more = tile.mma %q, %ks transpose_b into %sum atom(m64k16) : ...
        scf.yield %more : !tile.tile<128x64xf32>
      }
      tile.store ...
    }
    // after, with four slots
    tile.kernel grid(%i) = (%n) {
      %ring = tile.shared stages(4) guarded : !tile.shared<64x64xbf16, swizzle 128>
      tile.warp_specialize producer(%first) registers(40) {
        %end = scf.for %j = %c0 to %keys step %c64 iter_args(%m = %first) -> (index) {
          %s = tile.producer_acquire %ring[%m] : !tile.shared<64x64xbf16, swizzle 128>
          tile.copy %k[%j, %c0] to %s async : !tile.view<?x64xbf16>, !tile.shared<64x64xbf16, swizzle 128>
          tile.producer_commit %ring[%m] : !tile.shared<64x64xbf16, swizzle 128>
          %next = arith.addi %m, %c1 : index
          scf.yield %next : index
        }
        tile.yield %end : index
      } consumer(%first) registers(232) {
        %y:2 = scf.for %j = %c0 to %keys step %c64 iter_args(%sum = %zero, %m = %first) -> (!tile.tile<128x64xf32>, index) {
          %s = tile.consumer_wait %ring[%m] : !tile.shared<64x64xbf16, swizzle 128>
          %more = tile.mma %q, %s transpose_b into %sum atom(m64k16) : ...
          tile.consumer_release %ring[%m] : !tile.shared<64x64xbf16, swizzle 128>
          %next = arith.addi %m, %c1 : index
          scf.yield %more, %next : !tile.tile<128x64xf32>, index
        }
        tile.store ...
        tile.yield %y#1 : index
      }
    }
    ```

    Loops that copy the same types of matrices share their rings. Kernels stay as they are that write memory before their
    last copy, whose copies need what tiles hold, or of whose rings not two slots fit into `limit`; so do copies that
    `fovea-pipeline-copies` would leave.
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"232448",
                        "Bytes that a block may have: 227 KiB on sm_90">];
  let statistics = [Statistic<"kernels", "kernels", "Kernels with a producer">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::fovea::tile::TileDialect"];
}

def PipelineCopiesPass : Pass<"fovea-pipeline-copies", "::mlir::func::FuncOp"> {
  let summary = "Software-pipeline copies to shared memory";
  let description = [{
    In a loop, a `tile.copy` whose place depends on the round's index and on what is outside of the loop alone begins
    `stages - 1` rounds ahead, by `cp.async`: its memory becomes a ring of `stages` slots. One barrier in a round says both
    that its data are there for all threads and that the slot of the round before may be filled again. Copies past the
    last round are not begun. Where `fovea-overlap-products` can do a product a round later, what it reads stays for that
    round: the loop's rings have `kept(1)`, one slot more.

    ```mlir
    // before
    %xs = tile.shared : !tile.shared<64x32xf32>
    %y = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32, #layout>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      %next = tile.mma %xs, %ws transpose_b into %sum : ...
      scf.yield %next : !tile.tile<64x64xf32, #layout>
    }
    // after, with two stages
    %ring = tile.shared stages(2) : !tile.shared<64x32xf32>
    %first = tile.stage %ring[%c0] : !tile.shared<64x32xf32>
    tile.copy %xv[%i, %c0] to %first async : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
    tile.async_commit
    %y:2 = scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero, %slot = %c0) -> (!tile.tile<64x64xf32, #layout>, index) {
      tile.async_wait pending(0)
      tile.barrier
      %ahead = arith.addi %k, %c32 : index
      %other = tile.stage %ring[%free] : !tile.shared<64x32xf32>     // %free: the slot before
      %exists = arith.cmpi slt, %ahead, %c192 : index
      scf.if %exists {
        tile.copy %xv[%i, %ahead] to %other async : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      }
      tile.async_commit
      %xs = tile.stage %ring[%slot] : !tile.shared<64x32xf32>
      %next = tile.mma %xs, %ws transpose_b into %sum : ...
      scf.yield %next, %following : !tile.tile<64x64xf32, #layout>, index   // %following: the next slot, or zero
    }
    tile.async_wait pending(0)
    ```

    Copies stay as they are whose pieces are not surely 4, 8 or 16 bytes at a multiple of their size, in a loop that writes
    to memory, whose step is not known, or that has one round. Where `stages` do not fit into half of `limit`, so that two
    blocks share a multiprocessor, there are fewer; a kernel that needs more than that anyway, or has several warpgroups, may
    have all of it.
  }];
  let options = [Option<"stages", "stages", "int64_t", /*default=*/"3", "Slots of a ring at most; 1: no copies ahead">,
                 Option<"limit", "limit", "int64_t", /*default=*/"166912",
                        "Bytes that the blocks of a multiprocessor have together: 163 KiB on sm_80">];
  let statistics = [Statistic<"loops", "loops", "Loops whose copies begin ahead">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::fovea::tile::TileDialect"];
}

def OverlapProductsPass : Pass<"fovea-overlap-products", "::mlir::func::FuncOp"> {
  let summary = "Overlap the softmax of an iteration with asynchronous MMAs";
  let description = [{
    In a loop with two products by `m64k16`, of which the second one's left operand comes from the first and whose result
    is only carried, the second is done a round later: it begins together with the next round's first product and is waited
    for at that round's end. What the round computes of its first product, it computes under the second (FlashAttention-3,
    Shah et al. 2024, section 3.2). The first round stands before the loop, without a second product, and the
    last one's second product behind it.

    ```mlir
    // before
    %sums = scf.for %j = %c0 to %n step %c64 iter_args(%o = %zeros) -> (!tile.tile<64x64xf32>) {
      ...
      %s = tile.mma %q, %ks transpose_b into %zeros atom(m64k16) : ...
      %p = ... %s ...
      %scaled = ... %o ...
      %next = tile.mma %p, %vs into %scaled atom(m64k16) : ...
      scf.yield %next : !tile.tile<64x64xf32>
    }
    // after
    %p0, %o0 = ...                                 // the first round
    %o1, %p1, %n1 = scf.for %j = %c64 to %n step %c64 iter_args(%o = %o0, %p = %p0, %before = %c0) -> (...) {
      ...
      %s0 = tile.mma %q, %ks transpose_b into %zeros atom(m64k16) async : ...
      %late = tile.stage %ring[%before] : ...
      %next = tile.mma %p, %late into %o atom(m64k16) async : ...
      %s = tile.mma_wait %s0 pending(1) : ...
      %p2 = ... %s ...
      %done = tile.mma_wait %next pending(0) after(%total : ...) : ...
      %scaled = ... %done ...
      scf.yield %scaled, %p2, %slot : ...
    }
    %last = tile.stage %ring[%n1] : ...
    %sums = tile.mma %p1, %last into %o1 atom(m64k16) : ...
    ```

    A loop that may have no round stands with its first one in a branch. Loops stay as they are whose second product reads no
    ring with `kept`, and those where something but that product needs what is carried.
  }];
  let statistics = [Statistic<"loops", "loops", "Loops whose products run under what follows">];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::arith::ArithDialect", "::mlir::fovea::tile::TileDialect"];
}

def PlanSharedPass : Pass<"fovea-plan-shared", "::mlir::func::FuncOp"> {
  let summary = "Allocate shared memory";
  let description = [{
    A piece lives from the first op that uses it to the last, in the order of the text; one used in a loop lives as long as
    the outermost loop. Pieces that never live at the same time may share bytes: those of two branches, or of two products
    one after the other. The largest is placed first, each at the lowest free place that is a multiple of 128 bytes.
    The function gets `fovea.shared_bytes`.

    ```mlir
    // before
    %a = tile.shared : !tile.shared<64x32xf32>
    %b = tile.shared : !tile.shared<64x16xf32>
    // after
    %a = tile.shared at(0) : !tile.shared<64x32xf32>
    %b = tile.shared at(8192) : !tile.shared<64x16xf32>
    ```

    Refuses a kernel that needs more than `limit`.
  }];
  let options = [Option<"limit", "limit", "int64_t", /*default=*/"166912",
                        "Bytes that a block may have: 163 KiB on sm_80, 227 on sm_90">];
}

def InsertBarriersPass : Pass<"fovea-insert-barriers", "::mlir::func::FuncOp"> {
  let summary = "Insert barriers between conflicting accesses to shared memory";
  let description = [{
    A barrier stands before an op that writes bytes which may have been read or written since the last barrier, and before
    one that reads bytes which may have been written; what a loop's round leaves is what the next begins with. All control
    flow in a kernel is the whole block's, so every thread comes to every barrier.

    ```mlir
    // before
    scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32, #layout>) {
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      %next = tile.mma %xs, %ws transpose_b into %sum : ...
      scf.yield %next : !tile.tile<64x64xf32, #layout>
    }
    // after
    scf.for %k = %c0 to %c192 step %c32 iter_args(%sum = %zero) -> (!tile.tile<64x64xf32, #layout>) {
      tile.barrier
      tile.copy %xv[%i, %k] to %xs : !tile.view<?x192xf32>, !tile.shared<64x32xf32>
      tile.barrier
      %next = tile.mma %xs, %ws transpose_b into %sum : ...
      scf.yield %next : !tile.tile<64x64xf32, #layout>
    }
    ```

    Refuses shared memory without a place: `fovea-plan-shared` comes before.
  }];
  let dependentDialects = ["::mlir::fovea::tile::TileDialect"];
}

def TileToThreadsPass : Pass<"fovea-tile-to-threads", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower tile programs to scalar code of one thread";
  let description = [{
    A block of threads runs one point of a `tile.kernel`'s grid: `ctaid.x` is its number, the last index changes
    fastest, and blocks past the last do nothing. Every tile has a layout and becomes as many scalars as a thread has
    registers of it; loops and branches carry those. Scalars outside of maps are computed by every thread, equally.

    - Loads read nothing outside of a view (zero instead); whether a whole tile is inside is asked once for all.
      Of threads that hold copies one stores.
    - Registers that are neighbours, by the first digit of their layout's axis, move as one vector of up to 16 bytes
      where memory has them side by side at a place that is surely a multiple of its size; so do copies. The buffers
      that a launch passes begin at multiples of 64 bytes.
    - An `async` copy is `cp.async` where it can be, 4, 8 or 16 bytes at a time; else it is done at once.
    - Maps run for each register; where their body could fail, only for those that hold an element. Reductions join
      registers, then lanes by shuffles, then groups of threads through `scratch`, which has a row for each thread
      and a column for each of the result's registers; what is past a tile is left out.
    - A `tile.mma` is a loop over k of fused multiply-adds, its operands read from shared memory or in place; the
      latter's k outside of a view are left out. With an atom it is that instruction, once for each 16 rows, 8 columns
      and piece of k, its operands read by `ldmatrix` where they are of 16 bits. `m64k16` is one piece of assembly: a fence, a
      `wgmma` for each 16 of k, and the wait. In its kernels a fence of the async proxy stands before every barrier.
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

    Refuses tiles without a layout or with one of more threads, carried views, tile ops in a map, atoms whose sums or
    operands lie otherwise than they take them, conversions that need memory, reductions over several warps without a scratch, functions with
    more than one grid, and blocks that are no whole warps.
  }];
  let statistics = [Statistic<"kernels", "kernels", "Kernels lowered">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
                           "::mlir::vector::VectorDialect"];
}

def LowerDeviceKernelsPass : Pass<"fovea-lower-device-kernels", "::mlir::gpu::GPUModuleOp"> {
  let summary = "Lower kernel signatures to launch parameters";
  let description = [{
    A kernel's parameters are words of 64 bits. For each operand in order: a number is itself; a buffer is its
    address, then each of its sizes that is dynamic, its offset if it is, and each of its strides that is. `part` and
    `parts`, the last two of a kernel's arguments, are not passed: a GPU's parts are blocks. A kernel with a
    `fovea.fault` has two more parameters: the address of a word, and what to store to it; any thread may.

    The function becomes a kernel of `fovea.threads` threads (128 without that attribute), which may use all registers that
    one block can have.

    ```mlir
    // before
    func.func private @relu_0(%x: memref<?x8xf32>, %n: index, %part: index, %parts: index) attributes {fovea.threads = 64 : i32}
    // after: address of %x, its size, %n
    llvm.func @relu_0(%0: i64, %1: i64, %2: i64) attributes {fovea.threads = 64 : i32, nvvm.kernel, nvvm.minctasm = 1 : i32, nvvm.reqntid = array<i32: 64>}
    ```

    Refuses a function whose arguments are anything but numbers and buffers of known strides or dynamic ones, that
    gives results, or whose last two arguments are not numbers.
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect"];
}

#endif // FOVEA_LOWERING_GPU_PASSES_TD
