// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A text in pieces that a model takes: some to calibrate with, some to say what it cost.
#ifndef FOVEA_TOOLS_COMPILE_CALIBRATIONTEXTS_H
#define FOVEA_TOOLS_COMPILE_CALIBRATIONTEXTS_H

#include "tools/compile/TextRunner.h"

namespace fovea::compile {

struct TextPiece {
  std::vector<int64_t> ids;
  std::string text; ///< an encoder's
  bool isCut = false;
};

/// Pieces from all over the text's first 16 MiB. A decoder's are windows of it, each begun as a
/// text is; of other models its lines are texts, of which long ones are cut.
struct CalibrationTexts {
  std::vector<TextPiece> observed, heldOut;
  size_t observedTokens = 0;

  /// False and `error` if there are no two pieces. `file` is what `text` was read from.
  bool cut(const std::string &file, const std::string &text, const TextRunner &model,
           std::string &error);
};

/// False and `error` if the file cannot be read or is no text.
bool readCalibrationText(const std::string &file, std::string &text, std::string &error);

/// What a model makes of texts beside another one, the reference.
struct TextComparison {
  size_t tokens = 0; ///< of a decoder: those that were told by the ones before them
  /// -log of a token's probability, and the Kullback-Leibler divergence from the reference's
  /// distribution, in nats: means.
  double referenceLoss = 0, loss = 0, divergence = 0;
  size_t texts = 0; ///< of an encoder
  double meanCosine = 0, leastCosine = 1;
};

/// False and `error` if one of them cannot be run on the texts.
bool compareOnTexts(TextRunner &reference, TextRunner &model, const std::vector<TextPiece> &texts,
                    TextComparison &found, std::string &error);

} // namespace fovea::compile

#endif // FOVEA_TOOLS_COMPILE_CALIBRATIONTEXTS_H
