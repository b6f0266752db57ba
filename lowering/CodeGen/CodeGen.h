// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processors, the object file and the shared object.
#ifndef FOVEA_LOWERING_CODEGEN_CODEGEN_H
#define FOVEA_LOWERING_CODEGEN_CODEGEN_H

#include "lowering/Targets/Table.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::fovea {

/// A processor to compile for.
struct TargetOptions {
  std::string name;     ///< for reports
  std::string cpu;      ///< as LLVM names it
  std::string features; ///< as LLVM writes them: "+avx2,-avx512f"
  /// False: code that is made in a fraction of the time and takes several times as long to run. No
  /// assembler of a GPU's is called then.
  bool optimizes = true;
  const ProcessorFamily *family = &kX86;
};

/// Any processor of a level: it has the level's features, and no others that code may use.
TargetOptions getTarget(const Level &level);

/// `name` is host, that of a level, or LLVM's of a processor (x86-64, x86-64-v3, neoverse-n2). On
/// failure `error` says what was found and expected.
FailureOr<TargetOptions> getTarget(StringRef name, std::string &error);

/// The features that code for `target` may use and a machine must therefore have, by LLVM's names,
/// sorted.
std::vector<std::string> getRequiredFeatures(const TargetOptions &target);

/// Roundings of bf16 as arithmetic, its moves as those of integers; where a processor has
/// instructions for it, only what these cannot do.
void legalizeBFloat16(llvm::Function &function, bool hasInstructions);

/// LLVM's optimiser at its second level, for code that calls nothing. Functions that `isTiled` are
/// vectors and blocks of registers already and get what they need of it, in half the time.
void optimize(llvm::Module &code, llvm::TargetMachine &machine,
              function_ref<bool(const llvm::Function &)> isTiled = nullptr);

/// What the functions below need of a context. They do it themselves, but several threads must not.
void registerTranslations(MLIRContext &context);

/// Object file and assembly text of a module of the `llvm` stage.
LogicalResult emitObject(ModuleOp module, const TargetOptions &target,
                         SmallVectorImpl<char> &object);
LogicalResult emitAssembly(ModuleOp module, const TargetOptions &target, std::string &text);

/// Gives a symbol of an object another name.
LogicalResult renameSymbol(SmallVectorImpl<char> &object, StringRef from, StringRef to);

/// Links objects for a family of processors into a shared object by a spawned linker.
LogicalResult linkSharedObject(const ProcessorFamily &family, ArrayRef<ArrayRef<char>> objects,
                               std::vector<char> &elf, std::string &error);

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_CODEGEN_CODEGEN_H
