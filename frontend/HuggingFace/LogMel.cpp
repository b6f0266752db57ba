// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LogMel.h. The two tables, which no checkpoint stores, are named by their formulas
// (weights/Tables.h).
#include "frontend/HuggingFace/LogMel.h"

#include "frontend/HuggingFace/Family.h"

using namespace fovea;

/// Of filters, whatever the sampling rate (WhisperFeatureExtractor).
static constexpr int64_t highestFrequency = 8000;
/// Of a clip: ten minutes of sound that is good.
static constexpr int64_t maxSamples = int64_t(1) << 25;

static Linear table(const std::string &name, const std::string &formula,
                    std::vector<int64_t> shape) {
  Linear result;
  result.name = result.weight.name = name;
  result.weight.stored.name = formula;
  result.weight.stored.shape = result.weight.shape = std::move(shape);
  return result;
}

/// A size that follows from others: older versions write it too.
static void requireSize(JsonObject &config, const char *key, int64_t size) {
  if (config.has(key) && config.integer(key, 1, maxSamples) != size)
    config.reject(key, std::to_string(size) + ", as the other keys say");
}

static std::optional<LogMel> read(JsonObject &config, int64_t mels, Problems &problems) {
  auto size = [&](const char *key, int64_t most, int64_t otherwise) {
    return config.has(key) ? config.integer(key, 1, most) : std::optional(otherwise);
  };
  auto rate = size("sampling_rate", 1 << 20, 16000), seconds = size("chunk_length", 600, 30);
  auto window = size("n_fft", 4094, 400), hop = size("hop_length", 1 << 14, 160);
  auto features = size("feature_size", maxWidth, 80);
  const char *type = "WhisperFeatureExtractor";
  if (config.string("feature_extractor_type", type) != type)
    config.reject("feature_extractor_type", quote(type));
  for (const char *key : {"dither", "padding_value"})
    if (config.number(key, -1e30, 1e30, 0) != 0)
      config.reject(key, "0");
  requireBoolean(config, "do_normalize", false, problems);
  if (config.string("padding_side", "right") != "right")
    config.reject("padding_side", "\"right\"");
  // The filters follow from the sizes; older versions stored them.
  config.ignore({"mel_filters", "return_attention_mask", "processor_class", "sampling_rate"});
  if (!rate || !seconds || !window || !hop || !features)
    return std::nullopt;
  LogMel result;
  result.name = "log_mel";
  result.rate = *rate;
  result.samples = *rate * *seconds;
  result.window = *window;
  result.hop = *hop;
  requireSize(config, "n_samples", result.samples);
  requireSize(config, "nb_max_frames", result.count());
  config.reportUnread("could change numbers and is not understood");
  if (*features != mels)
    config.reject("feature_size", "num_mel_bins, " + std::to_string(mels));
  else if (*window % 2 != 0 || *window / 2 >= result.samples)
    config.reject("n_fft", "an even number of at most two clips' samples");
  else if (result.samples > maxSamples || result.count() < 1)
    config.reject("chunk_length",
                  "clips of one hop's to " + std::to_string(maxSamples) + " samples");
  int64_t bins = *window / 2 + 1;
  result.basis = table("log_mel.hann_dft", "hann_dft", {*window + 2, *window});
  result.filters = table(
      "log_mel.filters",
      "slaney_mel:" + std::to_string(*rate) + ":" + std::to_string(highestFrequency), {mels, bins});
  return result;
}

std::optional<LogMel> fovea::readLogMel(const std::string &folder, int64_t mels,
                                        Problems &problems) {
  std::string path = folder + "/preprocessor_config.json",
              other = folder + "/processor_config.json";
  bool isWhole = exists(path) || !exists(other);
  if (!exists(path) && isWhole) {
    addError(problems, path, "", "is missing; expects how sound becomes mels");
    return std::nullopt;
  }
  std::optional<JsonValue> value = parseJsonFile(isWhole ? path : other, problems);
  if (!value)
    return std::nullopt;
  JsonObject root(*value, isWhole ? path : other, "", problems);
  if (!root.valid())
    return std::nullopt;
  if (isWhole)
    return read(root, mels, problems);
  std::optional<JsonObject> extractor = root.member("feature_extractor");
  return extractor ? read(*extractor, mels, problems) : std::nullopt;
}
