// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens that begin, end and pad a text, from config.json and from what
// generation_config.json says instead. Ids outside of the vocabulary are noted.
#include "frontend/SpecialTokens.h"

#include "frontend/Prompt.h"

#include <algorithm>

using namespace fovea;

/// Reads a token id or an array of them.
static std::vector<int64_t> readTokens(JsonObject &config, const char *key, int64_t vocabulary,
                                       Problems &problems) {
  const JsonValue *value = config.find(key);
  if (!value)
    return {};
  std::vector<int64_t> result;
  std::vector<JsonValue> single = {*value};
  for (const JsonValue &token : value->isArray() ? value->elements() : single) {
    // Some configurations write -1 for "none".
    if (token.isInteger() && token.integer() == -1)
      continue;
    if (!token.isInteger() || token.integer() < 0 || token.integer() >= vocabulary) {
      // Configurations with a vocabulary made smaller keep the old ids.
      addNote(problems, config.file(), config.placeOf(key),
              "expects token ids from 0 to " + std::to_string(vocabulary - 1) + ", ignores " +
                  token.describe());
      continue;
    }
    result.push_back(token.integer());
  }
  return result;
}

/// `bad_words_ids` that are words of one token: these are never written. Longer ones are noted.
static std::vector<int64_t> readBadWords(JsonObject &config, int64_t vocabulary,
                                         Problems &problems) {
  const JsonValue *words = config.find("bad_words_ids");
  std::vector<int64_t> result;
  if (!words || !words->isArray())
    return result;
  for (const JsonValue &word : words->elements()) {
    bool single = word.isArray() && word.elements().size() == 1 && word.elements()[0].isInteger();
    int64_t token = single ? word.elements()[0].integer() : -1;
    if (token >= 0 && token < vocabulary)
      result.push_back(token);
    else
      addNote(problems, config.file(), config.placeOf("bad_words_ids"),
              "expects arrays of one token id below " + std::to_string(vocabulary) + ", ignores " +
                  word.describe());
  }
  return result;
}

/// What texts of an encoder-decoder must be. A length counts the token before the first.
static void readRules(JsonObject &config, ModelDescription &model, Problems &problems) {
  constexpr int64_t kMost = int64_t(1) << 31;
  auto isGiven = [&](const char *key) {
    const JsonValue *value = config.find(key);
    return value && !value->isNull();
  };
  auto token = [&](const char *key) -> std::optional<int64_t> {
    std::vector<int64_t> found;
    if (isGiven(key))
      found = readTokens(config, key, model.vocabulary, problems);
    return found.empty() ? std::nullopt : std::optional(found.front());
  };
  auto count = [&](const char *key) {
    return isGiven(key) ? config.integer(key, 0, kMost, 0) : int64_t(0);
  };
  model.forcedBeginToken = token("forced_bos_token_id");
  model.forcedEndToken = token("forced_eos_token_id");
  int64_t least = std::max(count("min_length") - 1, count("min_new_tokens"));
  if (least > 0)
    model.minTokens = least;
  if (int64_t size = count("no_repeat_ngram_size"))
    model.noRepeatNgram = size;
  const char *ofSource = "encoder_no_repeat_ngram_size";
  if (int64_t size = count(ofSource))
    addNote(problems, config.file(), config.placeOf(ofSource),
            "is not applied by translate, got " + std::to_string(size));
}

void fovea::readSpecialTokens(JsonObject &config, const std::string &folder,
                              ModelDescription &model, Problems &problems) {
  std::vector<int64_t> suppressed, badWords;
  auto take = [&](JsonObject &object, const char *key, std::vector<int64_t> &to) {
    if (auto found = readTokens(object, key, model.vocabulary, problems); !found.empty())
      to = std::move(found);
  };
  auto read = [&](JsonObject &object) {
    std::vector<int64_t> begin, pad;
    take(object, model.encoder ? "decoder_start_token_id" : "bos_token_id", begin);
    take(object, "pad_token_id", pad);
    take(object, "eos_token_id", model.endTokens);
    take(object, "suppress_tokens", suppressed);
    if (model.encoder)
      take(object, "begin_suppress_tokens", model.beginSuppressedTokens);
    if (auto found = readBadWords(object, model.vocabulary, problems); !found.empty())
      badWords = std::move(found);
    if (!begin.empty())
      model.beginToken = begin.front();
    if (!pad.empty())
      model.padToken = pad.front();
  };
  read(config);
  std::string path = folder + "/generation_config.json";
  bool hasOwn = exists(path);
  // Rules of texts are one file's alone.
  auto readTexts = [&](JsonObject &object) {
    readRules(object, model, problems);
    readPrompt(object, model, problems);
  };
  if (model.encoder && !hasOwn)
    readTexts(config);
  if (hasOwn)
    if (std::optional<JsonValue> value = parseJsonFile(path, problems)) {
      // So are tokens that are never written.
      suppressed.clear();
      badWords.clear();
      model.beginSuppressedTokens.clear();
      JsonObject object(*value, path, "", problems);
      read(object);
      if (model.encoder)
        readTexts(object);
    }
  // An end token among bad words still ends a text.
  for (int64_t token : badWords) {
    bool ends = false;
    for (int64_t end : model.endTokens)
      ends |= end == token;
    if (!ends)
      suppressed.push_back(token);
  }
  model.suppressedTokens = std::move(suppressed);
}
