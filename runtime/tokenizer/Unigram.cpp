// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The unigram model (Kudo, "Subword Regularization", 2018): of all ways to cut a text into pieces
// the one of the highest sum of scores, by Viterbi's algorithm. Of equal sums the first one found
// stays, and pieces that begin earlier are found first.
#include "runtime/tokenizer/Model.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace fovea;
using tables::ModelKind;

namespace {
/// By how much an unknown character is worse than the worst piece.
constexpr double unknownPenalty = 10;

/// The best way to a place in the text: its sum, where its last piece begins, and which one it is.
struct Best {
  double sum = 0;
  size_t begin = SIZE_MAX;
  int32_t piece = -1;
};
} // namespace

void Model::encodeUnigram(std::string_view text, std::vector<int32_t> &ids) const {
  bool isOwn = table->kind() == ModelKind::SentencePieceUnigram;
  auto rounded = [isOwn](double sum) { return isOwn ? double(float(sum)) : sum; };
  double unknownScore = rounded(pieces.minScore() - unknownPenalty);
  std::vector<Best> best(text.size() + 1);
  for (size_t begin = 0; begin < text.size();) {
    size_t characterEnd = begin + utf8At(text, begin).size;
    bool isKnown = false;
    auto offer = [&](size_t end, double score, int32_t piece) {
      double sum = rounded(best[begin].sum + score);
      // A damaged vocabulary may have pieces that end within a character: nothing begins there.
      if (best[end].begin == SIZE_MAX || sum > best[end].sum)
        best[end] = {sum, begin, piece};
    };
    uint32_t node = PieceTable::root;
    for (size_t end = begin; end < text.size();) {
      node = pieces.walk(node, static_cast<unsigned char>(text[end++]));
      if (node == PieceTable::none)
        break;
      int32_t piece = pieces.at(node);
      if (piece < 0 || pieces.kind(piece) == PieceTable::Kind::Unused)
        continue;
      // What the user has defined is better than any normal piece, the longer the better.
      bool isDefined = pieces.kind(piece) == PieceTable::Kind::UserDefined;
      offer(end, isDefined ? rounded(double(end - begin) * 0.1 - 0.1) : pieces.score(piece), piece);
      isKnown |= end == characterEnd;
    }
    if (!isKnown)
      offer(characterEnd, unknownScore, -1);
    begin = characterEnd;
  }
  std::vector<PieceSpan> spans;
  for (size_t end = text.size(); end > 0; end = best[end].begin)
    spans.push_back({best[end].begin, end, best[end].piece});
  std::reverse(spans.begin(), spans.end());
  takePieces(text, spans, ids);
}

void Model::takePieces(std::string_view text, const std::vector<PieceSpan> &spans,
                       std::vector<int32_t> &ids) const {
  // The package takes the unknown token's own text for unknown too.
  bool isOwn = table->kind() != ModelKind::Unigram;
  auto isUnknown = [&](const PieceSpan &span) {
    return span.piece < 0 || (!isOwn && pieces.token(span.piece) == unknown);
  };
  for (size_t i = 0; i < spans.size(); ++i) {
    if (!isUnknown(spans[i])) {
      ids.push_back(pieces.token(spans[i].piece));
      continue;
    }
    size_t begin = spans[i].begin;
    while (i + 1 < spans.size() && isUnknown(spans[i + 1]))
      ++i;
    takeUnknown(text.substr(begin, spans[i].end - begin), ids);
  }
}

void Model::takeUnknown(std::string_view text, std::vector<int32_t> &ids) const {
  auto byteId = [&](char c) { return byteIds[static_cast<unsigned char>(c)]; };
  bool isOwn = table->kind() != ModelKind::Unigram;
  if (!isOwn || (pieces.areMapped() && !table->byte_fallback()))
    if (int32_t id = words.find(text); id >= 0) {
      ids.push_back(id);
      return;
    }
  bool hasBytes =
      table->byte_fallback() &&
      (isOwn || std::all_of(text.begin(), text.end(), [&](char c) { return byteId(c) >= 0; }));
  if (!hasBytes) {
    ids.push_back(unknown);
    return;
  }
  for (char c : text)
    ids.push_back(byteId(c) >= 0 ? byteId(c) : unknown);
}
