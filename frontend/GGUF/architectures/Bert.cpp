// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BERT as models of sentences have it: post-norm encoder with learned positions and token types,
// whose result is pooled to one vector of length one, as llama.cpp's programs give it.
#include "frontend/GGUF/Decoder.h"

using namespace fovea;

namespace {
class Bert {
public:
  explicit Bert(GgufModel &source) : source(source), weights(source.weights), parts(source) {
    parts.norms = Norm::Kind::Layer;
    parts.activation = Activation::Gelu;
    parts.gated = parts.rotates = false;
    parts.biases = true;
  }

  void describe() {
    std::optional<Pooling> pooling = readPooling();
    // That all see all.
    if (source.keys.has("attention.causal") && source.keys.boolean("attention.causal", false))
      source.keys.reject("attention.causal", "false");
    if (!parts.read())
      return;
    ModelDescription &model = source.model;
    model.kind = ModelDescription::Kind::Encoder;
    model.vocabulary = parts.sizes.vocabulary;
    model.hidden = parts.sizes.hidden;
    model.maxPositions = parts.sizes.positions;
    model.pooling = std::move(pooling);
    embed(model.embeddings);
    for (int64_t i = 0; i < parts.sizes.layers; ++i)
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

  void embed(Embeddings &embeddings) {
    const GgufSizes &sizes = parts.sizes;
    embeddings.name = "token_embd";
    embeddings.token = weights.weight("token_embd.weight", {sizes.vocabulary, sizes.hidden});
    embeddings.position = weights.weight("position_embd.weight", {sizes.positions, sizes.hidden});
    if (const StoredTensor *types = source.file.find("token_types.weight"))
      embeddings.tokenType =
          weights.weight("token_types.weight", {types->shape.front(), sizes.hidden});
    embeddings.norm = parts.norm("token_embd_norm");
  }

  Layer layer(const std::string &name) {
    Layer layer;
    layer.name = name;
    parts.attend(layer.attention, name);
    layer.aroundAttention.sumNorm = parts.norm(name + ".attn_output_norm");
    layer.feedForward = parts.feedForward(name, parts.sizes.width);
    layer.aroundFeedForward.sumNorm = parts.norm(name + ".layer_output_norm");
    return layer;
  }

  GgufModel &source;
  WeightTable &weights;
  GgufDecoder parts; ///< Layers have those of decoders, with norms at other places.
};
} // namespace

GgufArchitecture fovea::bertArchitecture() {
  return {"bert", [](GgufModel &source) { Bert(source).describe(); }};
}
