// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translation of regular expressions, and searching with the result.
#include "runtime/tokenizer/Regex.h"
#include "frontend/tokenizer/RegexTranslator.h"
#include "runtime/status/Status.h"

#include <gtest/gtest.h>

using namespace fovea;

namespace {
/// The matches of a pattern in `text`, each in brackets, the rest as it is.
std::string matches(std::string_view pattern, std::string_view text) {
  std::string error;
  std::optional<std::string> translated = translateRegex(pattern, error);
  if (!translated)
    return "refused: " + error;
  std::unique_ptr<Pattern> compiled = Pattern::regex(*translated, error);
  if (!compiled)
    return "does not compile: " + error;
  std::vector<Span> spans;
  compiled->search(text, spans);
  std::string out;
  for (const Span &span : spans)
    out += (span.isMatch ? "[" : "") + std::string(text.substr(span.begin, span.end - span.begin)) +
           (span.isMatch ? "]" : "");
  return out;
}
} // namespace

TEST(Regex, MatchesWhatOnigurumaMatches) {
  EXPECT_EQ(matches(R"(\p{L}+|\d)", "ab1 c"), "[ab][1] [c]");
  EXPECT_EQ(matches(R"(\h+)", "xfF9 z"), "x[fF9] z");   // a hexadecimal digit there
  EXPECT_EQ(matches(R"(^a$)", "b\na\nb"), "b\n[a]\nb"); // lines, always
  EXPECT_EQ(matches(R"(a{,2}b)", "aaab"), "a[aab]");
  EXPECT_EQ(matches(R"((?:ab){2}+c)", "ababc"), "[ababc]"); // not possessive
  EXPECT_EQ(matches(R"(a{x)", "a{x"), "[a{x]");
  EXPECT_EQ(matches(R"((?m:a.b))", "a\nb"), "[a\nb]");
  EXPECT_EQ(matches(R"([^\S\n]+)", "a \n b"), "a[ ]\n[ ]b");
  EXPECT_EQ(matches(R"([a[0-9]\W])", "a5-b"), "[a][5][-]b");
  EXPECT_EQ(matches(R"([^a\W]+)", "ab-c"), "a[b]-[c]");
  EXPECT_EQ(matches(R"(\bx\b)", "x ax x"), "[x] ax [x]");
  EXPECT_EQ(matches(R"((?i:'s|'ll))", "'S 'LL 'T"), "['S] ['LL] 'T");
  EXPECT_EQ(matches(R"([\x{4E00}-\u9FFF]++)", "a東京b"), "a[東京]b");
}

TEST(Regex, KnowsCodePointsOfEveryVersion) {
  EXPECT_EQ(matches(R"(\p{L}+)", "a\U00031350\u1C89b"), "[a\U00031350\u1C89b]");
  EXPECT_EQ(matches(R"(\s)", "\u180E"), "\u180E");
  // The two forms of \w differ there in six characters.
  EXPECT_EQ(matches(R"(\w)", "\u00B2"), "[\u00B2]");
  EXPECT_EQ(matches(R"([\w])", "\u00B2"), "\u00B2");
}

TEST(Regex, TakesStepsInProportionToTheText) {
  std::string letters = std::string(36, 'a') + "!";
  for (const char *pattern : {"(a+)+$", "(a|aa)+$", "(?:a*)*c"}) {
    try {
      std::string found = matches(pattern, letters);
      EXPECT_EQ(found, letters) << pattern; // PCRE2 sees that no match can be
    } catch (const Failure &failure) {
      EXPECT_EQ(failure.code, FOVEA_INVALID);
      EXPECT_NE(failure.message.find("takes too long on this text, from byte 0 of 37"),
                std::string::npos)
          << failure.message;
    }
  }
  EXPECT_THROW(matches("(a+)+$", letters), Failure);
  EXPECT_THROW(matches("(a|aa)+$", letters), Failure);
}

// What models have: GPT-2's, Llama 3's, and a greedy one that comes back over all of it.
TEST(Regex, PublishedPatternsTakeLongTexts) {
  const char *gpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  const char *llama3 =
      R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
  constexpr size_t size = 1 << 20;
  for (const char *pattern : {gpt2, llama3, R"((?:[^b]|b)*c)"})
    for (const std::string &piece : {" ", "a", "1", "\n", ".", "ab ", "\xE6\x9D\xB1", " \t"}) {
      std::string text;
      while (text.size() < size)
        text += piece;
      std::string error;
      std::unique_ptr<Pattern> compiled = Pattern::regex(*translateRegex(pattern, error), error);
      ASSERT_TRUE(compiled) << error;
      std::vector<Span> spans;
      EXPECT_NO_THROW(compiled->search(text, spans)) << pattern << " on " << piece;
    }
}

TEST(Regex, GivesEmptyMatchesOnce) { EXPECT_EQ(matches("x*", "axb"), "[]a[x]b[]"); }

TEST(Regex, RefusesWhatHasNoEqual) {
  for (const char *pattern :
       {"(a",       "a)",      "[a",     "[]",     "*a",         "a**",           R"((a)\1)",
        R"(\k<n>)", "(?(1)a)", "(?~ab)", "[a&&b]", R"(\p{Foo})", R"(\p{L)",       "a(?i)b",
        "(?i:ss)",  "(?i:é)",  R"(\X)",  "a{3}?",  R"(\)",       R"(\x{110000})", R"(\xE9)",
        "[z-a]",    "(?<n"})
    EXPECT_EQ(matches(pattern, "a").substr(0, 8), "refused:") << pattern;
  EXPECT_EQ(matches(std::string(1000, '(') + std::string(1000, ')'), "").substr(0, 8), "refused:");
  EXPECT_EQ(matches("ab\\q", "a"), "refused: an escape that is not supported at byte 3");
}
