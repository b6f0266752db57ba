// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoders as stages that give out what can no longer change. Where a decoder
// follows one that joins all tokens and needs the whole text (a regular
// expression, BERT's clean-up), it waits for the end.
#include "runtime/tokenizer/Decoders.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>

using namespace fovea;
using tables::DecoderKind;
using tables::PrependScheme;

namespace {
/// Replaces every `from` (not empty) from left to right.
std::string replaceAll(std::string_view text, std::string_view from, std::string_view to) {
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

/// What BERT's decoder does about spaces before punctuation.
std::string cleanUp(std::string text) {
  static constexpr std::pair<const char *, const char *> rules[] = {
      {" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
      {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
      {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (auto [from, to] : rules)
    text = replaceAll(text, from, to);
  return text;
}

/// A function of each token and its index.
class TokenStage : public DecoderStage {
public:
  using Function = std::function<std::string(std::string, size_t)>;
  explicit TokenStage(Function function) : function(std::move(function)) {}
  void push(std::string item, const Emit &emit) override {
    emit(function(std::move(item), index++));
  }

private:
  Function function;
  size_t index = 0;
};

/// The same function of the whole text, which is token 0.
class WholeTextStage : public DecoderStage {
public:
  explicit WholeTextStage(TokenStage::Function function) : function(std::move(function)) {}
  void push(std::string item, const Emit &) override { text += item; }
  void finish(const Emit &emit) override { emit(function(std::move(text), 0)); }

private:
  TokenStage::Function function;
  std::string text;
};

/// Joins the bytes of all tokens and reads them as UTF-8.
class ByteLevelStage : public DecoderStage {
public:
  void push(std::string item, const Emit &emit) override {
    std::string bytes;
    for (size_t at = 0; at < item.size();) {
      Utf8Char next = utf8At(item, at);
      int byte = byteOfCharacter(next.codePoint);
      if (byte < 0) { // an added token, which stands for itself
        bytes = item;
        break;
      }
      bytes += static_cast<char>(byte);
      at += next.size;
    }
    pending += bytes;
    std::string out;
    pending.erase(0, appendLossy(out, pending, /*atEnd=*/false));
    if (!out.empty())
      emit(std::move(out));
  }
  void finish(const Emit &emit) override {
    std::string out;
    appendLossy(out, pending, /*atEnd=*/true);
    pending.clear();
    if (!out.empty())
      emit(std::move(out));
  }

private:
  std::string pending;
};

/// The byte of "<0xHH>", or -1.
int byteOfToken(const std::string &token) {
  if (token.size() != 6 || token.compare(0, 3, "<0x") != 0 || token[5] != '>')
    return -1;
  auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  // The reference also reads "<0x+5>" as a number.
  if (token[3] == '+')
    return digit(token[4]);
  int high = digit(token[3]), low = digit(token[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/// A run of byte tokens is a text, or, if it is no UTF-8, U+FFFD for each byte;
/// so nothing is certain before the run ends.
class ByteFallbackStage : public DecoderStage {
public:
  void push(std::string item, const Emit &emit) override {
    if (int byte = byteOfToken(item); byte >= 0) {
      run += static_cast<char>(byte);
      return;
    }
    finish(emit);
    emit(std::move(item));
  }
  void finish(const Emit &emit) override {
    if (run.empty())
      return;
    bool valid = true;
    for (size_t at = 0; valid && at < run.size();) {
      Utf8Char next;
      valid = readUtf8(std::string_view(run).substr(at), next) == Utf8Status::Valid;
      at += next.size;
    }
    if (valid)
      emit(run);
    for (size_t i = 0; !valid && i < run.size(); ++i)
      emit("\xEF\xBF\xBD");
    run.clear();
  }

private:
  std::string run;
};

/// Passes on; what follows sees one text.
class FuseStage : public DecoderStage {
public:
  void push(std::string item, const Emit &emit) override { emit(std::move(item)); }
};

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

/// Drops up to `start` leading and `stop` trailing copies of a character.
std::string stripToken(const std::string &token, std::string_view mark, size_t start, size_t stop) {
  size_t begin = 0, end = token.size();
  while (start-- > 0 && end - begin >= mark.size() && token.compare(begin, mark.size(), mark) == 0)
    begin += mark.size();
  while (stop-- > 0 && end - begin >= mark.size() &&
         token.compare(end - mark.size(), mark.size(), mark) == 0)
    end -= mark.size();
  return token.substr(begin, end - begin);
}

/// The same for a text that comes in parts.
class TextStripStage : public DecoderStage {
public:
  TextStripStage(std::string mark, size_t start, size_t stop)
      : mark(std::move(mark)), start(start), stop(stop) {}
  void push(std::string item, const Emit &emit) override {
    std::string out;
    // Parts are whole characters, so a mark never lies across two of them.
    for (size_t at = 0; at < item.size();) {
      if (item.compare(at, mark.size(), mark) == 0) {
        at += mark.size();
        if (start > 0) {
          --start;
        } else if (kept < stop) {
          ++kept;
        } else {
          out += mark;
        }
        continue;
      }
      start = 0;
      for (; kept > 0; --kept)
        out += mark;
      size_t size = utf8At(item, at).size;
      out.append(item, at, size);
      at += size;
    }
    if (!out.empty())
      emit(std::move(out));
  }

private:
  std::string mark;
  size_t start, stop, kept = 0;
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

/// Decoder functions of one token and its index.
TokenStage::Function wordPieceFunction(const tables::Decoder &table) {
  return [prefix = table.content()->str(), cleanup = table.cleanup()](std::string token,
                                                                      size_t index) {
    if (index > 0)
      token =
          token.compare(0, prefix.size(), prefix) == 0 ? token.substr(prefix.size()) : " " + token;
    return cleanup ? cleanUp(std::move(token)) : token;
  };
}

TokenStage::Function metaspaceFunction(const tables::Decoder &table) {
  return [mark = table.content()->str(),
          keeps = table.prepend_scheme() == PrependScheme::Never](std::string token, size_t index) {
    return replaceAll(token, mark, index == 0 && !keeps ? "" : " ");
  };
}

TokenStage::Function replaceFunction(const Pattern &pattern, const tables::Decoder &table) {
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

template <typename Function>
std::unique_ptr<DecoderStage> makeStage(Function function, bool ofText) {
  if (ofText)
    return std::make_unique<WholeTextStage>(std::move(function));
  return std::make_unique<TokenStage>(std::move(function));
}
} // namespace

bool Decoders::open(const tables::Tokenizer &table, std::string &error) {
  if (!table.decoders())
    return true;
  if (table.decoders()->size() > 16) {
    error = "expects at most 16 decoders, got " + std::to_string(table.decoders()->size());
    return false;
  }
  for (const tables::Decoder *entry : *table.decoders()) {
    Step step{entry, nullptr};
    DecoderKind kind = entry->kind();
    if (kind > DecoderKind::MAX || entry->prepend_scheme() > PrependScheme::MAX) {
      error = "expects a known decoder, got kind " + std::to_string(int(kind));
      return false;
    }
    bool needsContent = kind == DecoderKind::WordPiece || kind == DecoderKind::Strip ||
                        kind == DecoderKind::Replace || kind == DecoderKind::Metaspace ||
                        kind == DecoderKind::Bpe;
    bool mayBeEmpty = kind == DecoderKind::WordPiece || kind == DecoderKind::Replace;
    if (needsContent && (!entry->content() || (!mayBeEmpty && entry->content()->size() == 0))) {
      error = "expects content in a decoder";
      return false;
    }
    if (kind == DecoderKind::Replace && !(step.pattern = openPattern(entry->pattern(), error)))
      return false;
    steps.push_back(std::move(step));
  }
  return true;
}

/// What a stage makes of a text that is one token by now.
template <typename Stage> static std::string decodeWhole(std::string text, size_t) {
  std::string out;
  Stage stage;
  auto append = [&](const std::string &part) { out += part; };
  stage.push(std::move(text), append);
  stage.finish(append);
  return out;
}

std::vector<std::unique_ptr<DecoderStage>> Decoders::start() const {
  std::vector<std::unique_ptr<DecoderStage>> stages;
  bool ofText = false; // whether all tokens are one by now
  for (const Step &step : steps) {
    const tables::Decoder &table = *step.table;
    switch (table.kind()) {
    case DecoderKind::ByteLevel:
      if (ofText)
        stages.push_back(makeStage(decodeWhole<ByteLevelStage>, true));
      else
        stages.push_back(std::make_unique<ByteLevelStage>());
      ofText = true;
      break;
    case DecoderKind::WordPiece:
      stages.push_back(makeStage(wordPieceFunction(table), ofText));
      break;
    case DecoderKind::ByteFallback:
      if (ofText)
        stages.push_back(makeStage(decodeWhole<ByteFallbackStage>, true));
      else
        stages.push_back(std::make_unique<ByteFallbackStage>());
      break;
    case DecoderKind::Fuse:
      stages.push_back(std::make_unique<FuseStage>());
      ofText = true;
      break;
    case DecoderKind::Strip:
      if (ofText)
        stages.push_back(
            std::make_unique<TextStripStage>(table.content()->str(), table.start(), table.stop()));
      else
        stages.push_back(std::make_unique<TokenStage>([&table](std::string token, size_t) {
          return stripToken(token, table.content()->string_view(), table.start(), table.stop());
        }));
      break;
    case DecoderKind::Replace:
      if (ofText && !step.pattern->literalText().empty())
        stages.push_back(std::make_unique<TextReplaceStage>(step.pattern->literalText(),
                                                            table.content()->str()));
      else
        stages.push_back(makeStage(replaceFunction(*step.pattern, table), ofText));
      break;
    case DecoderKind::Metaspace:
      if (ofText)
        stages.push_back(std::make_unique<TextReplaceStage>(
            table.content()->str(), table.prepend_scheme() == PrependScheme::Never ? " " : ""));
      else
        stages.push_back(makeStage(metaspaceFunction(table), false));
      break;
    case DecoderKind::Bpe:
      if (ofText)
        stages.push_back(std::make_unique<TextReplaceStage>(table.content()->str(), ""));
      else
        stages.push_back(std::make_unique<BpeStage>(table.content()->str()));
      break;
    }
  }
  if (steps.empty())
    stages.push_back(std::make_unique<TokenStage>(
        [](std::string token, size_t index) { return index > 0 ? " " + token : token; }));
  return stages;
}
