// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StarCoder 2: pre-norm decoder with layer norms, rotary positions, grouped heads and windows
// (Lozhkov et al. 2024).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder coder(config, weights, model, problems);
  coder.norms = Norm::Kind::Layer;
  coder.keys.epsilon = "norm_epsilon";
  coder.epsilon = 1e-5;
  coder.activationName = "gelu_pytorch_tanh";
  coder.tied = true;
  coder.tensors.gate = "";
  coder.tensors.up = "c_fc";
  coder.tensors.down = "c_proj";
  bool bias = config.boolean("use_bias", true);
  coder.projectionBias = coder.outputBias = coder.feedForwardBias = bias;
  std::optional<int64_t> window = readWindow(config);
  config.ignore({"residual_dropout", "embedding_dropout", "mlp_type", "norm_type"});
  if (coder.readWithRotary())
    coder.describe([&](Layer &layer, int64_t) { layer.attention.window = window; });
}

Family fovea::starCoder2Family() {
  return {"starcoder2", {"Starcoder2ForCausalLM", "Starcoder2Model"}, describe};
}
