// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BeamSearch.h. Scores are f32, as there; what must not be chosen is worse by 1e9.
#include "runtime/BeamSearch.h"

#include <algorithm>
#include <cmath>

namespace fovea {

static constexpr float impossible = -1e9F;

BeamSearch::BeamSearch(BeamOptions given)
    : options(std::move(given)), open(options.beams), closed(options.beams) {
  // At first all rows are the same text: only one of them counts.
  for (size_t i = 1; i < open.size(); ++i)
    open[i].score = impossible;
  for (Closed &text : closed)
    text.text.score = impossible;
}

/// The places of the `count` greatest numbers, the greatest first, the first of equal ones. There
/// are many numbers, of which few are looked at twice.
template <typename Score>
static std::vector<size_t> greatest(size_t all, size_t count, const Score &score) {
  std::vector<std::pair<float, size_t>> best;
  for (size_t i = 0; i < all && count > 0; ++i) {
    float value = score(i);
    if (best.size() == count && value <= best.back().first)
      continue;
    auto place = std::find_if(best.begin(), best.end(),
                              [&](const auto &other) { return other.first < value; });
    best.insert(place, {value, i});
    if (best.size() > count)
      best.pop_back();
  }
  std::vector<size_t> places;
  for (const auto &[value, place] : best)
    places.push_back(place);
  return places;
}

std::vector<BeamSearch::Candidate> BeamSearch::bestCandidates(const float *logProbabilities,
                                                              size_t words) const {
  // Enough that as many as there are beams go on even if the best of each row ends.
  size_t count = std::max<size_t>(2, 1 + options.ends.size()) * options.beams;
  auto score = [&](size_t place) { return logProbabilities[place] + open[place / words].score; };
  std::vector<Candidate> result;
  for (size_t place : greatest(options.beams * words, count, score)) {
    auto token = static_cast<int64_t>(place % words);
    bool ends = std::find(options.ends.begin(), options.ends.end(), token) != options.ends.end();
    result.push_back({score(place), place / words, token, ends || length + 1 >= options.longest});
  }
  return result;
}

Hypothesis BeamSearch::extend(const Candidate &candidate, float score) const {
  Hypothesis result = open[candidate.row];
  result.tokens.push_back(candidate.token);
  result.score = score;
  result.row = candidate.row;
  return result;
}

bool BeamSearch::areAllDone() const {
  return std::all_of(closed.begin(), closed.end(), [](const Closed &text) { return text.isDone; });
}

/// Only the best candidates, as many as beams, may be finished; the others are there to go on.
void BeamSearch::updateClosed(const std::vector<Candidate> &candidates) {
  auto factor = static_cast<float>(std::pow(double(length + 1), options.lengthPenalty));
  bool isFull = options.stop == BeamOptions::Stop::Full && areAllDone();
  std::vector<Closed> all = closed;
  for (size_t i = 0; i < candidates.size(); ++i) {
    bool isDone = candidates[i].hits && i < options.beams;
    float score = candidates[i].score / factor;
    score += (isFull ? impossible : 0) + (improvable ? 0 : impossible) + (isDone ? 0 : impossible);
    all.push_back({extend(candidates[i], score), isDone});
  }
  std::vector<Closed> best;
  for (size_t place :
       greatest(all.size(), options.beams, [&](size_t i) { return all[i].text.score; }))
    best.push_back(std::move(all[place]));
  closed = std::move(best);
}

bool BeamSearch::canImprove() const {
  bool atLongest = options.stop == BeamOptions::Stop::Never && options.lengthPenalty > 0;
  auto factor = std::pow(double(atLongest ? options.longest : length), options.lengthPenalty);
  float possible = open.front().score / static_cast<float>(factor);
  float worst = closed.front().text.score;
  for (const Closed &text : closed)
    worst = std::min(worst, text.text.score);
  return std::any_of(closed.begin(), closed.end(), [&](const Closed &text) {
    return possible > (text.isDone ? worst : impossible);
  });
}

bool BeamSearch::step(const float *logProbabilities, size_t words) {
  std::vector<Candidate> candidates = bestCandidates(logProbabilities, words);
  auto scoreOf = [&](size_t i) {
    return candidates[i].score + (candidates[i].hits ? impossible : 0);
  };
  std::vector<Hypothesis> next;
  for (size_t i : greatest(candidates.size(), options.beams, scoreOf))
    next.push_back(extend(candidates[i], scoreOf(i)));
  updateClosed(candidates);
  open = std::move(next);
  ++length;
  improvable = improvable && canImprove();
  bool goesOn = std::any_of(candidates.begin(), candidates.end(),
                            [](const Candidate &candidate) { return !candidate.hits; });
  bool isFull = options.stop == BeamOptions::Stop::Full && areAllDone();
  return improvable && goesOn && !isFull;
}

std::vector<Hypothesis> BeamSearch::finished() const {
  std::vector<Hypothesis> result;
  for (const Closed &text : closed)
    if (text.isDone)
      result.push_back(text.text);
  return result;
}

void logSoftmax(float *logits, size_t count) {
  float most = *std::max_element(logits, logits + count);
  double sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += std::exp(double(logits[i] - most));
  auto shift = static_cast<float>(std::log(sum));
  for (size_t i = 0; i < count; ++i)
    logits[i] = logits[i] - most - shift;
}

} // namespace fovea
