// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decoders whose tokens stand for bytes: those of byte-level tokenizers, and
// "<0xHH>" for what has no token.
#include "runtime/tokenizer/Decoders.h"

#include "runtime/tokenizer/Utf8.h"

using namespace fovea;

namespace {
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

/// What a stage makes of a text that is one token by now.
template <typename Stage> std::string decodeWhole(std::string text, size_t) {
  std::string out;
  Stage stage;
  auto append = [&](const std::string &part) { out += part; };
  stage.push(std::move(text), append);
  stage.finish(append);
  return out;
}

template <typename Stage> std::unique_ptr<DecoderStage> makeStage(bool ofText) {
  if (ofText)
    return makeTokenStage(decodeWhole<Stage>, true);
  return std::make_unique<Stage>();
}
} // namespace

std::unique_ptr<DecoderStage> fovea::makeByteLevelStage(bool ofText) {
  return makeStage<ByteLevelStage>(ofText);
}

std::unique_ptr<DecoderStage> fovea::makeByteFallbackStage(bool ofText) {
  return makeStage<ByteFallbackStage>(ofText);
}
