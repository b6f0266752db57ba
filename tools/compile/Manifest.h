// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an artifact says about itself, from a module of the `kernels` or `llvm` stage.
#ifndef FOVEA_TOOLS_COMPILE_MANIFEST_H
#define FOVEA_TOOLS_COMPILE_MANIFEST_H

#include "artifact/Format.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/Lowering.h"

namespace mlir::fovea {

/// Everything but the weights, which the writer adds. Fails after a diagnostic at an entry that no
/// manifest can describe.
FailureOr<::fovea::manifest::ManifestT> buildManifest(ModuleOp module, const TargetOptions &target,
                                                      std::string fusionReport);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_MANIFEST_H
