// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled code as a backend: an artifact, run by the runtime through its C header.
#ifndef FOVEA_TOOLS_VERIFY_RUNTIMEBACKEND_H
#define FOVEA_TOOLS_VERIFY_RUNTIMEBACKEND_H

#include "artifact/FileView.h"
#include "runtime/include/fovea/runtime.h"
#include "tools/verify/Backend.h"

namespace mlir::fovea::verify {

/// The runtime's tensor as the interpreter's. False if it has elements that the interpreter has no
/// values for, or gaps.
bool decodeTensor(const fovea_tensor &from, interpreter::Tensor &tensor);

/// Runs the entries of an artifact. What the runtime refuses becomes a diagnostic.
class RuntimeBackend : public Backend {
public:
  /// `context` is for diagnostics.
  static FailureOr<std::unique_ptr<Backend>>
  open(MLIRContext *context, const std::string &artifact, int threads, std::string device,
       ::fovea::artifact::FileAccess access = ::fovea::artifact::FileAccess::Mapped);
  ~RuntimeBackend() override;

  bool hasEntry(StringRef entry) override;
  LogicalResult reset(int64_t batch, int64_t capacity) override;
  FailureOr<std::vector<interpreter::TensorRef>>
  run(StringRef entry, ArrayRef<interpreter::TensorRef> tensors) override;

private:
  RuntimeBackend(MLIRContext *context, int threads, std::string device)
      : context(context), threads(threads), device(std::move(device)) {}
  /// Reports and frees a status that is not success.
  LogicalResult check(fovea_status *status);

  MLIRContext *context;
  int threads;
  std::string device;
  fovea_module *module = nullptr;
  fovea_context *runtime = nullptr;
};

/// A file that goes with the last who has it open, in the system's folder for such; -1 and `errno`.
int openUnnamed();

/// Writes an artifact of a module, which it may change, to a path. Fails after a diagnostic.
using CompileFunction = std::function<LogicalResult(ModuleOp, const std::string &)>;

/// Compiles a copy of each module to a file without a name and runs that.
BackendFactory makeRuntimeFactory(CompileFunction compile, int threads, std::string device = "cpu");

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_RUNTIMEBACKEND_H
