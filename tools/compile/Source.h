// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads what MODEL names into a module: a Hugging Face folder, a .gguf file, a .onnx file,
// or a .mlir file.
#ifndef FOVEA_TOOLS_COMPILE_SOURCE_H
#define FOVEA_TOOLS_COMPILE_SOURCE_H

#include "artifact/FileView.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "frontend/ModelDescription.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "tools/compile/Report.h"
#include "llvm/Support/ThreadPool.h"

namespace mlir::fovea {

/// A context with all dialects of all stages and, once they are started, `threads` threads; 0: as
/// many as the machine has, but for --mlir-disable-threading.
class CompilerContext {
public:
  explicit CompilerContext(unsigned threads);
  MLIRContext &operator*() { return *context; }
  void startThreads();

private:
  unsigned threads;
  std::unique_ptr<llvm::ThreadPoolInterface> pool; // outlives the context
  std::unique_ptr<MLIRContext> context;
};

/// The module's record of its model; null if there is none.
ModelOp getModel(ModuleOp module);

/// Where stored tensors and the tokenizer lie: IR without a model names files beside itself,
/// `path`.
std::string getFolder(ModuleOp module, llvm::StringRef path);

/// True for a .mlir file, by its name.
bool isIrFile(llvm::StringRef path);

/// The description of a model's folder or .gguf file; nothing after errors. `all`: report all
/// errors as such.
std::optional<::fovea::ModelDescription> readModel(const std::string &path, Reporter &reporter,
                                                   ::fovea::artifact::FileAccess access,
                                                   bool all = false);

/// Reads and verifies, then starts the context's threads; null after an error. `all`: report all
/// errors as such. Text that brings a parser of MLIR down is an error too, which only one thread
/// can tell.
OwningOpRef<ModuleOp> readSource(CompilerContext &context, const std::string &path,
                                 Reporter &reporter, ::fovea::artifact::FileAccess access,
                                 bool all = false);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_SOURCE_H
