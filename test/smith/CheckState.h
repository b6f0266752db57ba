// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What both kinds of checks share.
#ifndef FOVEA_TEST_SMITH_CHECKSTATE_H
#define FOVEA_TEST_SMITH_CHECKSTATE_H

#include "mlir/IR/Diagnostics.h"
#include "test/grid/NativeCode.h"
#include "test/smith/Check.h"

struct fovea::smith::Checker::State {
  std::unique_ptr<mlir::MLIRContext> context = mlir::fovea::makeContext();
};

namespace mlir::fovea {

/// A handler that gathers errors.
inline auto keepErrors(std::string &diagnostics) {
  return [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && diagnostics.size() < 500)
      diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
    return success();
  };
}

} // namespace mlir::fovea

#endif // FOVEA_TEST_SMITH_CHECKSTATE_H
