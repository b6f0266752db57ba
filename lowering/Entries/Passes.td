// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_ENTRIES_PASSES_TD
#define FOVEA_LOWERING_ENTRIES_PASSES_TD

include "mlir/Pass/PassBase.td"

def InlineLayersPass : Pass<"fovea-inline-layers", "::mlir::ModuleOp"> {
  let summary = "Inline layer functions into entries";
  let description = [{
    Every call in an entry is replaced by the callee's body, until none is left; functions that are no entries are
    then gone, and so is what computes results that no caller reads. Refuses a callee with more than one block, one that calls itself, and an external one.
  }];
  let statistics = [Statistic<"inlined", "calls-inlined", "Calls replaced by their callee's body">];
}

def FormLaunchesPass : Pass<"fovea-form-launches", "::mlir::ModuleOp"> {
  let summary = "Bufferize entries into lists of kernel launches";
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

def LowerEntriesPass : Pass<"fovea-lower-entries", "::mlir::ModuleOp"> {
  let summary = "Split entries into a plan and steps";
  let description = [{
    `fovea_NAME_plan` computes every index value once and stores it; `fovea_NAME_step` loads what one launch needs, builds its
    buffers from the frame's pointers and calls the kernel. Launches that differ in nothing but which weights, buffers and
    planned values they use share their code; a table has these numbers for each step, so code does not grow with depth.
    See abi/Abi.h for both. Faults become stores to the frame.

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

#endif // FOVEA_LOWERING_ENTRIES_PASSES_TD
