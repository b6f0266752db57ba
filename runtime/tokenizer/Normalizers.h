// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sequence of normalizers of a tokenizer: text in, text out.
#ifndef FOVEA_RUNTIME_TOKENIZER_NORMALIZERS_H
#define FOVEA_RUNTIME_TOKENIZER_NORMALIZERS_H

#include "runtime/tokenizer/Regex.h"

#include <memory>
#include <string>
#include <vector>

namespace fovea::tables {
struct Normalizer;
struct Pattern;
struct Tokenizer;
} // namespace fovea::tables

namespace fovea {

class CharacterMap;
class SentencePieceNormalizer;

/// A piece of text on its way to the model.
struct Text {
  std::string bytes;
  /// How many leading bytes stand for the very first character of the input: a
  /// metaspace with the scheme "first" goes only before such a byte.
  size_t origin = 0;
};

class Normalizers {
public:
  /// Checks and compiles; false with `error`. `table` must outlive this.
  bool open(const tables::Tokenizer &table, std::string &error);
  bool empty() const { return steps.empty(); }
  void apply(Text &text) const;

private:
  struct Step {
    const tables::Normalizer *table;
    std::unique_ptr<Pattern> pattern;
    std::shared_ptr<CharacterMap> characters;
    std::shared_ptr<SentencePieceNormalizer> sentencePiece;
  };
  static bool open(Step &step, std::string &error);
  std::vector<Step> steps;
};

/// Fails where `part` of a tokenizer makes of `from` bytes more than 1 MiB and more than `times` as
/// many: replacements that feed each other multiply, and none that writes text comes near.
void checkGrowth(const char *part, size_t bytes, size_t from, size_t times);

/// Compiles a pattern of a table; null with `error`.
std::unique_ptr<Pattern> openPattern(const tables::Pattern *table, std::string &error);

/// Appends to `out` the character that byte-level tokenizers write for `byte`:
/// printable ones for themselves, the others U+0100 and up in order.
void appendByteCharacter(std::string &out, unsigned char byte);
/// The inverse; -1 if `codePoint` stands for no byte.
int byteOfCharacter(uint32_t codePoint);

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_NORMALIZERS_H
