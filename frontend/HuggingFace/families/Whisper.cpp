// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whisper: BART's layers with norms first, keys without bias and an encoder that reads sound by two
// convolutions (Radford et al. 2022).
#include "frontend/HuggingFace/Bart.h"
#include "frontend/HuggingFace/LogMel.h"

using namespace fovea;

static Convolution convolution(WeightTable &weights, const std::string &name, int64_t out,
                               int64_t in, int64_t stride) {
  Convolution result;
  result.kernel = 3;
  result.stride = stride;
  result.projection.name = weights.prefix() + name;
  // Stored [out, in, kernel].
  result.projection.weight =
      weights.ordered(name + ".weight", {out, in, 3}, {{out, in, 3}, {0, 2, 1}}, {out, 3 * in});
  result.projection.bias = weights.weight(name + ".bias", {out});
  return result;
}

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Bart whisper(config, weights, model, problems);
  whisper.normsFirst = true;
  whisper.tokenNorm = false;
  whisper.positionOffset = 0;
  whisper.positionsKey = "max_target_positions";
  whisper.keyBias = false;
  whisper.token = "decoder.embed_tokens";
  whisper.head = "proj_out";
  requireBoolean(config, "scale_embedding", false, problems);
  auto channels = config.integer("num_mel_bins", 1, maxWidth);
  auto positions = config.integer("max_source_positions", 1, maxPositions);
  // Of training, of a head that classifies, and of what aligns words with sound.
  config.ignore({"apply_spec_augment", "mask_time_prob", "mask_time_length", "mask_time_min_masks",
                 "mask_feature_prob", "mask_feature_length", "mask_feature_min_masks",
                 "median_filter_width", "use_weighted_layer_sum", "classifier_proj_size"});
  std::string file = config.file();
  std::optional<LogMel> mels;
  if (channels)
    mels = readLogMel(file.substr(0, file.rfind('/')), *channels, problems);
  whisper.describeSource = [&](Embeddings &embeddings, int64_t hidden) {
    if (!mels || !channels || !positions)
      return false;
    embeddings.name = weights.prefix() + "encoder";
    Sound sound;
    sound.mels = *mels;
    sound.convolutions = {convolution(weights, "encoder.conv1", hidden, *channels, 1),
                          convolution(weights, "encoder.conv2", hidden, hidden, 2)};
    if (sound.count() != *positions)
      config.reject("max_source_positions", std::to_string(sound.count()) +
                                                ", the places of the feature extractor's clips");
    embeddings.position = weights.weight("encoder.embed_positions.weight", {*positions, hidden});
    embeddings.sound = std::move(sound);
    return true;
  };
  whisper.describe();
}

Family fovea::whisperFamily() {
  return {"whisper",
          {"WhisperForConditionalGeneration", "WhisperModel"},
          describe,
          /*isEncoderDecoder=*/true};
}
