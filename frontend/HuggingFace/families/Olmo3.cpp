// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// OLMo 3: OLMo 2 with three windowed layers to one that sees all, each kind with its rotary
// embedding (OLMo team 2025).
#include "frontend/HuggingFace/families/Olmo.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder olmo(config, weights, model, problems);
  beginOlmo(olmo, config);
  std::optional<int64_t> window = readWindow(config);
  if (!olmo.read())
    return;
  std::vector<bool> windowed =
      readWindowedLayers(config, olmo.layers, [](int64_t i) { return (i + 1) % 4 != 0; });
  std::optional<Rotary> everywhere = readRotary(config, olmo.headSize, olmo.positions, problems,
                                                {"full_attention", "rope_theta", 5e5});
  std::optional<Rotary> nearby = readRotary(config, olmo.headSize, olmo.positions, problems,
                                            {"sliding_attention", "", 5e5, /*scaled=*/false});
  if (!everywhere || !nearby)
    return;
  olmo.describe([&](Layer &layer, int64_t i) {
    adjustOlmo(olmo, layer, i);
    layer.attention.rotary = windowed[i] ? nearby : everywhere;
    if (windowed[i])
      layer.attention.window = window;
  });
}

Family fovea::olmo3Family() { return {"olmo3", {"Olmo3ForCausalLM", "Olmo3Model"}, describe}; }
