// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See WrittenText.h. Refuses prompts that are empty or longer than the context, token ids outside
// the vocabulary, and options out of their range.
#include "runtime/WrittenText.h"

#include "runtime/GivenTokens.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace fovea {

std::string StopTexts::push(const std::string &text) {
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

/// The longest end of the text that begins a stop.
size_t StopTexts::countHeldBack() const {
  size_t most = 0;
  for (const std::string &stop : texts)
    for (size_t size = std::min(stop.size() - 1, pending.size()); size > most; --size)
      if (pending.compare(pending.size() - size, size, stop, 0, size) == 0)
        most = size;
  return most;
}

Logprobs::Logprobs(const float *logits, size_t count, size_t wanted)
    : logits(logits, logits + count) {
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

WrittenText::WrittenText(Context &context, const fovea_generate_options &options)
    : options(options), module(context.module()),
      sampler({options.temperature, options.top_k, options.top_p, options.min_p,
               options.repetition_penalty, options.seed}) {
  if (options.max_tokens < -1)
    failInvalid("max_tokens expects -1 or more, got " + std::to_string(options.max_tokens));
  if (options.prompt_chunk < 0)
    failInvalid("prompt_chunk expects 1 or more, got " + std::to_string(options.prompt_chunk));
  if (options.top_logprobs < 0)
    failInvalid("top_logprobs expects 0 or more, got " + std::to_string(options.top_logprobs));
  takeStops();
  prompt = takeTokens(context, {"prompt", "the model adds no begin token", options.prompt,
                                options.prompt_size, options.prompt_ids, options.prompt_id_count});
  result.prompt_tokens = prompt.size();
  for (int64_t id : prompt)
    sampler.see(id);
  if (const Tokenizer *tokenizer = module.tokenizer()) {
    // How a token reads may depend on what stands before it.
    stream.emplace(*tokenizer, /*skipSpecial=*/true);
    for (int64_t id : prompt)
      stream->push(static_cast<int32_t>(id));
  }
}

void WrittenText::takeStops() {
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

size_t WrittenText::chunk() const {
  return options.prompt_chunk > 0 ? static_cast<size_t>(options.prompt_chunk) : 512;
}

size_t WrittenText::left() const {
  return options.max_tokens == -1 ? SIZE_MAX
                                  : static_cast<size_t>(options.max_tokens) - result.new_tokens;
}

bool WrittenText::tellPrompt(size_t done) {
  return !options.on_prompt || options.on_prompt(options.user, done, prompt.size()) == 0;
}

bool WrittenText::emit(int64_t token, const std::string &text) {
  return !options.on_piece || options.on_piece(options.user, token, text.c_str(), text.size()) == 0;
}

void WrittenText::noteLogits(const float *logits, size_t words) {
  if (options.on_logprobs)
    logprobs.emplace(logits, words, static_cast<size_t>(options.top_logprobs));
}

std::optional<fovea_stop> WrittenText::write(int64_t token) {
  const auto &ends = module.manifest().model->end_tokens;
  if (!options.ignore_end && std::find(ends.begin(), ends.end(), token) != ends.end())
    return FOVEA_STOP_END;
  ++result.new_tokens;
  sampler.see(token);
  std::string text = stream ? stream->push(static_cast<int32_t>(token)) : std::string();
  if (options.on_logprobs && options.on_logprobs(options.user, token, logprobs->of(token),
                                                 logprobs->top.data(), logprobs->top.size()) != 0)
    return FOVEA_STOP_CALLBACK;
  if (!emit(token, stops.push(text)))
    return FOVEA_STOP_CALLBACK;
  if (stops.found)
    return FOVEA_STOP_TEXT;
  return isFull() ? std::optional(FOVEA_STOP_COUNT) : std::nullopt;
}

void WrittenText::finish(fovea_stop stop) {
  result.stop = stop;
  if (stop == FOVEA_STOP_CALLBACK || stop == FOVEA_STOP_TEXT || !stream)
    return;
  std::string rest = stops.push(stream->finish());
  if (stops.found)
    result.stop = FOVEA_STOP_TEXT;
  emit(-1, rest + stops.finish());
}

} // namespace fovea
