// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What encoders have in common: how their configurations call their sizes, how their tensors are
// called, a layer made of these, and the heads that stand behind them. A family says where it
// differs, and which head each of its architectures has.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_ENCODER_H
#define FOVEA_FRONTEND_HUGGINGFACE_ENCODER_H

#include "frontend/HuggingFace/Family.h"

#include <functional>
#include <utility>

namespace fovea {

/// Keys of config.json, BERT's where a family says nothing else. An empty one is not there.
struct EncoderKeys {
  const char *hidden = "hidden_size";
  const char *layers = "num_hidden_layers";
  const char *heads = "num_attention_heads";
  const char *width = "intermediate_size";
  const char *positions = "max_position_embeddings";
  const char *types = "type_vocab_size";
  const char *activation = "hidden_act";
  const char *epsilon = "layer_norm_eps";
  const char *tokenWidth = ""; ///< Empty: as wide as the layers.
};

/// Tensors without ".weight" and without the model's prefix; those of a layer also without its
/// name.
struct EncoderTensors {
  std::vector<std::string> prefixes = {"bert.", ""};
  std::string token = "embeddings.word_embeddings";
  std::string position = "embeddings.position_embeddings"; ///< Empty: none.
  std::string tokenType = "embeddings.token_type_embeddings";
  std::string embeddingNorm = "embeddings.LayerNorm"; ///< Empty: none.
  std::string projection; ///< Of embeddings to the layers' width; empty: none.
  std::string layers = "encoder.layer";
  std::string attention = "attention.self"; ///< Whose name attention has in traces.
  std::string query = "attention.self.query", key = "attention.self.key",
              value = "attention.self.value", output = "attention.output.dense";
  std::string attentionNorm = "attention.output.LayerNorm";
  std::string up = "intermediate.dense", down = "output.dense";
  std::string outputNorm = "output.LayerNorm";
  std::string pooler = "pooler.dense";
  std::vector<std::string> harmless = {"embeddings.position_ids"}; ///< Endings of buffers.
};

/// What absent sizes are; 0: they must be there.
struct LayerSizes {
  int64_t hidden = 0, width = 0, layers = 0, heads = 0;
};
struct ImageSizes {
  int64_t channels = 0, image = 0, patch = 0;
};

class Encoder;

/// What stands behind the layers, by the end of the architecture's name: "ForMaskedLM".
using EncoderHeads = std::vector<std::pair<const char *, std::function<void(Encoder &)>>>;

/// A family's architectures, whose names begin with `prefix`.
std::vector<std::string> architecturesOf(const std::string &prefix, const EncoderHeads &heads);

class Encoder {
public:
  Encoder(JsonObject &config, WeightTable &weights, ModelDescription &model, Problems &problems)
      : config(config), weights(weights), model(model), problems(problems) {}

  // What a family says before `read`. The values are those of absent keys.
  EncoderKeys keys;
  EncoderTensors tensors;
  double epsilon = 1e-12;
  std::string activationName = "gelu";
  int64_t typesIfAbsent = 2;
  int64_t tokenWidthIfAbsent = 0; ///< Of a family that has the key.
  bool normBias = true, projectionBias = true;
  /// Positions count the tokens that are not padding, which `pad_token_id` is, and stand behind its
  /// row.
  std::optional<int64_t> countedPadding;

  /// Reads sizes; keys that are neither read nor known become problems. False if the layers cannot
  /// be described; the family has read all its own keys before.
  bool read();

  // The parts of it that models of images have, too, by the names of keys that all of them share.
  /// Sizes of layers, their activation, and the norms' epsilon.
  bool readLayers(const LayerSizes &absent = {});
  /// Sizes of images and patches.
  std::optional<Patches> readPatches(const ImageSizes &absent = {});

  // What `read` has found.
  int64_t hidden = 0, width = 0, layers = 0, heads = 0;
  int64_t vocabulary = 0, positions = 0, types = 0;
  int64_t tokenWidth = 0; ///< Of token vectors: `hidden`, unless a key says otherwise.
  bool tied = true;
  Activation activation = Activation::Gelu;

  /// Begins the model: its sizes and its embeddings. Before any layer.
  void begin();
  /// The sizes alone, by the name of a tensor that each such model has.
  void beginWithout(const std::string &probe);
  /// Attention of one size a head, without its projections.
  Attention attention(const std::string &layer);
  /// Post-norm attention and feed-forward by the names in `tensors` below `layer`.
  Layer layer(const std::string &layer);
  /// Patches by a convolution NAME, behind tokens of their own.
  void beginPatches(Patches patches, const std::string &name, bool bias,
                    std::vector<Weight> tokens);
  /// All layers, with norms before attention and feed-forward, each layer's by those names.
  void addPreNormLayers(bool causal = false);
  Norm norm(const std::string &name, int64_t size) {
    return weights.layerNorm(name, size, epsilon, normBias);
  }
  /// What `table` has for the architecture, and the tensors that are left. Behind all layers.
  /// A model of sentences is its layers alone, whatever it was trained for besides.
  void finish(const EncoderHeads &table);
  /// All of it, for a family whose layers differ in nothing but their number.
  void describe(const EncoderHeads &table);

  // Heads and their parts. Names of tensors are whole, but for the pooler's.

  /// A linear layer with what comes behind it.
  Step dense(const std::string &name, int64_t out, int64_t in,
             std::optional<Activation> activation = {}, bool bias = true);
  /// What stands before the vocabulary, as wide as its tokens' vectors.
  Step transform(const std::string &name, const std::string &normName, Activation activation);
  /// BERT's pooler: the first token's vector through a dense layer and tanh.
  Step pooler();
  /// The names of the labels, by number.
  std::vector<std::string> readLabels();
  /// One score for each label, which become the model's.
  Step classifier(const std::string &name = "classifier");
  /// The model without a head gives its hidden state, and what the pooler makes of it if that is
  /// there.
  void bare();
  /// Scores for each token of the vocabulary behind `steps`. `otherBias` is another name of the
  /// bias.
  void vocabularyHead(std::vector<Step> steps, const std::string &decoder,
                      const std::string &otherBias = "", bool bias = true,
                      const char *output = "logits");
  /// One result for a sequence.
  void sequenceHead(std::vector<Step> steps, const char *output = "logits",
                    Pool pool = Pool::First);
  /// One result for each token.
  void tokenHead(std::vector<Step> steps, const char *output = "logits");
  /// Each element of the tokens' results by itself.
  void columnHead(std::vector<Step> steps, std::vector<std::string> columns);
  /// Scores for each token to be an answer's first and last.
  void answerHead(std::vector<Step> steps = {}, const std::string &name = "qa_outputs");

private:
  std::string prefix; ///< Of the layers' tensors.
  JsonObject &config;
  WeightTable &weights;
  ModelDescription &model;
  Problems &problems;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_ENCODER_H
