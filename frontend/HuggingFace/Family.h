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

#include <set>
#include <string>
#include <vector>

namespace fovea {

/// Bounds on sizes in configurations: larger than any model that was published,
/// small enough that no product of two overflows.
constexpr int64_t maxVocabulary = int64_t(1) << 24;
constexpr int64_t maxWidth = int64_t(1) << 20;
constexpr int64_t maxHeads = int64_t(1) << 12;
constexpr int64_t maxLayers = int64_t(1) << 10;
constexpr int64_t maxExperts = int64_t(1) << 12;
constexpr int64_t maxPositions = int64_t(1) << 30;

/// The order of a stacked projection's rows.
enum class Stacking {
  ByKind,    ///< All queries' rows, all keys', all values'.
  ByKeyHead, ///< For each key head those of its queries, its own and its values'.
};

/// The weights of a checkpoint, handed out by name and shape. What is missing
/// or has the wrong shape or type becomes a problem, and the reader goes on.
class WeightTable {
public:
  /// Without a checkpoint (it could not be opened) nothing is found and nothing
  /// is reported.
  WeightTable(const Checkpoint *checkpoint, Problems &problems)
      : checkpoint(checkpoint), problems(problems) {}

  /// Tensors whose names begin with `prefix` are meant from now on by the name
  /// without it, if a tensor `prefix + probe` exists. (The same model is stored
  /// as "model.norm.weight" with a head, and as "norm.weight" without.)
  void choosePrefix(const std::vector<std::string> &prefixes, const std::string &probe);
  const std::string &prefix() const { return chosenPrefix; }
  /// Whether there is a tensor of this name, which is whole.
  bool has(const std::string &name) const { return checkpoint && checkpoint->find(name); }

  /// `name` is without the prefix. If there is no such tensor, the first of
  /// `otherNames` that exists is taken.
  Weight weight(const std::string &name, std::vector<int64_t> shape, bool transposed = false,
                const std::vector<std::string> &otherNames = {});
  /// The tensor `name` (without the prefix) of [1, size], as [size].
  Weight row(const std::string &name, int64_t size);
  /// NAME.weight of [out, in], and NAME.bias if `bias`.
  Linear linear(const std::string &name, int64_t out, int64_t in, bool bias,
                bool transposed = false);
  /// Some outputs of the linear layer NAME, which `part` names.
  Linear linearPart(const std::string &name, const std::string &part, const RowGroups &rows,
                    int64_t in, bool bias, bool transposed = false);
  /// The tensor NAME of the shape `stored`, whose elements are those of `shape` in another order,
  /// or in the same.
  Weight ordered(const std::string &name, std::vector<int64_t> stored, const AxisOrder &order,
                 std::vector<int64_t> shape);
  /// Tensors of one type, one below the other.
  Weight stackOf(const std::string &name, std::vector<Weight> parts);
  /// Linear layers of as many inputs and one type, one below the other.
  Linear stack(const std::string &name, const std::vector<Linear> &parts);
  /// Fills the projections of `attention`, whose sizes are set, from one linear
  /// layer NAME of `in` inputs.
  void stackedProjections(Attention &attention, const std::string &name, int64_t in, bool bias,
                          Stacking stacking, bool transposed = false);
  Norm layerNorm(const std::string &name, int64_t size, double epsilon, bool bias = true);
  Norm rmsNorm(const std::string &name, int64_t size, double epsilon, double weightOffset = 0);
  /// The language model's head NAME.weight (without the prefix) over `token`'s
  /// vocabulary, and NAME.bias or `otherBias` if `bias`. If `tied`, a tensor of its own must be
  /// equal to `token`, and both biases to each other.
  Head head(const std::string &name, bool tied, const Weight &token, bool bias = false,
            const std::string &otherBias = "");
  /// Notes for every tensor that was not asked for. `harmless` are endings of
  /// names of buffers that are computed anyway (masks, position ids).
  void reportUnused(const std::vector<std::string> &harmless);
  /// Sums up tensors missing beyond the number that is listed.
  void finish();

private:
  Weight find(const std::vector<std::string> &names, std::vector<int64_t> shape, bool transposed);
  Weight rowsOf(const std::string &name, const std::string &use, const RowGroups &rows,
                std::vector<int64_t> inner, bool transposed);
  /// The tensor `name`, if there is one, must be `other`.
  void requireEqual(const std::string &name, const std::string &other);

  const Checkpoint *checkpoint;
  Problems &problems;
  std::string chosenPrefix;
  std::set<std::string> used;
  std::set<std::string> faulty; ///< Each is told once, of however many parts it is asked for.
};

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
