// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gemma 3, its text model: Gemma 2 with norms on queries and keys, five windowed layers to one that
// sees all, and a rotary base for each of the two (Kamath et al. 2025).
#include "frontend/HuggingFace/families/Gemma.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder gemma(config, weights, model, problems);
  Gemma2 gemma2(gemma, config, problems);
  config.ignore({"cache_implementation"}); // how a cache is kept, not what is in it
  gemma2.scoreCap.reset();                 // stored, but not computed
  int64_t pattern = config.integer("sliding_window_pattern", 1, maxLayers, 6);
  config.ignore({"_sliding_window_pattern", "rope_local_base_freq"});
  if (!gemma.read())
    return;
  std::vector<bool> windowed =
      readWindowedLayers(config, gemma.layers, [&](int64_t i) { return (i + 1) % pattern != 0; });
  std::optional<Rotary> everywhere = readRotary(config, gemma.headSize, gemma.positions, problems,
                                                {"full_attention", "rope_theta", 1e6});
  std::optional<Rotary> nearby =
      readRotary(config, gemma.headSize, gemma.positions, problems,
                 {"sliding_attention", "rope_local_base_freq", 1e4, /*scaled=*/false});
  if (!everywhere || !nearby)
    return;
  gemma2.describe(model, windowed, [&](Layer &layer, int64_t i) {
    gemma.normQueriesAndKeys(layer, i);
    layer.attention.rotary = windowed[i] ? nearby : everywhere;
  });
}

Family fovea::gemma3Family() {
  return {"gemma3_text", {"Gemma3ForCausalLM", "Gemma3TextModel"}, describe};
}
