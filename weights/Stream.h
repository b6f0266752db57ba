// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates weight recipes straight into an artifact.
#ifndef FOVEA_WEIGHTS_STREAM_H
#define FOVEA_WEIGHTS_STREAM_H

#include "artifact/ArtifactWriter.h"
#include "weights/Evaluate.h"

namespace mlir::fovea {

/// Bytes written and bytes in all; called by one thread at a time, not always the caller's.
using WeightProgress = llvm::function_ref<void(uint64_t done, uint64_t total)>;

/// Declares the module's weights to `writer` in their order, evaluates their recipes in slices of
/// at most some MiB, several at a time on the context's threads, and appends them. What is written
/// does not depend on the number of threads. Before anything is evaluated each stored tensor is
/// asked for once, so a missing one costs no time. Failure follows a diagnostic.
LogicalResult writeWeights(ModuleOp module, RecipeSource &source,
                           ::fovea::artifact::ArtifactWriter &writer, WeightProgress progress);

/// The manifest's name of an element type; None for one that no manifest has.
::fovea::manifest::ElementType getManifestType(Type type);

/// How a weight lies in memory.
::fovea::Panels getLayout(RankedTensorType type);

} // namespace mlir::fovea

#endif // FOVEA_WEIGHTS_STREAM_H
