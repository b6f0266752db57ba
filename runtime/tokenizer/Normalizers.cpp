// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each normalizer is one pass over the text that also carries the origin along:
// what a byte of the origin turns into belongs to the origin.
#include "runtime/tokenizer/Normalizers.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/status/Status.h"
#include "runtime/tokenizer/SentencePiece.h"
#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

#include <array>

using namespace fovea;
using tables::NormalizerKind;

namespace {
/// Rewrites `text` character by character: `emit(out, codePoint)` appends what
/// one turns into.
template <typename Emit> void mapCharacters(Text &text, Emit emit) {
  std::string out;
  out.reserve(text.bytes.size() + text.bytes.size() / 8);
  size_t origin = 0;
  for (size_t at = 0; at < text.bytes.size();) {
    Utf8Char next = utf8At(text.bytes, at);
    emit(out, next.codePoint);
    if (at < text.origin)
      origin = out.size();
    at += next.size;
  }
  text.bytes = std::move(out);
  text.origin = origin;
}

template <typename Keep> void filterCharacters(Text &text, Keep keep) {
  mapCharacters(text, [&](std::string &out, uint32_t c) {
    if (keep(c))
      appendUtf8(out, c);
  });
}

void normaliseTo(Text &text, unicode::NormalForm form) {
  text.bytes = unicode::normalise(text.bytes, form, text.origin);
}

void lowercase(Text &text) { mapCharacters(text, unicode::appendLowerCase); }

void applyBert(Text &text, const tables::Normalizer &options) {
  if (options.clean_text())
    mapCharacters(text, [](std::string &out, uint32_t c) {
      bool isSpace = c == '\t' || c == '\n' || c == '\r';
      if (c == 0 || c == 0xFFFD || (!isSpace && unicode::isControl(c)))
        return;
      appendUtf8(out, isSpace || unicode::isWhitespace(c) ? ' ' : c);
    });
  if (options.handle_chinese())
    mapCharacters(text, [](std::string &out, uint32_t c) {
      bool isChinese = unicode::isChinese(c);
      if (isChinese)
        out += ' ';
      appendUtf8(out, c);
      if (isChinese)
        out += ' ';
    });
  if (options.strip_accents()) {
    normaliseTo(text, unicode::NormalForm::Nfd);
    filterCharacters(text, [](uint32_t c) { return !unicode::isNonspacingMark(c); });
  }
  if (options.lowercase())
    lowercase(text);
}

/// What sentencepiece's "nmt" rules do beside normalisation.
void applyNmt(Text &text) {
  mapCharacters(text, [](std::string &out, uint32_t c) {
    if ((c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F ||
        c == 0x9F)
      return;
    bool isSpace = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                   (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                   c == 0xFEFF || c == 0xFFFD;
    appendUtf8(out, isSpace ? ' ' : c);
  });
}

void strip(Text &text, bool left, bool right) {
  size_t begin = 0, end = text.bytes.size();
  while (left && begin < end) {
    Utf8Char next = utf8At(text.bytes, begin);
    if (!unicode::isWhitespace(next.codePoint))
      break;
    begin += next.size;
  }
  while (right && begin < end) {
    Utf8Char last = lastUtf8(std::string_view(text.bytes).substr(begin, end - begin));
    if (!unicode::isWhitespace(last.codePoint))
      break;
    end -= last.size;
  }
  text.bytes = text.bytes.substr(begin, end - begin);
  text.origin = text.origin > begin ? std::min(text.origin - begin, text.bytes.size()) : 0;
}

/// `original` bytes were there before the first normalizer.
void replace(Text &text, const Pattern &pattern, std::string_view content, size_t original) {
  std::vector<Span> spans;
  pattern.search(text.bytes, spans);
  std::string out;
  size_t origin = 0;
  for (const Span &span : spans) {
    if (span.isMatch) {
      out += content;
      checkGrowth("normalizers", out.size(), original, 64);
      // New text belongs to the last byte that it replaces.
      if (span.end == 0 || span.end - 1 < text.origin)
        origin = out.size();
    } else {
      out.append(text.bytes, span.begin, span.end - span.begin);
      if (span.begin < text.origin)
        origin = out.size() - (span.end - std::min(span.end, text.origin));
    }
  }
  text.bytes = std::move(out);
  text.origin = origin;
}

void prepend(Text &text, std::string_view content) {
  if (text.bytes.empty())
    return;
  text.bytes.insert(0, content);
  if (text.origin > 0)
    text.origin += content.size();
}
} // namespace

void fovea::checkGrowth(const char *part, size_t bytes, size_t from, size_t times) {
  constexpr size_t mostOnce = size_t(1) << 20;
  if (bytes <= mostOnce || bytes / times <= from)
    return;
  failInvalid(std::string("the tokenizer's ") + part + " make more than " + std::to_string(bytes) +
              " bytes of " + std::to_string(from) + "; expects at most 1 MiB, or " +
              std::to_string(times) + " times as many");
}

void fovea::appendByteCharacter(std::string &out, unsigned char byte) {
  static const std::array<uint16_t, 256> characters = [] {
    std::array<uint16_t, 256> result{};
    uint16_t next = 256;
    for (unsigned i = 0; i < 256; ++i) {
      bool printable = (i >= '!' && i <= '~') || (i >= 0xA1 && i <= 0xAC) || i >= 0xAE;
      result[i] = printable ? static_cast<uint16_t>(i) : next++;
    }
    return result;
  }();
  appendUtf8(out, characters[byte]);
}

int fovea::byteOfCharacter(uint32_t c) {
  if ((c >= '!' && c <= '~') || (c >= 0xA1 && c <= 0xAC) || (c >= 0xAE && c <= 0xFF))
    return static_cast<int>(c);
  if (c < 0x100 || c > 0x143)
    return -1;
  uint32_t order = c - 0x100; // among 0x00-0x20, 0x7F-0xA0, 0xAD
  return static_cast<int>(order <= 0x20 ? order : order <= 0x42 ? order - 0x21 + 0x7F : 0xAD);
}

std::unique_ptr<Pattern> fovea::openPattern(const tables::Pattern *table, std::string &error) {
  if (!table || (table->literal() != nullptr) == (table->regex() != nullptr)) {
    error = "expects a pattern that is either literal or a regular expression";
    return nullptr;
  }
  if (table->regex())
    return Pattern::regex(table->regex()->string_view(), error);
  if (table->literal()->size() == 0 || !isUtf8(table->literal()->string_view())) {
    error = "expects a literal that is UTF-8 and not empty";
    return nullptr;
  }
  return Pattern::literal(table->literal()->string_view());
}

bool Normalizers::open(Step &step, std::string &error) {
  const tables::Normalizer *normalizer = step.table;
  NormalizerKind kind = normalizer->kind();
  if (kind > NormalizerKind::MAX) {
    error = "expects a normalizer kind up to " + std::to_string(int(NormalizerKind::MAX)) +
            ", got " + std::to_string(int(kind));
    return false;
  }
  bool replaces = kind == NormalizerKind::Replace;
  if ((replaces || kind == NormalizerKind::Prepend) && !normalizer->content()) {
    error = "expects content in a normalizer";
    return false;
  }
  if (normalizer->content() && !isUtf8(normalizer->content()->string_view())) {
    error = "expects content that is UTF-8 in a normalizer";
    return false;
  }
  if (replaces)
    return (step.pattern = openPattern(normalizer->pattern(), error)) != nullptr;
  if (kind == NormalizerKind::Precompiled) {
    if (!normalizer->characters()) {
      error = "expects a map of characters in a normalizer";
      return false;
    }
    step.characters = std::make_shared<CharacterMap>();
    return step.characters->open(*normalizer->characters(), error);
  }
  if (kind == NormalizerKind::SentencePiece) {
    step.sentencePiece = std::make_shared<SentencePieceNormalizer>();
    return step.sentencePiece->open(*normalizer, error);
  }
  return true;
}

bool Normalizers::open(const tables::Tokenizer &table, std::string &error) {
  if (!table.normalizers())
    return true;
  for (const tables::Normalizer *normalizer : *table.normalizers()) {
    Step step{normalizer, nullptr, nullptr, nullptr};
    if (!open(step, error))
      return false;
    steps.push_back(std::move(step));
  }
  return true;
}

void Normalizers::apply(Text &text) const {
  size_t original = text.bytes.size();
  for (const Step &step : steps) {
    switch (step.table->kind()) {
    case NormalizerKind::Nfc:
      normaliseTo(text, unicode::NormalForm::Nfc);
      break;
    case NormalizerKind::Nfd:
      normaliseTo(text, unicode::NormalForm::Nfd);
      break;
    case NormalizerKind::Nfkc:
      normaliseTo(text, unicode::NormalForm::Nfkc);
      break;
    case NormalizerKind::Nfkd:
      normaliseTo(text, unicode::NormalForm::Nfkd);
      break;
    case NormalizerKind::Lowercase:
      lowercase(text);
      break;
    case NormalizerKind::StripAccents:
      filterCharacters(text, [](uint32_t c) { return !unicode::isCombiningMark(c); });
      break;
    case NormalizerKind::Bert:
      applyBert(text, *step.table);
      break;
    case NormalizerKind::Replace:
      replace(text, *step.pattern, step.table->content()->string_view(), original);
      break;
    case NormalizerKind::Prepend:
      prepend(text, step.table->content()->string_view());
      break;
    case NormalizerKind::Strip:
      strip(text, step.table->left(), step.table->right());
      break;
    case NormalizerKind::Nmt:
      applyNmt(text);
      break;
    case NormalizerKind::ByteLevel:
      mapCharacters(text, [](std::string &out, uint32_t c) {
        std::string bytes;
        appendUtf8(bytes, c);
        for (char byte : bytes)
          appendByteCharacter(out, static_cast<unsigned char>(byte));
      });
      break;
    case NormalizerKind::Precompiled:
      applyPrecompiled(text, *step.characters, original);
      break;
    case NormalizerKind::SentencePiece:
      step.sentencePiece->apply(text, original);
      break;
    }
  }
}
