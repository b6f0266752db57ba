// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary embedding and its scaling as config.json has them, in two spellings.
#include "frontend/HuggingFace/Family.h"

#include <cmath>

using namespace fovea;

namespace {
/// The parameters of one rotary embedding, wherever they stand.
struct RotaryReader {
  JsonObject &parameters;
  Rotary &rotary;
  int64_t contextLength;
  /// `original_max_position_embeddings` beside the parameters goes first.
  std::optional<int64_t> outerOriginal;

  void readOriginal() {
    rotary.originalPositions = outerOriginal.value_or(
        parameters.integer("original_max_position_embeddings", 1, maxPositions, contextLength));
  }
  void readFactor() { rotary.factor = parameters.number("factor", 1e-6, 1e6).value_or(1); }

  void readYarn();
  void readLongRope();
  void readLlama3();
};
} // namespace

/// Peng et al. 2023, "YaRN", section 3.4: the attention factor from the scale.
static double yarnMagnitude(double scale, double multiplier) {
  return scale <= 1 ? 1 : 0.1 * multiplier * std::log(scale) + 1;
}

void RotaryReader::readYarn() {
  readOriginal();
  rotary.factor = parameters.number("factor", 1e-6, 1e6,
                                    double(contextLength) / double(rotary.originalPositions));
  rotary.low = parameters.number("beta_slow", 0, 1e6, 1);
  rotary.high = parameters.number("beta_fast", 0, 1e6, 32);
  // Zero stands for "not given" there.
  rotary.low = rotary.low == 0 ? 1 : rotary.low;
  rotary.high = rotary.high == 0 ? 32 : rotary.high;
  rotary.truncate = parameters.boolean("truncate", true);
  double mscale = parameters.number("mscale", 0, 1e6, 0);
  double mscaleAllDim = parameters.number("mscale_all_dim", 0, 1e6, 0);
  double implied = mscale != 0 && mscaleAllDim != 0 ? yarnMagnitude(rotary.factor, mscale) /
                                                          yarnMagnitude(rotary.factor, mscaleAllDim)
                                                    : yarnMagnitude(rotary.factor, 1);
  rotary.attentionFactor = parameters.number("attention_factor", 1e-6, 1e6, implied);
}

void RotaryReader::readLongRope() {
  readOriginal();
  double factor = rotary.factor = parameters.number(
      "factor", 1e-6, 1e6, double(contextLength) / double(rotary.originalPositions));
  // Ding et al. 2024, "LongRoPE", as its implementations compute it.
  double implied =
      factor <= 1 || rotary.originalPositions <= 1
          ? 1
          : std::sqrt(1 + std::log(factor) / std::log(double(rotary.originalPositions)));
  rotary.attentionFactor = parameters.number("attention_factor", 1e-6, 1e6, implied);
  for (auto [key, factors] : {std::make_pair("short_factor", &rotary.shortFactors),
                              std::make_pair("long_factor", &rotary.longFactors)}) {
    if (auto found = parameters.numbers(key, 1e-6, 1e9)) {
      if (int64_t(found->size()) != rotary.dim / 2)
        parameters.reject(key,
                          "an array of " + std::to_string(rotary.dim / 2) + " numbers, one a pair");
      *factors = std::move(*found);
    }
  }
}

void RotaryReader::readLlama3() {
  readOriginal();
  readFactor();
  rotary.low = parameters.number("low_freq_factor", 1e-6, 1e6).value_or(1);
  rotary.high = parameters.number("high_freq_factor", 1e-6, 1e6).value_or(4);
  if (rotary.high <= rotary.low)
    parameters.reject("high_freq_factor", "a number above low_freq_factor");
}

/// The object of `config` that has the parameters, and where it stands there.
static const JsonValue *findParameters(JsonObject &config, const RotaryKeys &keys,
                                       std::string &place) {
  bool nested = config.has("rope_parameters");
  place = nested ? "rope_parameters" : "rope_scaling";
  const JsonValue *found = nested || keys.scaled ? config.find(place) : nullptr;
  config.ignore({"rope_parameters", "rope_scaling"});
  if (!found || !nested || !*keys.layerKind || !found->isObject())
    return found;
  place += std::string(".") + keys.layerKind;
  for (size_t i = 0; i < found->keys().size(); ++i)
    if (found->keys()[i] == keys.layerKind)
      return &found->elements()[i];
  return nullptr;
}

std::optional<Rotary> fovea::readRotary(JsonObject &config, int64_t headSize, int64_t contextLength,
                                        Problems &problems, const RotaryKeys &keys) {
  size_t before = problems.size();
  bool nested = config.has("rope_parameters");
  if (nested && config.has("rope_scaling"))
    config.reject("rope_scaling", "nothing beside rope_parameters");
  static const JsonValue empty = *parseJson("{}", "", problems);
  std::string place;
  const JsonValue *found = findParameters(config, keys, place);
  JsonObject parameters(found ? *found : empty, config.file(), place, problems);
  if (!parameters.valid())
    return std::nullopt;

  Rotary rotary;
  double outerTheta = config.number(keys.theta, 1.0001, 1e30, keys.thetaIfAbsent);
  double outerPart = config.number(keys.part, 1e-3, 1, keys.partIfAbsent);
  rotary.theta = parameters.number("rope_theta", 1.0001, 1e30, outerTheta);
  double part = parameters.number("partial_rotary_factor", 1e-3, 1, outerPart);
  rotary.dim = static_cast<int64_t>(double(headSize) * part);
  if (rotary.dim < 2 || rotary.dim % 2 != 0)
    addError(problems, config.file(), keys.headSize,
             "expects an even number of rotated elements a head, got " +
                 std::to_string(rotary.dim));

  std::optional<int64_t> outerOriginal;
  if (config.has("original_max_position_embeddings"))
    outerOriginal = config.integer("original_max_position_embeddings", 1, maxPositions);
  RotaryReader reader{parameters, rotary, contextLength, outerOriginal};
  const char *kindKey = parameters.has("rope_type") ? "rope_type" : "type";
  std::string kind = parameters.string(kindKey, "default");
  parameters.ignore({"type", "rope_type"});
  if (kind == "default") {
    rotary.kind = Rotary::Kind::Default;
  } else if (kind == "linear") {
    rotary.kind = Rotary::Kind::Linear;
    reader.readFactor();
  } else if (kind == "dynamic") {
    rotary.kind = Rotary::Kind::Dynamic;
    reader.readFactor();
    rotary.originalPositions = contextLength;
    if (rotary.dim == 2)
      addError(problems, config.file(), keys.headSize,
               "expects more than 2 rotated elements a head for dynamic scaling, got 2");
  } else if (kind == "yarn") {
    rotary.kind = Rotary::Kind::Yarn;
    reader.readYarn();
  } else if (kind == "longrope" || kind == "su") { // its first name
    rotary.kind = Rotary::Kind::LongRope;
    reader.readLongRope();
  } else if (kind == "llama3") {
    rotary.kind = Rotary::Kind::Llama3;
    reader.readLlama3();
  } else {
    parameters.reject(kindKey,
                      "a rotary kind among default, linear, dynamic, yarn, longrope, llama3");
    return std::nullopt;
  }
  // Of all kinds but the default, for families that heed it.
  if (kind != "default")
    if (double magnitude = parameters.number("mscale_all_dim", 0, 1e6, 0); magnitude != 0)
      rotary.scoreFactor = std::pow(yarnMagnitude(rotary.factor, magnitude), 2);
  // Parameters of other kinds are left over when a kind is changed; they have
  // no effect in transformers either.
  parameters.ignore({"factor", "original_max_position_embeddings", "attention_factor", "beta_fast",
                     "beta_slow", "mscale", "mscale_all_dim", "truncate", "short_factor",
                     "long_factor", "low_freq_factor", "high_freq_factor"});
  parameters.reportUnread("is no parameter of rotary embedding that is understood");
  return problems.size() == before ? std::optional(rotary) : std::nullopt;
}
