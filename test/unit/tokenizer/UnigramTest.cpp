// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Unigram models of tokenizer.json and the rules of normalization that go with them.
#include "test/unit/tokenizer/Files.h"
#include "test/unit/tokenizer/Rules.h"

using namespace fovea;
using namespace fovea::test;

namespace {
using Ids = std::vector<int32_t>;

std::string unigram(const std::string &vocabulary, const std::string &options = "",
                    const std::string &parts = "") {
  return R"({"version": "1.0", )" + parts + (parts.empty() ? "" : ", ") +
         R"("model": {"type": "Unigram", "unk_id": 0, )" + options + R"("vocab": [["<unk>", 0], )" +
         vocabulary + "]}}";
}
} // namespace

TEST(Unigram, TakesTheHighestSum) {
  Opened opened = open(unigram(R"(["a", -1], ["b", -1], ["ab", -1.5], ["c", -2], ["bc", -1])"));
  EXPECT_EQ(opened->encode("ab", true), (Ids{3}));
  EXPECT_EQ(opened->encode("abc", true), (Ids{1, 5})); // -2, not -3.5
  EXPECT_EQ(opened->encode("", true), Ids());
}

TEST(Unigram, KeepsTheFirstOfEqualSums) {
  Opened opened =
      open(unigram(R"(["a", -1], ["b", -1], ["c", -1], ["ab", -2], ["bc", -2], ["abc", -3])"));
  EXPECT_EQ(opened->encode("abc", true), (Ids{6}));
  EXPECT_EQ(opened->encode("aab", true), (Ids{1, 4}));
}

TEST(Unigram, JoinsWhatIsUnknown) {
  Opened opened = open(unigram(R"(["a", -1])"));
  EXPECT_EQ(opened->encode("xyaz", true), (Ids{0, 1, 0}));
  Opened bytes =
      open(unigram(R"(["a", -1], ["<0xC3>", 0], ["<0xA9>", 0])", R"("byte_fallback": true, )"));
  EXPECT_EQ(bytes->encode("aéa", true), (Ids{1, 2, 3, 1}));
  EXPECT_EQ(bytes->encode("aéxa", true), (Ids{1, 0, 1})); // no byte for all of it
}

TEST(Unigram, FindsTheLastOfTwoEqualTexts) {
  Opened opened = open(unigram(R"(["a", -1], ["b", -1], ["a", -9])", "",
                               R"("added_tokens": [{"id": 4, "content": "<s>"}])"));
  EXPECT_EQ(opened->encode("ab<s>", true), (Ids{3, 2, 4}));
  EXPECT_EQ(opened->tokenText(1), "a");
}

TEST(Unigram, ReadsAModelWithoutType) {
  auto opened = open(R"({"model": {"unk_id": 0, "vocab": [["<unk>", 0], ["a", -1]]}})");
  EXPECT_EQ(opened->encode("a", true), (Ids{1}));
}

TEST(Unigram, RefusesWhatIsNoModel) {
  EXPECT_EQ(problemOf(R"({"model": {"type": "Unigram", "vocab": [["a", 0]]}})"),
            "model.unk_id: is required, but missing");
  EXPECT_EQ(problemOf(R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": []}})"),
            "model.vocab: expects at least one token, got an array of 0");
  EXPECT_EQ(problemOf(R"({"model": {"type": "Unigram", "unk_id": 1, "vocab": [["a", 0]]}})"),
            "model.unk_id: expects an integer from 0 to 0, got 1");
  EXPECT_EQ(problemOf(unigram(R"(["a"])")),
            "model.vocab[1]: expects a token and its score, got an array of 1");
  EXPECT_EQ(problemOf(unigram(R"(["a", "b"])")),
            "model.vocab[1]: expects a token and its score, got an array of 2");
  EXPECT_EQ(problemOf(unigram(R"(["a", 0])", R"("alpha": 0.1, )")),
            "model.alpha: is an option that is not understood");
}

TEST(Precompiled, ReplacesAGraphemeByItsShortestRule) {
  Opened opened = open(unigram(R"(["x", 0], ["y", 0], ["b", 0], ["\u0301", 0])", "",
                               precompiled(rules(std::string("x\0y\0", 4), 0, 2))));
  EXPECT_EQ(opened->encode("a", true), (Ids{1}));
  EXPECT_EQ(opened->encode("ab", true), (Ids{1, 3}));     // two graphemes
  EXPECT_EQ(opened->encode("a\xCC\x81", true), (Ids{1})); // one of three bytes: all of it
  // One of seven: each character.
  EXPECT_EQ(opened->encode("a\xCC\x81\xCC\x81\xCC\x81", true), (Ids{1, 4, 4, 4}));
}

TEST(Precompiled, RefusesADamagedMap) {
  auto problem = [](const std::string &bytes) {
    return problemOf(unigram(R"(["x", 0])", "", precompiled(bytes)));
  };
  std::string start = "normalizer.precompiled_charsmap: expects ";
  std::string good = rules(std::string("x\0y\0", 4), 0, 2);
  EXPECT_EQ(problem(""), start + "a map of characters whose trie lies within its 0 bytes, got no "
                                 "size of it");
  EXPECT_EQ(problem(good.substr(0, 2000)),
            start +
                "a map of characters whose trie lies within its 2000 bytes, got a trie of 4096");
  EXPECT_EQ(problem(rules("x", 0, 7)),
            start + "replacements within the 1 bytes of them, got one at byte 7");
  EXPECT_EQ(problem(rules("é", 1, 0)),
            start + "replacements within the 2 bytes of them, got one at byte 1");
  EXPECT_EQ(problem(rules("\xFF", 0, 0)), start + "replacements that are UTF-8");
  std::string away = good;
  away[7] = '\x7F'; // where the first state is
  EXPECT_EQ(problem(away), start + "rules within the map, got some that lead out of it");
  EXPECT_EQ(
      problemOf(unigram(R"(["x", 0])", "",
                        R"("normalizer": {"type": "Precompiled", "precompiled_charsmap": "a"})")),
      start + "base64, got \"a\"");
}
