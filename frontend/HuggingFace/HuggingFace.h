// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a Hugging Face model folder: config.json, safetensors, and, where there
// are such files, generation_config.json and the modules.json of
// sentence-transformers. Refuses what it does not understand: an architecture
// without a family here, and every configuration key that could change numbers
// and is not known. All faults are reported at once.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_HUGGINGFACE_H
#define FOVEA_FRONTEND_HUGGINGFACE_HUGGINGFACE_H

#include "artifact/FileView.h"
#include "frontend/ModelDescription.h"
#include "frontend/Problem.h"

#include <optional>
#include <string>
#include <vector>

namespace fovea {

/// The description of the model in `folder`, or nothing if any problem that was
/// added is an error. Notes may be added in both cases.
std::optional<ModelDescription>
readHuggingFace(const std::string &folder, Problems &problems,
                artifact::FileAccess access = artifact::FileAccess::Mapped);

struct FamilyNames {
  std::string modelType; ///< `model_type` in config.json.
  std::vector<std::string> architectures;
};

/// The families that are read, in the alphabet's order.
std::vector<FamilyNames> listFamilies();

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_HUGGINGFACE_H
