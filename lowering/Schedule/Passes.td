// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FOVEA_LOWERING_SCHEDULE_PASSES_TD
#define FOVEA_LOWERING_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SchedulePass : Pass<"fovea-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose tile sizes of groups and packed layouts of weights";
  let description = [{
    The `scheduled` stage. The module gets its `fovea.target`, each group its schedule, each weight's recipe the
    `#fovea.pack` of its layout.

    - A group that a builder of tile programs covers gets tiles by what it computes (attention, a product with a
      weight, rows, elements), by whether it has one row or many, and by the target's level: Table.cpp. Any other gets
      a `#fovea.loops` that says how many of its outermost loops are shared among threads: all axes of the result over
      which no sum runs, by the kind of the op that computes it.
    - A weight of floats or integers that only linears and tables of rows (`embedding`, `position_learned`) read, at
      least one of them a linear, lies in `#fovea.panels<16>`, with pairs of bf16 and fours of bytes interleaved; for a GPU in panels of
      32 with 16 bytes of inputs interleaved, as it is laid out anew when it is uploaded. The encoding is part of its
      type wherever it is passed: references, calls, groups. Every other weight is row-major, and so are those
      that share a layer function's argument with one.

    For a GPU, constants that groups get become results of groups of their own: a kernel writes them out of a table in the
    device's code, since those of an entry lie in the host's.

    Beside this the pass only chooses; `lowering/Kernels` applies. A group that has a schedule, a recipe that ends in a pack and,
    without the option, a module that has a target are left as they are, so what is written by hand stays.

    An empty group, or one whose result no op of its own computes, is an error.

    ```mlir
    fovea.weight @w : tensor<6x4xf32> = #fovea.stored<"f", "w", tensor<6x4xf32>>
    %b = fovea.weight_ref @w : tensor<6x4xf32>
    %y = fovea.group(%a = %x, %b = %w) : ... { %0 = fovea.linear %a, %b ... }
    // becomes
    fovea.weight @w : tensor<6x4xf32, #fovea.panels<16>> = #fovea.pack<#fovea.stored<"f", "w", tensor<6x4xf32>>, #fovea.panels<16>>
    %b = fovea.weight_ref @w : tensor<6x4xf32, #fovea.panels<16>>
    %y = fovea.group(%a = %x, %b = %w) schedule(#fovea.loops<parallel = 3>) : ... { %0 = fovea.linear %a, %b ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"\"",
           "Level of instructions: amx, avx512bf16, avx512vnni, avx512, avxvnni, avx2, sse, aarch64-i8mm, aarch64-dotprod or aarch64; empty: the module's, else that of this machine">,
    Option<"assumeCovered", "assume-covered", "bool", /*default=*/"false",
           "Choose tiles for groups that no builder covers, too, to look at the table">];
  let dependentDialects = ["::mlir::fovea::FoveaDialect", "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
  let statistics = [
    Statistic<"numScheduled", "num-scheduled", "groups scheduled">,
    Statistic<"numPacked", "num-packed", "weights given a layout">];
}

#endif // FOVEA_LOWERING_SCHEDULE_PASSES_TD
