// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each component does, on words that are easy to see through. The long
// comparison with the reference is test/tokenizer/compare_tokenizers.py.
#include "test/unit/tokenizer/Files.h"

using namespace fovea;
using namespace fovea::test;
using Ids = std::vector<int32_t>;

namespace {
/// The words that a pre-tokenizer and normalizer make of `text`, read back
/// through a vocabulary in which only the given ones are known.
Ids idsOf(const std::string &parts, const std::string &vocabulary, const std::string &text) {
  return open(wordLevel(vocabulary, parts))->encode(text, true);
}
} // namespace

TEST(Normalizers, RewriteText) {
  auto normalized = [](const std::string &normalizer, const std::string &text,
                       const std::string &expected) {
    return idsOf(R"("normalizer": )" + normalizer, "\"" + expected + "\": 1", text) == Ids{1};
  };
  EXPECT_TRUE(normalized(R"({"type": "Lowercase"})", "AbÉ", "abé"));
  EXPECT_TRUE(normalized(R"({"type": "NFC"})", "e\u0301", "\u00E9"));
  EXPECT_TRUE(normalized(R"({"type": "NFKC"})", "ﬁ", "fi"));
  EXPECT_TRUE(normalized(R"({"type": "StripAccents"})", "e\u0301", "e"));
  EXPECT_TRUE(normalized(R"({"type": "Strip", "strip_left": true, "strip_right": false})",
                         "\u3000 a ", "a "));
  EXPECT_TRUE(normalized(R"({"type": "Prepend", "prepend": "_"})", "a", "_a"));
  EXPECT_TRUE(normalized(R"({"type": "Replace", "pattern": {"String": "aa"}, "content": "b"})",
                         "aaac", "bac"));
  EXPECT_TRUE(normalized(R"({"type": "Replace", "pattern": {"Regex": " +"}, "content": "_"})",
                         "a   b c", "a_b_c"));
  EXPECT_TRUE(normalized(R"({"type": "Nmt"})", "a\u200Bb\u0001", "a b"));
  EXPECT_TRUE(normalized(R"({"type": "ByteLevel"})", "é\n", "Ã©Ċ"));
  EXPECT_TRUE(normalized(R"({"type": "BertNormalizer", "clean_text": true, "lowercase": true,
                             "handle_chinese_chars": true, "strip_accents": null})",
                         "É\u0001東\tx", "e 東  x"));
  EXPECT_TRUE(normalized(R"({"type": "Sequence", "normalizers": [{"type": "Lowercase"},
                             {"type": "Prepend", "prepend": "X"}]})",
                         "A", "Xa"));
}

TEST(PreTokenizers, CutText) {
  auto cut = [](const std::string &preTokenizer, const std::string &vocabulary,
                const std::string &text) {
    return idsOf(R"("pre_tokenizer": )" + preTokenizer, vocabulary, text);
  };
  EXPECT_EQ(cut(R"({"type": "Whitespace"})", R"("a_1": 1, "--": 2, "b": 3)", " a_1-- b"),
            (Ids{1, 2, 3}));
  EXPECT_EQ(cut(R"({"type": "WhitespaceSplit"})", R"("a-": 1, "b": 2)", "a- \u2003b "),
            (Ids{1, 2}));
  EXPECT_EQ(cut(R"({"type": "BertPreTokenizer"})", R"("a": 1, "-": 2)", "a- -a"),
            (Ids{1, 2, 2, 1}));
  EXPECT_EQ(cut(R"({"type": "Digits", "individual_digits": true})", R"("1": 1, "a": 2)", "a11"),
            (Ids{2, 1, 1}));
  EXPECT_EQ(cut(R"({"type": "Digits", "individual_digits": false})", R"("11": 1, "a": 2)", "a11"),
            (Ids{2, 1}));
  EXPECT_EQ(
      cut(R"({"type": "Punctuation", "behavior": "MergedWithNext"})", R"("a": 1, ",b": 2)", "a,b"),
      (Ids{1, 2}));
  EXPECT_EQ(cut(R"({"type": "ByteLevel", "add_prefix_space": true})", R"("Ġa": 1, "Ġ": 2)", "a  a"),
            (Ids{1, 2, 1}));
  const char *split =
      R"({"type": "Split", "pattern": {"String": "-"}, "invert": false, "behavior": )";
  const char *words = R"("a": 1, "-": 2, "a-": 3, "-a": 4, "--": 5)";
  EXPECT_EQ(cut(split + std::string(R"("Removed"})"), words, "a--a"), (Ids{1, 1}));
  EXPECT_EQ(cut(split + std::string(R"("Isolated"})"), words, "a--a"), (Ids{1, 2, 2, 1}));
  EXPECT_EQ(cut(split + std::string(R"("MergedWithPrevious"})"), words, "a--a"), (Ids{3, 2, 1}));
  EXPECT_EQ(cut(split + std::string(R"("MergedWithNext"})"), words, "a--a"), (Ids{1, 2, 4}));
  EXPECT_EQ(cut(split + std::string(R"("Contiguous"})"), words, "a--a"), (Ids{1, 5, 1}));
}

TEST(PreTokenizers, PutAMetaspaceFirstOnlyWhereTheTextBegins) {
  auto parts = [](const char *scheme) {
    return std::string(R"("added_tokens": [{"id": 4, "content": "<s>", "special": true}],
      "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": ")") +
           scheme + "\"}";
  };
  const char *words = R"("a": 1, "▁a": 2, "▁b": 3)";
  EXPECT_EQ(idsOf(parts("first"), words, "a b<s>a"), (Ids{2, 3, 4, 1}));
  EXPECT_EQ(idsOf(parts("always"), words, "a b<s>a"), (Ids{2, 3, 4, 2}));
  EXPECT_EQ(idsOf(parts("never"), words, "a b<s>a"), (Ids{1, 3, 4, 1}));
  EXPECT_EQ(idsOf(parts("first"), words, "<s>a"), (Ids{4, 1}));
}

TEST(AddedTokens, AreFoundAsTheirOptionsSay) {
  std::string parts = R"("normalizer": {"type": "Lowercase"}, "added_tokens": [
    {"id": 3, "content": "ab", "normalized": false},
    {"id": 4, "content": "abc", "normalized": false},
    {"id": 5, "content": "Word", "single_word": true, "normalized": false},
    {"id": 6, "content": "<l>", "lstrip": true, "normalized": false},
    {"id": 7, "content": "<r>", "rstrip": true, "normalized": false},
    {"id": 8, "content": "NORM", "normalized": true}])";
  const char *words = R"("x": 1, " x": 2)";
  EXPECT_EQ(idsOf(parts, words, "xabcx"), (Ids{1, 4, 1})); // the longest
  EXPECT_EQ(idsOf(parts, words, "abab"), (Ids{3, 3}));
  EXPECT_EQ(idsOf(parts, words, "x\u0301Word"), (Ids{0})); // a mark belongs to a word
  EXPECT_EQ(idsOf(parts, words, "Word x"), (Ids{5, 2}));
  EXPECT_EQ(idsOf(parts, words, "x  <l> x"), (Ids{1, 6, 2}));
  EXPECT_EQ(idsOf(parts, words, "x<r> \t x"), (Ids{1, 7, 1}));
  EXPECT_EQ(idsOf(parts, words, "xnOrMx"), (Ids{1, 8, 1}));
  auto opened = open(wordLevel(words, parts));
  EXPECT_EQ(opened->find("abc"), 4);
  EXPECT_EQ(opened->size(), 9u);
  EXPECT_FALSE(opened->isSpecial(4));
}

TEST(Models, FallBackToBytes) {
  std::string text =
      R"({"model": {"type": "BPE", "byte_fallback": true, "fuse_unk": true, "unk_token": "?",
    "vocab": {"?": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}, "merges": []},
    "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"}]}})";
  auto opened = open(text);
  EXPECT_EQ(opened->encode("aé東京a", true), (Ids{1, 2, 3, 0, 1}));
  EXPECT_EQ(decode(opened, {1, 2, 3, 1}), "aéa");
  EXPECT_EQ(decode(opened, {1, 2, 1}), "a\uFFFDa");
  // A byte that is no character on its own waits for what follows.
  StreamDecoder stream(*opened.tokenizer, false);
  EXPECT_EQ(stream.push(2), "");
  EXPECT_EQ(stream.push(3), "");
  EXPECT_EQ(stream.push(1), "éa");
  EXPECT_EQ(stream.finish(), "");
}

TEST(Models, CutWordsIntoPieces) {
  auto opened =
      open(R"({"model": {"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 5, "vocab": {"?": 0, "un": 1, "##a": 2, "##able": 3, "##ab": 4}},
    "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true}})");
  EXPECT_EQ(opened->encode("unab", true), (Ids{1, 4}));
  EXPECT_EQ(opened->encode("unax", true), (Ids{0}));
  EXPECT_EQ(opened->encode("unable", true), (Ids{0})); // longer than five
  EXPECT_EQ(decode(opened, {1, 3, 1}), "unable un");
}

TEST(Models, MergeByRankAndThenFromTheLeft) {
  auto opened =
      open(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "aa": 3, "aaa": 4},
    "merges": [["a", "a"], ["a", "b"], ["aa", "a"]]}})");
  EXPECT_EQ(opened->encode("aab", true), (Ids{3, 1}));
  EXPECT_EQ(opened->encode("aaaaab", true), (Ids{3, 3, 2}));
  EXPECT_EQ(opened->encode("aaax", true), (Ids{4})); // x has no token and no unknown one
}

TEST(Models, EncodeAMegabyteWithoutSpaces) {
  auto opened = open(R"({"model": {"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2},
    "merges": [["a", "a"], ["aa", "aa"]]}})");
  EXPECT_EQ(opened->encode(std::string(1 << 20, 'a'), true), Ids(1 << 18, 2));
}

TEST(Templates, SurroundSequences) {
  std::string parts = R"("pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": )";
  const char *words = R"("a": 1, "b": 2, "[C]": 3, "[S]": 4)";
  auto bert = open(wordLevel(words, parts + R"({"type": "BertProcessing", "sep": ["[S]", 4],
                                                "cls": ["[C]", 3]})"));
  EXPECT_EQ(bert->encode("a b", true), (Ids{3, 1, 2, 4}));
  EXPECT_EQ(bert->encode("a b", false), (Ids{1, 2}));
  auto pair = bert->encodePair("a", "b b", true);
  EXPECT_EQ(pair.ids, (Ids{3, 1, 4, 2, 2, 4}));
  EXPECT_EQ(pair.typeIds, (Ids{0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(bert->encodeSingle("a a a", true, 4).ids, (Ids{3, 1, 1, 4}));
  EXPECT_EQ(bert->encodePair("a a a", "b", true, 6).ids, (Ids{3, 1, 1, 4, 2, 4}));
  EXPECT_EQ(bert->encodePair("a a a", "b b b", true, 6).ids, (Ids{3, 1, 4, 2, 2, 4}));
  EXPECT_EQ(bert->encodeSingle("a", true, 1).ids, (Ids{3, 4}));
  auto roberta = open(wordLevel(words, parts + R"({"type": "RobertaProcessing", "sep": ["[S]", 4],
    "cls": ["[C]", 3], "trim_offsets": true, "add_prefix_space": false})"));
  EXPECT_EQ(roberta->encodePair("a", "b", true).ids, (Ids{3, 1, 4, 4, 2, 4}));
  auto none = open(wordLevel(words, R"("pre_tokenizer": {"type": "WhitespaceSplit"})"));
  EXPECT_EQ(none->encodePair("a", "b", true).typeIds, (Ids{0, 1}));
}

TEST(Decoders, JoinTokens) {
  auto decoded = [](const std::string &decoder, const std::string &vocabulary, const Ids &ids) {
    return decode(open(wordLevel(vocabulary, decoder.empty() ? "" : R"("decoder": )" + decoder)),
                  ids);
  };
  EXPECT_EQ(decoded("", R"("a": 1, "b": 2)", {1, 2, 99, -5}), "a b");
  EXPECT_EQ(decoded(R"({"type": "ByteLevel"})", R"("Ġa": 1, "Ã": 2, "©": 3)", {1, 2, 3, 2}),
            " aé\uFFFD");
  EXPECT_EQ(decoded(R"({"type": "Metaspace", "replacement": "▁"})", R"("▁a": 1, "▁b": 2)", {1, 2}),
            "a b");
  EXPECT_EQ(
      decoded(R"({"type": "BPEDecoder", "suffix": "</w>"})", R"("a</w>": 1, "b": 2)", {2, 1, 1}),
      "ba a");
  EXPECT_EQ(
      decoded(R"({"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"},
      "content": " "}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 1}]})",
              R"("▁▁a": 1, "▁": 2, "b": 3)", {1, 2, 3, 2, 2}),
      " a b ");
}

TEST(Decoders, StreamWhatIsCertain) {
  auto opened = open(wordLevel(R"("Ġa": 1, "ð": 2, "Ł": 3, "ĺ": 4, "Ģ": 5)",
                               R"("decoder": {"type": "ByteLevel"}, "added_tokens":
                                  [{"id": 6, "content": "<e>", "special": true, "normalized": false}])"));
  StreamDecoder stream(*opened.tokenizer, /*skipSpecial=*/true);
  std::string parts;
  for (int32_t id : {1, 2, 3, 4, 5, 6, 2, 1})
    parts += stream.push(id) + "|";
  EXPECT_EQ(parts + stream.finish(), " a||||😀|||\uFFFD a|");
  EXPECT_EQ(decode(opened, {1, 6}, true), " a");
  EXPECT_EQ(decode(opened, {1, 6}, false), " a<e>");
}
