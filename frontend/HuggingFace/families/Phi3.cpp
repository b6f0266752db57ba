// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phi-3: Llama whose projections are stacked in one tensor, with partial and long rotary embeddings
// (Abdin et al. 2024).
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder phi(config, weights, model, problems);
  phi.epsilon = 1e-5;
  phi.tensors.query = "qkv_proj";
  phi.tensors.gate = "gate_up_proj";
  phi.stacked = Stacking::ByKind;
  phi.stackedGate = true;
  requireBoolean(config, "attention_bias", false, problems);
  std::optional<int64_t> window = readWindow(config);
  if (phi.readWithRotary())
    phi.describe([&](Layer &layer, int64_t) { layer.attention.window = window; });
}

Family fovea::phi3Family() { return {"phi3", {"Phi3ForCausalLM", "Phi3Model"}, describe}; }
