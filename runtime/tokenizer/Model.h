// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The models that turn a word into token ids: byte pair encoding, WordPiece, whole words, unigrams
// and what SentencePiece makes of two of these. They search the tables in place.
#ifndef FOVEA_RUNTIME_TOKENIZER_MODEL_H
#define FOVEA_RUNTIME_TOKENIZER_MODEL_H

#include "runtime/tokenizer/Pieces.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::tables {
struct Model;
struct Tokenizer;
struct Vocabulary;
} // namespace fovea::tables

namespace fovea {

/// FNV-1a, 64 bits, folded to 32: where the search for a text starts.
uint32_t hashOfToken(std::string_view text);

class Vocabulary {
public:
  bool open(const tables::Vocabulary &table, std::string &error);
  /// One past the largest id.
  size_t size() const { return count; }
  /// The id of a text, or -1.
  int32_t find(std::string_view text) const;
  /// The text of an id, if there is such a token.
  std::optional<std::string_view> text(int32_t id) const;
  size_t longest() const { return longestBytes; }

private:
  const char *bytes = nullptr;
  const uint32_t *offsets = nullptr;
  const uint32_t *slots = nullptr;
  size_t count = 0, mask = 0, longestBytes = 0;
  int32_t emptyToken = -1;
};

/// A part of a text and the piece that it is; -1: it is none.
struct PieceSpan {
  size_t begin, end;
  int32_t piece;
};

class Model {
public:
  /// Checks every index of the table, in one pass and without allocating.
  bool open(const tables::Tokenizer &table, std::string &error);
  const Vocabulary &vocabulary() const { return words; }
  /// Appends the ids of a word. Time n log n in its bytes, for unigrams times those of the longest
  /// piece that the word has at a place.
  void encode(std::string_view word, std::vector<int32_t> &ids) const;

private:
  bool openBpe(std::string &error);
  void findBytes();
  struct Merged {
    uint32_t rank, result;
  };
  std::optional<Merged> mergeOf(int32_t left, int32_t right) const;
  void encodeBpe(std::string_view word, std::vector<int32_t> &ids) const;
  void encodeWordPiece(std::string_view word, std::vector<int32_t> &ids) const;
  void mergeAll(std::vector<int32_t> &symbols, std::vector<int32_t> &ids) const;
  void encodeUnigram(std::string_view text, std::vector<int32_t> &ids) const;
  void encodeSentencePieceBpe(std::string_view text, std::vector<int32_t> &ids) const;
  /// The ids of all of a text in its pieces; those that are unknown are one, or bytes.
  void takePieces(std::string_view text, const std::vector<PieceSpan> &spans,
                  std::vector<int32_t> &ids) const;
  void takeUnknown(std::string_view text, std::vector<int32_t> &ids) const;

  const tables::Model *table = nullptr;
  Vocabulary words;
  PieceTable pieces;
  int32_t unknown = -1;
  /// Ids of "<0x00>" to "<0xFF>"; -1 where there is none.
  int32_t byteIds[256];
  /// Ids of the characters below U+0180 on their own: all of a byte-level text.
  int32_t characterIds[0x180];
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_MODEL_H
