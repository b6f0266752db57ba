// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trie of pieces, level by level, so that the children of a node stand together.
#include "frontend/tokenizer/TableWriter.h"

#include <algorithm>

using namespace fovea;
using namespace fovea::tables;

/// Of all pieces: nine bytes a node.
static constexpr size_t mostBytes = size_t(16) << 20;

flatbuffers::Offset<PieceTrie> fovea::writeTrie(TableWriter &writer, PieceTexts pieces,
                                                const std::string &key) {
  size_t bytes = 0;
  for (const auto &[text, piece] : pieces)
    bytes += text.size();
  if (bytes > mostBytes) {
    addError(writer.problems, writer.file, key,
             "expects at most " + std::to_string(mostBytes) + " bytes of tokens, got " +
                 std::to_string(bytes));
    return {};
  }
  std::sort(pieces.begin(), pieces.end());
  struct Range { // of the pieces that begin with a node's text
    size_t begin, end;
  };
  std::vector<uint8_t> labels = {0};
  std::vector<uint32_t> firstChildren;
  std::vector<int32_t> ends;
  std::vector<Range> level = {{0, pieces.size()}}, next;
  for (size_t depth = 0; !level.empty(); ++depth, level.swap(next), next.clear())
    for (Range range : level) {
      firstChildren.push_back(static_cast<uint32_t>(labels.size()));
      // The piece that ends here, if there is one, is the first.
      bool isEnd = range.begin < range.end && pieces[range.begin].first.size() == depth;
      ends.push_back(isEnd ? pieces[range.begin].second : -1);
      for (size_t begin = range.begin + isEnd; begin < range.end;) {
        char label = pieces[begin].first[depth];
        size_t end = begin;
        while (end < range.end && pieces[end].first[depth] == label)
          ++end;
        labels.push_back(static_cast<uint8_t>(label));
        next.push_back({begin, end});
        begin = end;
      }
    }
  firstChildren.push_back(static_cast<uint32_t>(labels.size()));
  return CreatePieceTrieDirect(writer.builder, &labels, &firstChildren, &ends);
}
