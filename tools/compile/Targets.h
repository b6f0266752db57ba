// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processors that one artifact has code for.
#ifndef FOVEA_TOOLS_COMPILE_TARGETS_H
#define FOVEA_TOOLS_COMPILE_TARGETS_H

#include "lowering/CodeGen/CodeGen.h"
#include <vector>

namespace mlir::fovea {

/// Those that `names` lists with commas between, the best first. One is `host`, a processor as LLVM
/// names it, or a family's name for one of each level of instructions (`portable`). On failure
/// `error` says what was found and expected.
FailureOr<std::vector<TargetOptions>> parseTargets(StringRef names, std::string &error);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_TARGETS_H
