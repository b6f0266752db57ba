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
