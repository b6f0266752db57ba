// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns diagnostics into messages of the log.
#ifndef FOVEA_TOOLS_COMPILE_REPORT_H
#define FOVEA_TOOLS_COMPILE_REPORT_H

#include "dialects/Fovea/Locations.h"
#include "frontend/Problem.h"
#include "mlir/IR/Diagnostics.h"
#include "tools/compile/Compile.h"
#include <mutex>

namespace mlir::fovea {

/// While it lives, the context's diagnostics go to the log. The first error of a compilation is
/// reported as one; what follows from it (or comes from other threads) as notes.
class Reporter {
public:
  Reporter(MLIRContext &context, const ::fovea::compile::Log &log);

  void error(const std::string &text);
  void note(const std::string &text);
  /// The problems of a reader; all errors as errors if `all`.
  void add(const ::fovea::Problems &problems, bool all = false);
  void progress(const std::string &phase, double part = -1);

  bool hasErrors();

private:
  void emit(::fovea::compile::Log::Severity severity, const std::string &text);

  const ::fovea::compile::Log &log;
  std::mutex mutex;
  bool hasError = false;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_REPORT_H
