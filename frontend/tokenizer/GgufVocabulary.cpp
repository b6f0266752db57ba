// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the keys of a vocabulary and holds lists to the number of tokens.
#include "frontend/tokenizer/GgufVocabulary.h"

#include "runtime/tokenizer/Utf8.h"

using namespace fovea;

int32_t GgufVocabulary::find(std::string_view text) const {
  for (size_t i = 0; i < texts.size(); ++i)
    if (texts[i] == text)
      return static_cast<int32_t>(i);
  return -1;
}

namespace {
class VocabularyReader {
public:
  VocabularyReader(TableWriter &writer, JsonObject &keys) : writer(writer), keys(keys) {}

  std::optional<GgufVocabulary> run() {
    size_t before = writer.problems.size();
    result.model = keys.string("ggml.model").value_or("");
    result.pre = keys.string("ggml.pre", "");
    readTexts();
    if (result.texts.empty())
      return std::nullopt;
    readTypes();
    if (keys.has("ggml.scores"))
      readScores();
    if (keys.has("ggml.merges"))
      result.merges = keys.array("ggml.merges");
    readIds();
    readFlags();
    readCharacterMap();
    return writer.problems.size() == before ? std::optional(std::move(result)) : std::nullopt;
  }

private:
  std::string placeOf(const char *key, size_t i) {
    return keys.placeOf(key) + "[" + std::to_string(i) + "]";
  }

  void readTexts() {
    std::optional<std::vector<std::string>> texts = keys.strings("ggml.tokens");
    if (!texts)
      return;
    result.texts = std::move(*texts);
    if (result.texts.empty())
      keys.reject("ggml.tokens", "at least one token");
    for (size_t i = 0; i < result.texts.size(); ++i)
      if (!isUtf8(result.texts[i]))
        return addError(writer.problems, writer.file, placeOf("ggml.tokens", i),
                        "expects UTF-8, got " + quote(result.texts[i]));
  }

  /// That `list` has one element for each token.
  bool checkCount(const char *key, const JsonValue *list) {
    if (!list)
      return false;
    if (list->elements().size() == result.texts.size())
      return true;
    addError(writer.problems, writer.file, keys.placeOf(key),
             "expects " + std::to_string(result.texts.size()) + " elements, one a token, got " +
                 std::to_string(list->elements().size()));
    return false;
  }

  void readTypes() {
    result.types.assign(result.texts.size(), GgufVocabulary::Type::Normal);
    const char *key = "ggml.token_type";
    const JsonValue *list = keys.has(key) ? keys.array(key) : nullptr;
    if (!checkCount(key, list))
      return;
    for (size_t i = 0; i < result.types.size(); ++i) {
      int64_t type = list->elements()[i].integer();
      if (type < 0 || type > 6 || !list->elements()[i].isInteger())
        return addError(writer.problems, writer.file, placeOf(key, i),
                        "expects a type from 0 to 6, got " + list->elements()[i].describe());
      if (type > 0) // undefined
        result.types[i] = static_cast<GgufVocabulary::Type>(type);
    }
  }

  void readScores() {
    const char *key = "ggml.scores";
    const JsonValue *list = keys.array(key);
    if (!checkCount(key, list))
      return;
    for (size_t i = 0; i < result.texts.size(); ++i) {
      const JsonValue &score = list->elements()[i];
      if (!score.isNumber())
        return addError(writer.problems, writer.file, placeOf(key, i),
                        "expects a number, got " + score.describe());
      result.scores.push_back(score.number());
    }
  }

  void readIds() {
    struct {
      const char *key;
      int32_t &id;
    } ids[] = {{"ggml.cls_token_id", result.begin}, // an older name
               {"ggml.bos_token_id", result.begin},          {"ggml.eos_token_id", result.end},
               {"ggml.unknown_token_id", result.unknown},    {"ggml.padding_token_id", result.pad},
               {"ggml.seperator_token_id", result.separator}};
    auto count = static_cast<int64_t>(result.texts.size());
    for (auto [key, id] : ids) {
      const JsonValue *value = keys.find(key);
      if (!value)
        continue;
      // Others are none, of which the model's reader tells.
      if (value->isInteger() && value->integer() >= 0 && value->integer() < count)
        id = static_cast<int32_t>(value->integer());
    }
  }

  void readFlags() {
    struct {
      const char *key;
      std::optional<bool> &flag;
    } flags[] = {{"ggml.add_bos_token", result.addsBegin},
                 {"ggml.add_eos_token", result.addsEnd},
                 {"ggml.add_sep_token", result.addsSeparator},
                 {"ggml.add_space_prefix", result.addsSpace},
                 {"ggml.remove_extra_whitespaces", result.removesSpaces},
                 {"ggml.normalizer.lowercase", result.lowers},
                 {"ggml.normalizer.strip_accents", result.stripsAccents}};
    for (auto [key, flag] : flags)
      if (keys.has(key))
        flag = keys.boolean(key);
  }

  void readCharacterMap() {
    const char *key = "ggml.precompiled_charsmap";
    const JsonValue *list = keys.has(key) ? keys.array(key) : nullptr;
    for (size_t i = 0; list && i < list->elements().size(); ++i) {
      const JsonValue &byte = list->elements()[i];
      if (!byte.isInteger() || byte.integer() < -128 || byte.integer() > 255)
        return addError(writer.problems, writer.file, placeOf(key, i),
                        "expects a byte, got " + byte.describe());
      result.characterMap += static_cast<char>(byte.integer());
    }
  }

  TableWriter &writer;
  JsonObject &keys;
  GgufVocabulary result;
};
} // namespace

std::optional<GgufVocabulary> fovea::readGgufVocabulary(TableWriter &writer, JsonObject &keys) {
  return VocabularyReader(writer, keys).run();
}
