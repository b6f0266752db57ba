// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the second and the third Gemma have in common.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_GEMMA_H
#define FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_GEMMA_H

#include "frontend/HuggingFace/Decoder.h"

namespace fovea {

/// Gemma 2's own keys: soft caps, the scale of scores, windows; and the norms on both sides of
/// attention and feed-forward.
struct Gemma2 {
  Gemma2(Decoder &gemma, JsonObject &config, Problems &problems);
  /// Once sizes are read.
  void describe(ModelDescription &model, const std::vector<bool> &windowed,
                const std::function<void(Layer &, int64_t i)> &adjust);

  Decoder &gemma;
  double scoreScale;
  std::optional<double> scoreCap, logitCap;
  std::optional<int64_t> window;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_GEMMA_H
