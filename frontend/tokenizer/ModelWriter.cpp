// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of tokenizer.json: which kind it is, and its options. Refuses
// dropout, which is random.
#include "frontend/tokenizer/TableWriter.h"

using namespace fovea;
using namespace fovea::tables;

namespace {
class ModelWriter {
public:
  ModelWriter(TableWriter &writer, const JsonValue &value)
      : writer(writer), model(value, writer.file, "model", writer.problems) {}

  WrittenModel run() {
    WrittenModel result;
    if (!model.valid())
      return result;
    std::string type = typeOf();
    if (type.empty())
      return result;
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
    std::string type = model.string("type").value_or("");
    if (type == "BPE" || type == "WordPiece" || type == "WordLevel")
      return type;
    if (model.has("type"))
      model.reject("type", "one of 'BPE', 'WordPiece', 'WordLevel'");
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

  TableWriter &writer;
  JsonObject model;
  TokenIds vocabulary;
};
} // namespace

WrittenModel fovea::writeModel(TableWriter &writer, const JsonValue &value) {
  return ModelWriter(writer, value).run();
}
