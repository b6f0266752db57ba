// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Search.h.
#include "tools/verbs/Search.h"

#include "tools/verbs/Numbers.h"

namespace fovea::verbs {

void SearchOptions::addTo(CLI::App &verb, const std::string &what) {
  addNumber(verb, "-n,--count", count,
            "most tokens of " + what + "; -1: until it ends or the context is full", -1, 1 << 30);
  addNumber(verb, "--beams", beams, "beams that are searched; 1 is greedy", 1, 1024);
  addNumber(verb, "--length-penalty", lengthPenalty,
            "with beams: scores are divided by the length to this power; above 0 favours longer "
            "texts",
            -1000, 1000);
  verb.add_option("--early-stopping", earlyStopping,
                  "with beams, when the search ends: yes, once as many texts as beams are "
                  "finished; no, once the best that goes on is worse than those; never, once it "
                  "cannot become better")
      ->check(CLI::IsMember({"no", "yes", "never"}))
      ->capture_default_str();
  addNumber(verb, "--min-tokens", least,
            "least tokens of " + what + " before its end; -1: as the model says", -1, 1 << 30);
  addNumber(verb, "--no-repeat-ngram", ngram,
            "so many tokens in a row are not written twice; 0: they may be, -1: as the model says",
            -1, 1 << 30);
}

void SearchOptions::fill(fovea_translate_options &request) const {
  request.max_tokens = count;
  request.beams = beams;
  request.length_penalty = lengthPenalty;
  request.early_stopping = earlyStopping == "yes"     ? FOVEA_EARLY_STOPPING_YES
                           : earlyStopping == "never" ? FOVEA_EARLY_STOPPING_NEVER
                                                      : FOVEA_EARLY_STOPPING_NO;
  request.min_tokens = least;
  request.no_repeat_ngram = ngram;
}

} // namespace fovea::verbs
