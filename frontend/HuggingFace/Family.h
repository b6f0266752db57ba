// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a family of models needs to describe itself in one small file: its
// configuration, a table of the checkpoint's weights, and the few things that
// families share (activations, rotary scaling).
#ifndef FOVEA_FRONTEND_HUGGINGFACE_FAMILY_H
#define FOVEA_FRONTEND_HUGGINGFACE_FAMILY_H

#include "frontend/HuggingFace/Safetensors.h"
#include "frontend/Json.h"
#include "frontend/ModelDescription.h"
#include "frontend/WeightTable.h"

#include <string>
#include <vector>

namespace fovea {

/// A family's entry in the registry.
struct Family {
  const char *modelType; ///< `model_type` in config.json.
  std::vector<std::string> architectures;
  /// Fills `model` from the configuration and the weights; adds problems. Its architecture is set,
  /// and whether there will be a pooling: then no other head is asked for.
  void (*describe)(JsonObject &config, WeightTable &weights, ModelDescription &model,
                   Problems &problems);
  bool isEncoderDecoder = false; ///< What `is_encoder_decoder` must say if it is there.
};

#define FOVEA_FAMILY(function) Family function();
#include "frontend/HuggingFace/Families.def"

/// `key` names an activation as transformers' ACT2FN does.
std::optional<Activation> readActivation(JsonObject &config, const char *key,
                                         const std::string &fallback);

/// Where a family has its rotary parameters, and what those that are absent are.
struct RotaryKeys {
  const char *layerKind = "";       ///< `rope_parameters` has a member for each kind of layer.
  const char *theta = "rope_theta"; ///< Beside `rope_scaling`.
  double thetaIfAbsent = 10000;
  bool scaled = true; ///< `rope_scaling` is meant for these layers.
  double partIfAbsent = 1;
  const char *part = "partial_rotary_factor"; ///< Beside `rope_scaling`.
  const char *headSize = "head_dim";          ///< For messages.
};

/// Rotary embedding from `rope_theta` and `rope_scaling` (transformers 4) or
/// `rope_parameters` (transformers 5).
std::optional<Rotary> readRotary(JsonObject &config, int64_t headSize, int64_t contextLength,
                                 Problems &problems, const RotaryKeys &keys = {});

/// Marks keys that every configuration may have and that do not change the
/// numbers of inference.
void ignoreCommonKeys(JsonObject &config);

/// Whether an architecture is a family's language model, not its bare layers.
bool isLanguageModel(const std::string &architecture);

/// Requires that `key`, if given, is `expected`: a variant that is not built.
void requireBoolean(JsonObject &config, const char *key, bool expected, Problems &problems);

/// What the modules.json of sentence-transformers says.
struct SentenceModules {
  struct Module {
    enum class Kind { Pooling, Dense, Normalize };
    Kind kind;
    std::string path; ///< Below the model's folder.
  };
  std::string transformerFolder; ///< Below the model's folder; mostly empty.
  std::optional<int64_t> maxPositions;
  std::vector<Module> modules; ///< Those behind the Transformer, in order.
};

/// The name of a class without its module: "sentence_transformers.models.Pooling" -> "Pooling".
std::string lastPart(const std::string &type);

/// An empty result if there is no modules.json.
SentenceModules readSentenceModules(const std::string &folder, Problems &problems);

/// Pooling of a model of width `hidden`, if there is a pooling module.
std::optional<Pooling> readPooling(const SentenceModules &modules, const std::string &folder,
                                   int64_t hidden, Problems &problems, artifact::FileAccess access);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_FAMILY_H
