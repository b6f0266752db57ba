// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Granite with experts, whose weights are one tensor each (IBM 2024).
#include "frontend/HuggingFace/families/Granite.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder granite(config, weights, model, problems);
  granite.tensors.feedForward = "block_sparse_moe";
  granite.expertTensors.experts = "input_linear";
  config.ignore({"router_aux_loss_coef", "output_router_logits"});
  bool fits = granite.readExperts();
  granite.expertsOf = [&](const std::string &name, int64_t) {
    Experts experts = granite.emptyExperts(name);
    int64_t count = experts.count, width = granite.width, hidden = granite.hidden;
    auto stored = [&](const char *part, int64_t out, int64_t in) {
      Linear linear;
      linear.name = weights.prefix() + name + part;
      linear.weight =
          weights.ordered(name + part + ".weight", {count, out, in}, {}, {count * out, in});
      return linear;
    };
    experts.router = weights.linear(name + "router.layer", count, hidden, false);
    experts.gateUp = stored("input_linear", 2 * width, hidden);
    experts.down = stored("output_linear", hidden, width);
    return experts;
  };
  describeGranite(granite, config, model, fits);
}

Family fovea::graniteMoeFamily() {
  return {"granitemoe", {"GraniteMoeForCausalLM", "GraniteMoeModel"}, describe};
}
