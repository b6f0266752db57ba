// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the text that an encoder-decoder makes of a source, a text or sound: the entry of kind
// encode reads the source once and leaves keys and values in the context's caches; that of kind
// decode writes token by token, one row for each beam, behind the model's prompt. Refuses models
// without these entries, sources that are empty or longer than the context or a clip, and token ids
// outside the vocabulary.
#include "runtime/BeamSearch.h"
#include "runtime/Call.h"
#include "runtime/GivenTokens.h"
#include "runtime/StructSize.h"
#include "runtime/status/Status.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace fovea {

namespace {

using Clock = std::chrono::steady_clock;
using manifest::EntryKind;
using manifest::Role;
using manifest::ValueT;

class Translation {
public:
  Translation(Context &context, const fovea_translate_options &options)
      : context(context), module(context.module()), options(options),
        encode(makeCall(EntryKind::Encode, "encode")), samples(findSamples(encode)),
        decode(makeCall(EntryKind::Decode, "decode")) {
    for (const Call *call : {&encode, &decode})
      checkArguments(*call);
    auto atLeast = [](const char *name, int64_t value, int64_t least) {
      if (value < least)
        failInvalid(std::string(name) + " expects " + std::to_string(least) + " or more, got " +
                    std::to_string(value));
    };
    atLeast("max_tokens", options.max_tokens, -1);
    atLeast("beams", options.beams, 1);
    atLeast("count", options.count, 1);
    atLeast("min_tokens", options.min_tokens, -1);
    atLeast("no_repeat_ngram", options.no_repeat_ngram, -1);
    atLeast("forced_begin_token", options.forced_begin_token, -1);
    if (options.count > options.beams)
      failInvalid("count expects at most as many texts as there are beams, " +
                  std::to_string(options.beams) + ", got " + std::to_string(options.count));
    if (options.early_stopping < FOVEA_EARLY_STOPPING_NO ||
        options.early_stopping > FOVEA_EARLY_STOPPING_NEVER)
      failInvalid("early_stopping expects a value of fovea_early_stopping, got " +
                  std::to_string(options.early_stopping));
    const auto &model = *module.manifest().model;
    if (model.begin_token < 0)
      failInvalid(module.path() + ": cannot translate: it has no token to begin a text with");
    if (samples)
      takeSamples();
    else
      source =
          takeTokens(context, {"source", "the tokenizer adds no token to it", options.source,
                               options.source_size, options.source_ids, options.source_id_count});
    takePrompt();
    // The context holds one token before the first, and the prompt.
    auto room = context.capacity() - 1 - static_cast<int64_t>(prompt.size());
    if (room < 0)
      failInvalid("the context has room for " + std::to_string(context.capacity()) +
                  " tokens; before a text stand " + std::to_string(prompt.size() + 1));
    longest = static_cast<size_t>(room);
    if (options.max_tokens >= 0)
      longest = std::min(longest, static_cast<size_t>(options.max_tokens));
  }

  void run(fovea_translate_result &result) {
    context.reset();
    Clock::time_point start = Clock::now();
    result.source_tokens = source.size();
    auto rows = static_cast<size_t>(options.beams);
    const std::vector<int64_t> keep(source.size(), 1), mask(rows * source.size(), 1);
    if (samples) {
      encode.setArgument(samples->name, sound.data(), {FOVEA_FLOAT, 32, 1},
                         {1, static_cast<int64_t>(sound.size())});
    } else {
      setIds(encode, source, 1);
      setMask(encode, keep);
      setMask(decode, mask);
    }
    encode.run();
    context.selectRows(sourceCaches(), std::vector<int64_t>(rows, 0));
    result.source_seconds = secondsSince(start);
    start = Clock::now();
    std::vector<Hypothesis> texts = longest == 0 ? std::vector<Hypothesis>(1) : search(rows);
    result.new_seconds = secondsSince(start);
    for (size_t i = 0; i < std::min(texts.size(), static_cast<size_t>(options.count)); ++i)
      give(texts[i], i);
    result.new_tokens = texts.empty() ? 0 : texts.front().tokens.size();
  }

private:
  Call makeCall(EntryKind kind, const char *name) {
    int entry = module.findEntry(kind);
    if (module.findEntry(EntryKind::Encode) < 0 || entry < 0)
      failInvalid(module.path() + ": cannot translate: it has no entry '" + name +
                  "' (it is no encoder-decoder)");
    return Call(context, static_cast<size_t>(entry));
  }

  /// What a clip of a model that reads sound becomes: f32 [batch, samples].
  const ValueT *findSamples(const Call &call) const {
    if (module.manifest().model->sampling_rate == 0)
      return nullptr;
    for (const auto &value : call.entry().arguments)
      if (value->kind == manifest::ValueKind::Tensor &&
          value->element == manifest::ElementType::F32 && value->shape.size() == 2 &&
          value->shape[1] > 0)
        return value.get();
    return nullptr;
  }

  void checkArguments(const Call &call) const {
    auto refuse = [&](const std::string &why) {
      failInvalid(module.path() + ": cannot translate: entry '" + call.entry().name + "' " + why);
    };
    bool readsSound = samples && &call == &encode;
    if (!readsSound && !call.argument(Role::TokenIds))
      refuse("takes no token ids");
    if (!samples && !call.argument(Role::AttentionMask))
      refuse("takes no attention mask");
    for (const auto &value : call.entry().arguments)
      if (value->kind == manifest::ValueKind::Tensor &&
          value.get() != call.argument(Role::TokenIds) &&
          value.get() != call.argument(Role::AttentionMask) && value.get() != samples)
        refuse("takes '" + value->name + "', which cannot be given");
    if (&call == &decode && !call.result(Role::Logits))
      refuse("gives no logits");
  }

  void takeSamples() {
    auto most = static_cast<size_t>(samples->shape[1]);
    if (!options.source_samples)
      failInvalid(module.path() + ": reads sound, and no samples are given");
    if (options.source_sample_count > most)
      failInvalid("the source has " + std::to_string(options.source_sample_count) +
                  " samples; the model reads " + std::to_string(most));
    sound.assign(options.source_samples, options.source_samples + options.source_sample_count);
    sound.resize(most);
  }

  void takePrompt() {
    const auto &model = *module.manifest().model;
    for (const auto &token : model.prompt)
      prompt.push_back(token->token);
    if (!options.prompt_ids && options.prompt_id_count)
      failInvalid("prompt_ids is NULL");
    if (!options.prompt_ids)
      return;
    if (options.prompt_id_count != prompt.size())
      failInvalid("expects " + std::to_string(prompt.size()) + " tokens of the prompt, got " +
                  std::to_string(options.prompt_id_count));
    for (size_t i = 0; i < prompt.size(); ++i) {
      int64_t id = options.prompt_ids[i];
      if (id < -1 || id > INT32_MAX || (model.vocabulary_size > 0 && id >= model.vocabulary_size))
        failInvalid("the prompt holds token id " + std::to_string(id));
      prompt[i] = chosen(id, prompt[i]);
    }
  }

  static void setIds(Call &call, const std::vector<int64_t> &ids, size_t rows) {
    call.setArgument(call.argument(Role::TokenIds)->name, ids.data(), {FOVEA_INT, 64, 1},
                     {static_cast<int64_t>(rows), static_cast<int64_t>(ids.size() / rows)});
  }
  void setMask(Call &call, const std::vector<int64_t> &mask) const {
    auto length = static_cast<int64_t>(source.size());
    call.setArgument(call.argument(Role::AttentionMask)->name, mask.data(), {FOVEA_INT, 64, 1},
                     {static_cast<int64_t>(mask.size()) / length, length});
  }

  /// Caches of the source, which encode fills and decode only reads.
  std::vector<const ValueT *> sourceCaches() const {
    std::vector<const ValueT *> result;
    for (const auto &value : encode.entry().arguments)
      if (value->kind == manifest::ValueKind::Cache)
        result.push_back(value.get());
    return result;
  }
  /// Those that decode continues.
  std::vector<const ValueT *> ownCaches() const {
    const auto &entry = decode.entry();
    std::vector<const ValueT *> result;
    for (const auto &value : entry.results)
      if (value->kind == manifest::ValueKind::Cache)
        result.push_back(entry.arguments[static_cast<size_t>(value->continues)].get());
    return result;
  }

  static int64_t chosen(int64_t option, int64_t ofModel) { return option < 0 ? ofModel : option; }

  /// Takes the log-probabilities of what the rules of texts forbid behind these tokens; one that is
  /// forced gets zero, as in `transformers`.
  void restrictWords(float *row, size_t words, const std::vector<int64_t> &tokens) const {
    const auto &model = *module.manifest().model;
    auto forbid = [&](int64_t token) {
      if (static_cast<size_t>(token) < words)
        row[token] = -INFINITY;
    };
    std::for_each(model.suppressed_tokens.begin(), model.suppressed_tokens.end(), forbid);
    if (tokens.empty())
      std::for_each(model.begin_suppressed_tokens.begin(), model.begin_suppressed_tokens.end(),
                    forbid);
    if (static_cast<int64_t>(tokens.size()) < chosen(options.min_tokens, model.min_tokens))
      std::for_each(model.end_tokens.begin(), model.end_tokens.end(), forbid);
    if (int64_t size = chosen(options.no_repeat_ngram, model.no_repeat_ngram); size > 0) {
      auto before = static_cast<size_t>(size - 1);
      std::vector<int64_t> all = {model.begin_token};
      all.insert(all.end(), prompt.begin(), prompt.end());
      all.insert(all.end(), tokens.begin(), tokens.end());
      for (size_t first = 0; first + before < all.size(); ++first)
        if (std::equal(all.end() - static_cast<std::ptrdiff_t>(before), all.end(),
                       all.begin() + static_cast<std::ptrdiff_t>(first)))
          forbid(all[first + before]);
    }
    int64_t forced = -1;
    if (tokens.empty())
      forced = chosen(options.forced_begin_token, model.forced_begin_token);
    if (tokens.size() + 1 == longest && model.forced_end_token >= 0)
      forced = model.forced_end_token;
    if (forced < 0)
      return;
    if (static_cast<size_t>(forced) >= words)
      failInvalid("expects a forced token below " + std::to_string(words) + ", got " +
                  std::to_string(forced));
    std::fill(row, row + words, -INFINITY);
    row[forced] = 0;
  }

  /// Logits [rows, words] of the last run.
  float *readLogits(size_t rows, size_t &words) {
    const ValueT &value = *decode.result(Role::Logits);
    const fovea_tensor &tensor = decode.result(value.name);
    if (tensor.ndim != 2 || tensor.shape[0] != static_cast<int64_t>(rows) || tensor.shape[1] < 1 ||
        tensor.dtype.code != FOVEA_FLOAT || tensor.dtype.bits != 32)
      failInvalid(module.path() + ": entry '" + decode.entry().name +
                  "' expects logits of type f32 and shape [batch, vocabulary]");
    words = static_cast<size_t>(tensor.shape[1]);
    auto *logits = static_cast<float *>(tensor.data);
    for (size_t i = 0; i < rows * words; ++i)
      if (std::isnan(logits[i]))
        failInvalid(module.path() + ": the logit of token " + std::to_string(i % words) +
                    " is not a number");
    return logits;
  }

  /// Log-probabilities [rows, words] of what may follow.
  float *readStep(const BeamSearch &search, size_t &words) {
    size_t rows = search.running().size();
    float *logits = readLogits(rows, words);
    for (size_t row = 0; row < rows; ++row) {
      logSoftmax(logits + row * words, words);
      restrictWords(logits + row * words, words, search.running()[row].tokens);
    }
    return logits;
  }

  /// Of some tokens, by the last run.
  int64_t likeliest(const std::vector<int64_t> &tokens, size_t rows) {
    size_t words = 0;
    const float *logits = readLogits(rows, words);
    int64_t best = -1;
    for (int64_t token : tokens) {
      if (static_cast<size_t>(token) >= words)
        failInvalid("expects tokens of the prompt below " + std::to_string(words) + ", got " +
                    std::to_string(token));
      if (best < 0 || logits[token] > logits[best])
        best = token;
    }
    return best;
  }

  std::vector<Hypothesis> search(size_t rows) {
    const auto &model = *module.manifest().model;
    BeamOptions beam;
    beam.beams = rows;
    beam.lengthPenalty = options.length_penalty;
    // One beam is greedy: its text ends with its first end token.
    beam.stop = rows == 1 ? BeamOptions::Stop::Full
                          : static_cast<BeamOptions::Stop>(options.early_stopping);
    beam.longest = longest;
    beam.ends = model.end_tokens;
    BeamSearch search(beam);
    std::vector<int64_t> ids(rows, model.begin_token), parents(rows);
    const std::vector<const ValueT *> own = ownCaches();
    for (size_t i = 0; i < prompt.size(); ++i) {
      setIds(decode, ids, rows);
      decode.run();
      if (prompt[i] < 0)
        prompt[i] = likeliest(model.prompt[i]->tokens, rows);
      ids.assign(rows, prompt[i]);
    }
    for (bool goesOn = true; goesOn;) {
      setIds(decode, ids, rows);
      decode.run();
      size_t words = 0;
      float *logProbabilities = readStep(search, words);
      goesOn = search.step(logProbabilities, words);
      for (size_t i = 0; i < rows; ++i) {
        ids[i] = search.running()[i].tokens.back();
        parents[i] = static_cast<int64_t>(search.running()[i].row);
      }
      if (goesOn)
        context.selectRows(own, parents);
      if (options.on_token && options.on_token(options.user, search.running()[0].tokens.size()))
        break;
    }
    return search.finished();
  }

  void give(Hypothesis &text, size_t rank) const {
    const auto &ends = module.manifest().model->end_tokens;
    bool ended = !text.tokens.empty() &&
                 std::find(ends.begin(), ends.end(), text.tokens.back()) != ends.end();
    if (ended)
      text.tokens.pop_back();
    std::string written;
    if (const Tokenizer *tokenizer = module.tokenizer()) {
      StreamDecoder stream(*tokenizer, /*skipSpecial=*/true);
      for (int64_t token : text.tokens)
        written += stream.push(static_cast<int32_t>(token));
      written += stream.finish();
    }
    fovea_translation translation = FOVEA_TRANSLATION_INIT;
    translation.text = written.c_str();
    translation.text_size = written.size();
    translation.ids = text.tokens.data();
    translation.id_count = text.tokens.size();
    translation.score = text.score;
    translation.ended = ended;
    translation.prompt_ids = prompt.data();
    if (options.on_text)
      options.on_text(options.user, rank, &translation);
  }

  Context &context;
  const Module &module;
  const fovea_translate_options &options;
  Call encode;
  const ValueT *samples; ///< The argument that is a clip; null where the source is a text.
  Call decode;
  std::vector<int64_t> source;
  std::vector<float> sound;
  std::vector<int64_t> prompt; ///< What is not chosen yet is -1.
  size_t longest = 0;
};

} // namespace
} // namespace fovea

fovea_status *fovea_translate(fovea_context *context, const fovea_translate_options *options,
                              fovea_translate_result *result) {
  return fovea::runWithOptions(
      context, options, FOVEA_TRANSLATE_OPTIONS_INIT, result, FOVEA_TRANSLATE_RESULT_INIT,
      [&](const fovea_translate_options &own, fovea_translate_result &done) {
        fovea::Translation(context->context, own).run(done);
      });
}
