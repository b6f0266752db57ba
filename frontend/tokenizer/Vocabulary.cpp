// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The vocabulary of tokenizer.json, in which each id is one token's, as a hash
// table of texts and a list of ids.
#include "frontend/tokenizer/TableWriter.h"
#include "runtime/tokenizer/Model.h"

#include <algorithm>

using namespace fovea;
using namespace fovea::tables;

TokenIds fovea::readVocabulary(TableWriter &writer, JsonObject &model) {
  std::optional<JsonObject> table = model.member("vocab");
  return table ? readTokenIds(writer, *model.find("vocab"), *table) : TokenIds();
}

TokenIds fovea::readTokenIds(TableWriter &writer, const JsonValue &value, JsonObject &table) {
  TokenIds vocabulary;
  size_t count = value.keys().size();
  // Ids may have holes, but not so many that the table is mostly holes.
  int64_t limit = std::min<int64_t>(INT32_MAX, static_cast<int64_t>(count) * 8 + 65536);
  std::vector<bool> taken;
  for (size_t i = 0; i < count; ++i) {
    const JsonValue &id = value.elements()[i];
    auto fail = [&](const std::string &message) {
      addError(writer.problems, table.file(), table.placeOf(value.keys()[i]), message);
      return vocabulary;
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
    vocabulary.emplace(value.keys()[i], static_cast<int32_t>(index));
  }
  return vocabulary;
}

size_t fovea::sizeOf(const TokenIds &vocabulary) {
  size_t size = 0;
  for (const auto &[text, id] : vocabulary)
    size = std::max(size, static_cast<size_t>(id) + 1);
  return size;
}

flatbuffers::Offset<tables::Vocabulary> fovea::writeVocabulary(TableWriter &writer,
                                                               const TokenIds &vocabulary) {
  std::vector<std::string_view> texts(sizeOf(vocabulary));
  for (const auto &[text, id] : vocabulary)
    texts[static_cast<size_t>(id)] = text;
  return writeVocabulary(writer, vocabulary, texts);
}

flatbuffers::Offset<tables::Vocabulary>
fovea::writeVocabulary(TableWriter &writer, const TokenIds &vocabulary,
                       const std::vector<std::string_view> &texts) {
  int32_t emptyToken = -1;
  size_t slotCount = 2;
  while (slotCount < vocabulary.size() * 2)
    slotCount *= 2;
  std::vector<uint32_t> slots(slotCount);
  for (const auto &[text, id] : vocabulary) {
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
