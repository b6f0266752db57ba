// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SmolLM 3: Llama, of whose layers every fourth has no positions (Yang et al. 2025, "Rope to Nope
// and Back Again"; Bakouch et al. 2025).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

/// For each layer whether it has positions, where the configuration lists it.
static std::vector<double> readList(JsonObject &config) {
  std::optional<std::vector<double>> list;
  if (config.has("no_rope_layers"))
    list = config.numbers("no_rope_layers", 0, 1);
  return list.value_or(std::vector<double>());
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder smol(config, weights, model, problems);
  smol.tied = true;
  smol.projectionBias = smol.outputBias = config.boolean("attention_bias", false);
  smol.feedForwardBias = config.boolean("mlp_bias", false);
  bool windowed = config.boolean("use_sliding_window", false);
  std::optional<int64_t> window = readWindow(config);
  config.ignore({"max_window_layers"}); // not read there either
  int64_t interval = config.integer("no_rope_layer_interval", 1, maxLayers, 4);
  std::vector<double> list = readList(config);
  if (!smol.read())
    return;
  smol.rotary =
      readRotary(config, smol.headSize, smol.positions, problems, {"", "rope_theta", 2e6});
  if (!list.empty() && int64_t(list.size()) < smol.layers)
    config.reject("no_rope_layers",
                  "a number for each of " + std::to_string(smol.layers) + " layers");
  auto turns = [&](int64_t i) {
    return i < int64_t(list.size()) ? list[i] != 0 : (i + 1) % interval != 0;
  };
  std::vector<bool> windows = readWindowedLayers(
      config, smol.layers, [&](int64_t i) { return windowed && window && !turns(i); });
  if (!smol.rotary)
    return;
  smol.describe([&](Layer &layer, int64_t i) {
    if (!turns(i))
      layer.attention.rotary.reset();
    if (windows[i])
      layer.attention.window = window;
  });
}

Family fovea::smolLm3Family() {
  return {"smollm3", {"SmolLM3ForCausalLM", "SmolLM3Model"}, describe};
}
