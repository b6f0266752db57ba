// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a checkpoint wants sound to become mels: what WhisperFeatureExtractor reads of
// preprocessor_config.json, or of `feature_extractor` in processor_config.json. Keys that are not
// known, and sizes that do not fit, become problems.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_LOGMEL_H
#define FOVEA_FRONTEND_HUGGINGFACE_LOGMEL_H

#include "frontend/Json.h"
#include "frontend/ModelDescription.h"

namespace fovea {

/// Of the files in `folder`, for a model that reads `mels` of them.
std::optional<LogMel> readLogMel(const std::string &folder, int64_t mels, Problems &problems);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_LOGMEL_H
