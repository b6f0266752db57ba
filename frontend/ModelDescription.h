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

/// Some of a tensor's rows: of each of `groups` equal groups of `size` rows those
/// from `first` on, `count` of them. Checkpoints stack projections in one tensor,
/// one after the other (one group) or head by head.
struct RowGroups {
  int64_t groups = 1, size = 0, first = 0, count = 0;
};

/// A tensor's elements in another order: seen as `shape`, its axes as `axes` names them. With rows,
/// of these alone.
struct AxisOrder {
  std::vector<int64_t> shape, axes;
};

/// How a matrix is quantised whose codes are `stored`, and the tensors beside them: those of
/// `#fovea.unpack`, or of `#fovea.scale_blocks` for `Float8`.
struct Packing {
  enum class Kind { Gptq, GptqV2, Awq, Rows, Bytes, Mxfp4, Float8 };
  Kind kind = Kind::Gptq;
  int64_t bits = 4;
  int64_t group = 0; ///< Inputs that share a scale; of `Float8` they share it with `rows` outputs.
  int64_t rows = 1;
  StoredTensor scales;
  std::optional<StoredTensor> zeros;
  std::optional<StoredTensor> order; ///< The group of each input, where they do not stand in order.

  /// Whether both give the same type.
  bool agrees(const Packing &other) const;
};

/// One stored tensor in one use. `stored.shape` is `shape`, or, if
/// `transposed`, the two sizes of `shape` exchanged (GPT-2 stores [in, out]).
/// With `rows`, `shape` has those rows alone, and where it lacks the first axis, one of them is
/// all. Several in a `stack` are one, of one type, each with its rows below those before it;
/// nothing is `stored` for it. With `packing` it is unpacked first, to [out, in].
struct Weight {
  std::string name; ///< Unique in the model: the tensor's own name, with `rows` the use's.
  StoredTensor stored;
  std::vector<int64_t> shape; ///< As used; a matrix is [out, in].
  bool transposed = false;
  std::optional<RowGroups> rows;  ///< Of the tensor once it is transposed.
  std::optional<AxisOrder> order; ///< Before it is `shape`, behind `rows`.
  std::vector<Weight> stack;
  bool asFloats = false; ///< Stored blocks become f32: what is neither a matrix nor tokens.
  std::optional<Packing> packing;
  bool asGroupOrder = false; ///< Groups of inputs become their places, sorted by these.
};

/// `y = x W^T + b`, W of shape [out, in].
struct Linear {
  std::string name; ///< The source's module: "model.layers.0.self_attn.q_proj".
  Weight weight;
  std::optional<Weight> bias;
  std::optional<Weight> inputOrder; ///< Places [in] of the inputs as `weight` has them.
};

enum class Activation { Gelu, GeluTanh, GeluQuick, Relu, ReluSquared, Silu, Tanh, Sigmoid };

struct Norm {
  enum class Kind { Layer, Rms };
  std::string name;
  Kind kind = Kind::Layer;
  double epsilon = 0;
  double weightOffset = 0; ///< Rms: what is added to the stored weight (Gemma: 1).
  Weight weight;
  std::optional<Weight> bias; ///< Layer norms mostly have one.
};

/// Rotary position embedding: pair i of `dim / 2` turns by position * f_i with
/// f_i = theta^(-2i/dim), stretched as `kind` says; pairs are (i, i + dim/2), or
/// (2i, 2i + 1) if `interleaved`. The kinds are those of `#fovea.rope_scaling`, where their
/// formulas stand.
struct Rotary {
  enum class Kind { Default, Linear, Dynamic, Yarn, LongRope, Llama3 };
  Kind kind = Kind::Default;
  bool interleaved = false;
  double theta = 10000;
  int64_t dim = 0;
  double factor = 1;
  int64_t originalPositions = 0; ///< Dynamic, Yarn, LongRope, Llama3.
  double low = 0;                ///< Yarn: beta_slow; Llama3: low_freq_factor.
  double high = 0;               ///< Yarn: beta_fast; Llama3: high_freq_factor.
  double attentionFactor = 1;    ///< Yarn, LongRope: on sines and cosines.
  bool truncate = true;          ///< Yarn.
  double scoreFactor = 1;        ///< What `mscale_all_dim` gives, for families that heed it.
  std::vector<double> shortFactors, longFactors; ///< LongRope: dim / 2 each.
};

/// What the distance of key and query adds to the scores of each head, by buckets of distances as
/// `fovea.relative_bias` says (Raffel et al. 2020).
struct RelativeBias {
  Weight table; ///< [buckets, heads]
  bool bidirectional = false;
  int64_t maxDistance = 128;
};

/// What latent attention has besides (DeepSeek-AI 2024, DeepSeek-V2, section 2.1), absorbed: all
/// heads have one key, a token's normed latent and behind it a rotated part, and one value, the
/// latent. What is not rotated of a head's query becomes as long as the latent by a matrix of its
/// own, and another makes the head's result of what it read.
struct LatentAttention {
  std::optional<Linear> queryDown; ///< Queries are projections of this, normed.
  std::optional<Norm> queryNorm;
  Linear queryRotated; ///< [heads * rotary.dim, hidden or queryDown's]
  Linear keyRotated;   ///< [rotary.dim, hidden]
  Linear toLatent;     ///< [heads * latent, what a head's query has that is not rotated]
  Linear fromLatent;   ///< [heads * what a head gives, latent]
};

struct Attention {
  std::string name;
  int64_t heads = 0;
  int64_t keyValueHeads = 0;     ///< Divides `heads`.
  int64_t headSize = 0;          ///< Of queries and keys as they are multiplied.
  int64_t valueSize = 0;         ///< Of values; as `headSize` where nothing else is said.
  double scale = 1;              ///< On the product of query and key.
  std::optional<double> softcap; ///< Scores x become softcap * tanh(x / softcap).
  bool alibi = false;            ///< Scores get a slope of their head times the key's position.
  double alibiScale = 1;         ///< On these slopes.
  std::optional<RelativeBias> relativeBias;
  bool causal = false;
  std::optional<Weight> sinks;   ///< [heads]: a score more in each softmax, of no key.
  std::optional<int64_t> window; ///< A query sees itself and the keys less than this before it; if
                                 ///< not `causal`, as many behind it.
  std::optional<Rotary> rotary;
  Linear query, key, value, output;
  /// Before the rotation; over each head's elements, or over all heads' (OLMo 2)
  /// if the weight is that long.
  std::optional<Norm> queryNorm, keyNorm;
  /// Causal, with `rotary`, without biases of scores. Then `query` gives what is not rotated, `key`
  /// the latent, which `keyNorm` norms, and there is no `value`.
  std::optional<LatentAttention> latent;

  int64_t sizeOfValues() const { return valueSize ? valueSize : headSize; }
};

/// `down(activation(up(x)))`, or `down(activation(gate(x)) * up(x))`.
struct FeedForward {
  std::string name;
  Activation activation = Activation::Gelu;
  std::optional<Linear> gate;
  Linear up, down;
};

/// How a token's experts are chosen by their scores, and weighed.
struct Routing {
  /// Weights are the chosen scores' softmax; or scores become their softmax, or each its sigmoid,
  /// before the choice and are weights as they are.
  enum class Scores { SoftmaxOfChosen, Softmax, Sigmoid };
  Scores scores = Scores::SoftmaxOfChosen;
  std::optional<Weight> bias; ///< [count], on scores, for the choice alone.
  /// Only experts of `chosenGroups` of the equal `groups` are chosen: of those whose `groupTop`
  /// greatest scores have the greatest sums (DeepSeek-AI 2024, DeepSeek-V3, section 2.1.2).
  int64_t groups = 1, chosenGroups = 1, groupTop = 1;
  bool sumToOne = false; ///< Weights are divided by their sum.
  double scale = 1;      ///< On the weights.
};

/// Feed-forward layers of which each token meets those whose scores are greatest, summed with a
/// weight each (Shazeer et al. 2017). The weights of all lie one below the other.
struct Experts {
  std::string name;
  Linear router; ///< [count, hidden]: a score for each.
  int64_t count = 0, chosen = 0;
  Routing routing;
  Activation activation = Activation::Silu;
  /// Inputs x of the activation's side become min(x, limit), those of the other one
  /// clamp(x, -limit, limit) + 1 (GPT-OSS).
  std::optional<double> limit;
  Linear gateUp; ///< [count * 2 * width, hidden], of each expert the gate's rows before up's.
  Linear down;   ///< [count * hidden, width]
  /// Added for every token, times the sigmoid of `sharedGate` where there is one.
  std::optional<FeedForward> shared;
  std::optional<Linear> sharedGate; ///< [1, hidden]
};

/// How attention and feed-forward stand in the stream of activations:
/// `x = sumNorm(x + scale * outputNorm(f(inputNorm(x))))`, without the norms that are
/// absent. An input norm is what is called pre-norm, a norm of the sum post-norm.
struct Residual {
  std::optional<Norm> inputNorm, outputNorm, sumNorm;
  double scale = 1;
};

struct Layer {
  std::string name; ///< "model.layers.0"
  Residual aroundAttention, aroundSource, aroundFeedForward;
  Attention attention;
  /// Between the two, to what an encoder gives: keys and values are projections of that.
  std::optional<Attention> source;
  FeedForward feedForward;
  std::optional<Experts> experts; ///< Instead of it.
  /// Both read the layer's input, and there is one sum (GPT-J). Without an input
  /// norm of its own the feed-forward reads what attention reads.
  bool parallel = false;
};

/// Sines and cosines of a position and its offset, as `fovea.position_sinusoidal` has them.
struct Sinusoids {
  bool halves = true; ///< All sines first; else they alternate.
  int64_t offset = 0;
};

/// Squares of an image, each a vector of its pixels that is projected to the layers' width, row by
/// row, behind tokens of their own (Dosovitskiy et al. 2021, ViT).
struct Patches {
  int64_t channels = 0, height = 0, width = 0; ///< Of the image.
  int64_t size = 0;                            ///< Pixels of a side; divides both.
  Linear projection;                           ///< [hidden, channels * size * size]
  std::optional<Weight> tokens;                ///< [count, hidden]

  int64_t count() const {
    return (tokens ? tokens->shape.front() : 0) + (height / size) * (width / size);
  }
};

/// A convolution along time, padded by zeros so that the places of a kernel are centred: kernels
/// are odd.
struct Convolution {
  Linear projection; ///< [out, kernel * in], of each place in turn its channels.
  int64_t kernel = 1, stride = 1;

  /// Results of `length` places.
  int64_t count(int64_t length) const { return (length - 1) / stride + 1; }
};

/// The logarithm of how much of each pitch there is in pieces of sound (Radford et al. 2022,
/// section 2.2, Whisper). Of samples that are reflected at both ends, pieces of `window` every
/// `hop`, as many as there are hops: the power of each frequency, sums of it over mels, of those
/// the logarithm to base 10, at least -10 and at least the clip's greatest less 8, as (x + 4) / 4.
/// All in f32, whatever linears multiply.
struct LogMel {
  std::string name;
  int64_t rate = 0;    ///< Samples a second.
  int64_t samples = 0; ///< Of a clip.
  int64_t window = 0, hop = 0;
  Linear basis;   ///< [window + 2, window]: real and imaginary parts' rows, windowed.
  Linear filters; ///< [mels, window / 2 + 1]

  int64_t count() const { return samples / hop; }
};

/// Sound as vectors: its mels, then convolutions with an activation behind each.
struct Sound {
  LogMel mels;
  std::vector<Convolution> convolutions;
  Activation activation = Activation::Gelu;

  int64_t count() const {
    int64_t length = mels.count();
    for (const Convolution &convolution : convolutions)
      length = convolution.count(length);
    return length;
  }
};

/// Token vectors times `scale`, plus those of the position and of the token type
/// where there are such tables, then the norm. Narrow token vectors are projected to
/// the layers' width: before positions are added if these are that wide, else last.
struct Embeddings {
  std::string name;
  std::optional<Patches> patches; ///< Instead of tokens, scale and types.
  std::optional<Sound> sound;     ///< Likewise.
  Weight token;
  double scale = 1;
  std::optional<Weight> position; ///< One row a position; position 0 has row `positionOffset`.
  int64_t positionOffset = 0;
  std::optional<Sinusoids> sinusoids; ///< Instead of a table.
  /// Positions count the tokens that are not this one, from 1 on, and it has
  /// position 0 (RoBERTa).
  std::optional<int64_t> uncountedToken;
  std::optional<Weight>
      tokenType; ///< Asks for the argument token_type_ids if it has two rows or more.
  std::optional<Norm> norm;
  std::optional<Linear> projection;
};

/// What stands behind the layers, step by step; a step's parts in this order.
struct Step {
  std::optional<Linear> dense;
  std::optional<Activation> activation;
  std::optional<Norm> norm;
  bool unitLength = false; ///< Scaling to length one.
};

/// How a sequence becomes one vector: over the tokens that the attention mask keeps. `Greatest` is
/// the first place of the greatest token.
enum class Pool { Mean, Max, First, Greatest };

/// What a model gives: its last hidden state, behind the steps.
struct Head {
  std::string name;
  std::string output; ///< As the framework calls it: "logits".
  /// One vector for a sequence. `First` is that of its first place, also where that is padding.
  std::optional<Pool> pool;
  /// Of `Greatest`: this token counts as greater than the others, which are equal.
  std::optional<int64_t> greatestToken;
  bool isEmbedding = false; ///< What the sequence or image is compared by: an entry gives it alone.
  std::vector<Step> steps;
  std::optional<double> softcap;    ///< Logits x become softcap * tanh(x / softcap).
  double scale = 1;                 ///< On the logits, before that.
  std::vector<std::string> columns; ///< Each element of the result is an output of its own.
};

/// One vector for a sequence, as sentence-transformers composes it.
struct Pooling {
  std::string name;
  Pool kind = Pool::Mean;
  std::vector<Step> steps;
  std::optional<int64_t> maxPositions; ///< Longer texts are cut to this.
};

/// The part of an encoder-decoder that reads the source: a text, or sound.
struct SourceEncoder {
  Embeddings embeddings;
  std::vector<Layer> layers;
  std::optional<Norm> finalNorm;
};

/// How near the embeddings of a model's towers are: the product of each two vectors at length one,
/// times e to a learned power (Radford et al. 2021, figure 3).
struct Similarity {
  std::string name;
  Weight power; ///< [1]
};

/// What a picture becomes before the model takes it: resized, cropped around its centre, and of
/// each channel (pixel * scale - mean) / deviation.
struct ImageSettings {
  enum class Filter { Nearest, Lanczos, Bilinear, Bicubic, Box, Hamming }; ///< By PIL's numbers.
  struct Sides {
    int64_t height = 0, width = 0;
  };
  std::optional<Sides> resize;
  std::optional<int64_t> shortestEdge; ///< In place of it: the shorter side's length.
  Filter filter = Filter::Bilinear;
  std::optional<Sides> crop;
  double scale = 1;
  std::vector<double> mean, deviation; ///< One for each channel.
};

/// A token between an encoder-decoder's begin token and what it writes.
struct PromptToken {
  std::string name;             ///< What is chosen by it: "language". Empty: nothing.
  std::optional<int64_t> token; ///< Where nobody chooses; without one the likeliest of `values`.
  std::vector<std::pair<std::string, int64_t>> values; ///< What may be chosen: "de" is a token.
};

/// What makes probabilities of a classifier's scores.
enum class ScoreFunction { Softmax, Sigmoid, None };

struct ModelDescription {
  enum class Kind {
    Decoder,        ///< Causal; grows a cache.
    Encoder,        ///< Sees the whole text; takes an attention mask.
    EncoderDecoder, ///< A decoder whose layers attend to what an encoder gives, too.
    Towers,         ///< Encoders side by side, each of an input of its own.
  };
  std::string name;         ///< Of a tower: "text".
  std::string architecture; ///< As the source calls it: "LlamaForCausalLM".
  std::string folder;       ///< Where all files lie.
  Kind kind = Kind::Decoder;
  int64_t vocabulary = 0;
  int64_t hidden = 0;
  int64_t maxPositions = 0;             ///< Longest context the model was made for.
  std::optional<SourceEncoder> encoder; ///< Of an encoder-decoder; what follows is the decoder's.
  Embeddings embeddings;
  std::vector<Layer> layers;
  std::optional<Norm> finalNorm;
  std::optional<Linear> finalProjection; ///< Behind it, to the width of the tokens.
  /// Instead of embeddings, layers and heads: what they read is told by their names, and each has a
  /// head that is an embedding. Two are compared.
  std::vector<ModelDescription> towers;
  std::optional<Similarity> similarity;
  /// A decoder has at most one, over the vocabulary. Without any the last hidden
  /// state is the result.
  std::vector<Head> heads;
  bool givesHiddenState = true;    ///< Encoders: beside what the heads give.
  std::vector<std::string> labels; ///< Of a classifier's scores.
  ScoreFunction scoreFunction = ScoreFunction::Softmax;
  std::optional<ImageSettings> images; ///< Where the source says them.
  std::optional<Pooling> pooling;
  std::optional<std::string> tokenizer; ///< File below `folder`.
  /// The token before a prompt, of an encoder-decoder the one before what it writes.
  std::optional<int64_t> beginToken, padToken;
  std::vector<int64_t> endTokens;
  std::vector<int64_t> suppressedTokens;      ///< Never written.
  std::vector<int64_t> beginSuppressedTokens; ///< Not first, by an encoder-decoder.
  std::vector<PromptToken> prompt;            ///< Of an encoder-decoder.
  /// Of what an encoder-decoder writes: its first token, and its last where it is as long as it may
  /// be; tokens before an end token, at least; tokens in a row that are not written twice.
  std::optional<int64_t> forcedBeginToken, forcedEndToken, minTokens, noRepeatNgram;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_MODELDESCRIPTION_H
