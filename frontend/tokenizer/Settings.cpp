// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tokenizer_config.json and special_tokens_map.json: which tokens begin and end a
// text, and how long it may be.
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

/// `"<s>"` or `{"content": "<s>", ...}`. The first file that says it counts.
static void readToken(TableWriter &writer, JsonObject &settings, const char *key,
                      const TokenIds &vocabulary, const TokenIds &addedIds, int32_t &id) {
  const JsonValue *value = settings.find(key);
  if (!value || id >= 0)
    return;
  const JsonValue *content = value->isObject() ? value->find("content") : value;
  if (!content || !content->isString()) {
    settings.reject(key, "a token's text");
    return;
  }
  auto added = addedIds.find(content->string());
  auto known = vocabulary.find(content->string());
  if (added != addedIds.end())
    id = added->second;
  else if (known != vocabulary.end())
    id = known->second;
  else
    addNote(writer.problems, settings.file(), settings.placeOf(key),
            "names " + quote(content->string()) + ", which is no token");
}

/// BERT's tokenizer class changes the normalizer by these settings.
static void checkBert(TableWriter &writer, JsonObject &settings, JsonObject &root) {
  const JsonValue *normalizer = root.find("normalizer");
  const JsonValue *name = settings.find("tokenizer_class");
  if (!normalizer || !normalizer->isObject() || !name ||
      name->string().find("Bert") == std::string::npos)
    return;
  JsonObject bert(*normalizer, writer.file, "normalizer", writer.problems);
  if (bert.string("type", "") != "BertNormalizer")
    return;
  static constexpr std::pair<const char *, const char *> pairs[] = {
      {"do_lower_case", "lowercase"},
      {"strip_accents", "strip_accents"},
      {"tokenize_chinese_chars", "handle_chinese_chars"}};
  for (auto [setting, option] : pairs) {
    const JsonValue *wanted = settings.find(setting), *given = bert.find(option);
    if (wanted && given && wanted->isBool() && given->isBool() &&
        wanted->boolean() != given->boolean())
      settings.reject(setting, given->describe() + std::string(", as 'normalizer.") + option +
                                   "' of tokenizer.json says");
  }
}

TokenizerSettings fovea::readSettings(TableWriter &writer, JsonObject *root,
                                      const TokenIds &vocabulary, const TokenIds &addedIds) {
  TokenizerSettings result;
  auto readId = [&](JsonObject &settings, const char *key, int32_t &id) {
    readToken(writer, settings, key, vocabulary, addedIds, id);
  };
  std::string folder = writer.file.substr(0, writer.file.rfind('/') + 1);
  for (const char *name : {"tokenizer_config.json", "special_tokens_map.json"}) {
    std::string file = folder + name;
    if (!exists(file))
      continue;
    std::optional<JsonValue> json = parseJsonFile(file, writer.problems);
    if (!json)
      continue;
    JsonObject settings(*json, file, "", writer.problems);
    if (!settings.valid())
      continue;
    readId(settings, "bos_token", result.beginToken);
    readId(settings, "eos_token", result.endToken);
    readId(settings, "unk_token", result.unknownToken);
    readId(settings, "pad_token", result.padToken);
    // Unlimited is written as 1e30.
    if (const JsonValue *length = settings.find("model_max_length"))
      if (length->isInteger() && length->integer() > 0 && length->integer() <= INT32_MAX)
        result.maxLength = length->integer();
    if (root)
      checkBert(writer, settings, *root);
  }
  return result;
}
