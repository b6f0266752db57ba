// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts that a verb is given, and texts through the entry `forward` of an encoder, for the verbs
// that say what its heads found.
#ifndef FOVEA_TOOLS_VERBS_TEXTS_H
#define FOVEA_TOOLS_VERBS_TEXTS_H

#include "tools/verbs/Heads.h"

namespace fovea::verbs {

/// A model whose heads tell something of a text. Every function throws Failure.
class TextModel : public HeadModel {
public:
  /// Opens FILE of `options`, whose entry `forward` must take nothing but what texts are made of.
  TextModel(const Common &options, const char *verb);

  /// The id of the token `text`, -1 if there is none.
  int64_t findToken(const std::string &text) const;
  std::string decode(const std::vector<int64_t> &ids) const;
  void run(const TokenRow &row);
};

/// Texts of --text and of the lines of --text-file.
struct TextOptions {
  std::vector<std::string> texts;
  std::string file;
  CLI::Option *textOption = nullptr, *fileOption = nullptr;
  void addTo(CLI::App &verb);
  bool empty() const { return textOption->empty() && fileOption->empty(); }
  std::vector<std::string> all() const;
};

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_TEXTS_H
