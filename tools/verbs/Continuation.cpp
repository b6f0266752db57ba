// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Continuation.h.
#include "tools/verbs/Continuation.h"

#include "tools/verbs/Numbers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <random>

namespace fovea::verbs {

static constexpr char kLookup[] = "ngram";

void Drafting::addTo(CLI::App &verb) {
  verb.add_option(
      "--draft", source,
      "guess tokens that are then checked together, which changes no text: by a smaller "
      "model with the same tokens, or by what stood behind the last tokens before: ngram");
  addNumber(verb, "--draft-tokens", tokens, "most tokens that are guessed at once", 1, 7);
}

void Drafting::open(const Common &common) {
  if (source.empty() || source == kLookup)
    return;
  Common own = common;
  own.file = source;
  module = own.open();
  // Beyond the model's longest text it guesses nothing.
  if (int64_t longest = infoOf(module).max_positions; longest > 0)
    own.context = std::min(own.context, longest);
  context = own.makeContext(module);
}

void Drafting::fill(fovea_generate_options &request) const {
  request.draft = context.get();
  request.draft_lookup = source == kLookup;
  request.draft_tokens = tokens;
}

void Choosing::addTo(CLI::App &verb) {
  addNumber(verb, "-n,--count", count, "new tokens at most", 0, 1 << 30);
  addNumber(verb, "--temp", temperature, "temperature; 0 is greedy", 0, 1000);
  addNumber(verb, "--top-k", topK, "choose among the K likeliest; 0: all", 0, 1 << 30);
  addNumber(verb, "--top-p", topP, "choose among the likeliest that reach P together", 1e-6, 1);
  addNumber(verb, "--min-p", minP, "choose among those with P times the likeliest's probability", 0,
            1);
  addNumber(verb, "--repeat-penalty", penalty, "weaken tokens seen before; 1: do not", 1e-3, 1000);
  seedOption = verb.add_option("--seed", seed, "seed; without it a new one, which is printed");
  addNumber(verb, "--prompt-chunk,--chunk", chunk, "tokens of the prompt to read at once", 1);
  verb.add_flag("--ignore-end", ignoreEnd, "go on after an end token");
  verb.add_option("--stop", stops,
                  "a text that ends what is written, without being printed; may be given often")
      ->take_all()
      ->allow_extra_args(false);
  verb.add_option("--logprobs", logprobs,
                  "with --json: log-probabilities of the tokens, and of the N likeliest at each "
                  "place")
      ->check(from(0, 1 << 20));
  cache.addTo(verb);
  drafting.addTo(verb);
}

void Choosing::settle(const Common &common) {
  if (logprobs >= 0 && !common.json)
    throw Failure{2, "--logprobs expects --json"};
  for (const std::string &stop : stops) {
    if (stop.empty())
      throw Failure{2, "--stop expects a text that is not empty"};
    stopTexts.push_back({stop.data(), stop.size()});
  }
  if (seedOption->empty()) {
    std::random_device device;
    seed = device();
  }
}

void Choosing::fill(fovea_generate_options &request) {
  request.max_tokens = count;
  request.temperature = temperature;
  request.top_k = topK;
  request.top_p = topP;
  request.min_p = minP;
  request.repetition_penalty = penalty;
  request.seed = seed;
  request.prompt_chunk = chunk;
  request.ignore_end = ignoreEnd;
  request.keep_caches |= cache.isGiven();
  drafting.fill(request);
  request.stop_texts = stopTexts.data();
  request.stop_text_count = stopTexts.size();
}

Continuation::Continuation(const ModulePtr &module, const Common &common, bool isOneOfSeveral)
    : module(module), keeps(common.json || isOneOfSeveral),
      progress(terminalOnStandardError() && !common.quiet && !isOneOfSeveral),
      logprobs(nlohmann::ordered_json::array()) {}

int Continuation::onPiece(void *user, int64_t token, const char *text, size_t size) {
  Continuation &own = *static_cast<Continuation *>(user);
  if (token >= 0)
    own.tokens.push_back(token);
  own.all.append(text, size);
  // A C callback must not throw: the failure is told after the call.
  if (!own.keeps && (std::fwrite(text, 1, size, stdout) != size || std::fflush(stdout) != 0)) {
    own.failure = errno;
    return 1;
  }
  return 0;
}

int Continuation::onPrompt(void *user, size_t done, size_t total) {
  Continuation &own = *static_cast<Continuation *>(user);
  if (own.progress && (done < total || own.shown)) {
    own.shown = true;
    std::cerr << "\rreading the prompt: " << done << " of " << total << " tokens"
              << (done == total ? "\r\x1b[K" : "") << std::flush;
  }
  return 0;
}

nlohmann::ordered_json Continuation::describe(int64_t token, float logprob) const {
  nlohmann::ordered_json one = {{"token", token}, {"logprob", logprob}};
  char *text = nullptr;
  size_t size = 0;
  if (infoOf(module).has_tokenizer) {
    check(fovea_module_decode(module.get(), &token, 1, &text, &size));
    one["text"] = std::string(text, size);
    fovea_free(text);
  }
  return one;
}

int Continuation::onLogprobs(void *user, int64_t token, float logprob, const fovea_logprob *top,
                             size_t count) {
  Continuation &own = *static_cast<Continuation *>(user);
  try {
    nlohmann::ordered_json one = own.describe(token, logprob);
    one["top"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < count; ++i)
      one["top"].push_back(own.describe(top[i].token, top[i].logprob));
    own.logprobs.push_back(std::move(one));
    return 0;
  } catch (...) { // nothing may leave a callback of C
    own.failure = ENOMEM;
    return 1;
  }
}

void Continuation::fill(fovea_generate_options &request, Choosing &choosing) {
  choosing.fill(request);
  request.user = this;
  request.on_piece = onPiece;
  request.on_prompt = onPrompt;
  if (choosing.logprobs >= 0) {
    request.on_logprobs = onLogprobs;
    request.top_logprobs = choosing.logprobs;
  }
}

fovea_generate_result Continuation::run(const ContextPtr &context, fovea_generate_options request,
                                        Choosing &choosing) {
  fill(request, choosing);
  fovea_generate_result result = FOVEA_GENERATE_RESULT_INIT;
  check(fovea_generate(context.get(), &request, &result));
  requireWhole();
  return result;
}

void Continuation::requireWhole() const {
  if (failure)
    throw Failure{1, std::string("cannot write to standard output: ") + std::strerror(failure)};
}

nlohmann::ordered_json Continuation::record(const fovea_generate_result &result,
                                            const Choosing &choosing) const {
  static const char *const stops[] = {"count", "end", "context", "callback", "text"};
  nlohmann::ordered_json record;
  record["text"] = all;
  record["tokens"] = tokens;
  record["stop"] = stops[result.stop];
  record["seed"] = choosing.seed;
  record["prompt_tokens"] = result.prompt_tokens;
  if (choosing.cache.isGiven())
    record["cached_tokens"] = result.cached_tokens;
  record["prompt_seconds"] = result.prompt_seconds;
  record["new_tokens"] = result.new_tokens;
  record["new_seconds"] = result.new_seconds;
  if (choosing.drafting.isGiven()) {
    record["draft_tokens"] = result.draft_tokens;
    record["accepted_tokens"] = result.accepted_tokens;
  }
  if (choosing.logprobs >= 0)
    record["logprobs"] = logprobs;
  return record;
}

void noteFullContext(const Common &common, const ContextPtr &context,
                     const fovea_generate_result &result) {
  if (common.quiet || result.stop != FOVEA_STOP_CONTEXT)
    return;
  fovea_context_info info = FOVEA_CONTEXT_INFO_INIT;
  check(fovea_context_get_info(context.get(), &info));
  note(*common.host, "stopped: the context of " + std::to_string(info.capacity) + " is full");
}

} // namespace fovea::verbs
