// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoders that put a text in place of another: a pattern's, the mark of a space,
// the suffix of a word's last token. Where a regular expression needs the whole
// text, it waits for the end.
#include "runtime/tokenizer/Decoders.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace fovea;
using tables::PrependScheme;

std::string fovea::replaceAll(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  size_t at = 0;
  for (size_t found; (found = text.find(from, at)) != std::string_view::npos;
       at = found + from.size()) {
    out += text.substr(at, found - at);
    out += to;
    checkGrowth("decoders", out.size(), text.size(), 8);
  }
  out += text.substr(at);
  return out;
}

namespace {
/// Replaces a literal in a text that comes in parts: keeps back an end that may
/// be the start of a match.
class TextReplaceStage : public DecoderStage {
public:
  TextReplaceStage(std::string from, std::string to) : from(std::move(from)), to(std::move(to)) {}
  void push(std::string item, const Emit &emit) override {
    pending += item;
    std::string out;
    size_t at = 0;
    for (size_t found; (found = pending.find(from, at)) != std::string::npos;
         at = found + from.size()) {
      out.append(pending, at, found - at);
      out += to;
      checkGrowth("decoders", out.size(), pending.size(), 8);
    }
    size_t keep = std::min(from.size() - 1, pending.size() - at);
    while (keep > 0 && pending.compare(pending.size() - keep, keep, from, 0, keep) != 0)
      --keep;
    out.append(pending, at, pending.size() - keep - at);
    pending.erase(0, pending.size() - keep);
    if (!out.empty())
      emit(std::move(out));
  }
  void finish(const Emit &emit) override {
    if (!pending.empty())
      emit(std::move(pending));
    pending.clear();
  }

private:
  std::string from, to, pending;
};

/// Replaces the end-of-word suffix by a space, in the last token by nothing.
class BpeStage : public DecoderStage {
public:
  explicit BpeStage(std::string suffix) : suffix(std::move(suffix)) {}
  void push(std::string item, const Emit &emit) override {
    if (waits)
      emit(replaceAll(last, suffix, " "));
    last = std::move(item);
    waits = true;
  }
  void finish(const Emit &emit) override {
    if (waits)
      emit(replaceAll(last, suffix, ""));
    waits = false;
  }

private:
  std::string suffix, last;
  bool waits = false;
};

TokenFunction metaspaceFunction(const tables::Decoder &table) {
  return [mark = table.content()->str(),
          keeps = table.prepend_scheme() == PrependScheme::Never](std::string token, size_t index) {
    return replaceAll(token, mark, index == 0 && !keeps ? "" : " ");
  };
}

TokenFunction replaceFunction(const Pattern &pattern, const tables::Decoder &table) {
  return [&pattern, content = table.content()->str()](std::string token, size_t) {
    if (!isUtf8(token)) { // of a damaged vocabulary
      std::string valid;
      appendLossy(valid, token, true);
      token = std::move(valid);
    }
    std::vector<Span> spans;
    pattern.search(token, spans);
    std::string out;
    for (const Span &span : spans) {
      out += span.isMatch ? content : token.substr(span.begin, span.end - span.begin);
      checkGrowth("decoders", out.size(), token.size(), 8);
    }
    return out;
  };
}
} // namespace

std::unique_ptr<DecoderStage> fovea::makeReplaceStage(const tables::Decoder &table,
                                                      const Pattern &pattern, bool ofText) {
  if (ofText && !pattern.literalText().empty())
    return std::make_unique<TextReplaceStage>(pattern.literalText(), table.content()->str());
  return makeTokenStage(replaceFunction(pattern, table), ofText);
}

std::unique_ptr<DecoderStage> fovea::makeMetaspaceStage(const tables::Decoder &table, bool ofText) {
  if (ofText)
    return std::make_unique<TextReplaceStage>(
        table.content()->str(), table.prepend_scheme() == PrependScheme::Never ? " " : "");
  return makeTokenStage(metaspaceFunction(table), false);
}

std::unique_ptr<DecoderStage> fovea::makeBpeStage(const tables::Decoder &table, bool ofText) {
  if (ofText)
    return std::make_unique<TextReplaceStage>(table.content()->str(), "");
  return std::make_unique<BpeStage>(table.content()->str());
}
