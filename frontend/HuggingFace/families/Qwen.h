// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Qwen 2 and Qwen 3 have in common.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_QWEN_H
#define FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_QWEN_H

#include "frontend/HuggingFace/Decoder.h"

namespace fovea {

/// All of a model whose upper layers may have windows; `adjust` completes each layer.
void describeQwen(Decoder &qwen, JsonObject &config,
                  const std::function<void(Layer &, int64_t i)> &adjust);
/// The same of Qwen 3, with or without experts.
void describeQwen3(Decoder &qwen, JsonObject &config);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_QWEN_H
