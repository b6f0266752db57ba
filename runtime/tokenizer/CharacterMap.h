// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules by which SentencePiece normalizes text, as its models carry them: a double array
// (Aoe, "An Efficient Digital Search Algorithm by Using a Double-Array Structure", 1989; Yata's
// Darts-clone has this form) of what is replaced, and the texts that replace it.
#ifndef FOVEA_RUNTIME_TOKENIZER_CHARACTERMAP_H
#define FOVEA_RUNTIME_TOKENIZER_CHARACTERMAP_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::tables {
struct CharacterMap;
}

namespace fovea {

/// One state's entry of a double array.
struct DoubleArrayUnit {
  uint32_t bits;

  /// The byte that leads here; no byte for the value of a key.
  uint32_t label() const { return bits & (0x80000000u | 0xFF); }
  /// Whether a key ends here, whose value the child of label 0 holds.
  bool hasValue() const { return bits >> 8 & 1; }
  /// Children are at the state's place, this and their label combined by exclusive or.
  size_t offset() const { return size_t(bits >> 10) << ((bits & 0x200) >> 6); }
  uint32_t value() const { return bits & 0x7FFFFFFF; }
};

class CharacterMap {
public:
  /// A rule that matches the beginning of a text.
  struct Rule {
    size_t size = 0; ///< of what it replaces; 0: there is no rule.
    std::string_view replacement;
  };

  /// Refers to the table. What a damaged trie leads to is no rule, or a wrong one of valid UTF-8.
  bool open(const tables::CharacterMap &table, std::string &error);
  Rule shortest(std::string_view text) const { return search(text, true); }
  Rule longest(std::string_view text) const { return search(text, false); }

private:
  Rule search(std::string_view text, bool first) const;

  const uint32_t *units = nullptr;
  size_t count = 0;
  std::string_view replacements;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_CHARACTERMAP_H
