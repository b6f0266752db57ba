// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sequence of pre-tokenizers of a tokenizer: cuts normalized text into the
// words that the model sees one by one.
#ifndef FOVEA_RUNTIME_TOKENIZER_PRETOKENIZERS_H
#define FOVEA_RUNTIME_TOKENIZER_PRETOKENIZERS_H

#include "runtime/tokenizer/Normalizers.h"
#include "runtime/tokenizer/Regex.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::tables {
struct PreTokenizer;
}

namespace fovea {

/// A text and the words that it is cut into, all parts of it and in order.
struct Words {
  struct Word {
    size_t begin, end;
    size_t origin; ///< As `Text::origin`, from `begin`.
  };
  std::string bytes;
  std::vector<Word> words;

  std::string_view operator[](size_t i) const {
    return std::string_view(bytes).substr(words[i].begin, words[i].end - words[i].begin);
  }
};

class PreTokenizers {
public:
  /// Checks and compiles; false with `error`. `table` must outlive this.
  bool open(const tables::Tokenizer &table, std::string &error);
  /// Starts with the whole of `text` as one word. No word is empty.
  Words apply(Text text) const;

private:
  struct Step {
    const tables::PreTokenizer *table;
    std::unique_ptr<Pattern> pattern;
  };
  static void apply(const Step &step, Words &words);

  std::vector<Step> steps;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_TOKENIZER_PRETOKENIZERS_H
