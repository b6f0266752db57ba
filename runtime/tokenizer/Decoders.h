// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sequence of decoders of a tokenizer: token texts in, text out. There is
// one way of decoding, the incremental one; a whole text is its special case.
#ifndef FOVEA_RUNTIME_TOKENIZER_DECODERS_H
#define FOVEA_RUNTIME_TOKENIZER_DECODERS_H

#include "runtime/tokenizer/Normalizers.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::tables {
struct Decoder;
}

namespace fovea {

/// One decoder at work on one sequence of tokens. It gets and gives either
/// whole tokens or, after a decoder that joins all tokens, parts of one text.
class DecoderStage {
public:
  using Emit = std::function<void(std::string)>;
  virtual ~DecoderStage() = default;
  virtual void push(std::string item, const Emit &emit) = 0;
  /// After the last item.
  virtual void finish(const Emit &emit) {}
};

/// Of a token and its index.
using TokenFunction = std::function<std::string(std::string, size_t)>;

/// A stage that decodes each token by `function`; where all tokens are one text by now, all of it
/// as token 0.
std::unique_ptr<DecoderStage> makeTokenStage(TokenFunction function, bool ofText);

/// Stages of each kind of decoder, of tokens or of a text. They refer to the table and the pattern.
std::unique_ptr<DecoderStage> makeByteLevelStage(bool ofText);
std::unique_ptr<DecoderStage> makeByteFallbackStage(bool ofText);
std::unique_ptr<DecoderStage> makeWordPieceStage(const tables::Decoder &table, bool ofText);
std::unique_ptr<DecoderStage> makeStripStage(const tables::Decoder &table, bool ofText);
std::unique_ptr<DecoderStage> makeReplaceStage(const tables::Decoder &table, const Pattern &pattern,
                                               bool ofText);
std::unique_ptr<DecoderStage> makeMetaspaceStage(const tables::Decoder &table, bool ofText);
std::unique_ptr<DecoderStage> makeBpeStage(const tables::Decoder &table, bool ofText);
std::unique_ptr<DecoderStage> makeSentencePieceStage(const tables::Decoder &table, bool ofText);

/// Replaces every `from` (not empty) from left to right.
std::string replaceAll(std::string_view text, std::string_view from, std::string_view to);

class Decoders {
public:
  /// Checks and compiles; false with `error`. `table` must outlive this.
  bool open(const tables::Tokenizer &table, std::string &error);
  /// Fresh stages for one sequence, in order. They refer to this object.
  std::vector<std::unique_ptr<DecoderStage>> start() const;

private:
  struct Step {
    const tables::Decoder *table;
    std::unique_ptr<Pattern> pattern;
  };
  std::vector<Step> steps;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_DECODERS_H
