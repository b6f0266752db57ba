// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What encoder-decoders with BART's names of keys and tensors have in common (Lewis et al. 2020). A
// family says where it differs.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_BART_H
#define FOVEA_FRONTEND_HUGGINGFACE_BART_H

#include "frontend/HuggingFace/Family.h"

#include <functional>

namespace fovea {

class Bart {
public:
  Bart(JsonObject &config, WeightTable &weights, ModelDescription &model, Problems &problems)
      : config(config), weights(weights), model(model), problems(problems) {}

  // What a family says.
  bool normsFirst = false; ///< Norms before attention and feed-forward, and one behind the layers.
  bool tokenNorm = true;   ///< A norm behind tokens and positions.
  bool scaledTokens = false; ///< The value of an absent scale_embedding.
  std::string activationName = "gelu";
  /// Instead of learned positions.
  std::optional<Sinusoids> sinusoids;
  int64_t positionOffset = 2; ///< Rows of learned positions before the first.
  const char *positionsKey = "max_position_embeddings";
  bool keyBias = true;
  std::string token = "shared", head = "lm_head";
  /// Describes what an encoder that reads no text reads, `hidden` wide. False if that is at fault.
  std::function<bool(Embeddings &, int64_t hidden)> describeSource;

  /// All of it; keys that are neither read nor known become problems.
  void describe();

private:
  struct Sizes {
    int64_t layers, heads, width;
  };
  std::optional<Sizes> readSizes(const std::string &part);
  void describeEmbeddings(Embeddings &embeddings, const std::string &part, const Weight &token);
  std::vector<Layer> describeLayers(const std::string &part, const Sizes &sizes, bool isDecoder);
  Attention attention(const std::string &name, const Sizes &sizes);
  void place(Residual &around, const std::string &norm);
  std::optional<Norm> lastNorm(const std::string &part);

  JsonObject &config;
  WeightTable &weights;
  ModelDescription &model;
  Problems &problems;
  Activation activation = Activation::Gelu;
  int64_t hidden = 0, positions = 0;
  double scale = 1;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_BART_H
