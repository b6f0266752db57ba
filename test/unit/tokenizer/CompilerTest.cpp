// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Malformed and unsupported tokenizer.json files: each gives one problem that
// names the place, what was found and what is expected.
#include "test/unit/tokenizer/Files.h"

using namespace fovea;
using namespace fovea::test;

namespace {
std::string bpe(const std::string &options, const std::string &merges = R"(["a b"])") {
  return R"({"version": "1.0", "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, )" +
         options + R"("merges": )" + merges + "}}";
}
} // namespace

TEST(TokenizerCompiler, RefusesWhatIsNoJson) {
  EXPECT_NE(problemOf("").find("JSON"), std::string::npos);
  EXPECT_NE(problemOf(bpe("").substr(0, 60)), "");
  EXPECT_NE(problemOf("[1, 2]").find("expects an object"), std::string::npos);
  std::string error;
  std::vector<uint8_t> tables;
  EXPECT_FALSE(compileTokenizer("/nowhere/tokenizer.json", tables, error));
  EXPECT_NE(error.find("cannot be opened"), std::string::npos) << error;
}

TEST(TokenizerCompiler, RefusesNestingWithoutEnd) {
  std::string deep = R"({"normalizer": )";
  for (int i = 0; i < 100000; ++i)
    deep += R"({"type": "Sequence", "normalizers": [)";
  EXPECT_NE(problemOf(deep).find("nest"), std::string::npos);
  EXPECT_NE(problemOf(std::string(100000, '[')).find("nest"), std::string::npos);
}

TEST(TokenizerCompiler, RefusesMissingParts) {
  EXPECT_EQ(problemOf(R"({"version": "1.0"})"), "model: expects an object, got nothing");
  EXPECT_EQ(problemOf(R"({"version": "2.0", "model": {}})").substr(0, 23),
            "version: expects '1.0',");
  EXPECT_EQ(problemOf(R"({"model": {"type": "BPE"}})"), "model.vocab: is required, but missing");
  EXPECT_NE(problemOf(R"({"model": {"type": "WordLevel", "unk_token": "?", "vocab": {}}})")
                .find("model.vocab: expects at least one token"),
            std::string::npos);
}

TEST(TokenizerCompiler, RefusesUnknownComponents) {
  EXPECT_EQ(problemOf(R"({"model": {"type": "Char", "vocab": []}})"),
            "model.type: expects one of 'BPE', 'WordPiece', 'WordLevel', 'Unigram', got \"Char\"");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("normalizer": {"type": "Sequence", "normalizers":
              [{"type": "NFC"}, {"type": "Compiled"}]})"))
                .substr(0, 43),
            "normalizer.normalizers[1].type: expects one");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("pre_tokenizer": {"type": "FixedLength"})"))
                .substr(0, 31),
            "pre_tokenizer.type: expects one");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("decoder": {"type": "CTC"})")).substr(0, 25),
            "decoder.type: expects one");
  EXPECT_EQ(
      problemOf(wordLevel(R"("a": 1)", R"("post_processor": {"type": "Other"})")).substr(0, 32),
      "post_processor.type: expects one");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("normaliser": {"type": "NFC"})")),
            "normaliser: is a part that is not understood");
}

TEST(TokenizerCompiler, RefusesUnknownOptions) {
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("normalizer": {"type": "NFC", "form": 2})")),
            "normalizer.form: is an option that is not understood");
  EXPECT_EQ(problemOf(bpe(R"("dropout": 0.1, )")), "model.dropout: expects no dropout, got 0.1");
  EXPECT_EQ(problemOf(bpe(R"("lowercase": true, )")),
            "model.lowercase: is an option that is not understood");
  EXPECT_EQ(problemOf(bpe(R"("unk_token": "<unk>", )")),
            "model.unk_token: expects a token of the vocabulary, got \"<unk>\"");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("pre_tokenizer": {"type": "Split", "invert": false,
              "behavior": "Split", "pattern": {"String": " "}})"))
                .substr(0, 48),
            "pre_tokenizer.behavior: expects one of 'Removed'");
}

TEST(TokenizerCompiler, RefusesWrongTypes) {
  EXPECT_EQ(problemOf(bpe(R"("fuse_unk": 1, )")), "model.fuse_unk: expects true or false, got 1");
  EXPECT_EQ(problemOf(R"({"model": []})").substr(0, 25), "model: expects an object,");
  EXPECT_EQ(problemOf(wordLevel(R"("a": "1")", "")).substr(0, 24), "model.vocab.a: expects a");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 4000000000)", "")).substr(0, 24),
            "model.vocab.a: expects a");
  EXPECT_EQ(problemOf(wordLevel(R"("a": -1)", "")).substr(0, 24), "model.vocab.a: expects a");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 0)", "")),
            "model.vocab.a: expects an id of its own, got 0, which another token has");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("added_tokens": {})")).substr(0, 30),
            "added_tokens: expects an array");
}

TEST(TokenizerCompiler, RefusesMergesOfUnknownTokens) {
  EXPECT_EQ(problemOf(bpe("", R"(["a c"])")),
            "model.merges[0]: expects tokens of the vocabulary, got \"c\"");
  EXPECT_EQ(problemOf(bpe("", R"([["b", "a"]])")),
            "model.merges[0]: expects tokens of the vocabulary, got \"ba\"");
  EXPECT_EQ(problemOf(bpe("", R"(["a b c"])")),
            "model.merges[0]: expects two tokens, got \"a b c\"");
  EXPECT_EQ(problemOf(bpe("", R"([7])")), "model.merges[0]: expects two tokens, got 7");
}

TEST(TokenizerCompiler, RefusesIdsThatTheModelDoesNotGive) {
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("added_tokens": [{"id": 7, "content": "a"}])"))
                .substr(0, 27),
            "added_tokens[0].id: expects");
  EXPECT_EQ(problemOf(wordLevel(R"("a": 1)", R"("post_processor": {"type": "BertProcessing",
              "sep": ["a", 1], "cls": ["b", 2]})"))
                .substr(0, 22),
            "post_processor.cls[1]:");
  EXPECT_EQ(
      problemOf(wordLevel(R"("a": 1)", R"("post_processor": {"type": "TemplateProcessing",
              "single": [{"SpecialToken": {"id": "x", "type_id": 0}}], "pair": [],
              "special_tokens": {}})")),
      "post_processor.single[0].SpecialToken.id: expects a token of 'special_tokens', got \"x\"");
}

TEST(TokenizerCompiler, GivesTheSameBytesForTheSameInput) {
  std::string text = bpe(R"("byte_fallback": true, )");
  EXPECT_EQ(open(text).tables, open(text).tables);
}

TEST(TokenizerCompiler, ReadsOldMergesAndAModelWithoutType) {
  auto opened = open(R"({"model": {"vocab": {"a": 0, "b": 1, "ab": 2, "abab": 3},
                        "merges": ["#version: 0.2", "a b", "ab ab"]}})");
  EXPECT_EQ(opened->encode("ababb", true), (std::vector<int32_t>{3, 1}));
}
