// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How SentencePiece makes text of pieces: marks become spaces, those in front of the text go, byte
// tokens are read as UTF-8, and a byte that is none is U+FFFD.
#include "runtime/tokenizer/Decoders.h"

#include "artifact/Tokenizer_generated.h"
#include "runtime/tokenizer/SentencePiece.h"
#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

using namespace fovea;

namespace {
class SentencePieceStage : public DecoderStage {
public:
  explicit SentencePieceStage(const tables::Decoder &table) : table(table) {}

  void push(std::string item, const Emit &emit) override {
    std::string out;
    int byte = table.byte_tokens() ? byteOfPiece(item) : -1;
    if (byte >= 0)
      bytes += static_cast<char>(byte);
    takeBytes(/*atEnd=*/byte < 0, out);
    if (byte < 0)
      takePiece(item, out);
    give(std::move(out), emit);
  }

  void finish(const Emit &emit) override {
    std::string out;
    takeBytes(/*atEnd=*/true, out);
    give(std::move(out), emit);
  }

private:
  void takePiece(std::string_view piece, std::string &out) {
    isAtStart &= !hasText && out.empty();
    if (isAtStart && (table.dummy_prefix() || table.remove_extra_spaces()) &&
        piece.substr(0, spaceMark.size()) == spaceMark) {
      piece.remove_prefix(spaceMark.size());
      isAtStart = table.remove_extra_spaces();
    }
    out += replaceAll(piece, spaceMark, " ");
  }

  /// Whole characters; at the end of a run of bytes all.
  void takeBytes(bool atEnd, std::string &out) {
    size_t at = 0;
    while (at < bytes.size()) {
      Utf8Char next;
      Utf8Status status = readUtf8(std::string_view(bytes).substr(at), next);
      if (status == Utf8Status::Incomplete && !atEnd)
        break;
      if (status == Utf8Status::Valid)
        out.append(bytes, at, next.size);
      else
        out += "\xEF\xBF\xBD";
      at += status == Utf8Status::Valid ? next.size : 1;
    }
    bytes.erase(0, at);
  }

  void give(std::string out, const Emit &emit) {
    hasText |= !out.empty();
    if (table.trim())
      out = trimmed(out);
    if (!out.empty())
      emit(std::move(out));
  }

  /// Keeps white space back until something else follows, and drops what nothing goes before.
  std::string trimmed(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      Utf8Char next = utf8At(text, at);
      std::string_view character = text.substr(at, next.size);
      at += next.size;
      if (unicode::isWhitespace(next.codePoint)) {
        if (isTrimmed)
          spaces += character;
        continue;
      }
      out += spaces;
      out += character;
      spaces.clear();
      isTrimmed = true;
    }
    return out;
  }

  const tables::Decoder &table;
  std::string bytes, spaces;
  bool isAtStart = true, hasText = false, isTrimmed = false;
};
} // namespace

std::unique_ptr<DecoderStage> fovea::makeSentencePieceStage(const tables::Decoder &table,
                                                            bool ofText) {
  if (!ofText)
    return std::make_unique<SentencePieceStage>(table);
  return makeTokenStage(
      [&table](std::string text, size_t) {
        std::string out;
        SentencePieceStage stage(table);
        auto append = [&](const std::string &part) { out += part; };
        stage.push(std::move(text), append);
        stage.finish(append);
        return out;
      },
      true);
}
