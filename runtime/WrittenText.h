// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One text that a decoder writes: its prompt, how its tokens are chosen from logits, where it ends,
// and what is told of it. Knows neither calls nor caches.
#ifndef FOVEA_RUNTIME_WRITTENTEXT_H
#define FOVEA_RUNTIME_WRITTENTEXT_H

#include "runtime/Context.h"
#include "runtime/Sampler.h"

#include <optional>

namespace fovea {

/// Ends a text where one of `texts` appears, and holds back what may begin one.
class StopTexts {
public:
  /// What of the text so far may be given out.
  std::string push(const std::string &text);
  /// What was held back, at the end of the text.
  std::string finish() { return found ? std::string() : std::move(pending); }

  std::vector<std::string> texts;
  bool found = false;

private:
  size_t countHeldBack() const;
  std::string pending;
};

/// Logarithms of probabilities, of logits as the model gives them.
class Logprobs {
public:
  Logprobs(const float *logits, size_t count, size_t wanted);
  float of(int64_t token) const {
    return static_cast<float>(logits[static_cast<size_t>(token)] - total);
  }

  std::vector<fovea_logprob> top;

private:
  std::vector<float> logits;
  double total = 0;
};

class WrittenText {
public:
  /// Throws Failure that names the option that is wrong. `options` outlive the text.
  WrittenText(Context &context, const fovea_generate_options &options);

  const fovea_generate_options &options;
  std::vector<int64_t> prompt;
  fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;

  /// Tokens of the prompt that one call reads.
  size_t chunk() const;
  /// Whether a token is the greatest logit's, whatever came before; and whether nothing else of the
  /// logits is asked for.
  bool isGreedy() const { return sampler.isGreedy(); }
  bool wantsTokenAlone() const { return isGreedy() && !options.on_logprobs; }
  /// Whether it has as many tokens as it may.
  bool isFull() const { return left() == 0; }
  /// New tokens that it may have yet.
  size_t left() const;

  /// So many tokens of the prompt are read. False if the callback ends it.
  bool tellPrompt(size_t done);
  /// For the next token's log-probability.
  void noteLogits(const float *logits, size_t words);
  /// One of `words` tokens; changes `logits`.
  int64_t choose(float *logits, size_t words) { return sampler.choose(logits, words); }
  /// Writes a token. Gives the reason if it ends the text.
  std::optional<fovea_stop> write(int64_t token);
  /// Gives out what was held back.
  void finish(fovea_stop stop);

private:
  void takeStops();
  bool emit(int64_t token, const std::string &text);

  const Module &module;
  Sampler sampler;
  std::optional<StreamDecoder> stream;
  StopTexts stops;
  std::optional<Logprobs> logprobs; ///< of the token that was chosen last
};

} // namespace fovea

#endif // FOVEA_RUNTIME_WRITTENTEXT_H
