// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Byte pair encoding as SentencePiece has it: any two neighbours whose texts together are a piece
// can be joined, those of the highest score first, and of equal ones the leftmost.
#include "runtime/tokenizer/Model.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

#include <map>
#include <queue>

using namespace fovea;

namespace {
class PairJoiner {
public:
  PairJoiner(std::string_view text, const PieceTable &pieces) : text(text), pieces(pieces) {}

  std::vector<PieceSpan> run() {
    cut();
    for (uint32_t i = 0; i + 1 < symbols.size(); ++i)
      consider(i, i + 1);
    while (!heap.empty()) {
      Candidate top = heap.top();
      heap.pop();
      Symbol &left = symbols[top.left], &right = symbols[top.right];
      if (left.size == 0 || right.size == 0 || left.size + right.size != top.size)
        continue;
      left.size = top.size;
      left.node = top.node;
      left.after = right.after;
      if (right.after != none)
        symbols[right.after].before = top.left;
      right.size = 0;
      consider(left.before, top.left);
      consider(top.left, left.after);
    }
    std::vector<PieceSpan> spans;
    for (uint32_t i = 0; i < symbols.size(); i = symbols[i].after)
      take(symbols[i].begin, symbols[i].size, spans);
    return spans;
  }

private:
  static constexpr uint32_t none = UINT32_MAX;
  /// A part of the text; the right one of two that were joined has no size.
  struct Symbol {
    size_t begin, size;
    uint32_t node; ///< of its text in the trie, if there is such a node.
    uint32_t before, after;
    bool isFixed;
  };
  /// Goes stale when one of the two has changed, which the size shows.
  struct Candidate {
    double score;
    uint32_t left, right, node;
    size_t size;
    bool operator<(const Candidate &other) const { // the heap gives the largest
      return score != other.score ? score < other.score : left > other.left;
    }
  };

  /// Cuts the text into characters, and what the user has defined.
  void cut() {
    for (size_t at = 0; at < text.size();) {
      size_t size = pieces.userDefinedAt(text.substr(at));
      bool isFixed = size > 0;
      if (!isFixed)
        size = utf8At(text, at).size;
      auto index = static_cast<uint32_t>(symbols.size());
      symbols.push_back({at, size, pieces.walk(PieceTable::root, text.substr(at, size)),
                         index == 0 ? none : index - 1, index + 1, isFixed});
      at += size;
    }
    if (!symbols.empty())
      symbols.back().after = none;
  }

  void consider(uint32_t leftIndex, uint32_t rightIndex) {
    if (leftIndex == none || rightIndex == none)
      return;
    const Symbol &left = symbols[leftIndex], &right = symbols[rightIndex];
    if (left.isFixed || right.isFixed || left.node == PieceTable::none)
      return;
    uint32_t node = pieces.walk(left.node, text.substr(right.begin, right.size));
    int32_t piece = pieces.at(node);
    if (piece < 0)
      return;
    heap.push({pieces.score(piece), leftIndex, rightIndex, node, left.size + right.size});
    if (pieces.kind(piece) == PieceTable::Kind::Unused)
      leftSizes[piece] = left.size;
  }

  /// Unused pieces fall apart into those that they were joined from.
  void take(size_t begin, size_t size, std::vector<PieceSpan> &spans) const {
    std::vector<std::pair<size_t, size_t>> parts = {{begin, size}};
    while (!parts.empty()) {
      auto [at, length] = parts.back();
      parts.pop_back();
      int32_t piece = pieces.at(pieces.walk(PieceTable::root, text.substr(at, length)));
      auto found = piece >= 0 && pieces.kind(piece) == PieceTable::Kind::Unused
                       ? leftSizes.find(piece)
                       : leftSizes.end();
      if (found == leftSizes.end()) {
        spans.push_back({at, at + length, piece});
        continue;
      }
      parts.push_back({at + found->second, length - found->second});
      parts.push_back({at, found->second});
    }
  }

  std::string_view text;
  const PieceTable &pieces;
  std::vector<Symbol> symbols;
  std::priority_queue<Candidate> heap;
  /// Of unused pieces: how long the left one of the two was.
  std::map<int32_t, size_t> leftSizes;
};
} // namespace

void Model::encodeSentencePieceBpe(std::string_view text, std::vector<int32_t> &ids) const {
  takePieces(text, PairJoiner(text, pieces).run(), ids);
}
