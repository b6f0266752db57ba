// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qwen 2, whose projections have biases, and Qwen 3, whose queries and keys are normed, each with
// and without experts.
#include "frontend/GGUF/Decoder.h"

using namespace fovea;

/// Configurations name a window that they do not use.
static void ignoreWindow(GgufModel &source) { source.keys.ignore({"attention.sliding_window"}); }

static void describeDense(GgufModel &source, bool isThird) {
  ignoreWindow(source);
  GgufDecoder qwen(source);
  qwen.projectionBias = !isThird;
  qwen.normsHeads = isThird;
  if (qwen.read())
    qwen.describe();
}

/// Qwen 2 has an expert besides that all tokens share, and does not make weights sum to one.
static void describeExperts(GgufModel &source, bool isThird) {
  ignoreWindow(source);
  GgufDecoder qwen(source);
  qwen.projectionBias = !isThird;
  qwen.normsHeads = isThird;
  GgufExperts experts;
  experts.routing.scores = isThird ? Routing::Scores::SoftmaxOfChosen : Routing::Scores::Softmax;
  bool fits = readGgufExperts(source, experts);
  int64_t shared = 0;
  if (!isThird)
    shared = source.keys.integer("expert_shared_feed_forward_length", 1, maxWidth).value_or(0);
  if (!qwen.read() || !fits)
    return;
  qwen.expertsOf = [&](const std::string &layer) {
    auto result = makeGgufExperts(source, experts, qwen.sizes, layer);
    if (result && shared > 0) {
      result->shared = qwen.feedForward(layer, shared, "_shexp");
      // A row, stored as such.
      std::string gate = layer + ".ffn_gate_inp_shexp";
      result->sharedGate.emplace();
      result->sharedGate->name = gate;
      result->sharedGate->weight = source.weights.weight(gate + ".weight", {qwen.sizes.hidden});
      result->sharedGate->weight.shape = {1, qwen.sizes.hidden};
    }
    return result;
  };
  qwen.describe();
}

GgufArchitecture fovea::qwen2Architecture() {
  return {"qwen2", [](GgufModel &source) { describeDense(source, false); }};
}
GgufArchitecture fovea::qwen3Architecture() {
  return {"qwen3", [](GgufModel &source) { describeDense(source, true); }};
}
GgufArchitecture fovea::qwen2MoeArchitecture() {
  return {"qwen2moe", [](GgufModel &source) { describeExperts(source, false); }};
}
GgufArchitecture fovea::qwen3MoeArchitecture() {
  return {"qwen3moe", [](GgufModel &source) { describeExperts(source, true); }};
}
