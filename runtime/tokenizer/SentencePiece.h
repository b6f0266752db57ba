// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Normalizers that go by the rules of a SentencePiece model (Kudo and Richardson, "SentencePiece: A
// simple and language independent subword tokenizer", 2018).
#ifndef FOVEA_RUNTIME_TOKENIZER_SENTENCEPIECE_H
#define FOVEA_RUNTIME_TOKENIZER_SENTENCEPIECE_H

#include "runtime/tokenizer/CharacterMap.h"
#include "runtime/tokenizer/Normalizers.h"

namespace fovea {

/// U+2581, which stands for a space.
constexpr std::string_view spaceMark = "\xE2\x96\x81";

/// The byte of "<0xHH>", or -1.
int byteOfPiece(std::string_view piece);

/// As the `tokenizers` package does it: a grapheme of less than six bytes becomes, as a whole, what
/// the shortest rule at its front says; of others each character. `original` bytes were there
/// before the first normalizer.
void applyPrecompiled(Text &text, const CharacterMap &characters, size_t original);

/// As SentencePiece does it: the longest rule at each place, and its treatment of spaces.
class SentencePieceNormalizer {
public:
  /// Refers to the table.
  bool open(const tables::Normalizer &table, std::string &error);
  void apply(Text &text, size_t original) const;

private:
  CharacterMap::Rule ruleAt(std::string_view text) const;
  std::string_view symbolAt(std::string_view text) const;

  const tables::Normalizer *table = nullptr;
  CharacterMap characters;
  std::vector<std::string_view> symbols;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_SENTENCEPIECE_H
