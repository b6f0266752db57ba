// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns by PCRE2, compiled to machine code where the system allows that.
#include "runtime/tokenizer/Regex.h"

#include "runtime/status/Status.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstdint>
#include <new>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace fovea;

struct Pattern::Code {
  pcre2_code *code = nullptr;
  std::string source;
  ~Code() { pcre2_code_free(code); }
};

Pattern::Pattern() = default;
Pattern::~Pattern() = default;

std::unique_ptr<Pattern> Pattern::literal(std::string_view text) {
  std::unique_ptr<Pattern> result(new Pattern);
  result->needle = text;
  return result;
}

std::unique_ptr<Pattern> Pattern::regex(std::string_view pattern, std::string &error) {
  std::unique_ptr<Pattern> result(new Pattern);
  result->code = std::make_unique<Code>();
  pcre2_compile_context *context = pcre2_compile_context_create(nullptr);
  if (!context) {
    error = "out of memory";
    return nullptr;
  }
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  pcre2_set_bsr(context, PCRE2_BSR_UNICODE);
  pcre2_set_parens_nest_limit(context, 100);
  int code = 0;
  PCRE2_SIZE at = 0;
  result->code->code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &code, &at, context);
  pcre2_compile_context_free(context);
  if (!result->code->code) {
    char message[256];
    pcre2_get_error_message(code, reinterpret_cast<PCRE2_UCHAR *>(message), sizeof message);
    error = std::string(message) + " at byte " + std::to_string(at);
    return nullptr;
  }
  result->code->source = pattern;
  // Where no executable memory can be had, PCRE2 interprets.
  pcre2_jit_compile(result->code->code, PCRE2_JIT_COMPLETE);
  return result;
}

namespace {
/// Appends the match at [begin, end) and what lies before it.
void addMatch(std::vector<Span> &spans, size_t &previous, size_t begin, size_t end) {
  if (previous != begin)
    spans.push_back({previous, begin, false});
  spans.push_back({begin, end, true});
  previous = end;
}
} // namespace

/// A pattern for a message, on one line.
static std::string shown(std::string_view pattern) {
  std::string text = "'";
  for (char c : pattern.substr(0, 100))
    text += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  return text + (pattern.size() > 100 ? "...'" : "'");
}

/// What one match may take: tokenizers' patterns take a few steps for each byte that
/// they look at, and the interpreter a frame of some hundred bytes for each that it may
/// come back to. Nested repeats take twice as many for each byte more.
static pcre2_match_context *makeLimits(size_t bytes) {
  pcre2_match_context *limits = pcre2_match_context_create(nullptr);
  if (!limits)
    throw std::bad_alloc();
  auto limited = [&](uint64_t least, uint64_t each) {
    return static_cast<uint32_t>(std::min<uint64_t>(least + each * bytes, UINT32_MAX));
  };
  pcre2_set_match_limit(limits, limited(100'000, 1000));
  pcre2_set_depth_limit(limits, UINT32_MAX);         // bounded by the heap
  pcre2_set_heap_limit(limits, limited(1 << 16, 1)); // KiB
  return limits;
}

void Pattern::search(std::string_view text, std::vector<Span> &spans) const {
  spans.clear();
  if (text.empty()) {
    spans.push_back({0, 0, false});
    return;
  }
  size_t previous = 0;
  if (!code) {
    for (size_t at = 0; (at = text.find(needle, at)) != std::string_view::npos; at += needle.size())
      addMatch(spans, previous, at, at + needle.size());
  } else {
    std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data *)> match(
        pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
    if (!match)
      throw std::bad_alloc();
    std::unique_ptr<pcre2_match_context, void (*)(pcre2_match_context *)> limits(
        makeLimits(text.size()), pcre2_match_context_free);
    auto subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    size_t at = 0, lastEnd = SIZE_MAX;
    uint32_t options = PCRE2_NO_UTF_CHECK;
    while (at <= text.size()) {
      int found =
          pcre2_match(code->code, subject, text.size(), at, options, match.get(), limits.get());
      if (found == PCRE2_ERROR_JIT_STACKLIMIT && !(options & PCRE2_NO_JIT)) {
        options |= PCRE2_NO_JIT; // the interpreter backtracks on the heap
        continue;
      }
      if (found == PCRE2_ERROR_NOMATCH)
        break;
      if (found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_HEAPLIMIT)
        failInvalid("the tokenizer's pattern " + shown(code->source) +
                    " takes too long on this text, from byte " + std::to_string(at) + " of " +
                    std::to_string(text.size()) + ": it repeats what repeats by itself");
      if (found < 0)
        throw std::bad_alloc();
      const PCRE2_SIZE *ends = pcre2_get_ovector_pointer(match.get());
      size_t begin = ends[0], end = ends[1];
      if (begin < at || end < begin)
        break; // \K in a lookaround; no pattern of ours has it
      if (begin == end && end == lastEnd) {
        at += at < text.size() ? utf8At(text, at).size : 1;
        continue;
      }
      addMatch(spans, previous, begin, end);
      at = lastEnd = end;
    }
  }
  if (previous != text.size())
    spans.push_back({previous, text.size(), false});
}
