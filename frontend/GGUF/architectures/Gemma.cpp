// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Gemmas. Converters have added one to the weights of norms; what they leave out is known by
// the number of layers.
#include "frontend/GGUF/Decoder.h"

#include <cmath>

using namespace fovea;

namespace {
/// Layers that see everything: each so many, or those that a list says.
struct Pattern {
  int64_t period;
  std::vector<bool> windowed;

  bool isWindowed(int64_t i) const {
    return windowed.empty() ? period > 0 && (i + 1) % period != 0
                            : windowed[static_cast<size_t>(i)];
  }
};
} // namespace

/// `attention.sliding_window_pattern`, a period or a list of a boolean a layer.
static Pattern readPattern(JsonObject &keys, int64_t period) {
  constexpr const char *key = "attention.sliding_window_pattern";
  const JsonValue *value = keys.find(key);
  if (!value || !value->isArray())
    return {keys.integer(key, 0, maxLayers, period), {}};
  Pattern result{period, {}};
  for (const JsonValue &element : value->elements())
    result.windowed.push_back(element.boolean());
  int64_t layers = keys.integer("block_count", 1, maxLayers).value_or(0);
  if (int64_t(result.windowed.size()) != layers)
    keys.reject(key, "an array of " + std::to_string(layers) + " booleans, one a layer");
  return result;
}

static void describeFirst(GgufModel &source) {
  GgufDecoder gemma(source);
  gemma.activation = Activation::GeluTanh;
  if (!gemma.read())
    return;
  source.model.embeddings.scale = std::sqrt(double(gemma.sizes.hidden));
  gemma.describe();
}

/// Gemma 2 and 3, whose models of `lastLayers` layers scale scores by what a head has of the
/// width, not by its own size.
static void describeLater(GgufModel &source, bool isThird, int64_t lastLayers) {
  JsonObject &keys = source.keys;
  GgufDecoder gemma(source);
  gemma.activation = Activation::GeluTanh;
  gemma.hasOutputNorms = true;
  gemma.normsHeads = isThird;
  // Early files of Gemma 2 leave out what all its models have.
  auto cap = [&](const char *key, double ofSecond) {
    double found = keys.number(key, 0, 1e9, isThird ? 0 : ofSecond);
    return found > 0 ? std::optional(found) : std::nullopt;
  };
  auto scoreCap = isThird ? std::nullopt : cap("attn_logit_softcapping", 50);
  auto logitCap = cap("final_logit_softcapping", 30);
  int64_t window = keys.integer("attention.sliding_window", 0, maxPositions, isThird ? 0 : 4096);
  Pattern pattern = readPattern(keys, isThird ? 6 : 2);
  double scale = keys.number("attention.scale", 0, 1e6, 0);
  double nearby = keys.number("rope.freq_base_swa", 1.0001, 1e30, 10000);
  size_t before = source.problems.size();
  if (!gemma.read() || source.problems.size() != before || hasErrors(source.problems))
    return;
  const GgufSizes &sizes = gemma.sizes;
  if (scale == 0)
    scale = 1 / std::sqrt(sizes.layers == lastLayers ? double(sizes.hidden) / double(sizes.heads)
                                                     : double(sizes.headSize));
  source.model.embeddings.scale = std::sqrt(double(sizes.hidden));
  gemma.describe([&](Layer &layer, int64_t i) {
    layer.attention.scale = scale;
    layer.attention.softcap = scoreCap;
    if (window == 0 || !pattern.isWindowed(i))
      return;
    layer.attention.window = window;
    if (!isThird)
      return;
    // Gemma 3 stretches only what sees everything.
    Rotary rotary;
    rotary.theta = nearby;
    rotary.dim = gemma.rotary->dim;
    layer.attention.rotary = rotary;
  });
  for (Head &head : source.model.heads)
    head.softcap = logitCap;
}

GgufArchitecture fovea::gemmaArchitecture() { return {"gemma", describeFirst}; }
GgufArchitecture fovea::gemma2Architecture() {
  return {"gemma2", [](GgufModel &source) { describeLater(source, false, 46); }};
}
GgufArchitecture fovea::gemma3Architecture() {
  return {"gemma3", [](GgufModel &source) { describeLater(source, true, 62); }};
}
