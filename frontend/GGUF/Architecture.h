// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an architecture of GGUF needs to describe itself in a few lines: its keys, the table of
// tensors, and what all of them share.
#ifndef FOVEA_FRONTEND_GGUF_ARCHITECTURE_H
#define FOVEA_FRONTEND_GGUF_ARCHITECTURE_H

#include "frontend/GGUF/GgufFile.h"
#include "frontend/Json.h"
#include "frontend/ModelDescription.h"
#include "frontend/WeightTable.h"

#include <functional>
#include <string>

namespace fovea {

/// What is read, and where it goes to.
struct GgufModel {
  const GgufFile &file;
  JsonObject &keys; ///< Of the architecture, without its name: "attention.head_count".
  WeightTable &weights;
  ModelDescription &model;
  Problems &problems;
};

/// An entry of the registry.
struct GgufArchitecture {
  const char *name; ///< `general.architecture`
  void (*describe)(GgufModel &source);
};

#define FOVEA_GGUF_ARCHITECTURE(function) GgufArchitecture function();
#include "frontend/GGUF/Architectures.def"

/// Sizes that all architectures have.
struct GgufSizes {
  int64_t hidden = 0, layers = 0, heads = 0, keyValueHeads = 0, headSize = 0, width = 0;
  int64_t positions = 0, vocabulary = 0;
  double epsilon = 0; ///< Of the norms, of whichever kind.
};

/// Reads them, and adds problems; nothing if the layers cannot be described.
std::optional<GgufSizes> readGgufSizes(GgufModel &source, Norm::Kind norms);

/// Marks keys that change nothing, and reports those that nobody has read.
void finishGgufKeys(GgufModel &source);

/// Rotary embedding by the keys `rope.`, and by factors that are stored as tensors; nothing after a
/// problem.
std::optional<Rotary> readGgufRotary(GgufModel &source, const GgufSizes &sizes);

/// Begin, end and padding, of which the vocabulary knows the names: llama.cpp ends texts with
/// tokens of these, too. False if there is no vocabulary.
bool readGgufTokens(const GgufFile &file, ModelDescription &model, Problems &problems);

} // namespace fovea

#endif // FOVEA_FRONTEND_GGUF_ARCHITECTURE_H
