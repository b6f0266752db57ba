// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pre-tokenizer finds delimiters in each word and keeps, drops or joins them
// to a neighbour; some rewrite the text first, into a new buffer.
#include "runtime/tokenizer/PreTokenizers.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace fovea;
using tables::PrependScheme;
using tables::PreTokenizerKind;
using tables::SplitBehavior;

namespace {
/// The spans of the characters of a class, each on its own, and of what lies
/// between them.
template <typename IsDelimiter>
void searchCharacters(std::string_view text, std::vector<Span> &spans, IsDelimiter isDelimiter) {
  spans.clear();
  size_t previous = 0;
  for (size_t at = 0; at < text.size();) {
    Utf8Char next = utf8At(text, at);
    if (isDelimiter(next.codePoint)) {
      if (previous < at)
        spans.push_back({previous, at, false});
      spans.push_back({at, at + next.size, true});
      previous = at + next.size;
    }
    at += next.size;
  }
  if (previous < text.size())
    spans.push_back({previous, text.size(), false});
}

/// Applies a behaviour: joins spans, or marks them as kept (isMatch false).
void settle(std::vector<Span> &spans, SplitBehavior behavior) {
  if (behavior == SplitBehavior::Removed)
    return;
  std::vector<Span> out;
  bool previous = false;
  auto take = [&](Span span, bool joins, bool backwards) {
    if (joins && !out.empty())
      (backwards ? out.back().begin : out.back().end) = backwards ? span.begin : span.end;
    else
      out.push_back({span.begin, span.end, false});
    previous = span.isMatch;
  };
  switch (behavior) {
  case SplitBehavior::Removed:
    return;
  case SplitBehavior::Isolated:
    for (Span &span : spans)
      span.isMatch = false;
    return;
  case SplitBehavior::Contiguous:
    for (const Span &span : spans)
      take(span, span.isMatch == previous, false);
    break;
  case SplitBehavior::MergedWithPrevious:
    for (const Span &span : spans)
      take(span, span.isMatch && !previous, false);
    break;
  case SplitBehavior::MergedWithNext:
    for (auto span = spans.rbegin(); span != spans.rend(); ++span)
      take(*span, span->isMatch && !previous, true);
    std::reverse(out.begin(), out.end());
    break;
  }
  spans = std::move(out);
}

/// Cuts every word: `search(text, spans)` finds the delimiters.
template <typename Search> void splitWords(Words &words, SplitBehavior behavior, Search search) {
  std::vector<Words::Word> out;
  out.reserve(words.words.size());
  std::vector<Span> spans;
  for (size_t i = 0; i < words.words.size(); ++i) {
    const Words::Word &word = words.words[i];
    search(words[i], spans);
    settle(spans, behavior);
    for (const Span &span : spans) {
      if (span.isMatch || span.begin >= span.end)
        continue;
      size_t origin = word.origin > span.begin ? word.origin - span.begin : 0;
      out.push_back({word.begin + span.begin, word.begin + span.end,
                     std::min(origin, span.end - span.begin)});
    }
  }
  words.words = std::move(out);
}

/// Rewrites every word: `write(out, text, origin)` appends its new text and
/// returns its new origin.
template <typename Write> void rewriteWords(Words &words, Write write) {
  Words out;
  out.bytes.reserve(words.bytes.size() + words.bytes.size() / 4);
  out.words.reserve(words.words.size());
  for (size_t i = 0; i < words.words.size(); ++i) {
    size_t begin = out.bytes.size();
    size_t origin = write(out.bytes, words[i], words.words[i].origin);
    out.words.push_back({begin, out.bytes.size(), origin});
  }
  words = std::move(out);
}

void applyByteLevel(const tables::PreTokenizer &table, const Pattern *pattern, Words &words) {
  if (table.add_prefix_space())
    rewriteWords(words, [](std::string &out, std::string_view text, size_t origin) {
      bool adds = text[0] != ' ';
      if (adds)
        out += ' ';
      out += text;
      return origin + (adds && origin > 0);
    });
  if (pattern)
    splitWords(
        words, SplitBehavior::Isolated,
        [&](std::string_view text, std::vector<Span> &spans) { pattern->search(text, spans); });
  rewriteWords(words, [](std::string &out, std::string_view text, size_t origin) {
    size_t begin = out.size(), newOrigin = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      appendByteCharacter(out, static_cast<unsigned char>(text[i]));
      if (i < origin)
        newOrigin = out.size() - begin;
    }
    return newOrigin;
  });
}

void applyMetaspace(const tables::PreTokenizer &table, Words &words) {
  std::string_view mark = table.replacement()->string_view();
  rewriteWords(words, [&](std::string &out, std::string_view text, size_t origin) {
    bool starts = text[0] == ' ' || text.substr(0, mark.size()) == mark;
    bool adds = !starts && (table.prepend_scheme() == PrependScheme::Always ||
                            (table.prepend_scheme() == PrependScheme::First && origin > 0));
    size_t begin = out.size(), newOrigin = 0;
    if (adds)
      out += mark;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == ' ')
        out += mark;
      else
        out += text[i];
      if (i < origin)
        newOrigin = out.size() - begin;
    }
    return newOrigin;
  });
  if (table.split()) {
    uint32_t character = utf8At(mark, 0).codePoint;
    splitWords(words, SplitBehavior::MergedWithNext,
               [&](std::string_view text, std::vector<Span> &spans) {
                 searchCharacters(text, spans, [&](uint32_t c) { return c == character; });
               });
  }
}

/// `\w+|[^\w\s]+`, everything else removed.
void searchNonWords(std::string_view text, std::vector<Span> &spans) {
  spans.clear();
  enum { None, Space, Word, Other } last = None;
  for (size_t at = 0; at < text.size();) {
    Utf8Char next = utf8At(text, at);
    auto kind = unicode::isWord(next.codePoint)         ? Word
                : unicode::isWhitespace(next.codePoint) ? Space
                                                        : Other;
    if (kind == last)
      spans.back().end += next.size;
    else
      spans.push_back({at, at + next.size, kind == Space});
    last = kind;
    at += next.size;
  }
}

void splitAt(Words &words, SplitBehavior behavior, bool (*isDelimiter)(uint32_t)) {
  splitWords(words, behavior, [&](std::string_view text, std::vector<Span> &spans) {
    searchCharacters(text, spans, isDelimiter);
  });
}
} // namespace

bool PreTokenizers::open(const tables::Tokenizer &table, std::string &error) {
  if (!table.pre_tokenizers())
    return true;
  for (const tables::PreTokenizer *entry : *table.pre_tokenizers()) {
    Step step{entry, nullptr};
    if (entry->kind() > PreTokenizerKind::MAX || entry->behavior() > SplitBehavior::MAX ||
        entry->prepend_scheme() > PrependScheme::MAX) {
      error = "expects a known pre-tokenizer, got kind " + std::to_string(int(entry->kind()));
      return false;
    }
    bool needsPattern = entry->kind() == PreTokenizerKind::Split ||
                        (entry->kind() == PreTokenizerKind::ByteLevel && entry->pattern());
    if (needsPattern && !(step.pattern = openPattern(entry->pattern(), error)))
      return false;
    if (entry->kind() == PreTokenizerKind::Metaspace &&
        (!entry->replacement() || !isUtf8(entry->replacement()->string_view()) ||
         countUtf8(entry->replacement()->string_view()) != 1)) {
      error = "expects one character as replacement of a space";
      return false;
    }
    steps.push_back(std::move(step));
  }
  return true;
}

void PreTokenizers::apply(const Step &step, Words &words) {
  const tables::PreTokenizer &table = *step.table;
  switch (table.kind()) {
  case PreTokenizerKind::ByteLevel:
    return applyByteLevel(table, step.pattern.get(), words);
  case PreTokenizerKind::Bert:
    splitAt(words, SplitBehavior::Removed, unicode::isWhitespace);
    return splitAt(words, SplitBehavior::Isolated, unicode::isPunctuation);
  case PreTokenizerKind::Whitespace:
    return splitWords(words, SplitBehavior::Removed, searchNonWords);
  case PreTokenizerKind::WhitespaceSplit:
    return splitAt(words, SplitBehavior::Removed, unicode::isWhitespace);
  case PreTokenizerKind::Metaspace:
    return applyMetaspace(table, words);
  case PreTokenizerKind::Split:
    return splitWords(words, table.behavior(),
                      [&](std::string_view text, std::vector<Span> &spans) {
                        step.pattern->search(text, spans);
                        if (table.invert())
                          for (Span &span : spans)
                            span.isMatch = !span.isMatch;
                      });
  case PreTokenizerKind::Digits:
    return splitAt(words, table.behavior(), unicode::isNumeric);
  case PreTokenizerKind::Punctuation:
    return splitAt(words, table.behavior(), unicode::isPunctuation);
  }
}

Words PreTokenizers::apply(Text text) const {
  Words words;
  words.bytes = std::move(text.bytes);
  if (!words.bytes.empty())
    words.words.push_back({0, words.bytes.size(), text.origin});
  for (const Step &step : steps)
    apply(step, words);
  return words;
}
