// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an artifact says about itself, from a module of the `kernels` or `llvm` stage.
#ifndef FOVEA_TOOLS_COMPILE_MANIFEST_H
#define FOVEA_TOOLS_COMPILE_MANIFEST_H

#include "artifact/Format.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/CodeGen/CodeGen.h"

namespace mlir::fovea {

/// Everything but the weights, which the writer adds. Fails after a diagnostic at an entry that no
/// manifest can describe.
FailureOr<::fovea::manifest::ManifestT> buildManifest(ModuleOp module, const TargetOptions &target,
                                                      std::string fusionReport);

/// How many token ids a module of the `graph` stage knows by the tables that they are rows of; 0 if
/// no argument is of token ids.
int64_t findVocabulary(ModuleOp module);

/// What an artifact says about code for a better processor, from its module of the `llvm` stage.
/// The code's place is the writer's.
FailureOr<std::unique_ptr<::fovea::manifest::VariantT>> buildVariant(ModuleOp module,
                                                                     const TargetOptions &target);

/// What an artifact says about code for a device, from its module of the `kernels` stage; the
/// kernels have their threads and shared memory as attributes. The places of the code are the
/// writer's.
FailureOr<std::unique_ptr<::fovea::manifest::DeviceT>> buildDevice(ModuleOp module,
                                                                   std::string chip);

} // namespace mlir::fovea

#endif // FOVEA_TOOLS_COMPILE_MANIFEST_H
