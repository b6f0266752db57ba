// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rotary embedding as GGUF has it: keys, and factors of frequencies as tensors.
#include "frontend/GGUF/Architecture.h"

#include <cmath>
#include <cstring>

using namespace fovea;

/// The tensor NAME.weight, one factor a pair, which lie between bounds; nothing after a problem.
static std::optional<std::vector<double>> readFactors(GgufModel &source, const std::string &name,
                                                      int64_t pairs) {
  Weight weight = source.weights.weight(name + ".weight", {pairs});
  std::string place = "tensor " + quote(name + ".weight");
  const StoredTensor *stored = source.file.find(name + ".weight");
  if (weight.stored.name.empty() || !stored)
    return std::nullopt;
  if (stored->type != ElementType::F32) {
    addError(source.problems, source.file.name(), place,
             std::string("expects element type F32, got ") + nameOf(stored->type));
    return std::nullopt;
  }
  std::vector<double> result;
  const uint8_t *bytes = source.file.data(*stored);
  for (int64_t i = 0; i < pairs; ++i) {
    float factor;
    std::memcpy(&factor, bytes + size_t(i) * sizeof(float), sizeof(float));
    if (!(factor >= 1e-6f && factor <= 1e9f)) {
      addError(source.problems, source.file.name(), place + "[" + std::to_string(i) + "]",
               "expects a factor from 1e-06 to 1e+09, got " + printNumber(double(factor)));
      return std::nullopt;
    }
    result.push_back(double(factor));
  }
  return result;
}

/// Factors by which each pair's frequency is divided: always the same ones (Llama 3.1's), or two
/// sets, for texts that are longer than the original context or not (Phi-3's).
static bool readStoredFactors(GgufModel &source, Rotary &rotary) {
  bool isOne = source.weights.has("rope_freqs.weight");
  auto first = readFactors(source, isOne ? "rope_freqs" : "rope_factors_short", rotary.dim / 2);
  auto second = isOne ? first : readFactors(source, "rope_factors_long", rotary.dim / 2);
  if (!first || !second)
    return false;
  rotary.kind = Rotary::Kind::LongRope;
  rotary.shortFactors = std::move(*first);
  rotary.longFactors = std::move(*second);
  return true;
}

static void readYarn(JsonObject &keys, Rotary &rotary) {
  rotary.kind = Rotary::Kind::Yarn;
  rotary.high = keys.number("rope.scaling.yarn_beta_fast", 1e-6, 1e6, 32);
  rotary.low = keys.number("rope.scaling.yarn_beta_slow", 1e-6, 1e6, 1);
  // What is stored comes on top of what the factor implies (Peng et al. 2023, section 3.4).
  double implied = rotary.factor <= 1 ? 1 : 0.1 * std::log(rotary.factor) + 1;
  rotary.attentionFactor *= implied * keys.number("rope.scaling.yarn_attn_factor", 1e-6, 1e6, 1);
  if (keys.number("rope.scaling.yarn_ext_factor", -1e6, 1e6, 1) != 1)
    keys.reject("rope.scaling.yarn_ext_factor", "1");
}

/// The stretching: its kind and its factor.
static void readScaling(GgufModel &source, Rotary &rotary, bool hasFactors) {
  JsonObject &keys = source.keys;
  std::string kind = keys.string("rope.scaling.type", "none");
  // `rope.scale_linear` is an older name.
  double old = keys.number("rope.scale_linear", 1e-6, 1e6, 1);
  if (old != 1 && kind == "none")
    kind = "linear";
  rotary.factor = keys.number("rope.scaling.factor", 0, 1e6, old);
  rotary.factor = rotary.factor == 0 ? 1 : rotary.factor; // "not given"
  rotary.attentionFactor = keys.number("rope.scaling.attn_factor", 1e-6, 1e6, 1);
  if (kind == "linear")
    rotary.kind = Rotary::Kind::Linear;
  else if (kind == "yarn")
    readYarn(keys, rotary);
  else if (kind == "none")
    rotary.factor = 1;
  else if (kind != "longrope" || !hasFactors)
    keys.reject("rope.scaling.type",
                hasFactors ? "one of none, linear, yarn, longrope" : "one of none, linear, yarn");
  if (hasFactors && (kind == "linear" || kind == "yarn"))
    keys.reject("rope.scaling.type", "no stretching besides the factors that are stored");
}

std::optional<Rotary> fovea::readGgufRotary(GgufModel &source, const GgufSizes &sizes) {
  JsonObject &keys = source.keys;
  size_t before = source.problems.size();
  Rotary rotary;
  rotary.theta = keys.number("rope.freq_base", 1.0001, 1e30, 10000);
  rotary.dim = keys.integer("rope.dimension_count", 2, maxWidth, sizes.headSize);
  if (rotary.dim % 2 != 0 || rotary.dim > sizes.headSize)
    keys.reject("rope.dimension_count", "an even number of at most " +
                                            std::to_string(sizes.headSize) +
                                            " elements, which a head has");
  rotary.originalPositions =
      keys.integer("rope.scaling.original_context_length", 1, maxPositions, sizes.positions);
  bool hasFactors = source.weights.has("rope_freqs.weight") ||
                    source.weights.has("rope_factors_long.weight") ||
                    source.weights.has("rope_factors_short.weight");
  readScaling(source, rotary, hasFactors);
  if (source.problems.size() == before && hasFactors)
    readStoredFactors(source, rotary);
  return source.problems.size() == before ? std::optional(rotary) : std::nullopt;
}
