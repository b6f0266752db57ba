// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Beam search over the logits of a step, as `transformers` (version 5) defines it: which candidates
// go on, which are finished, how length counts, when no better one can come. It knows neither the
// model nor its caches.
#ifndef FOVEA_RUNTIME_BEAMSEARCH_H
#define FOVEA_RUNTIME_BEAMSEARCH_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fovea {

struct BeamOptions {
  enum class Stop {
    Likely, ///< When the best that goes on is, at its length, worse than all finished ones.
    Full,   ///< As soon as there are as many finished ones as beams.
    Never,  ///< When the best that goes on cannot become better at any length.
  };
  size_t beams = 1;
  double lengthPenalty = 1; ///< A score is the sum of log-probabilities / length ^ penalty.
  Stop stop = Stop::Likely;
  size_t longest = 0; ///< Tokens of a text, its end token counted.
  std::vector<int64_t> ends;
};

/// A text so far. Its tokens do not include the one before the first.
struct Hypothesis {
  std::vector<int64_t> tokens;
  float score = 0;
  size_t row = 0; ///< Whose continuation it is.
};

class BeamSearch {
public:
  explicit BeamSearch(BeamOptions options);

  /// Those that go on, as many as there are beams, the best first. Each is one row of the next
  /// step, and `row` is the row of the step before.
  const std::vector<Hypothesis> &running() const { return open; }
  /// Takes log-probabilities [beams, words]. False if the search has ended.
  bool step(const float *logProbabilities, size_t words);
  /// The finished ones, the best first; scores are as the length penalty has them.
  std::vector<Hypothesis> finished() const;

private:
  struct Closed {
    Hypothesis text;
    bool isDone = false;
  };
  struct Candidate {
    float score;
    size_t row;
    int64_t token;
    bool hits; ///< An end token or the greatest length.
  };

  std::vector<Candidate> bestCandidates(const float *logProbabilities, size_t words) const;
  Hypothesis extend(const Candidate &candidate, float score) const;
  void updateClosed(const std::vector<Candidate> &candidates);
  bool areAllDone() const;
  bool canImprove() const;

  BeamOptions options;
  std::vector<Hypothesis> open;
  std::vector<Closed> closed;
  size_t length = 0; ///< Tokens of each open text.
  bool improvable = true;
};

/// log softmax of `count` logits, in place.
void logSoftmax(float *logits, size_t count);

} // namespace fovea

#endif // FOVEA_RUNTIME_BEAMSEARCH_H
