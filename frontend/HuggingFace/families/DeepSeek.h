// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The experts of DeepSeek-V2 and V3, which other families have, too.
#ifndef FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_DEEPSEEK_H
#define FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_DEEPSEEK_H

#include "frontend/HuggingFace/Decoder.h"

namespace fovea {

/// Gives all layers but the first few their experts, and those that all tokens share. Scores are
/// softmaxes (V2), in groups if `topk_method` says so. False if something is at fault. Before
/// `Decoder::read`.
bool readSoftmaxExperts(Decoder &decoder, JsonObject &config, WeightTable &weights);

/// The same where each score is a sigmoid, biased for the choice alone (V3).
bool readSigmoidExperts(Decoder &decoder, JsonObject &config, WeightTable &weights);

} // namespace fovea

#endif // FOVEA_FRONTEND_HUGGINGFACE_FAMILIES_DEEPSEEK_H
