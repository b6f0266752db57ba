// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Searches the double array, never past its end.
#include "runtime/tokenizer/CharacterMap.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

using namespace fovea;

bool CharacterMap::open(const tables::CharacterMap &table, std::string &error) {
  units = table.trie()->data();
  count = table.trie()->size();
  replacements = {reinterpret_cast<const char *>(table.replacements()->data()),
                  table.replacements()->size()};
  if (isUtf8(replacements))
    return true;
  error = "expects replacements of characters that are UTF-8";
  return false;
}

CharacterMap::Rule CharacterMap::search(std::string_view text, bool first) const {
  Rule rule;
  size_t node = count > 0 ? DoubleArrayUnit{units[0]}.offset() : 0;
  for (size_t at = 0; at < text.size() && text[at] != '\0'; ++at) {
    auto byte = static_cast<unsigned char>(text[at]);
    node ^= byte;
    if (node >= count || DoubleArrayUnit{units[node]}.label() != byte)
      break;
    DoubleArrayUnit unit{units[node]};
    node ^= unit.offset();
    if (!unit.hasValue() || node >= count)
      continue;
    size_t begin = DoubleArrayUnit{units[node]}.value();
    // Within a character no text begins.
    if (begin > replacements.size() ||
        (begin < replacements.size() && (replacements[begin] & 0xC0) == 0x80))
      continue;
    rule.size = at + 1;
    rule.replacement = replacements.substr(begin);
    rule.replacement = rule.replacement.substr(0, rule.replacement.find('\0'));
    if (first)
      break;
  }
  // A rule ends where a character ends, unless the trie is damaged.
  if (rule.size < text.size() && (text[rule.size] & 0xC0) == 0x80)
    return {};
  return rule;
}
