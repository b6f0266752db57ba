// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Qwen 2 and Qwen 3 with experts have in common.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_QWENMOE_H
#define FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_QWENMOE_H

#include "frontend/HuggingFace/Decoder.h"

namespace fovea {

/// Reads which layers have experts, and gives those theirs, which `adjust` completes. False if that
/// is at fault.
bool readQwenExperts(Decoder &qwen, JsonObject &config,
                     std::function<void(Experts &, const std::string &name)> adjust);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_QWENMOE_H
