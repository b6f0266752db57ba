// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tokens that begin, end and pad a text, from config.json and from what
// generation_config.json says instead. Ids outside of the vocabulary are noted.
#include "frontend/HuggingFace/Family.h"

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

void fovea::readSpecialTokens(JsonObject &config, const std::string &folder,
                              ModelDescription &model, Problems &problems) {
  auto read = [&](JsonObject &object) {
    auto begin = readTokens(object, "bos_token_id", model.vocabulary, problems);
    auto end = readTokens(object, "eos_token_id", model.vocabulary, problems);
    auto pad = readTokens(object, "pad_token_id", model.vocabulary, problems);
    if (model.encoder)
      begin = readTokens(object, "decoder_start_token_id", model.vocabulary, problems);
    if (!begin.empty())
      model.beginToken = begin.front();
    auto suppressed = readTokens(object, "suppress_tokens", model.vocabulary, problems);
    for (int64_t token : readBadWords(object, model.vocabulary, problems))
      suppressed.push_back(token);
    if (!suppressed.empty())
      model.suppressedTokens = suppressed;
    if (!end.empty())
      model.endTokens = end;
    if (!pad.empty())
      model.padToken = pad.front();
  };
  read(config);
  std::string path = folder + "/generation_config.json";
  if (!exists(path))
    return;
  if (std::optional<JsonValue> value = parseJsonFile(path, problems)) {
    JsonObject object(*value, path, "", problems);
    read(object);
  }
}
