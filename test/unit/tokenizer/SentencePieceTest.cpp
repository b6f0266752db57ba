// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SentencePiece's own files: which ids their pieces have, by what stands beside them, and what is
// refused. test/tokenizer/compare_sentencepiece.py compares whole models.
#include "test/unit/tokenizer/Files.h"
#include "test/unit/tokenizer/Rules.h"

#include <cstring>
#include <filesystem>
#include <fstream>

using namespace fovea;
using namespace fovea::test;

namespace {
using Ids = std::vector<int32_t>;

std::string number(int field, uint64_t value) {
  std::string out(1, static_cast<char>(field << 3));
  if (field > 15)
    out = {static_cast<char>((field << 3 & 127) | 128), static_cast<char>(field >> 4)};
  for (; value > 127; value >>= 7)
    out += static_cast<char>(value | 128);
  return out + static_cast<char>(value);
}

std::string bytes(int field, const std::string &content) {
  std::string size = number(1, content.size()).substr(1);
  return std::string(1, static_cast<char>(field << 3 | 2)) + size + content;
}

std::string piece(const std::string &text, float score, int type = 1) {
  std::string raw(4, '\0');
  std::memcpy(raw.data(), &score, 4);
  return bytes(1, bytes(1, text) + std::string(1, '\x15') + raw + number(3, uint64_t(type)));
}

/// <unk>, <s>, </s> and a few pieces.
std::string pieces() {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("</s>", 0, 3) + piece("▁", -3) +
         piece("▁a", -1) + piece("a", -2) + piece("b", -2) + piece("▁ab", -2.5);
}

class SentencePiece : public testing::Test {
public:
  SentencePiece() : path(testing::TempDir() + "fovea-sentencepiece-" + std::to_string(::getpid())) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~SentencePiece() override { std::filesystem::remove_all(path); }

  void write(const std::string &name, const std::string &content) {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
  }
  Opened open() {
    Opened result;
    std::string error;
    EXPECT_TRUE(compileTokenizer(path, result.tables, error)) << error;
    result.tokenizer = Tokenizer::open(result.tables.data(), result.tables.size(), error);
    EXPECT_TRUE(result.tokenizer) << error;
    return result;
  }
  /// Without the folder's name.
  std::string problem() {
    std::vector<uint8_t> tables;
    std::string error;
    EXPECT_FALSE(compileTokenizer(path, tables, error));
    return error.substr(std::min(error.size(), path.size() + 1));
  }
  std::string problemOfModel(const std::string &content) {
    write("tokenizer.model", content);
    return problem();
  }

  std::string path;
};
} // namespace

TEST_F(SentencePiece, NumbersPiecesAsLlamaDoes) {
  write("tokenizer.model", pieces());
  Opened opened = open();
  EXPECT_EQ(opened->encode("ab", true), (Ids{1, 7}));
  EXPECT_EQ(opened->encode("  ab   a ", true), (Ids{1, 7, 4}));
  EXPECT_EQ(opened->encode("ab", false), (Ids{7}));
  EXPECT_EQ(opened->encode("a</s>zzb", true), (Ids{1, 4, 2, 3, 0, 6}));
  EXPECT_EQ(opened->encodePair("a", "b", true).ids, (Ids{1, 4, 1, 3, 6}));
  EXPECT_EQ(decode(opened, {1, 7, 4, 2}, true), "ab a");
  EXPECT_EQ(decode(opened, {1, 7, 4, 2}), "<s> ab a</s>");
}

TEST_F(SentencePiece, SettingsChangeWhatGoesAround) {
  write("tokenizer.model", pieces() + bytes(3, number(4, 0)));
  write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", "legacy": false,
        "add_bos_token": false, "add_eos_token": true, "eos_token": {"content": "</s>"},
        "added_tokens_decoder": {"9": {"content": "<|x|>", "special": true}}})");
  Opened opened = open();
  EXPECT_EQ(opened->encode("a<|x|>a", true), (Ids{4, 9, 5, 2}));
  EXPECT_EQ(opened->size(), 10u);
  EXPECT_EQ(opened->endToken(), 2);
  EXPECT_EQ(decode(opened, {4, 9, 5}, true), "aa");
}

TEST_F(SentencePiece, AddsT5Sentinels) {
  write("spiece.model", pieces());
  write("config.json", R"({"model_type": "t5"})");
  Opened opened = open();
  EXPECT_EQ(opened->size(), 108u);
  EXPECT_EQ(opened->encode("ab<extra_id_0>", true), (Ids{7, 107, 2}));
  EXPECT_EQ(opened->encode("<extra_id_99>", true), (Ids{8, 2}));
}

TEST_F(SentencePiece, MovesPiecesAsXlmRobertaDoes) {
  write("sentencepiece.bpe.model", pieces());
  write("tokenizer_config.json", R"({"tokenizer_class": "XLMRobertaTokenizer"})");
  Opened opened = open();
  EXPECT_EQ(opened->encode("ab z <mask>", true), (Ids{0, 8, 4, 3, 9, 2}));
  EXPECT_EQ(opened->encodePair("a", "a", true).ids, (Ids{0, 5, 2, 2, 5, 2}));
  EXPECT_EQ(decode(opened, {0, 8, 5, 2}, true), "ab a");
}

TEST_F(SentencePiece, TakesMariansIds) {
  write("source.spm", pieces());
  write("target.spm", pieces());
  write("vocab.json",
        R"({"</s>": 0, "<unk>": 1, ">>deu<<": 2, "▁ab": 3, "▁a": 4, "b": 5, "z": 7})");
  Opened opened = open();
  EXPECT_EQ(opened->encode("ab a", true), (Ids{3, 4, 0}));
  EXPECT_EQ(opened->encode(">>deu<< a", true), (Ids{2, 4, 0}));
  EXPECT_EQ(opened->encode(">>fra<<a", true), (Ids{1, 4, 0}));
  EXPECT_EQ(opened->encode("ab z", true), (Ids{3, 1, 7, 0})); // "▁" has no id; "z" has one
  EXPECT_EQ(decode(opened, {3, 4, 0}, true), "ab a");
  write("vocab.json", R"({"</s>": 0})");
  EXPECT_EQ(problem(), "vocab.json: expects an id of the unknown token \"<unk>\"");
}

TEST_F(SentencePiece, JoinsPairsOfBpeByScore) {
  write("tokenizer.model", piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("a", -9) +
                               piece("b", -9) + piece("ab", -2) + piece("ba", -1) +
                               piece("abab", -3) + piece("▁", -9) + bytes(2, number(3, 2)));
  Opened opened = open();
  EXPECT_EQ(opened->encode("aba", false), (Ids{7, 2, 5})); // "ba" goes first
  EXPECT_EQ(opened->encode("abab", false), (Ids{7, 2, 5, 3}));
  EXPECT_EQ(opened->encode("ab ab", false), (Ids{7, 4, 7, 4}));
  EXPECT_EQ(opened->encode("ab", false), (Ids{7, 4}));
}

TEST_F(SentencePiece, FallsBackToBytes) {
  std::string all = pieces();
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", byte);
    all += piece(text, 0, 6);
  }
  write("tokenizer.model", all + bytes(2, number(35, 1)));
  Opened opened = open();
  EXPECT_EQ(opened->encode("é", false), (Ids{3, 8 + 0xC3, 8 + 0xA9}));
  EXPECT_EQ(decode(opened, {3, 8 + 0xC3, 8 + 0xA9, 6, 8 + 0xC3, 6}), "éb\xEF\xBF\xBD"
                                                                     "b");
  StreamDecoder stream(*opened.tokenizer, true);
  EXPECT_EQ(stream.push(8 + 0xC3), "");
  EXPECT_EQ(stream.push(8 + 0xA9), "é");
  EXPECT_EQ(stream.push(8 + 0xE2), "");
  EXPECT_EQ(stream.push(6), "\xEF\xBF\xBD"
                            "b");
  EXPECT_EQ(stream.finish(), "");
  EXPECT_EQ(problemOfModel(all), "tokenizer.model: pieces[8]: expects no byte without "
                                 "trainer_spec.byte_fallback, got \"<0x00>\"");
  EXPECT_EQ(problemOfModel(pieces() + bytes(2, number(35, 1))),
            "tokenizer.model: pieces: expects a piece for each byte, got none for 0");
}

TEST_F(SentencePiece, TakesTheLongestRule) {
  write("tokenizer.model", pieces() + bytes(3, bytes(2, rules(std::string("b\0a\0", 4), 0, 2))));
  Opened opened = open();
  EXPECT_EQ(opened->encode("a", false), (Ids{3, 6}));
  EXPECT_EQ(opened->encode("ab", false), (Ids{4}));
  EXPECT_EQ(problemOfModel(pieces() + bytes(3, bytes(2, rules("b", 0, 9)))),
            "tokenizer.model: normalizer_spec.precompiled_charsmap: expects replacements within "
            "the 1 bytes of them, got one at byte 9");
}

TEST_F(SentencePiece, RefusesWhatIsNoModel) {
  EXPECT_EQ(problemOfModel(""),
            "tokenizer.model: pieces: expects a SentencePiece model with pieces");
  EXPECT_EQ(problemOfModel("IQ== 0\nIg== 1\n"), // what tiktoken calls tokenizer.model
            "tokenizer.model: pieces: expects a SentencePiece model with pieces");
  EXPECT_EQ(problemOfModel(pieces().substr(0, 31)),
            "tokenizer.model: byte 31: expects a field of a SentencePiece model");
  EXPECT_EQ(problemOfModel(piece("a", 0)),
            "tokenizer.model: pieces: expects one unknown piece, got none");
  EXPECT_EQ(problemOfModel(pieces() + piece("x", 0, 2)),
            "tokenizer.model: pieces[8].type: expects one unknown piece, got a second one");
  EXPECT_EQ(problemOfModel(pieces() + piece("x", 0, 7)),
            "tokenizer.model: pieces[8].type: expects a type from 1 to 6, got 7");
  EXPECT_EQ(problemOfModel(pieces() + piece("a", 0)), "tokenizer.model: pieces[8].piece: expects a "
                                                      "text of its own, got \"a\", which another "
                                                      "piece has");
  EXPECT_EQ(problemOfModel(pieces() + piece("", 0)),
            "tokenizer.model: pieces[8].piece: expects some UTF-8 text, got \"\"");
  EXPECT_EQ(problemOfModel(pieces() + piece("x", std::numeric_limits<float>::infinity())),
            "tokenizer.model: pieces[8].score: expects a finite number, got inf");
  EXPECT_EQ(problemOfModel(pieces() + bytes(2, number(3, 4))),
            "tokenizer.model: trainer_spec.model_type: expects 1 (unigram) or 2 (bpe), got 4");
  EXPECT_EQ(problemOfModel(pieces() + bytes(5, bytes(2, "x"))),
            "tokenizer.model: denormalizer_spec.precompiled_charsmap: expects nothing: rules for "
            "decoded text are not supported");
}

TEST_F(SentencePiece, RefusesSettingsThatItDoesNotFollow) {
  write("spiece.model", pieces());
  EXPECT_EQ(problem(), "tokenizer_config.json: tokenizer_class: expects one of 'LlamaTokenizer', "
                       "'GemmaTokenizer', 'T5Tokenizer', 'XLMRobertaTokenizer': it says which ids "
                       "the pieces of spiece.model have");
  auto with = [&](const std::string &settings) {
    write("tokenizer_config.json", R"({"tokenizer_class": "LlamaTokenizer", )" + settings + "}");
    return problem();
  };
  EXPECT_EQ(with(R"("legacy": false)"), "tokenizer_config.json: legacy: expects true where the "
                                        "model removes extra white space, got false");
  EXPECT_EQ(with(R"("add_prefix_space": false)"),
            "tokenizer_config.json: add_prefix_space: expects "
            "true, as the model's add_dummy_prefix, got false");
  EXPECT_EQ(with(R"("sp_model_kwargs": {"enable_sampling": true})"),
            "tokenizer_config.json: sp_model_kwargs: expects an empty object: sampling is random, "
            "got an object");
  EXPECT_EQ(with(R"("bos_token": "[B]")"),
            "tokenizer_config.json: bos_token: expects a token of the model, got \"[B]\"");
  EXPECT_EQ(
      with(R"("added_tokens_decoder": {"5": {"content": "x"}})"),
      "tokenizer_config.json: added_tokens_decoder.5: expects another id: this one is that of "
      "\"a\", got an object");
  EXPECT_EQ(with(R"("added_tokens_decoder": {"900000000": {"content": "x"}})"),
            "tokenizer_config.json: added_tokens_decoder.900000000: expects an id below 65600, got "
            "an object");
  write("tokenizer_config.json", R"({"tokenizer_class": "XLNetTokenizer"})");
  EXPECT_EQ(problem(), "tokenizer_config.json: tokenizer_class: expects one of 'LlamaTokenizer', "
                       "'GemmaTokenizer', 'T5Tokenizer', 'XLMRobertaTokenizer', got "
                       "\"XLNetTokenizer\"");
}
