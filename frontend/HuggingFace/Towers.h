// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families with an encoder of texts beside one of images have in common, each of which is
// called a tower. Their configuration has a part for each, and their tensors the names of CLIP.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_TOWERS_H
#define FOVEA_FRONTEND_HUGGINGFACE_TOWERS_H

#include "frontend/HuggingFace/Encoder.h"

namespace fovea {

/// The names of a tower's tensors, which may begin with `prefix`, and CLIP's values of absent keys.
void nameTower(Encoder &tower, const char *prefix);

/// Reports the keys that are left once all of a tower's have been read.
void reportUnreadOfTower(JsonObject &config);

/// A head that gives one vector for a text or image.
Head &addPooler(ModelDescription &tower, const WeightTable &weights, Pool pool);

/// Makes the tower's head an embedding of `width` numbers by the linear layer `name`, which stands
/// beside the towers.
void projectHead(ModelDescription &tower, WeightTable &weights, const char *name,
                 const char *output, int64_t width);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_TOWERS_H
