// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a decoder of tensors by their names.
#include "frontend/GGUF/Decoder.h"

#include <algorithm>
#include <cmath>

using namespace fovea;

bool GgufDecoder::read() {
  std::optional<GgufSizes> found = readGgufSizes(source, norms);
  if (found && rotates)
    rotary = readGgufRotary(source, *found);
  if (found) // else keys are unread that would have been
    finishGgufKeys(source);
  if (!found || (rotates && !rotary))
    return false;
  sizes = *found;
  if (rotary)
    rotary->interleaved = interleaved;
  return true;
}

Linear GgufDecoder::linear(const std::string &name, int64_t out, int64_t in, bool bias) {
  return source.weights.linear(name, out, in, bias || source.weights.has(name + ".bias"));
}

Norm GgufDecoder::norm(const std::string &name, int64_t size) {
  if (norms == Norm::Kind::Rms)
    return source.weights.rmsNorm(name, size, sizes.epsilon);
  return source.weights.layerNorm(name, size, sizes.epsilon,
                                  biases || source.weights.has(name + ".bias"));
}

void GgufDecoder::project(Attention &attention, const std::string &layer) {
  const bool bias = biases || projectionBias;
  std::string together = layer + ".attn_qkv";
  if (source.weights.has(together + ".weight")) {
    source.weights.stackedProjections(attention, together, sizes.hidden,
                                      bias || source.weights.has(together + ".bias"),
                                      Stacking::ByKind);
  } else {
    int64_t queries = sizes.heads * sizes.headSize, keys = sizes.keyValueHeads * sizes.headSize;
    attention.query = linear(layer + ".attn_q", queries, sizes.hidden, bias);
    attention.key = linear(layer + ".attn_k", keys, sizes.hidden, bias);
    attention.value = linear(layer + ".attn_v", keys, sizes.hidden, bias);
  }
  attention.output = linear(layer + ".attn_output", sizes.hidden, sizes.heads * sizes.headSize);
  if (normsHeads) {
    attention.queryNorm = norm(layer + ".attn_q_norm", sizes.headSize);
    attention.keyNorm = norm(layer + ".attn_k_norm", sizes.headSize);
  }
}

FeedForward GgufDecoder::feedForward(const std::string &layer, int64_t width,
                                     const std::string &ending) {
  FeedForward result;
  result.name = layer + ".ffn" + ending;
  result.activation = activation;
  std::string up = layer + ".ffn_up" + ending;
  if (gateInUp) {
    auto half = [&](const char *which, int64_t first) {
      return source.weights.linearPart(up, which, {1, 2 * width, first, width}, sizes.hidden,
                                       source.weights.has(up + ".bias"));
    };
    result.gate = half("gate", 0);
    result.up = half("up", width);
  } else {
    if (gated)
      result.gate = linear(layer + ".ffn_gate" + ending, width, sizes.hidden);
    result.up = linear(up, width, sizes.hidden);
  }
  result.down = linear(layer + ".ffn_down" + ending, sizes.hidden, width);
  return result;
}

void GgufDecoder::attend(Attention &attention, const std::string &layer) {
  attention.name = layer + ".attn";
  attention.heads = sizes.heads;
  attention.keyValueHeads = sizes.keyValueHeads;
  attention.headSize = sizes.headSize;
  attention.scale = 1 / std::sqrt(double(sizes.headSize));
  project(attention, layer);
}

Layer GgufDecoder::layer(int64_t i) {
  const std::string name = "blk." + std::to_string(i);
  Layer layer;
  layer.name = name;
  layer.aroundAttention.inputNorm = norm(name + ".attn_norm");
  if (feedForwardNorm)
    layer.aroundFeedForward.inputNorm = norm(name + ".ffn_norm");
  if (hasOutputNorms) {
    layer.aroundAttention.outputNorm = norm(name + ".post_attention_norm");
    layer.aroundFeedForward.outputNorm = norm(name + ".post_ffw_norm");
  }
  attend(layer.attention, name);
  layer.attention.causal = true;
  layer.attention.rotary = rotary;
  layer.attention.window = window;
  if (expertsOf)
    layer.experts = expertsOf(name);
  if (!layer.experts)
    layer.feedForward = feedForward(name, sizes.width);
  return layer;
}

void GgufDecoder::describe(const std::function<void(Layer &, int64_t)> &adjust) {
  ModelDescription &model = source.model;
  model.kind = ModelDescription::Kind::Decoder;
  model.vocabulary = sizes.vocabulary;
  model.hidden = sizes.hidden;
  model.maxPositions = sizes.positions;
  model.embeddings.name = "token_embd";
  model.embeddings.token =
      source.weights.weight("token_embd.weight", {sizes.vocabulary, sizes.hidden});
  if (positionTable)
    model.embeddings.position =
        source.weights.weight("position_embd.weight", {sizes.positions, sizes.hidden});
  for (int64_t i = 0; i < sizes.layers; ++i) {
    Layer made = layer(i);
    if (adjust)
      adjust(made, i);
    model.layers.push_back(std::move(made));
  }
  model.finalNorm = norm("output_norm");
  model.heads = {source.weights.head("output", !source.weights.has("output.weight"),
                                     model.embeddings.token, source.weights.has("output.bias"))};
  // What rotates is read by its keys; of files of old, which computed it ahead.
  source.weights.reportUnused({"rope_freqs.weight", "rope_factors_long.weight",
                               "rope_factors_short.weight", ".attn_rot_embd"});
}

std::optional<int64_t> fovea::readGgufWindow(GgufModel &source) {
  int64_t window = source.keys.integer("attention.sliding_window", 0, maxPositions, 0);
  return window > 0 ? std::optional(window) : std::nullopt;
}

bool fovea::readGgufExperts(GgufModel &source, GgufExperts &experts) {
  JsonObject &keys = source.keys;
  size_t before = source.problems.size();
  experts.count = keys.integer("expert_count", 0, maxExperts, 0);
  experts.chosen = keys.integer("expert_used_count", 0, maxExperts, 0);
  if (keys.has("expert_feed_forward_length"))
    experts.width = keys.integer("expert_feed_forward_length", 1, maxWidth, 1);
  if (experts.count > 0 && (experts.chosen == 0 || experts.chosen > experts.count))
    keys.reject("expert_used_count", "from 1 to expert_count, " + std::to_string(experts.count));
  // 0: not given. 1: softmax; 2: sigmoid, which nothing here is tested with.
  if (keys.integer("expert_gating_func", 0, 100, 0) > 1)
    keys.reject("expert_gating_func", "1, softmax");
  if (keys.has("expert_weights_norm"))
    experts.routing.scores = keys.boolean("expert_weights_norm", false)
                                 ? Routing::Scores::SoftmaxOfChosen
                                 : Routing::Scores::Softmax;
  double scale = keys.number("expert_weights_scale", 0, 1e6, 1);
  experts.routing.scale = scale == 0 ? 1 : scale;
  return source.problems.size() == before;
}

/// The matrix of one expert: all lie one behind the other in the tensor NAME.weight.
static Linear matrixOf(WeightTable &weights, const std::string &name, int64_t count, int64_t expert,
                       int64_t out, int64_t in) {
  Linear result;
  result.name = name + "." + std::to_string(expert);
  result.weight = weights.weight(name + ".weight", {count, out, in});
  result.weight.name = result.name + ".weight";
  result.weight.shape = {out, in};
  result.weight.rows = RowGroups{1, count, expert, 1};
  return result;
}

std::optional<Experts> fovea::makeGgufExperts(GgufModel &source, const GgufExperts &experts,
                                              const GgufSizes &sizes, const std::string &layer) {
  WeightTable &weights = source.weights;
  const int64_t hidden = sizes.hidden, width = experts.width ? experts.width : sizes.width;
  if (experts.count == 0 || !weights.has(layer + ".ffn_gate_inp.weight"))
    return std::nullopt;
  Experts result;
  result.name = layer + ".ffn_exps";
  result.router = weights.linear(layer + ".ffn_gate_inp", experts.count, hidden, false);
  result.count = experts.count;
  result.chosen = experts.chosen;
  result.routing = experts.routing;
  std::vector<Linear> gateUp;
  for (int64_t i = 0; i < experts.count; ++i)
    for (const char *part : {".ffn_gate_exps", ".ffn_up_exps"})
      gateUp.push_back(matrixOf(weights, layer + part, experts.count, i, width, hidden));
  result.gateUp = weights.stack(layer + ".ffn_gate_up_exps", gateUp);
  result.down.name = layer + ".ffn_down_exps";
  result.down.weight = weights.weight(result.down.name + ".weight", {experts.count, hidden, width});
  result.down.weight.shape = {experts.count * hidden, width};
  return result;
}
