// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qwen 2: Llama with biases on queries, keys and values, and, where the configuration asks for it,
// windows in the upper layers (Yang et al. 2024).
#include "frontend/HuggingFace/families/Qwen.h"

using namespace fovea;

void fovea::describeQwen(Decoder &qwen, JsonObject &config,
                         const std::function<void(Layer &, int64_t)> &adjust) {
  bool windowed = config.boolean("use_sliding_window", false);
  std::optional<int64_t> window;
  if (windowed)
    window = readWindow(config);
  config.ignore({"sliding_window"}); // of no meaning then, and 0 perhaps
  int64_t full = config.integer("max_window_layers", 0, maxLayers, 28);
  if (!qwen.readWithRotary())
    return;
  std::vector<bool> windows = readWindowedLayers(
      config, qwen.layers, [&](int64_t i) { return windowed && window && i >= full; });
  qwen.describe([&](Layer &layer, int64_t i) {
    if (windows[i] && windowed)
      layer.attention.window = window;
    adjust(layer, i);
  });
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder qwen(config, weights, model, problems);
  qwen.projectionBias = true;
  describeQwen(qwen, config, [](Layer &, int64_t) {});
}

Family fovea::qwen2Family() { return {"qwen2", {"Qwen2ForCausalLM", "Qwen2Model"}, describe}; }
