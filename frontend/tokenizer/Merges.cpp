// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The merges of byte pair encoding, sorted by the ids of their parts. Refuses
// parts and results that are no tokens of the vocabulary.
#include "frontend/tokenizer/TableWriter.h"

#include <algorithm>
#include <tuple>

using namespace fovea;
using namespace fovea::tables;

/// Splits "left right", or takes ["left", "right"].
static bool partsOf(const JsonValue &value, std::string_view &left, std::string_view &right) {
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

Merges fovea::readMerges(TableWriter &writer, JsonObject &model, const TokenIds &vocabulary,
                         size_t prefixSize) {
  Merges result;
  struct Entry {
    uint32_t left, right, rank, result;
  };
  const JsonValue *list = model.array("merges");
  if (!list)
    return result;
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
      return result;
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
  size_t size = sizeOf(vocabulary);
  result.rows.assign(size + 1, 0);
  for (const Entry &entry : entries) {
    ++result.rows[entry.left + 1];
    result.merges.emplace_back(entry.right, entry.rank, entry.result);
  }
  for (size_t i = 0; i < size; ++i)
    result.rows[i + 1] += result.rows[i];
  return result;
}
