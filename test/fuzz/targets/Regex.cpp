// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tokenizer's regular expression: translated, compiled, searched for. What stands behind a zero
// byte is a text to search in, beside one that is always searched.
#include "runtime/tokenizer/Regex.h"
#include "frontend/tokenizer/RegexTranslator.h"
#include "runtime/tokenizer/Utf8.h"
#include "test/fuzz/targets/Tokenizers.h"

using namespace fovea;

static void search(const Pattern &pattern, std::string_view text) {
  std::vector<Span> spans;
  fuzz::mayTakeTooLong([&] {
    pattern.search(text, spans);
    size_t at = 0;
    for (const Span &span : spans) {
      fuzz::require(span.begin == at && span.end >= at, "spans have no gaps");
      at = span.end;
    }
    fuzz::require(at == text.size(), "spans go to the end");
  });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view all(reinterpret_cast<const char *>(data), size);
  size_t end = std::min(all.find('\0'), all.size());
  std::string error;
  std::optional<std::string> translated = translateRegex(all.substr(0, end), error);
  fuzz::require(translated || !error.empty(), "what is refused has an error");
  if (!translated)
    return 0;
  std::unique_ptr<Pattern> pattern = Pattern::regex(*translated, error);
  if (!pattern)
    return 0;
  search(*pattern, "Hello, it's  123 \n x\xC3\xA9 ab");
  if (end < all.size()) {
    std::string text;
    appendLossy(text, all.substr(end + 1), /*atEnd=*/true);
    search(*pattern, text);
  }
  return 0;
}
