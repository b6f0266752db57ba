// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a Transformer model is, apart from the format it came in: every reader
// produces one of these and one builder makes IR of it. Whoever fills it has
// checked it: sizes are positive and fit together, every weight is there with
// the shape that its use asks for. Nothing here depends on MLIR.
#ifndef FOVEA_FRONTEND_MODELDESCRIPTION_H
#define FOVEA_FRONTEND_MODELDESCRIPTION_H

#include "frontend/StoredTensor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace fovea {

/// One stored tensor in one use. `stored.shape` is `shape`, or, if
/// `transposed`, the two sizes of `shape` exchanged (GPT-2 stores [in, out]).
struct Weight {
  std::string name; ///< Unique in the model: the tensor's own name.
  StoredTensor stored;
  std::vector<int64_t> shape; ///< As used; a matrix is [out, in].
  bool transposed = false;
};

/// `y = x W^T + b`, W of shape [out, in].
struct Linear {
  std::string name; ///< The source's module: "model.layers.0.self_attn.q_proj".
  Weight weight;
  std::optional<Weight> bias;
};

enum class Activation { Gelu, GeluTanh, GeluQuick, Relu, ReluSquared, Silu, Tanh, Sigmoid };

struct Norm {
  enum class Kind { Layer, Rms };
  std::string name;
  Kind kind = Kind::Layer;
  double epsilon = 0;
  Weight weight;
  std::optional<Weight> bias; ///< Layer norms have one.
};

/// Rotary position embedding: pair i of `dim / 2` turns by position * f_i with
/// f_i = theta^(-2i/dim), stretched as `kind` says; pairs are (i, i + dim/2).
/// The kinds are those of `#fovea.rope_scaling`, where their formulas stand.
struct Rotary {
  enum class Kind { Default, Linear, Dynamic, Yarn, LongRope, Llama3 };
  Kind kind = Kind::Default;
  double theta = 10000;
  int64_t dim = 0;
  double factor = 1;
  int64_t originalPositions = 0;                 ///< Dynamic, Yarn, LongRope, Llama3.
  double low = 0;                                ///< Yarn: beta_slow; Llama3: low_freq_factor.
  double high = 0;                               ///< Yarn: beta_fast; Llama3: high_freq_factor.
  double attentionFactor = 1;                    ///< Yarn, LongRope: on sines and cosines.
  bool truncate = true;                          ///< Yarn.
  std::vector<double> shortFactors, longFactors; ///< LongRope: dim / 2 each.
};

struct Attention {
  std::string name;
  int64_t heads = 0;
  int64_t keyValueHeads = 0; ///< Divides `heads`.
  int64_t headSize = 0;
  double scale = 1; ///< On the product of query and key.
  bool causal = false;
  std::optional<Rotary> rotary;
  /// Either the three projections on their own, ...
  std::optional<Linear> query, key, value;
  /// ... or one whose rows are those of query, key and value, in this order.
  std::optional<Linear> fused;
  Linear output;
};

/// `down(activation(up(x)))`, or `down(activation(gate(x)) * up(x))`.
struct FeedForward {
  std::string name;
  Activation activation = Activation::Gelu;
  std::optional<Linear> gate;
  Linear up, down;
};

enum class NormPlacement {
  Pre,  ///< x + f(norm(x))
  Post, ///< norm(x + f(x))
};

struct Layer {
  std::string name; ///< "model.layers.0"
  NormPlacement placement = NormPlacement::Pre;
  Norm attentionNorm;
  Attention attention;
  Norm feedForwardNorm;
  FeedForward feedForward;
};

/// Token vectors, plus those of the position and of the token type where there
/// are such tables, then the norm.
struct Embeddings {
  std::string name;
  Weight token;
  std::optional<Weight> position;  ///< One row a position, from position 0.
  std::optional<Weight> tokenType; ///< Asks for the argument token_type_ids.
  std::optional<Norm> norm;
};

/// Logits of the vocabulary. A tied head uses the embeddings' token weight.
struct Head {
  std::string name;
  bool tied = false;
  Weight weight; ///< The token weight itself if tied.
};

/// One vector for a sequence, as sentence-transformers composes it.
struct Pooling {
  enum class Kind { Mean, Max, First };
  /// A dense layer with optional activation, or the scaling to length one.
  struct Step {
    std::optional<Linear> dense; ///< Absent: normalise.
    std::optional<Activation> activation;
  };
  std::string name;
  Kind kind = Kind::Mean; ///< Over the tokens that the attention mask keeps.
  std::vector<Step> steps;
  std::optional<int64_t> maxPositions; ///< Longer texts are cut to this.
};

struct ModelDescription {
  enum class Kind {
    Decoder, ///< Causal; grows a cache.
    Encoder, ///< Sees the whole text; takes an attention mask.
  };
  std::string architecture; ///< As the source calls it: "LlamaForCausalLM".
  std::string folder;       ///< Where all files lie.
  Kind kind = Kind::Decoder;
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t maxPositions = 0; ///< Longest context the model was made for.
  Embeddings embeddings;
  std::vector<Layer> layers;
  std::optional<Norm> finalNorm;
  std::optional<Head> head;
  std::optional<Pooling> pooling;
  std::optional<std::string> tokenizer; ///< File below `folder`.
  std::optional<int64_t> beginToken, padToken;
  std::vector<int64_t> endTokens;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_MODELDESCRIPTION_H
