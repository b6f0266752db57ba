// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys that all architectures have.
#include "frontend/GGUF/Architecture.h"

using namespace fovea;

/// That what is stored together fits: heads in groups, values as long as keys.
static bool readHeads(GgufModel &source, GgufSizes &sizes) {
  JsonObject &keys = source.keys;
  size_t before = source.problems.size();
  sizes.keyValueHeads = keys.integer("attention.head_count_kv", 1, maxHeads, sizes.heads);
  if (sizes.heads % sizes.keyValueHeads != 0)
    keys.reject("attention.head_count_kv",
                "a divisor of attention.head_count, " + std::to_string(sizes.heads));
  bool isSaid = keys.has("attention.key_length");
  sizes.headSize = keys.integer("attention.key_length", 1, maxWidth, sizes.hidden / sizes.heads);
  if (!isSaid && sizes.hidden % sizes.heads != 0)
    keys.reject("embedding_length",
                "a multiple of attention.head_count, " + std::to_string(sizes.heads));
  if (keys.integer("attention.value_length", 1, maxWidth, sizes.headSize) != sizes.headSize)
    keys.reject("attention.value_length",
                "attention.key_length, " + std::to_string(sizes.headSize));
  return source.problems.size() == before;
}

std::optional<GgufSizes> fovea::readGgufSizes(GgufModel &source, Norm::Kind norms) {
  JsonObject &keys = source.keys;
  auto hidden = keys.integer("embedding_length", 1, maxWidth);
  auto layers = keys.integer("block_count", 1, maxLayers);
  auto heads = keys.integer("attention.head_count", 1, maxHeads);
  auto width = keys.integer("feed_forward_length", 1, maxWidth);
  auto positions = keys.integer("context_length", 1, maxPositions);
  auto epsilon = keys.number(norms == Norm::Kind::Rms ? "attention.layer_norm_rms_epsilon"
                                                      : "attention.layer_norm_epsilon",
                             0, 1);
  // Nobody says how many tokens there are but the table of their vectors.
  const StoredTensor *tokens = source.file.find("token_embd.weight");
  bool isTable = tokens && tokens->shape.size() == 2 && tokens->shape.front() <= maxVocabulary;
  if (!isTable)
    addError(source.problems, source.file.name(), "tensor \"token_embd.weight\"",
             tokens ? "expects a matrix of at most " + std::to_string(maxVocabulary) +
                          " rows, got " + printShape(tokens->shape)
                    : "is missing");
  if (!hidden || !layers || !heads || !width || !positions || !epsilon || !isTable)
    return std::nullopt;
  GgufSizes sizes;
  sizes.hidden = *hidden;
  sizes.layers = *layers;
  sizes.heads = *heads;
  sizes.width = *width;
  sizes.positions = *positions;
  sizes.epsilon = *epsilon;
  sizes.vocabulary = tokens->shape.front();
  return readHeads(source, sizes) ? std::optional(sizes) : std::nullopt;
}

void fovea::finishGgufKeys(GgufModel &source) {
  // The first is told by a tensor, the next say how the file came to be; the last one says what a
  // tokenizer does, in files of old.
  source.keys.ignore({"vocab_size", "tensor_data_layout", "rope.scaling.finetuned",
                      "rope.dimension_count", "use_parallel_residual", "add_bos_token"});
  source.keys.reportUnread("could change numbers and is not understood");
}
