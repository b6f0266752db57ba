// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the tables of pieces and searches their trie.
#include "runtime/tokenizer/Pieces.h"

#include "artifact/Tokenizer_generated.h"

#include <algorithm>
#include <cfloat>

using namespace fovea;

static_assert(int(PieceTable::Kind::Reserved) == int(tables::PieceKind::MAX),
              "kinds have one order");

bool PieceTable::open(const tables::Model &table, size_t tokens, std::string &error) {
  if (!table.scores() || table.scores()->size() == 0 || table.scores()->size() > INT32_MAX) {
    error = "expects scores of pieces";
    return false;
  }
  count = table.scores()->size();
  scores = table.scores()->data();
  if (table.piece_kinds()) {
    kinds = reinterpret_cast<const uint8_t *>(table.piece_kinds()->data());
    if (table.piece_kinds()->size() != count ||
        std::any_of(kinds, kinds + count, [](uint8_t k) { return k > uint8_t(Kind::Reserved); })) {
      error = "expects a known kind of each piece";
      return false;
    }
  }
  if (table.piece_ids())
    ids = table.piece_ids()->data();
  bool fits = ids ? table.piece_ids()->size() == count : count <= tokens;
  for (size_t i = 0; ids && fits && i < count; ++i)
    fits = ids[i] >= 0 && static_cast<size_t>(ids[i]) < tokens;
  if (!fits) {
    error = "expects a token below " + std::to_string(tokens) + " for each piece";
    return false;
  }
  lowest = kinds ? FLT_MAX : scores[0]; // what SentencePiece begins with
  for (size_t i = 0; i < count; ++i) {
    Kind found = kind(static_cast<int32_t>(i));
    hasUserDefined |= found == Kind::UserDefined;
    if (found == Kind::Normal)
      lowest = std::min(lowest, scores[i]);
  }
  return openTrie(table, error);
}

bool PieceTable::openTrie(const tables::Model &table, std::string &error) {
  const tables::PieceTrie *trie = table.trie();
  size_t nodes = trie ? trie->labels()->size() : 0;
  if (nodes == 0 || nodes >= none || trie->first_children()->size() != nodes + 1 ||
      trie->pieces()->size() != nodes) {
    error = "expects a trie of the pieces";
    return false;
  }
  labels = trie->labels()->data();
  children = trie->first_children()->data();
  ends = trie->pieces()->data();
  bool inside = children[nodes] <= nodes;
  for (size_t i = 0; i < nodes; ++i)
    inside &= children[i] <= children[i + 1] && ends[i] >= -1 && ends[i] < int64_t(count);
  if (!inside)
    error = "expects a trie of pieces below " + std::to_string(count) + ", its nodes in order";
  return inside;
}

uint32_t PieceTable::walk(uint32_t node, unsigned char byte) const {
  const uint8_t *begin = labels + children[node], *end = labels + children[node + 1];
  const uint8_t *found = std::lower_bound(begin, end, byte);
  return found != end && *found == byte ? static_cast<uint32_t>(found - labels) : none;
}

size_t PieceTable::userDefinedAt(std::string_view text) const {
  size_t size = 0;
  uint32_t node = root;
  for (size_t end = 0; hasUserDefined && end < text.size();) {
    node = walk(node, static_cast<unsigned char>(text[end++]));
    if (node == none)
      break;
    if (at(node) >= 0 && kind(at(node)) == Kind::UserDefined)
      size = end;
  }
  return size;
}

uint32_t PieceTable::walk(uint32_t node, std::string_view bytes) const {
  for (size_t i = 0; i < bytes.size() && node != none; ++i)
    node = walk(node, static_cast<unsigned char>(bytes[i]));
  return node;
}
