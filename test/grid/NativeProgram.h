// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a module in this process and calls its entries, without artifact and runtime: what the
// numeric tests of kernels stand on.
#ifndef FOVEA_TEST_GRID_NATIVEPROGRAM_H
#define FOVEA_TEST_GRID_NATIVEPROGRAM_H

#include "abi/Abi.h"
#include "lowering/Entries/Entries.h"
#include "lowering/Pipelines.h"
#include "test/grid/NativeCode.h"
#include "weights/Evaluate.h"
#include <functional>

namespace mlir::fovea {

/// The level of the processor that is tested: this machine's, or the one that FOVEA_TEST_PROCESSOR
/// names, run by qemu where it is of another family.
StringRef getTestedLevel();

/// What this machine lacks to run code for a level of processors; empty if nothing.
std::string findLacking(StringRef level);

/// How a program is compiled.
struct NativeOptions {
  bool isGraph = false; ///< the module is of the `graph` stage already
  /// What the module's weights are made of; may be null if there are none.
  RecipeSource *source = nullptr;
  TilesTo tiles = TilesTo::Vectors; ///< scalar loops are not optimised, as with -O0
  bool optimizes = true;            ///< false: vectors neither, as with -O1
  /// May give groups schedules before the others get theirs.
  std::function<void(GroupOp)> choose = [](GroupOp) {};
  /// Of the target; empty for that of the processor that is tested.
  StringRef level = "";
  /// May lower kernels' tiles before the pipeline does.
  std::function<LogicalResult(func::FuncOp)> lower = [](func::FuncOp) { return success(); };
};

class NativeProgram {
public:
  /// Takes a module of the `import` stage, or of `graph`, through all stages, links it and opens
  /// it. Null after a diagnostic or, for the linker and loader, with `error` filled.
  static std::unique_ptr<NativeProgram> compile(ModuleOp module, std::string &error,
                                                const NativeOptions &options = {});

  /// Calls an entry whose arguments and results are tensors, each step in `parts` parts one after
  /// the other, in order or from last to first. Results as f64 or integers. Fails, with `error`, on
  /// a fault. `unwritten` is what arena, results and stack hold before.
  FailureOr<std::vector<interpreter::RuntimeValue>>
  call(StringRef entry, ArrayRef<interpreter::RuntimeValue> arguments, int64_t parts,
       std::string &error, Unwritten unwritten = Unwritten::NaN);

private:
  NativeProgram() = default;
  /// Memory that the code may touch.
  GuardedMemory makeMemory(size_t bytes) const { return GuardedMemory(bytes, isRemote); }
  /// The same words there.
  GuardedMemory makeCopy(ArrayRef<uint64_t> words) const;

  std::vector<EntryLayout> entries;
  bool isRemote = false;              ///< whether another process runs it
  std::vector<GuardedMemory> weights; ///< as the artifact would hold them
  std::unique_ptr<NativeCode> code;
};

} // namespace mlir::fovea

#endif // FOVEA_TEST_GRID_NATIVEPROGRAM_H
