// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of normalization that a SentencePiece model carries: the number of bytes of a double
// array, the array, and replacements. The whole array is walked, so that a rule that leads out of
// it, or out of the replacements, is found here and not in a text.
#include "frontend/tokenizer/TableWriter.h"
#include "runtime/tokenizer/CharacterMap.h"
#include "runtime/tokenizer/Utf8.h"

using namespace fovea;

static uint32_t readNumber(std::string_view bytes) {
  uint32_t number = 0;
  for (int i = 3; i >= 0; --i)
    number = number << 8 | static_cast<unsigned char>(bytes[static_cast<size_t>(i)]);
  return number;
}

/// What is wrong with the array, or nothing.
static std::string checkTrie(const std::vector<uint32_t> &units, std::string_view replacements) {
  std::vector<bool> isSeen(units.size());
  std::vector<size_t> waiting;
  auto visit = [&](size_t state) {
    if (state < units.size() && !isSeen[state]) {
      isSeen[state] = true;
      waiting.push_back(state);
    }
    return state < units.size();
  };
  if (!visit(DoubleArrayUnit{units[0]}.offset()))
    return "expects rules within the map, got some that lead out of it";
  while (!waiting.empty()) {
    size_t state = waiting.back();
    waiting.pop_back();
    for (size_t label = 1; label < 256; ++label) {
      size_t child = state ^ label;
      if (child >= units.size())
        return "expects rules within the map, got some that lead out of it";
      DoubleArrayUnit unit{units[child]};
      if (unit.label() != label)
        continue;
      size_t after = child ^ unit.offset();
      if (!visit(after))
        return "expects rules within the map, got some that lead out of it";
      size_t begin = unit.hasValue() ? DoubleArrayUnit{units[after]}.value() : 0;
      if (begin > replacements.size() ||
          (begin < replacements.size() && (replacements[begin] & 0xC0) == 0x80))
        return "expects replacements within the " + std::to_string(replacements.size()) +
               " bytes of them, got one at byte " + std::to_string(begin);
    }
  }
  return "";
}

flatbuffers::Offset<tables::CharacterMap>
fovea::writeCharacterMap(TableWriter &writer, std::string_view blob, const std::string &key) {
  auto fail = [&](const std::string &message) {
    addError(writer.problems, writer.file, key, message);
    return flatbuffers::Offset<tables::CharacterMap>();
  };
  size_t size = blob.size() >= 4 ? readNumber(blob) : 0;
  if (size < 4 || size % 4 != 0 || size > blob.size() - 4)
    return fail("expects a map of characters whose trie lies within its " +
                std::to_string(blob.size()) + " bytes, got " +
                (blob.size() < 4 ? "no size of it" : "a trie of " + std::to_string(size)));
  std::vector<uint32_t> units(size / 4);
  for (size_t i = 0; i < units.size(); ++i)
    units[i] = readNumber(blob.substr(4 + 4 * i, 4));
  std::string_view replacements = blob.substr(4 + size);
  if (!isUtf8(replacements))
    return fail("expects replacements that are UTF-8");
  if (std::string problem = checkTrie(units, replacements); !problem.empty())
    return fail(problem);
  std::vector<uint8_t> bytes(replacements.begin(), replacements.end());
  return tables::CreateCharacterMapDirect(writer.builder, &units, &bytes);
}
