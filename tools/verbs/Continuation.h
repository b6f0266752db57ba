// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `generate` and `chat` share: how tokens are chosen, where a text ends, and what is told of
// it.
#ifndef FOVEA_TOOLS_VERBS_CONTINUATION_H
#define FOVEA_TOOLS_VERBS_CONTINUATION_H

#include "tools/verbs/PromptCache.h"
#include "tools/verbs/Texts.h"

#include <nlohmann/json.hpp>
#include <vector>

namespace fovea::verbs {

/// Where guesses of the next tokens come from.
class Drafting {
public:
  void addTo(CLI::App &verb);
  bool isGiven() const { return !source.empty(); }
  /// Opens the model that guesses, with what `common` says of the other.
  void open(const Common &common);
  void fill(fovea_generate_options &request) const;

private:
  std::string source;
  int32_t tokens = 4;
  ModulePtr module;
  ContextPtr context;
};

/// Options of both verbs.
struct Choosing {
  int64_t count = 128;
  float temperature = 0.8f, topP = 1, minP = 0, penalty = 1;
  int topK = 0;
  uint64_t seed = 0;
  int64_t chunk = 512;
  bool ignoreEnd = false;
  std::vector<std::string> stops;
  int logprobs = -1;
  PromptCache cache;
  Drafting drafting;

  void addTo(CLI::App &verb);
  /// Chooses a seed if none is given; throws Failure for options that do not go together.
  void settle(const Common &common);
  /// `request` refers to this one from now on.
  void fill(fovea_generate_options &request);

private:
  CLI::Option *seedOption = nullptr;
  std::vector<fovea_text> stopTexts;
};

/// One text as it comes: printed at once, or kept for JSON and where it is one of several.
class Continuation {
public:
  Continuation(const ModulePtr &module, const Common &common, bool isOneOfSeveral = false);
  /// Completes `request`, whose callbacks are this one's from then on.
  void fill(fovea_generate_options &request, Choosing &choosing);
  /// Runs it. Throws Failure.
  fovea_generate_result run(const ContextPtr &context, fovea_generate_options request,
                            Choosing &choosing);
  /// Throws Failure if a callback could not do its work.
  void requireWhole() const;
  const std::string &text() const { return all; }
  /// "text", "tokens", "stop" and the rest, as --json prints it.
  nlohmann::ordered_json record(const fovea_generate_result &result,
                                const Choosing &choosing) const;

private:
  static int onPiece(void *user, int64_t token, const char *text, size_t size);
  static int onPrompt(void *user, size_t done, size_t total);
  static int onLogprobs(void *user, int64_t token, float logprob, const fovea_logprob *top,
                        size_t count);
  nlohmann::ordered_json describe(int64_t token, float logprob) const;

  const ModulePtr &module;
  bool keeps, progress, shown = false;
  std::string all;
  std::vector<int64_t> tokens;
  nlohmann::ordered_json logprobs;
  int failure = 0;
};

/// Says that a context was full, if it was.
void noteFullContext(const Common &common, const ContextPtr &context,
                     const fovea_generate_result &result);

} // namespace fovea::verbs

#endif // FOVEA_TOOLS_VERBS_CONTINUATION_H
