// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where graphemes end: the extended grapheme clusters of Unicode's annex 29, with classes as the
// `tokenizers` package has them.
#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <iterator>

using namespace fovea;

namespace {
enum GraphemeClass : uint8_t {
  Other,
  CarriageReturn,
  LineFeed,
  Control,
  Extend,      // goes on with a conjunct
  ExtendApart, // does not
  Linker,      // a virama: makes a conjunct of two consonants
  Joiner,
  SpacingMark,
  Prepend,
  Pictographic,
  Consonant,
  RegionalIndicator,
  HangulL,
  HangulV,
  HangulT,
  HangulLV,
  HangulLVT
};
struct GraphemeRange {
  uint32_t first, last;
  GraphemeClass kind;
};
#include "runtime/tokenizer/GraphemeTables.inc"

GraphemeClass classOf(uint32_t c) {
  if (c >= 0xAC00 && c <= 0xD7A3)
    return (c - 0xAC00) % 28 == 0 ? HangulLV : HangulLVT;
  if (c >= 0x1F1E6 && c <= 0x1F1FF)
    return RegionalIndicator;
  const GraphemeRange *found =
      std::upper_bound(std::begin(graphemeRanges), std::end(graphemeRanges), c,
                       [](uint32_t key, const GraphemeRange &range) { return key < range.first; });
  return found != std::begin(graphemeRanges) && c <= found[-1].last ? found[-1].kind : Other;
}

/// Walks over one grapheme.
class Walker {
public:
  explicit Walker(GraphemeClass first) { enter(first); }
  /// Goes on to `next` unless a grapheme ends before it.
  bool joins(GraphemeClass next) {
    if (!isJoined(next))
      return false;
    enter(next);
    return true;
  }

private:
  static bool isControl(GraphemeClass kind) { return kind >= CarriageReturn && kind <= Control; }

  bool isJoined(GraphemeClass next) const {
    if (isControl(last) || isControl(next))
      return last == CarriageReturn && next == LineFeed;
    switch (next) {
    case Extend:
    case ExtendApart:
    case Linker:
    case Joiner:
    case SpacingMark:
      return true;
    case HangulL:
    case HangulLV:
    case HangulLVT:
      return last == HangulL || last == Prepend;
    case HangulV:
      return last == HangulL || last == HangulV || last == HangulLV || last == Prepend;
    case HangulT:
      return (last >= HangulV && last <= HangulLVT) || last == Prepend;
    case Consonant:
      return isLinked || last == Prepend;
    case Pictographic:
      return isPictureJoined || last == Prepend;
    case RegionalIndicator:
      return isFlagHalf || last == Prepend;
    default:
      return last == Prepend;
    }
  }

  void enter(GraphemeClass next) {
    bool extends = next == Extend || next == ExtendApart || next == Linker;
    isPictureJoined = isPicture && next == Joiner;
    isPicture = next == Pictographic || (isPicture && extends);
    bool goesOn = next == Extend || next == Linker || next == Joiner;
    isConjunct = next == Consonant || (isConjunct && goesOn);
    isLinked = isConjunct && (next == Linker || (isLinked && next != Consonant));
    isFlagHalf = next == RegionalIndicator && !isFlagHalf;
    last = next;
  }

  GraphemeClass last = Other;
  /// A picture and what extends it; and a joiner behind that.
  bool isPicture = false, isPictureJoined = false;
  /// A consonant and what extends it; and a linker among that.
  bool isConjunct = false, isLinked = false;
  /// An odd number of regional indicators.
  bool isFlagHalf = false;
};
} // namespace

size_t unicode::graphemeAt(std::string_view text, size_t at) {
  Utf8Char first = utf8At(text, at);
  size_t end = at + first.size;
  // Most text is ASCII, of which only CR LF is joined.
  auto isPlain = [](uint32_t c) { return c < 0x80 && c != '\r'; };
  if (isPlain(first.codePoint) && (end == text.size() || (text[end] & 0x80) == 0))
    return first.size;
  Walker walker(classOf(first.codePoint));
  while (end < text.size()) {
    Utf8Char next = utf8At(text, end);
    if (!walker.joins(classOf(next.codePoint)))
      break;
    end += next.size;
  }
  return end - at;
}
