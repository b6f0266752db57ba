// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SentencePiece models to tables, which are opened and used. The input's first byte chooses under
// which name and beside which configuration the model lies: that decides which ids pieces have.
#include "test/fuzz/support/WireTree.h"
#include "test/fuzz/targets/CompiledTokenizers.h"

#include <unistd.h>

using namespace fovea;

namespace {

const std::vector<std::string> &words() {
  static const std::vector<std::string> all = {"<unk>",
                                               "<s>",
                                               "</s>",
                                               "\xE2\x96\x81",
                                               "\xE2\x96\x81the",
                                               "<0x00>",
                                               "<0xFF>",
                                               "<pad>",
                                               "a",
                                               "Hello",
                                               " ",
                                               std::string(1024, '\0')};
  return all;
}

struct Place {
  const char *model, *settings;
};
constexpr Place places[] = {
    {"tokenizer.model", "{}"},
    {"tokenizer.model",
     R"({"tokenizer_class": "LlamaTokenizer", "legacy": false, "add_eos_token": true,
                            "added_tokens_decoder": {"40": {"content": "<x>", "special": true}}})"},
    {"spiece.model", R"({"tokenizer_class": "T5Tokenizer", "extra_ids": 3})"},
    {"sentencepiece.bpe.model", R"({"tokenizer_class": "XLMRobertaTokenizer"})"},
    {"source.spm", "{}"}};

} // namespace

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateBehind(1, data, size, most, seed,
                            [](uint8_t *bytes, size_t count, size_t limit, unsigned number) {
                              return fuzz::mutateWire(bytes, count, limit, number, words());
                            });
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::Folder folders[std::size(places)];
  static const bool once = [] {
    for (size_t i = 0; i < std::size(places); ++i)
      folders[i].write("tokenizer_config.json", places[i].settings);
    folders[std::size(places) - 1].write(
        "vocab.json", R"({"</s>": 0, "<unk>": 1, ">>de<<": 2, "\u2581": 3, "a": 4, "Hello": 5})");
    return true;
  }();
  (void)once;
  fuzz::Input input(data, size);
  size_t choice = input.take<uint8_t>() % std::size(places);
  folders[choice].write(places[choice].model, input.rest());
  fuzz::compileAndUse(folders[choice].path());
  return 0;
}
