// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qwen 3 with experts (Yang et al. 2025).
#include "frontend/HuggingFace/families/Qwen.h"
#include "frontend/HuggingFace/families/QwenMoe.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder qwen(config, weights, model, problems);
  if (readQwenExperts(qwen, config, [](Experts &, const std::string &) {}))
    describeQwen3(qwen, config);
}

Family fovea::qwen3MoeFamily() {
  return {"qwen3_moe", {"Qwen3MoeForCausalLM", "Qwen3MoeModel"}, describe};
}
