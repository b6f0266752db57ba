// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a tokenizer on texts and ids of every kind.
#ifndef FOVEA_TEST_FUZZ_TARGETS_TOKENIZERS_H
#define FOVEA_TEST_FUZZ_TARGETS_TOKENIZERS_H

#include "runtime/status/Status.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "test/fuzz/support/Fuzz.h"

#include <algorithm>

namespace fovea::fuzz {

/// Tables where a tokenizer may read them.
struct AlignedTables {
  explicit AlignedTables(std::string_view bytes) : words((bytes.size() + 7) / 8 + 1) {
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char *>(words.data()));
  }
  const uint8_t *data() const { return reinterpret_cast<const uint8_t *>(words.data()); }
  std::vector<uint64_t> words;
};

/// `body`, which may find that a pattern takes too long.
template <typename Body> void mayTakeTooLong(Body body) {
  try {
    body();
  } catch (const Failure &failure) {
    require(failure.code == FOVEA_INVALID, "the text is at fault, not the runtime");
  }
}

/// Texts and ids that find most ways through a tokenizer.
inline void useTokenizer(const Tokenizer &tokenizer) {
  static const std::string_view texts[] = {
      "Hello world, it's 12345 \xF0\x9F\x98\x80 caf\xC3\xA9\n\n  x", "aaaaaaaaaaaaaaaaaaaa!",
      "<s>[CLS]\xff\xfe the </s>", ""};
  mayTakeTooLong([&] {
    for (std::string_view text : texts) {
      std::vector<int32_t> ids = tokenizer.encode(text, true);
      // Time is that of the text which comes out: normalisers that multiply, and tokens of a
      // kilobyte, make gigabytes of a line.
      (void)tokenizer.decode(ids.data(), std::min<size_t>(ids.size(), 500), true);
      (void)tokenizer.encodePair(text, "b c", true, 7);
    }
  });
  auto size = static_cast<int32_t>(std::min<size_t>(tokenizer.size(), INT32_MAX));
  const int32_t ids[] = {-1, 0, 1, 2, 3, 100, INT32_MAX, INT32_MIN, size, size - 1};
  (void)tokenizer.decode(ids, std::size(ids), false);
  for (int32_t id : ids) {
    (void)tokenizer.tokenText(id);
    (void)tokenizer.isSpecial(id);
  }
  (void)tokenizer.find("Hello");
  (void)tokenizer.truncation();
}

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_TARGETS_TOKENIZERS_H
