// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables from a hostile file: opening refuses them or what is opened stays
// within its bounds, whatever byte was changed.
#include "test/unit/tokenizer/Files.h"
#include "test/unit/tokenizer/Rules.h"

#include <cstring>

using namespace fovea;
using namespace fovea::test;

namespace {
const char *source = R"({"version": "1.0",
  "added_tokens": [{"id": 5, "content": "<s>", "special": true, "normalized": false}],
  "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "_"},
  "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\w+"}, "behavior": "Isolated", "invert": false},
  "post_processor": {"type": "BertProcessing", "sep": ["<s>", 5], "cls": ["<s>", 5]},
  "decoder": {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Fuse"},
              {"type": "Strip", "content": "_", "start": 1, "stop": 0}]},
  "model": {"type": "BPE", "unk_token": "?", "byte_fallback": true, "vocab":
            {"?": 0, "a": 1, "b": 2, "ab": 3, "<0xC3>": 4}, "merges": [["a", "b"]]}})";
std::string unigramSource() {
  return R"({"version": "1.0", )" + precompiled(rules(std::string("b\0c\0", 4), 0, 2)) +
         R"(, "model": {"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab":
            [["?", 0], ["a", -1], ["b", -2], ["ab", -2.5], ["<0xC3>", -3], [" ", -4]]}})";
}
} // namespace

TEST(Tables, RefuseWhatIsCutOrMisplaced) {
  Opened opened = open(source);
  std::string error;
  for (size_t size = 0; size < opened.tables.size(); ++size) {
    std::vector<uint8_t> cut(opened.tables.begin(),
                             opened.tables.begin() + static_cast<ptrdiff_t>(size));
    if (auto tokenizer = Tokenizer::open(cut.data(), cut.size(), error))
      tokenizer->encode("ab <s>é", true); // only padding was cut
  }
  EXPECT_FALSE(Tokenizer::open(nullptr, 0, error));
  std::vector<uint8_t> moved(opened.tables.size() + 1);
  std::memcpy(moved.data() + 1, opened.tables.data(), opened.tables.size());
  EXPECT_FALSE(Tokenizer::open(moved.data() + 1, opened.tables.size(), error));
  EXPECT_NE(error.find("aligned"), std::string::npos);
}

static void changeEachByte(const std::string &source) {
  Opened opened = open(source);
  std::vector<uint8_t> changed = opened.tables;
  size_t refused = 0;
  for (size_t at = 0; at < changed.size(); ++at) {
    for (uint8_t value : {uint8_t(0), uint8_t(1), uint8_t(0x7F), uint8_t(0xFF),
                          static_cast<uint8_t>(opened.tables[at] ^ 0x80)}) {
      changed[at] = value;
      std::string error;
      auto tokenizer = Tokenizer::open(changed.data(), changed.size(), error);
      if (!tokenizer) {
        EXPECT_FALSE(error.empty());
        ++refused;
        continue;
      }
      std::vector<int32_t> ids = tokenizer->encode("ab <s>é ab", true);
      tokenizer->decode(ids.data(), ids.size(), false);
      tokenizer->encodePair("a", "b", true, 3);
    }
    changed[at] = opened.tables[at];
  }
  EXPECT_GT(refused, changed.size() / 8);
}

TEST(Tables, StayInBoundsWhateverByteIsChanged) {
  changeEachByte(source);
  changeEachByte(unigramSource());
}
