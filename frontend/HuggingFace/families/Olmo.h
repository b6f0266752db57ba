// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What OLMo 2 and OLMo 3 have in common.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_OLMO_H
#define FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_OLMO_H

#include "frontend/HuggingFace/Decoder.h"

namespace fovea {

/// Norms behind attention and feed-forward instead of before them, and over all heads' queries and
/// keys. Before sizes are read.
void beginOlmo(Decoder &olmo, JsonObject &config);
void adjustOlmo(Decoder &olmo, Layer &layer, int64_t i);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_OLMO_H
