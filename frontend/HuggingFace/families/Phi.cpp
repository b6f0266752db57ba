// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phi-1.5 and Phi-2: attention and feed-forward side by side behind one layer norm, partial rotary
// embedding, biases everywhere, the head's included (Li et al. 2023).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder phi(config, weights, model, problems);
  phi.norms = Norm::Kind::Layer;
  phi.keys.epsilon = "layer_norm_eps";
  phi.epsilon = 1e-5;
  phi.activationName = "gelu_new";
  phi.projectionBias = phi.outputBias = phi.feedForwardBias = phi.headBias = true;
  phi.tensors.output = "dense";
  phi.tensors.gate = phi.tensors.feedForwardNorm = "";
  phi.tensors.up = "fc1";
  phi.tensors.down = "fc2";
  phi.tensors.finalNorm = "final_layernorm";
  requireBoolean(config, "qk_layernorm", false, problems);
  if (!phi.read())
    return;
  RotaryKeys keys;
  keys.partIfAbsent = 0.5;
  phi.rotary = readRotary(config, phi.headSize, phi.positions, problems, keys);
  if (phi.rotary)
    phi.describe([](Layer &layer, int64_t) { layer.parallel = true; });
}

Family fovea::phiFamily() { return {"phi", {"PhiForCausalLM", "PhiModel"}, describe}; }
