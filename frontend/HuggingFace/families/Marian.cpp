// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marian: encoder-decoder with sinusoidal positions and norms behind (Junczys-Dowmunt et al. 2018;
// Vaswani et al. 2017), as the OPUS-MT models of translation are.
#include "frontend/HuggingFace/Bart.h"

using namespace fovea;

static void describe(JsonObject &config, WeightTable &weights, ModelDescription &model,
                     Problems &problems) {
  Bart marian(config, weights, model, problems);
  marian.tokenNorm = false;
  marian.sinusoids = Sinusoids{};
  requireBoolean(config, "share_encoder_decoder_embeddings", true, problems);
  requireBoolean(config, "normalize_before", false, problems);
  requireBoolean(config, "normalize_embedding", false, problems);
  if (config.has("decoder_vocab_size") && config.has("vocab_size") &&
      config.integer("decoder_vocab_size", 1, maxVocabulary) !=
          config.integer("vocab_size", 1, maxVocabulary))
    config.reject("decoder_vocab_size", "vocab_size: two vocabularies are not supported");
  marian.describe();
}

Family fovea::marianFamily() {
  return {"marian", {"MarianMTModel", "MarianModel"}, describe, /*isEncoderDecoder=*/true};
}
