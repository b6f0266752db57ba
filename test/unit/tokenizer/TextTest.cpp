// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// UTF-8 and Unicode: what is no text, classes, case and normal forms.
#include "runtime/tokenizer/Unicode.h"
#include "runtime/tokenizer/Utf8.h"

#include <gtest/gtest.h>

using namespace fovea;
using unicode::NormalForm;

namespace {
std::string lossy(std::string_view bytes) {
  std::string out;
  appendLossy(out, bytes, true);
  return out;
}
std::string normal(std::string_view text, NormalForm form) {
  size_t prefix = 0;
  return unicode::normalise(text, form, prefix);
}
constexpr const char *bad = "\xEF\xBF\xBD";
} // namespace

TEST(Utf8, ReplacesEachMaximalInvalidPart) {
  // Table 3-11 of the Unicode standard, and what stands at the end.
  EXPECT_EQ(lossy("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63"),
            std::string("a") + bad + bad + bad + "b" + bad + "c");
  EXPECT_EQ(lossy("\xE0\x80\x80"), std::string(bad) + bad + bad); // overlong
  EXPECT_EQ(lossy("\xED\xA0\x80"), std::string(bad) + bad + bad); // a surrogate
  EXPECT_EQ(lossy("\xF4\x90\x80\x80"), std::string(bad) + bad + bad + bad);
  EXPECT_EQ(lossy("x\xF0\x9F\x98"), std::string("x") + bad);
}

TEST(Utf8, KeepsBackWhatMayBecomeValid) {
  std::string out;
  EXPECT_EQ(appendLossy(out, "a\xF0\x9F\x98", false), 1u);
  EXPECT_EQ(out, "a");
  EXPECT_EQ(lastUtf8("a\xC3\xA9").codePoint, 0xE9u);
}

TEST(Unicode, LowersLikeTheReference) {
  std::string out;
  for (uint32_t c : {0x41u, 0x130u, 0x3A3u, 0x1C89u, 0xDFu})
    unicode::appendLowerCase(out, c);
  EXPECT_EQ(out, "ai\u0307\u03C3\u1C8A\u00DF");
}

TEST(Unicode, Normalises) {
  EXPECT_EQ(normal("e\u0323\u0302", NormalForm::Nfc), "\u1EC7");
  EXPECT_EQ(normal("e\u0302\u0323", NormalForm::Nfc), "\u1EC7");
  EXPECT_EQ(normal("\u1EC7", NormalForm::Nfd), "e\u0323\u0302");
  EXPECT_EQ(normal("\uFB01\u00B2", NormalForm::Nfkc), "fi2");
  EXPECT_EQ(normal("\u1100\u1161\u11A8", NormalForm::Nfc), "\uAC01");
  EXPECT_EQ(normal("\u0958", NormalForm::Nfc), "\u0915\u093C"); // excluded from composition
  // Newer than the reference's normaliser: left alone.
  EXPECT_EQ(normal("\U0001E030", NormalForm::Nfkd), "\U0001E030");
}

TEST(Unicode, NormalisesLongRunsOfMarksInLinearTime) {
  std::string text = "a";
  for (int i = 0; i < 200000; ++i)
    text += "\u0301\u0334";
  std::string sorted = normal(text, NormalForm::Nfd);
  ASSERT_EQ(sorted.size(), text.size());
  EXPECT_EQ(sorted.substr(1, 4), "\u0334\u0334");
}
