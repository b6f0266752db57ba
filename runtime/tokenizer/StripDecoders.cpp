// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoders that take away: characters at the ends of a token or a text, the
// prefix of WordPiece, and spaces before punctuation, for which BERT's clean-up
// waits for the whole text.
#include "runtime/tokenizer/Decoders.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/Utf8.h"

using namespace fovea;

namespace {
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

TokenFunction wordPieceFunction(const tables::Decoder &table) {
  return [prefix = table.content()->str(), cleanup = table.cleanup()](std::string token,
                                                                      size_t index) {
    if (index > 0)
      token =
          token.compare(0, prefix.size(), prefix) == 0 ? token.substr(prefix.size()) : " " + token;
    return cleanup ? cleanUp(std::move(token)) : token;
  };
}

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
} // namespace

std::unique_ptr<DecoderStage> fovea::makeWordPieceStage(const tables::Decoder &table, bool ofText) {
  return makeTokenStage(wordPieceFunction(table), ofText);
}

std::unique_ptr<DecoderStage> fovea::makeStripStage(const tables::Decoder &table, bool ofText) {
  if (ofText)
    return std::make_unique<TextStripStage>(table.content()->str(), table.start(), table.stop());
  return makeTokenStage(
      [&table](std::string token, size_t) {
        return stripToken(token, table.content()->string_view(), table.start(), table.stop());
      },
      false);
}
