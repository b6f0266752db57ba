// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a GGUF file: metadata, tensors and vocabulary in one, as llama.cpp's converters write them.
// Refuses what it does not understand: an architecture without a function here, and every key of
// the architecture that could change numbers and is not known.
#ifndef FOVEA_FRONTEND_GGUF_GGUF_H
#define FOVEA_FRONTEND_GGUF_GGUF_H

#include "artifact/FileView.h"
#include "frontend/GGUF/GgufFile.h"
#include "frontend/ModelDescription.h"

#include <optional>
#include <string>
#include <vector>

namespace fovea {

/// The description of the model in the file `path`, or nothing if any problem that was added is an
/// error. Notes may be added in both cases.
std::optional<ModelDescription>
readGguf(const std::string &path, Problems &problems,
         artifact::FileAccess access = artifact::FileAccess::Mapped);

/// What `general.architecture` may say, in the alphabet's order.
std::vector<std::string> listGgufArchitectures();

} // namespace fovea

#endif // FOVEA_FRONTEND_GGUF_GGUF_H
