// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GPT-OSS: experts with limits, windows in every other layer, and a sink for each head (OpenAI
// 2025). Matrices of experts are mostly in MXFP4.
#include "frontend/HuggingFace/Decoder.h"

using namespace fovea;

/// Matrices [experts, in, out] as the experts' [out, in], one below the other. Of a gate and what
/// it gates rows alternate in the checkpoint; the gate's stand first here.
static Linear readMatrices(WeightTable &weights, const std::string &name, const Experts &experts,
                           int64_t out, int64_t in, bool isGated) {
  int64_t count = experts.count, parts = isGated ? 2 : 1, each = out / parts;
  Linear result;
  result.name = weights.prefix() + name;
  if (weights.has(result.name + "_blocks")) { // [experts, out, in], alternating likewise
    result.weight = weights.mxfp4(name, count, out, in);
    result.weight.order = {{count, each, parts, in}, {0, 2, 1, 3}};
  } else {
    result.weight = weights.ordered(name, {count, in, out},
                                    {{count, in, each, parts}, {0, 3, 2, 1}}, {count * out, in});
  }
  result.bias = weights.ordered(name + "_bias", {count, out}, {{count, each, parts}, {0, 2, 1}},
                                {count * out});
  return result;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Decoder gpt(config, weights, model, problems);
  gpt.epsilon = 1e-5;
  gpt.headSizeIfAbsent = 64;
  gpt.projectionBias = gpt.outputBias = config.boolean("attention_bias", true);
  double limit = config.number("swiglu_limit", 0, 1e9, 7);
  if (config.number("swiglu_alpha", 0, 1e9, 1.702) != 1.702)
    config.reject("swiglu_alpha", "1.702, which is built");
  config.ignore({"router_aux_loss_coef", "output_router_logits", "experts_per_token",
                 "initial_context_length"});
  std::optional<int64_t> window = readWindow(config);
  bool fits = gpt.readExperts();
  if (!gpt.readWithRotary() || !fits)
    return;
  std::vector<bool> windows =
      readWindowedLayers(config, gpt.layers, [](int64_t i) { return i % 2 == 0; });
  gpt.expertsOf = [&](const std::string &name, int64_t) {
    Experts experts = gpt.emptyExperts(name);
    experts.activation = Activation::GeluQuick;
    experts.limit = limit;
    experts.router = weights.linear(name + "router", experts.count, gpt.hidden, true);
    experts.gateUp = readMatrices(weights, name + "experts.gate_up_proj", experts, 2 * gpt.width,
                                  gpt.hidden, /*isGated=*/true);
    experts.down = readMatrices(weights, name + "experts.down_proj", experts, gpt.hidden, gpt.width,
                                /*isGated=*/false);
    return experts;
  };
  gpt.describe([&](Layer &layer, int64_t i) {
    if (windows[i])
      layer.attention.window = window;
    layer.attention.sinks = weights.weight(gpt.nameOf(i) + ".self_attn.sinks", {gpt.heads});
  });
}

Family fovea::gptOssFamily() { return {"gpt_oss", {"GptOssForCausalLM", "GptOssModel"}, describe}; }
