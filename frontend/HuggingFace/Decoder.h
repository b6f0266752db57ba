// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decoders have in common: how their configurations call their sizes, how their tensors are
// called, and a layer made of these. A family says where it differs, and adds what only it has.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_DECODER_H
#define FOVEA_FRONTEND_HUGGINGFACE_DECODER_H

#include "frontend/HuggingFace/Family.h"

#include <functional>

namespace fovea {

/// Keys of config.json, Llama's where a family says nothing else. An empty one is not there.
struct DecoderKeys {
  const char *hidden = "hidden_size";
  const char *layers = "num_hidden_layers";
  const char *heads = "num_attention_heads";
  const char *keyValueHeads = "num_key_value_heads"; ///< Absent: as many as there are heads.
  const char *headSize = "head_dim";                 ///< Absent: hidden / heads.
  const char *width = "intermediate_size";
  const char *positions = "max_position_embeddings";
  const char *activation = "hidden_act";
  const char *epsilon = "rms_norm_eps";
  const char *experts = "num_experts"; ///< Where there is no `num_local_experts`.
};

/// Tensors without ".weight" and without the model's prefix; those of a layer also without its
/// name.
struct DecoderTensors {
  std::vector<std::string> prefixes = {"model.", ""};
  std::string token = "embed_tokens";
  std::string tokenNorm; ///< Empty: none behind the tokens.
  std::string layers = "layers";
  std::string attention = "self_attn";
  std::string query = "q_proj", key = "k_proj", value = "v_proj", output = "o_proj";
  std::string feedForward = "mlp";
  std::string gate = "gate_proj"; ///< Empty: not gated.
  std::string up = "up_proj", down = "down_proj";
  std::string attentionNorm = "input_layernorm";
  std::string feedForwardNorm = "post_attention_layernorm"; ///< Empty: none of its own.
  std::string finalNorm = "norm";
  std::string head = "lm_head";
  std::vector<std::string> harmless = {"rotary_emb.inv_freq"}; ///< Endings of buffers.
};

/// Where a layer with experts has what, below its feed-forward's name.
struct ExpertTensors {
  std::string router = "gate", experts = "experts";
  std::string gate = "gate_proj", up = "up_proj", down = "down_proj"; ///< Of one expert.
};

class Decoder {
public:
  Decoder(JsonObject &config, WeightTable &weights, ModelDescription &model, Problems &problems)
      : config(config), weights(weights), model(model), problems(problems) {}

  // What a family says before `read`. The values are those of absent keys.
  DecoderKeys keys;
  DecoderTensors tensors;
  Norm::Kind norms = Norm::Kind::Rms;
  bool normBias = true;  ///< Of layer norms.
  double normOffset = 0; ///< Of RMS norms.
  double epsilon = 1e-6;
  std::string activationName = "silu";
  std::optional<int64_t> headSizeIfAbsent, positionsIfAbsent;
  bool headsDivide = true;   ///< The hidden size; not of families whose heads have any size.
  bool widthFollows = false; ///< An absent width is 4 * hidden.
  bool tied = false;
  bool projectionBias = false, outputBias = false, feedForwardBias = false, headBias = false;
  std::optional<Stacking> stacked; ///< `tensors.query` has the keys and values too.
  bool stackedGate = false;        ///< `tensors.gate` has the rows of `up` too, behind its own.
  bool transposed = false;         ///< Matrices are stored [in, out].
  /// A table with one row a position, and so many more before the first; empty: none.
  std::string positionTensor;
  int64_t positionOffset = 0;

  /// GPT-2's keys and tensors; its layer norms, activation and width.
  void useGpt2Names();
  /// Megatron's tensors of a layer, stacked head by head; its layer norms.
  void useMegatronNames();

  /// Reads sizes, keys that are neither read nor known become problems. False if the layers cannot
  /// be described; the family has read all its own keys before.
  bool read();

  // What `read` has found.
  int64_t hidden = 0, width = 0, layers = 0, heads = 0, keyValueHeads = 0, headSize = 0;
  int64_t vocabulary = 0, positions = 0;
  int64_t tokenWidth = 0; ///< Of token vectors: `hidden`, unless a family changes it.
  Activation activation = Activation::Silu;

  /// Reads how many experts there are, and how many of them a token meets. After `read`. False if
  /// that is at fault.
  bool readExperts();
  int64_t expertCount = 0, chosenExperts = 0; ///< What it has found.
  ExpertTensors expertTensors;
  /// Without weights: for families that store them otherwise.
  Experts emptyExperts(const std::string &name);
  /// Those of a layer, `width` wide each, one tensor each.
  Experts experts(const std::string &name, int64_t width);
  FeedForward feedForward(const std::string &name, int64_t width);
  /// Sets the projections of a layer's attention, for families that have others.
  std::function<void(Attention &attention, const std::string &name)> projectionsOf;
  /// What a layer has instead of its feed-forward, if it has.
  std::function<std::optional<Experts>(const std::string &name, int64_t i)> expertsOf;

  /// Sets `rotary` for all layers. False if its parameters are at fault.
  bool readRotary();
  /// Both, so that a fault of the sizes keeps none of the rotary parameters from being named.
  bool readWithRotary();
  std::optional<Rotary> rotary;

  /// "layers.3" of layer 3.
  std::string nameOf(int64_t i) const { return tensors.layers + "." + std::to_string(i); }
  Norm norm(const std::string &name, int64_t size);
  Norm norm(const std::string &name) { return norm(name, hidden); }
  /// Norms of the queries and keys of layer i: of each head, or of all heads together.
  void normQueriesAndKeys(Layer &layer, int64_t i, bool together = false);
  /// Pre-norm attention, causal, and feed-forward.
  Layer layer(int64_t i);
  /// Begins the model: its sizes and its tokens. Before any layer.
  void begin();
  /// The final norm and, if the architecture has one, the head. Behind all layers.
  void finish();
  /// All of it, for a family whose layers `adjust` completes.
  void describe(const std::function<void(Layer &, int64_t i)> &adjust = {});

private:
  void project(Attention &attention, const std::string &name);

  JsonObject &config;
  WeightTable &weights;
  ModelDescription &model;
  Problems &problems;
};

/// Which of the layers attend to a window, by `layer_types` where it is there, else by `otherwise`.
std::vector<bool> readWindowedLayers(JsonObject &config, int64_t layers,
                                     const std::function<bool(int64_t)> &otherwise);

/// `key` as a window's length in keys; nothing if it is absent.
std::optional<int64_t> readWindow(JsonObject &config, const char *key = "sliding_window");

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_DECODER_H
