// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of tokenizer.json: which kind it is, and its options. Refuses dropout, which is
// random, and unigrams without an unknown token.
#include "frontend/tokenizer/TableWriter.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <iterator>

using namespace fovea;
using namespace fovea::tables;

namespace {
/// A number as the reference's JSON reader makes it of decimal digits: rounded twice, to the whole
/// number of the digits and to its quotient by a power of ten. A bit of difference decides which of
/// two ways of equal score is taken.
double asReferenceReads(double number) {
  char digits[32];
  // The shortest digits that mean this number, as those who write the files choose them.
  auto end =
      std::to_chars(digits, std::end(digits), std::fabs(number), std::chars_format::scientific);
  std::string text(digits, end.ptr);
  size_t exponentAt = text.find('e');
  int exponent = std::atoi(text.c_str() + exponentAt + 1);
  std::string whole = text.substr(0, 1);
  if (exponentAt > 2)
    whole += text.substr(2, exponentAt - 2);
  exponent -= static_cast<int>(whole.size()) - 1;
  double power = std::strtod(("1e" + std::to_string(std::abs(exponent))).c_str(), nullptr);
  auto significand = static_cast<double>(std::strtoull(whole.c_str(), nullptr, 10));
  double result = exponent < 0 ? significand / power : significand * power;
  return std::isfinite(result) && std::isfinite(power) ? std::copysign(result, number) : number;
}

class ModelWriter {
public:
  ModelWriter(TableWriter &writer, const JsonValue &value, const std::string &place)
      : writer(writer), model(value, writer.file, place, writer.problems) {}

  WrittenModel run() {
    WrittenModel result;
    if (!model.valid())
      return result;
    std::string type = typeOf();
    if (type.empty())
      return result;
    if (type == "Unigram")
      return writeUnigram();
    vocabulary = readVocabulary(writer, model);
    if (vocabulary.empty()) {
      if (!hasErrors(writer.problems))
        model.reject("vocab", "at least one token");
      return result;
    }
    if (type == "BPE")
      result.table = writeBpe();
    else
      result.table = writeWords(type == "WordPiece");
    model.reportUnread("is an option that is not understood");
    result.count = vocabulary.size();
    result.vocabulary = std::move(vocabulary);
    return result;
  }

private:
  /// Old files do not name the type.
  std::string typeOf() {
    if (!model.has("type") && model.has("merges"))
      return "BPE";
    if (!model.has("type") && model.has("continuing_subword_prefix"))
      return "WordPiece";
    if (!model.has("type") && model.has("unk_id"))
      return "Unigram";
    std::string type = model.string("type").value_or("");
    if (type == "BPE" || type == "WordPiece" || type == "WordLevel" || type == "Unigram")
      return type;
    if (model.has("type"))
      model.reject("type", "one of 'BPE', 'WordPiece', 'WordLevel', 'Unigram'");
    return "";
  }

  /// The id of `key`'s token; -1 if the key is missing, or a problem.
  int32_t tokenOf(std::string_view key) {
    if (!model.find(key))
      return -1;
    std::optional<std::string> text = model.string(key);
    auto found = text ? vocabulary.find(*text) : vocabulary.end();
    if (found != vocabulary.end())
      return found->second;
    if (text)
      model.reject(key, "a token of the vocabulary");
    return -1;
  }

  flatbuffers::Offset<tables::Model> writeWords(bool isWordPiece) {
    int32_t unknown = tokenOf("unk_token");
    if (!model.has("unk_token"))
      model.reject("unk_token", "a token of the vocabulary");
    std::string prefix;
    int64_t most = 0;
    if (isWordPiece) {
      prefix = model.string("continuing_subword_prefix").value_or("");
      most = model.integer("max_input_chars_per_word", 0, UINT32_MAX).value_or(0);
    }
    auto words = writeVocabulary(writer, vocabulary);
    return CreateModel(writer.builder, isWordPiece ? ModelKind::WordPiece : ModelKind::WordLevel,
                       words, 0, 0, unknown, writer.builder.CreateString(prefix), 0, false, false,
                       false, static_cast<uint32_t>(most));
  }

  flatbuffers::Offset<tables::Model> writeBpe() {
    if (model.number("dropout", 0, 1, 0) != 0)
      model.reject("dropout", "no dropout");
    std::string prefix = textOrEmpty(model, "continuing_subword_prefix");
    std::string suffix = textOrEmpty(model, "end_of_word_suffix");
    bool fuse = model.boolean("fuse_unk", false);
    bool byteFallback = model.boolean("byte_fallback", false);
    bool ignoreMerges = model.boolean("ignore_merges", false);
    int32_t unknown = tokenOf("unk_token");
    Merges merges = readMerges(writer, model, vocabulary, prefix.size());
    auto words = writeVocabulary(writer, vocabulary);
    auto rowsOffset = writer.builder.CreateVector(merges.rows);
    auto mergesOffset = writer.builder.CreateVectorOfStructs(merges.merges);
    flatbuffers::Offset<flatbuffers::String> prefixOffset, suffixOffset;
    if (!prefix.empty())
      prefixOffset = writer.builder.CreateString(prefix);
    if (!suffix.empty())
      suffixOffset = writer.builder.CreateString(suffix);
    return CreateModel(writer.builder, ModelKind::Bpe, words, rowsOffset, mergesOffset, unknown,
                       prefixOffset, suffixOffset, fuse, byteFallback, ignoreMerges);
  }

  /// `[["<unk>", 0.0], ["a", -2.5], ...]`: a token's id is its place.
  bool readScores(std::vector<std::string_view> &texts, std::vector<double> &scores) {
    const JsonValue *list = model.array("vocab");
    if (!list)
      return false;
    for (size_t i = 0; i < list->elements().size(); ++i) {
      const JsonValue &entry = list->elements()[i];
      if (!entry.isArray() || entry.elements().size() != 2 || !entry.elements()[0].isString() ||
          !entry.elements()[1].isNumber()) {
        addError(writer.problems, writer.file,
                 model.placeOf("vocab") + "[" + std::to_string(i) + "]",
                 "expects a token and its score, got " + entry.describe());
        return false;
      }
      texts.push_back(entry.elements()[0].string());
      scores.push_back(asReferenceReads(entry.elements()[1].number()));
      vocabulary[entry.elements()[0].string()] = static_cast<int32_t>(i);
    }
    if (texts.empty())
      model.reject("vocab", "at least one token");
    return !texts.empty();
  }

  WrittenModel writeUnigram() {
    WrittenModel result;
    std::vector<std::string_view> texts;
    std::vector<double> scores;
    if (!readScores(texts, scores))
      return result;
    // Without it the reference ends at the first unknown character.
    std::optional<int64_t> unknown =
        model.integer("unk_id", 0, static_cast<int64_t>(texts.size()) - 1);
    bool byteFallback = model.boolean("byte_fallback", false);
    model.reportUnread("is an option that is not understood");
    PieceTexts pieces;
    for (const auto &[text, id] : vocabulary)
      if (!text.empty())
        pieces.emplace_back(text, id);
    auto trie = writeTrie(writer, std::move(pieces), model.placeOf("vocab"));
    auto words = writeVocabulary(writer, vocabulary, texts);
    auto scoresOffset = writer.builder.CreateVector(scores);
    ModelBuilder builder(writer.builder);
    builder.add_kind(ModelKind::Unigram);
    builder.add_vocabulary(words);
    builder.add_unknown(static_cast<int32_t>(unknown.value_or(0)));
    builder.add_byte_fallback(byteFallback);
    builder.add_scores(scoresOffset);
    builder.add_trie(trie);
    result.table = builder.Finish();
    result.count = texts.size();
    result.vocabulary = std::move(vocabulary);
    return result;
  }

  TableWriter &writer;
  JsonObject model;
  TokenIds vocabulary;
};
} // namespace

WrittenModel fovea::writeModel(TableWriter &writer, const JsonValue &value,
                               const std::string &place) {
  return ModelWriter(writer, value, place).run();
}
