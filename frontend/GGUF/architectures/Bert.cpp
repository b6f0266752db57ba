// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BERT as models of sentences have it: post-norm encoder with learned positions and token types,
// whose result is pooled to one vector of length one, as llama.cpp's programs give it.
#include "frontend/GGUF/Architecture.h"

#include <cmath>

using namespace fovea;

namespace {
class Bert {
public:
  explicit Bert(GgufModel &source) : source(source), weights(source.weights) {}

  void describe() {
    std::optional<Pooling> pooling = readPooling();
    // That all see all.
    if (source.keys.has("attention.causal") && source.keys.boolean("attention.causal", false))
      source.keys.reject("attention.causal", "false");
    std::optional<GgufSizes> found = readGgufSizes(source, Norm::Kind::Layer);
    if (!found)
      return;
    finishGgufKeys(source);
    sizes = *found;
    ModelDescription &model = source.model;
    model.kind = ModelDescription::Kind::Encoder;
    model.vocabulary = sizes.vocabulary;
    model.hidden = sizes.hidden;
    model.maxPositions = sizes.positions;
    model.pooling = std::move(pooling);
    embed(model.embeddings);
    for (int64_t i = 0; i < sizes.layers; ++i)
      model.layers.push_back(layer("blk." + std::to_string(i)));
    weights.reportUnused({});
  }

private:
  std::optional<Pooling> readPooling() {
    int64_t kind = source.keys.integer("pooling_type", 0, 4, 0);
    if (kind == 0)
      return std::nullopt;
    if (kind > 2)
      source.keys.reject("pooling_type", "0, 1 or 2: none, the mean, or the first token");
    Pooling result;
    result.name = "pooling";
    result.kind = kind == 1 ? Pool::Mean : Pool::First;
    result.steps.emplace_back();
    result.steps.back().unitLength = true;
    return result;
  }

  Norm norm(const std::string &name) {
    return weights.layerNorm(name, sizes.hidden, sizes.epsilon);
  }

  void embed(Embeddings &embeddings) {
    embeddings.name = "token_embd";
    embeddings.token = weights.weight("token_embd.weight", {sizes.vocabulary, sizes.hidden});
    embeddings.position = weights.weight("position_embd.weight", {sizes.positions, sizes.hidden});
    if (const StoredTensor *types = source.file.find("token_types.weight"))
      embeddings.tokenType =
          weights.weight("token_types.weight", {types->shape.front(), sizes.hidden});
    embeddings.norm = norm("token_embd_norm");
  }

  Layer layer(const std::string &name) {
    const int64_t hidden = sizes.hidden;
    auto linear = [&](const char *part, int64_t out, int64_t in) {
      return weights.linear(name + part, out, in, /*bias=*/true);
    };
    Layer layer;
    layer.name = name;
    Attention &attention = layer.attention;
    attention.name = name + ".attn";
    attention.heads = attention.keyValueHeads = sizes.heads;
    attention.headSize = sizes.headSize;
    attention.scale = 1 / std::sqrt(double(sizes.headSize));
    if (weights.has(name + ".attn_qkv.weight")) {
      weights.stackedProjections(attention, name + ".attn_qkv", hidden, /*bias=*/true,
                                 Stacking::ByKind);
    } else {
      attention.query = linear(".attn_q", hidden, hidden);
      attention.key = linear(".attn_k", hidden, hidden);
      attention.value = linear(".attn_v", hidden, hidden);
    }
    attention.output = linear(".attn_output", hidden, hidden);
    layer.aroundAttention.sumNorm = norm(name + ".attn_output_norm");
    layer.feedForward.name = name + ".ffn";
    layer.feedForward.up = linear(".ffn_up", sizes.width, hidden);
    layer.feedForward.down = linear(".ffn_down", hidden, sizes.width);
    layer.aroundFeedForward.sumNorm = norm(name + ".layer_output_norm");
    return layer;
  }

  GgufModel &source;
  WeightTable &weights;
  GgufSizes sizes;
};
} // namespace

GgufArchitecture fovea::bertArchitecture() {
  return {"bert", [](GgufModel &source) { Bert(source).describe(); }};
}
