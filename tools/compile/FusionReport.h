// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which softmaxes became attention and which did not.
#ifndef FOVEA_TOOLS_COMPILE_FUSIONREPORT_H
#define FOVEA_TOOLS_COMPILE_FUSIONREPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace mlir::fovea {

struct FusionReport {
  /// A list of `{location, status, masks: [...], score, reason, change}`, in the order of the
  /// module's text. A layer function's attention stands there once for each call. The status is
  /// "fused", "not fused" (an attention by itself), "softmax" (one that weighs no values) or
  /// "other" (an attention without a softmax).
  llvm::json::Array attention;
  unsigned missed = 0; ///< how many are "not fused"
  /// A list of `{location, kind, reason}`: what is a norm or an activation but for one op, and
  /// stays elementwise code.
  llvm::json::Array notRaised;
};

/// Looks at a module of the `graph` or `fused` stage: every `fovea.attention`, and every softmax
/// that is still one by itself.
FusionReport buildFusionReport(ModuleOp module);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_FUSIONREPORT_H
