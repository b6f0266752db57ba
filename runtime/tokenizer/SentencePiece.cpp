// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two normalizers that go by the rules of a SentencePiece model: its own, and that of the
// `tokenizers` package, which takes other rules where characters are joined.
#include "runtime/tokenizer/SentencePiece.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace fovea;
using tables::PrependScheme;

namespace {
/// Text that grows out of another, and how many bytes of it belong to the origin: what the package
/// notes for each new character is which of the old ones it stands for, counted in order.
class AlignedText {
public:
  explicit AlignedText(const Text &from) : counts(from.origin > 0) {
    for (size_t at = 0; at < from.origin; at += utf8At(from.bytes, at).size)
      ++originCharacters;
    bytes.reserve(from.bytes.size() + from.bytes.size() / 8);
  }

  void keep(std::string_view character) {
    bytes += character;
    if (counts)
      steps.push_back({character.size(), 0});
  }

  /// `to` stands for as many of the old characters as it can, the rest of them are removed behind
  /// its last one; where it is empty, behind the one before it, and at the beginning nowhere.
  void replace(std::string_view from, std::string_view to) {
    bytes += to;
    if (!counts)
      return;
    auto oldCount = static_cast<ptrdiff_t>(countUtf8(from));
    ptrdiff_t newCount = 0;
    for (size_t at = 0; at < to.size(); at += steps.back().size)
      steps.push_back({utf8At(to, at).size, newCount++ < oldCount ? 0 : 1});
    if (newCount < oldCount && !steps.empty())
      steps.back().change += newCount - oldCount;
  }

  Text finish() {
    Text text{std::move(bytes), 0};
    size_t end = 0;
    ptrdiff_t old = 0;
    for (const Step &step : steps) {
      end += step.size;
      ptrdiff_t standsFor = step.change > 0 ? std::max<ptrdiff_t>(old - 1, 0) : old;
      if (standsFor < originCharacters)
        text.origin = end;
      if (step.change <= 0)
        old += 1 - step.change;
    }
    return text;
  }

private:
  /// A new character, and 0, 1 if it stands for no old one of its own, or less by what is removed.
  struct Step {
    size_t size;
    ptrdiff_t change;
  };
  bool counts;
  std::string bytes;
  std::vector<Step> steps;
  ptrdiff_t originCharacters = 0;
};
} // namespace

int fovea::byteOfPiece(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>')
    return -1;
  constexpr std::string_view digits = "0123456789ABCDEF";
  size_t high = digits.find(piece[3]), low = digits.find(piece[4]);
  if (high == std::string_view::npos || low == std::string_view::npos)
    return -1;
  return static_cast<int>(high * 16 + low);
}

void fovea::applyPrecompiled(Text &text, const CharacterMap &characters, size_t original) {
  AlignedText out(text);
  std::string_view input = text.bytes;
  size_t made = 0;
  auto replaced = [&](std::string_view part, const CharacterMap::Rule &rule) {
    out.replace(part, rule.replacement);
    checkGrowth("normalizers", made += rule.replacement.size(), original, 64);
  };
  for (size_t at = 0; at < input.size();) {
    std::string_view grapheme = input.substr(at, unicode::graphemeAt(input, at));
    at += grapheme.size();
    if (grapheme.size() < 6)
      if (CharacterMap::Rule rule = characters.shortest(grapheme); rule.size > 0) {
        replaced(grapheme, rule);
        continue;
      }
    for (size_t inside = 0; inside < grapheme.size();) {
      std::string_view part = grapheme.substr(inside, utf8At(grapheme, inside).size);
      inside += part.size();
      if (CharacterMap::Rule rule = characters.shortest(part); rule.size > 0)
        replaced(part, rule);
      else
        out.keep(part);
    }
  }
  text = out.finish();
}

bool SentencePieceNormalizer::open(const tables::Normalizer &normalizer, std::string &error) {
  table = &normalizer;
  if (table->dummy_prefix() > PrependScheme::MAX) {
    error = "expects a known scheme of prefixes in a normalizer";
    return false;
  }
  if (table->symbols())
    for (const flatbuffers::String *symbol : *table->symbols()) {
      std::string_view text = symbol->string_view();
      if (text.empty() || !isUtf8(text) || (!symbols.empty() && !(symbols.back() < text))) {
        error = "expects symbols of a normalizer in order, each some UTF-8 text";
        return false;
      }
      symbols.push_back(text);
    }
  return !table->characters() || characters.open(*table->characters(), error);
}

/// The longest symbol at the front of `text`, by narrowing the sorted list byte by byte.
std::string_view SentencePieceNormalizer::symbolAt(std::string_view text) const {
  auto low = symbols.begin(), high = symbols.end();
  std::string_view longest;
  for (size_t depth = 0; depth < text.size() && low != high; ++depth) {
    auto byteOf = [&](std::string_view symbol) {
      return symbol.size() > depth ? int(static_cast<unsigned char>(symbol[depth])) : -1;
    };
    int next = static_cast<unsigned char>(text[depth]);
    low = std::lower_bound(
        low, high, next, [&](std::string_view symbol, int byte) { return byteOf(symbol) < byte; });
    high = std::upper_bound(
        low, high, next, [&](int byte, std::string_view symbol) { return byte < byteOf(symbol); });
    if (low != high && low->size() == depth + 1)
      longest = *low;
  }
  return longest;
}

CharacterMap::Rule SentencePieceNormalizer::ruleAt(std::string_view text) const {
  if (std::string_view symbol = symbolAt(text); !symbol.empty())
    return {symbol.size(), symbol};
  if (table->characters())
    if (CharacterMap::Rule rule = characters.longest(text); rule.size > 0)
      return rule;
  std::string_view character = text.substr(0, utf8At(text, 0).size);
  return {character.size(), character};
}

void SentencePieceNormalizer::apply(Text &text, size_t original) const {
  std::string_view input = text.bytes;
  bool removes = table->remove_extra_spaces();
  bool prefixes = table->dummy_prefix() == PrependScheme::Always ||
                  (table->dummy_prefix() == PrependScheme::First && text.origin > 0);
  std::string_view space = table->escape_spaces() ? spaceMark : " ";
  std::string out;
  while (removes && !input.empty()) {
    CharacterMap::Rule rule = ruleAt(input);
    if (rule.replacement != " ")
      break;
    input.remove_prefix(rule.size);
  }
  bool isEmpty = input.empty();
  if (!isEmpty && prefixes && !table->space_suffix())
    out += space;
  bool isBehindSpace = removes;
  while (!input.empty()) {
    CharacterMap::Rule rule = ruleAt(input);
    input.remove_prefix(rule.size);
    std::string_view part = rule.replacement;
    while (isBehindSpace && !part.empty() && part[0] == ' ')
      part.remove_prefix(1);
    for (char c : part)
      if (c == ' ')
        out += space;
      else
        out += c;
    if (!part.empty())
      isBehindSpace = removes && part.back() == ' ';
    checkGrowth("normalizers", out.size(), original, 64);
  }
  while (removes && out.size() >= space.size() &&
         out.compare(out.size() - space.size(), space.size(), space) == 0)
    out.resize(out.size() - space.size());
  if (!isEmpty && prefixes && table->space_suffix())
    out += space;
  text = {std::move(out), 0};
}
