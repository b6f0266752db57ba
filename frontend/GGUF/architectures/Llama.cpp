// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Llama, which is Mistral's and Mixtral's architecture too; and Granite, which multiplies on the
// way. Converters store the rows of queries and keys so that rotated pairs are neighbours.
#include "frontend/GGUF/Decoder.h"

using namespace fovea;

static void describeLlama(GgufModel &source, const std::function<void(Layer &, int64_t)> &adjust) {
  GgufDecoder llama(source);
  llama.interleaved = true;
  GgufExperts experts;
  bool fits = readGgufExperts(source, experts);
  int64_t window = source.keys.integer("attention.sliding_window", 0, maxPositions, 0);
  if (!llama.read() || !fits)
    return;
  llama.expertsOf = [&](const std::string &layer) {
    return makeGgufExperts(source, experts, llama.sizes.hidden, layer);
  };
  llama.describe([&](Layer &layer, int64_t i) {
    if (window > 0)
      layer.attention.window = window;
    adjust(layer, i);
  });
}

static void describeLlama(GgufModel &source) {
  describeLlama(source, [](Layer &, int64_t) {});
}

static void describeGranite(GgufModel &source) {
  JsonObject &keys = source.keys;
  double embedding = keys.number("embedding_scale", 0, 1e6, 1);
  double residual = keys.number("residual_scale", 0, 1e6, 1);
  double scores = keys.number("attention.scale", 0, 1e6, 0);
  double logits = keys.number("logit_scale", 1e-6, 1e6, 1);
  source.model.embeddings.scale = embedding;
  describeLlama(source, [&](Layer &layer, int64_t) {
    layer.aroundAttention.scale = layer.aroundFeedForward.scale = residual;
    if (scores > 0)
      layer.attention.scale = scores;
  });
  for (Head &head : source.model.heads)
    head.scale = 1 / logits;
}

GgufArchitecture fovea::llamaArchitecture() { return {"llama", describeLlama}; }
GgufArchitecture fovea::graniteArchitecture() { return {"granite", describeGranite}; }
