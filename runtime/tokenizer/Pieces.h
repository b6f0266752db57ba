// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pieces of a unigram or SentencePiece model: their scores, and a trie by which they are found
// byte by byte. Read in place.
#ifndef FOVEA_RUNTIME_TOKENIZER_PIECES_H
#define FOVEA_RUNTIME_TOKENIZER_PIECES_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::tables {
struct Model;
}

namespace fovea {

class PieceTable {
public:
  enum class Kind : uint8_t { Normal, UserDefined, Unused, Reserved };
  static constexpr uint32_t root = 0, none = UINT32_MAX;

  /// Checks every index. `tokens` is the size of the vocabulary.
  bool open(const tables::Model &table, size_t tokens, std::string &error);

  /// Where `node` leads by more bytes, or `none`.
  uint32_t walk(uint32_t node, unsigned char byte) const;
  uint32_t walk(uint32_t node, std::string_view bytes) const;
  /// The piece that ends at `node`, or -1.
  int32_t at(uint32_t node) const { return node == none ? -1 : ends[node]; }

  /// The size of the longest piece at the front of `text` that the user has defined; 0: none.
  size_t userDefinedAt(std::string_view text) const;

  double score(int32_t piece) const { return scores[piece]; }
  Kind kind(int32_t piece) const { return kinds ? Kind(kinds[piece]) : Kind::Normal; }
  int32_t token(int32_t piece) const { return ids ? ids[piece] : piece; }
  /// Whether tokens have other numbers than pieces.
  bool areMapped() const { return ids != nullptr; }
  /// Of normal pieces.
  double minScore() const { return lowest; }

private:
  bool openTrie(const tables::Model &table, std::string &error);

  const double *scores = nullptr;
  const uint8_t *kinds = nullptr;
  const int32_t *ids = nullptr;
  const uint8_t *labels = nullptr;
  const uint32_t *children = nullptr;
  const int32_t *ends = nullptr;
  size_t count = 0;
  double lowest = 0;
  bool hasUserDefined = false;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_PIECES_H
