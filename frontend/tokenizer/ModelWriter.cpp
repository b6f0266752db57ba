// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of tokenizer.json: its vocabulary as a hash table, its merges
// sorted by the ids of their parts. Refuses dropout, which is random.
#include "frontend/tokenizer/TableWriter.h"
#include "runtime/tokenizer/Model.h"

#include <algorithm>

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
    readVocabulary();
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

  void readVocabulary() {
    std::optional<JsonObject> table = model.member("vocab");
    const JsonValue *value = model.find("vocab");
    if (!table)
      return;
    size_t count = value->keys().size();
    // Ids may have holes, but not so many that the table is mostly holes.
    int64_t limit = std::min<int64_t>(INT32_MAX, static_cast<int64_t>(count) * 8 + 65536);
    std::vector<bool> taken;
    for (size_t i = 0; i < count; ++i) {
      const JsonValue &id = value->elements()[i];
      auto fail = [&](const std::string &message) {
        addError(writer.problems, writer.file, table->placeOf(value->keys()[i]), message);
      };
      if (!id.isInteger() || id.integer() < 0 || id.integer() >= limit)
        return fail("expects an id from 0 to " + std::to_string(limit - 1) + ", got " +
                    id.describe());
      auto index = static_cast<size_t>(id.integer());
      if (taken.size() <= index)
        taken.resize(std::max(index + 1, taken.size() * 2));
      if (taken[index])
        return fail("expects an id of its own, got " + std::to_string(index) +
                    ", which another token has");
      taken[index] = true;
      vocabulary.emplace(value->keys()[i], static_cast<int32_t>(index));
      size = std::max(size, index + 1);
    }
  }

  flatbuffers::Offset<tables::Vocabulary> writeVocabulary() {
    std::vector<std::string_view> texts(size);
    int32_t emptyToken = -1;
    size_t slotCount = 2;
    while (slotCount < vocabulary.size() * 2)
      slotCount *= 2;
    std::vector<uint32_t> slots(slotCount);
    for (const auto &[text, id] : vocabulary) {
      texts[static_cast<size_t>(id)] = text;
      if (text.empty())
        emptyToken = id;
      size_t slot = hashOfToken(text) & (slotCount - 1);
      while (slots[slot] != 0)
        slot = (slot + 1) & (slotCount - 1);
      slots[slot] = static_cast<uint32_t>(id) + 1;
    }
    std::vector<uint8_t> bytes;
    std::vector<uint32_t> offsets;
    for (std::string_view text : texts) {
      offsets.push_back(static_cast<uint32_t>(bytes.size()));
      bytes.insert(bytes.end(), text.begin(), text.end());
    }
    offsets.push_back(static_cast<uint32_t>(bytes.size()));
    return CreateVocabularyDirect(writer.builder, &bytes, &offsets, emptyToken, &slots);
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
    auto words = writeVocabulary();
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
    std::vector<uint32_t> rows;
    std::vector<Merge> merges;
    readMerges(prefix.size(), rows, merges);
    auto words = writeVocabulary();
    auto rowsOffset = writer.builder.CreateVector(rows);
    auto mergesOffset = writer.builder.CreateVectorOfStructs(merges);
    flatbuffers::Offset<flatbuffers::String> prefixOffset, suffixOffset;
    if (!prefix.empty())
      prefixOffset = writer.builder.CreateString(prefix);
    if (!suffix.empty())
      suffixOffset = writer.builder.CreateString(suffix);
    return CreateModel(writer.builder, ModelKind::Bpe, words, rowsOffset, mergesOffset, unknown,
                       prefixOffset, suffixOffset, fuse, byteFallback, ignoreMerges);
  }

  /// Splits "left right", or takes ["left", "right"].
  bool partsOf(const JsonValue &value, std::string_view &left, std::string_view &right) {
    if (value.isArray() && value.elements().size() == 2 && value.elements()[0].isString() &&
        value.elements()[1].isString()) {
      left = value.elements()[0].string();
      right = value.elements()[1].string();
      return true;
    }
    std::string_view text = value.string();
    size_t space = text.find(' ');
    if (!value.isString() || space == std::string_view::npos ||
        text.find(' ', space + 1) != std::string_view::npos)
      return false;
    left = text.substr(0, space);
    right = text.substr(space + 1);
    return true;
  }

  void readMerges(size_t prefixSize, std::vector<uint32_t> &rows, std::vector<Merge> &merges) {
    struct Entry {
      uint32_t left, right, rank, result;
    };
    const JsonValue *list = model.array("merges");
    if (!list)
      return;
    std::vector<Entry> entries;
    entries.reserve(list->elements().size());
    uint32_t rank = 0;
    for (size_t i = 0; i < list->elements().size(); ++i) {
      const JsonValue &value = list->elements()[i];
      if (value.isString() && value.string().compare(0, 8, "#version") == 0)
        continue;
      auto fail = [&](const std::string &message) {
        addError(writer.problems, writer.file,
                 model.placeOf("merges") + "[" + std::to_string(i) + "]", message);
      };
      std::string_view left, right;
      if (!partsOf(value, left, right))
        return fail("expects two tokens, got " + value.describe());
      if (right.size() < prefixSize)
        return fail("expects a right half of at least the " + std::to_string(prefixSize) +
                    " bytes of continuing_subword_prefix, got " + quote(right));
      std::string joined(left);
      joined += right.substr(prefixSize);
      uint32_t ids[3];
      std::string_view texts[3] = {left, right, joined};
      for (size_t part = 0; part < 3; ++part) {
        auto found = vocabulary.find(texts[part]);
        if (found == vocabulary.end())
          return fail("expects tokens of the vocabulary, got " + quote(texts[part]));
        ids[part] = static_cast<uint32_t>(found->second);
      }
      entries.push_back({ids[0], ids[1], rank++, ids[2]});
    }
    // Of a pair given twice the last counts.
    std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
      return std::tie(a.left, a.right, b.rank) < std::tie(b.left, b.right, a.rank);
    });
    entries.erase(std::unique(entries.begin(), entries.end(),
                              [](const Entry &a, const Entry &b) {
                                return a.left == b.left && a.right == b.right;
                              }),
                  entries.end());
    rows.assign(size + 1, 0);
    for (const Entry &entry : entries) {
      ++rows[entry.left + 1];
      merges.emplace_back(entry.right, entry.rank, entry.result);
    }
    for (size_t i = 0; i < size; ++i)
      rows[i + 1] += rows[i];
  }

  TableWriter &writer;
  JsonObject model;
  std::map<std::string, int32_t, std::less<>> vocabulary;
  size_t size = 0; ///< One past the largest id.
};
} // namespace

WrittenModel fovea::writeModel(TableWriter &writer, const JsonValue &value) {
  return ModelWriter(writer, value).run();
}
