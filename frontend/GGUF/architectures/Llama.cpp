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
  llama.window = readGgufWindow(source);
  if (!llama.read() || !fits)
    return;
  llama.expertsOf = [&](const std::string &layer) {
    return makeGgufExperts(source, experts, llama.sizes, layer);
  };
  llama.describe(adjust);
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

GgufArchitecture fovea::llamaArchitecture() {
  return {"llama", [](GgufModel &source) { describeLlama(source, {}); }};
}
GgufArchitecture fovea::graniteArchitecture() { return {"granite", describeGranite}; }
