// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Continues a text with a decoder model: prompt in chunks through the entry of kind prefill, then
// token by token through that of kind decode. Greedily it takes the token that the entry gives,
// which from a device is all that is fetched. Refuses models without a prefill, prompts that are
// empty or longer than the context, and token ids outside the vocabulary.
#include "runtime/Call.h"
#include "runtime/GivenTokens.h"
#include "runtime/Sampler.h"
#include "runtime/StructSize.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>

namespace fovea {

namespace {

using Clock = std::chrono::steady_clock;
using manifest::EntryKind;
using manifest::Role;
using manifest::ValueT;

/// Ends a text where one of `texts` appears, and holds back what may begin one.
struct StopTexts {
  /// What of the text so far may be given out.
  std::string push(const std::string &text) {
    if (texts.empty())
      return text;
    pending += text;
    size_t end = std::string::npos;
    for (const std::string &stop : texts)
      end = std::min(end, pending.find(stop));
    found = end != std::string::npos;
    if (!found)
      end = pending.size() - countHeldBack();
    std::string out = pending.substr(0, end);
    pending.erase(0, end);
    return out;
  }

  /// What was held back, at the end of the text.
  std::string finish() { return found ? std::string() : std::move(pending); }

  std::vector<std::string> texts;
  bool found = false;

private:
  /// The longest end of the text that begins a stop.
  size_t countHeldBack() const {
    size_t most = 0;
    for (const std::string &stop : texts)
      for (size_t size = std::min(stop.size() - 1, pending.size()); size > most; --size)
        if (pending.compare(pending.size() - size, size, stop, 0, size) == 0)
          most = size;
    return most;
  }

  std::string pending;
};

/// Logarithms of probabilities, of logits as the model gives them.
class Logprobs {
public:
  Logprobs(const float *logits, size_t count, size_t wanted) : logits(logits, logits + count) {
    double largest = *std::max_element(logits, logits + count), sum = 0;
    for (size_t i = 0; i < count; ++i)
      sum += std::exp(static_cast<double>(logits[i]) - largest);
    total = largest + std::log(sum);
    std::vector<int64_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    wanted = std::min(wanted, count);
    // By the id where logits are equal; NaN, which choosing refuses, is equal to all.
    std::partial_sort(order.begin(), order.begin() + static_cast<ptrdiff_t>(wanted), order.end(),
                      [&](int64_t a, int64_t b) {
                        float left = logits[a], right = logits[b];
                        return left > right || (left == right && a < b);
                      });
    for (size_t i = 0; i < wanted; ++i)
      top.push_back({order[i], of(order[i])});
  }

  float of(int64_t token) const {
    return static_cast<float>(logits[static_cast<size_t>(token)] - total);
  }

  std::vector<fovea_logprob> top;

private:
  std::vector<float> logits;
  double total = 0;
};

class Generation {
public:
  Generation(Context &context, const fovea_generate_options &options)
      : context(context), module(context.module()), options(options),
        sampler({options.temperature, options.top_k, options.top_p, options.min_p,
                 options.repetition_penalty, options.seed}),
        prefill(makeCall(EntryKind::Prefill, "prefill")) {
    if (module.findEntry(EntryKind::Decode) >= 0)
      decode.emplace(makeCall(EntryKind::Decode, "decode"));
    for (Call *call : {&prefill, decode ? &*decode : nullptr})
      if (call && sampler.isGreedy() && !options.on_logprobs)
        if (const ValueT *token = call->result(Role::NextToken))
          call->fetchOnly(token->name);
    if (options.max_tokens < -1)
      failInvalid("max_tokens expects -1 or more, got " + std::to_string(options.max_tokens));
    if (options.prompt_chunk < 0)
      failInvalid("prompt_chunk expects 1 or more, got " + std::to_string(options.prompt_chunk));
    if (options.top_logprobs < 0)
      failInvalid("top_logprobs expects 0 or more, got " + std::to_string(options.top_logprobs));
    takeStops();
    takePrompt();
  }

  void run(fovea_generate_result &result) {
    try {
      generate(result);
    } catch (const NotANumber &failure) {
      std::string weight = module.findNotFinite();
      if (weight.empty())
        throw;
      failInvalid(module.path() + ": " + failure.message + ": weight '" + weight +
                  "' holds NaN or infinity");
    }
  }

private:
  void generate(fovea_generate_result &result) {
    result.cached_tokens = keepCaches();
    result.prompt_tokens = prompt.size();
    Clock::time_point start = Clock::now();
    bool going = readPrompt(result.cached_tokens);
    result.prompt_seconds = secondsSince(start);
    start = Clock::now();
    result.stop = going ? write(result.new_tokens) : FOVEA_STOP_CALLBACK;
    if (result.stop != FOVEA_STOP_CALLBACK && result.stop != FOVEA_STOP_TEXT && stream) {
      std::string rest = stops.push(stream->finish());
      if (stops.found)
        result.stop = FOVEA_STOP_TEXT;
      emit(-1, rest + stops.finish());
    }
    result.new_seconds = secondsSince(start);
  }

  Call makeCall(EntryKind kind, const char *name) {
    int entry = module.findEntry(kind);
    if (entry < 0)
      failInvalid(module.path() + ": cannot generate text: it has no entry '" + name + "' (" +
                  (module.manifest().model->kind == manifest::ModelKind::Encoder
                       ? "it is an encoder; use embed or run"
                       : "use run") +
                  ")");
    Call call(context, static_cast<size_t>(entry));
    auto place = [&] {
      return module.path() + ": cannot generate text: entry '" + call.entry().name + "' ";
    };
    const ValueT *ids = call.argument(Role::TokenIds);
    for (const auto &value : call.entry().arguments)
      if (value->kind == manifest::ValueKind::Tensor && value.get() != ids)
        failInvalid(place() + "takes '" + value->name + "', which generation cannot give");
    if (!ids || !call.result(Role::Logits))
      failInvalid(place() + (ids ? "gives no logits" : "takes no token ids"));
    return call;
  }

  void takePrompt() {
    prompt =
        takeTokens(context, {"prompt", "the model adds no begin token", options.prompt,
                             options.prompt_size, options.prompt_ids, options.prompt_id_count});
    for (int64_t id : prompt)
      sampler.see(id);
    if (const Tokenizer *tokenizer = module.tokenizer()) {
      // How a token reads may depend on what stands before it.
      stream.emplace(*tokenizer, /*skipSpecial=*/true);
      for (int64_t id : prompt)
        stream->push(static_cast<int32_t>(id));
    }
  }

  void takeStops() {
    if (options.stop_text_count == 0)
      return;
    (void)module.requireTokenizer();
    for (size_t i = 0; i < options.stop_text_count; ++i) {
      const fovea_text &text = options.stop_texts[i];
      if (!text.data || text.size == 0)
        failInvalid("a stop text is empty");
      stops.texts.emplace_back(text.data, text.size);
    }
  }

  /// How many tokens of the prompt the caches hold; at least the last one is read, for its logits.
  size_t keepCaches() {
    if (!options.keep_caches) {
      context.reset();
      return 0;
    }
    size_t common = 0;
    while (common + 1 < prompt.size() && common < context.held.size() &&
           context.held[common] == prompt[common])
      ++common;
    context.cut(common);
    return context.held.size();
  }

  void feed(Call &call, const int64_t *ids, int64_t count) {
    call.setArgument(call.argument(Role::TokenIds)->name, ids, {FOVEA_INT, 64, 1}, {1, count});
    std::vector<int64_t> held = std::move(context.held);
    call.run(); // which clears it: what other calls feed is not known
    held.insert(held.end(), ids, ids + count);
    context.held = std::move(held);
    const fovea_tensor &tensor = call.describe(nameOfLogits(call));
    if (tensor.ndim != 2 || tensor.shape[0] != 1 || tensor.shape[1] < 1 ||
        tensor.dtype.code != FOVEA_FLOAT || tensor.dtype.bits != 32)
      failInvalid(module.path() + ": entry '" + call.entry().name +
                  "' expects logits of type f32 and shape [batch, vocabulary]");
    words = static_cast<size_t>(tensor.shape[1]);
    last = &call;
  }

  static const std::string &nameOfLogits(const Call &call) {
    return call.result(Role::Logits)->name;
  }
  static float *logitsOf(Call &call) {
    return static_cast<float *>(call.result(nameOfLogits(call)).data);
  }

  /// The place of the greatest logit, as the entry says it: only where it is none are logits read.
  int64_t readToken(Call &call, const std::string &name) const {
    const fovea_tensor &tensor = call.result(name);
    if (tensor.ndim != 1 || tensor.shape[0] != 1 || tensor.dtype.code != FOVEA_INT ||
        tensor.dtype.bits != 64)
      failInvalid(module.path() + ": entry '" + call.entry().name +
                  "' expects next_token of type i64 and shape [batch]");
    int64_t token = *static_cast<const int64_t *>(tensor.data);
    if (token < 0 || static_cast<size_t>(token) >= words)
      Sampler::failToken(logitsOf(call), words, token);
    return token;
  }

  /// False if the callback ends it.
  bool readPrompt(size_t done) {
    size_t chunk = options.prompt_chunk > 0 ? static_cast<size_t>(options.prompt_chunk) : 512;
    while (done < prompt.size()) {
      size_t count = std::min(chunk, prompt.size() - done);
      feed(prefill, prompt.data() + done, static_cast<int64_t>(count));
      done += count;
      if (options.on_prompt && options.on_prompt(options.user, done, prompt.size()) != 0)
        return false;
    }
    return true;
  }

  bool emit(int64_t token, const std::string &text) {
    return !options.on_piece ||
           options.on_piece(options.user, token, text.c_str(), text.size()) == 0;
  }

  int64_t choose() {
    const ValueT *token = sampler.isGreedy() ? last->result(Role::NextToken) : nullptr;
    if (options.on_logprobs)
      logprobs.emplace(logitsOf(*last), words, static_cast<size_t>(options.top_logprobs));
    return token ? readToken(*last, token->name) : sampler.choose(logitsOf(*last), words);
  }

  /// False if the callback ends it.
  bool tellLogprobs(int64_t token) {
    return !options.on_logprobs ||
           options.on_logprobs(options.user, token, logprobs->of(token), logprobs->top.data(),
                               logprobs->top.size()) == 0;
  }

  fovea_stop write(size_t &written) {
    const auto &ends = module.manifest().model->end_tokens;
    auto limit = static_cast<size_t>(options.max_tokens);
    while (options.max_tokens == -1 || written < limit) {
      const int64_t token = choose();
      if (!options.ignore_end && std::find(ends.begin(), ends.end(), token) != ends.end())
        return FOVEA_STOP_END;
      ++written;
      sampler.see(token);
      std::string text = stream ? stream->push(static_cast<int32_t>(token)) : std::string();
      if (!tellLogprobs(token) || !emit(token, stops.push(text)))
        return FOVEA_STOP_CALLBACK;
      if (stops.found)
        return FOVEA_STOP_TEXT;
      if (options.max_tokens != -1 && written == limit)
        break;
      if (context.length() + 1 > context.capacity())
        return FOVEA_STOP_CONTEXT;
      feed(decode ? *decode : prefill, &token, 1);
    }
    return FOVEA_STOP_COUNT;
  }

  Context &context;
  const Module &module;
  const fovea_generate_options &options;
  Sampler sampler;
  Call prefill;
  std::optional<Call> decode;
  std::vector<int64_t> prompt;
  std::optional<StreamDecoder> stream;
  StopTexts stops;
  std::optional<Logprobs> logprobs; ///< of the token that was chosen last
  Call *last = nullptr;             ///< that was run
  size_t words = 0;
};

} // namespace
} // namespace fovea

fovea_status *fovea_generate(fovea_context *context, const fovea_generate_options *options,
                             fovea_generate_result *result) {
  return fovea::runWithOptions(context, options, FOVEA_GENERATE_OPTIONS_INIT, result,
                               FOVEA_GENERATE_RESULT_INIT,
                               [&](const fovea_generate_options &own, fovea_generate_result &done) {
                                 fovea::Generation(context->context, own).run(done);
                               });
}
