// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the texts of an encoder-decoder are searched for: options that the verbs share.
#ifndef FOVEA_TOOLS_VERBS_SEARCH_H
#define FOVEA_TOOLS_VERBS_SEARCH_H

#include "tools/verbs/Common.h"

namespace fovea::verbs {

struct SearchOptions {
  int64_t count = -1;
  int32_t beams = 1;
  double lengthPenalty = 1;
  std::string earlyStopping = "no";
  int64_t least = -1, ngram = -1;

  /// What one search writes at most `count` tokens of, for the help: "a text".
  void addTo(CLI::App &verb, const std::string &what);
  void fill(fovea_translate_options &request) const;
};

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_SEARCH_H
