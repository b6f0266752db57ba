// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From scheduled groups to native code: the stages `kernels` and `llvm`, the object file and the
// shared object.
#ifndef FOVEA_LOWERING_LOWERING_H
#define FOVEA_LOWERING_LOWERING_H

#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::fovea {

#define GEN_PASS_DECL
#include "lowering/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lowering/Passes.h.inc"

/// `scheduled` -> `kernels`.
void buildKernelsPipeline(OpPassManager &pm);

/// How tile programs become code: as the scalar loops that are their meaning, or by the vectors of
/// the module's target.
enum class TilesTo { Loops, Vectors };

/// `kernels` -> `llvm`.
void buildLLVMPipeline(OpPassManager &pm, TilesTo tiles = TilesTo::Vectors);

/// `kernels` -> `llvm` for the host's side of a device: plans and launches, no kernels.
void buildHostPipeline(OpPassManager &pm);

/// Registers the three as `fovea-to-kernels` and `fovea-to-llvm` and `fovea-to-host`, and their
/// passes.
void registerLoweringPasses();

/// The vectors of a pass: `option`, or, where it is empty, the level of the `fovea.target` that the
/// module around `op` has; empty if it has none.
std::string getVectorLevel(Operation *op, StringRef option);

/// Turns a kernel's `fovea.fault` ops into stores of `word`, an i64, to `address`.
void lowerFaults(func::FuncOp kernel, Value address, Value word);

/// A processor to compile for.
struct TargetOptions {
  std::string cpu;      ///< as LLVM names it
  std::string features; ///< as LLVM writes them: "+avx2,-avx512f"
};

/// `name` is host, portable, x86-64-v3, x86-64-v4 or one of LLVM's names of processors. On failure
/// `error` says what was found and expected.
FailureOr<TargetOptions> getTarget(StringRef name, std::string &error);

/// The features that code for `target` may use and a machine must therefore have, by LLVM's names,
/// sorted.
std::vector<std::string> getRequiredFeatures(const TargetOptions &target);

/// LLVM's optimiser at its second level, for code that calls nothing.
void optimize(llvm::Module &code, llvm::TargetMachine &machine);

/// Object file and assembly text of a module of the `llvm` stage.
LogicalResult emitObject(ModuleOp module, const TargetOptions &target,
                         SmallVectorImpl<char> &object);
LogicalResult emitAssembly(ModuleOp module, const TargetOptions &target, std::string &text);

/// Links an object into a shared object by a spawned lld.
LogicalResult linkSharedObject(ArrayRef<char> object, std::vector<char> &elf, std::string &error);

/// The threads of a block of a kernel (`fovea.threads`, or this many), and the bytes of shared
/// memory that a launch asks for (`fovea.shared_bytes`, or none).
inline constexpr int64_t kDefaultThreads = 128;
int64_t getThreads(Operation *kernel);
int64_t getSharedBytes(Operation *kernel);

/// What a kernel on a device is told of a buffer behind its address: in this order the axes whose
/// sizes, whether the offset, and the axes whose strides are not in its type. The strides of a
/// buffer without a layout follow from its sizes.
struct BufferParameters {
  explicit BufferParameters(MemRefType type);
  SmallVector<int64_t> sizes;
  bool offset = false;
  SmallVector<int64_t> strides;
};

/// One launch of an entry.
struct EntryStep {
  std::string kernel;   ///< symbol of the kernel
  std::string location; ///< where in the model it comes from
  /// Places, among the numbers that `plan` writes, of its floating-point operations and of its
  /// bytes read and written; 0 where they are not known.
  int64_t flops = 0, bytes = 0;
};

/// What the manifest says about an entry.
struct EntryLayout {
  std::string name;
  SignatureAttr signature;
  int64_t localsCount = 0;  ///< numbers that `plan` writes
  int64_t maxPositions = 0; ///< 0: not bounded
  std::vector<EntryStep> steps;
};

/// Describes the entries of a module of the `kernels` or `llvm` stage. The number of a weight is
/// its place among the module's `fovea.weight` ops.
FailureOr<std::vector<EntryLayout>> describeEntries(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_LOWERING_H
