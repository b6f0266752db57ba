// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any text and any ids, encoded and decoded by some tokenizers; the input's first byte chooses one.
// Pieces from a stream, joined, are the text that is decoded at once.
#include "frontend/tokenizer/TokenizerCompiler.h"
#include "test/fuzz/targets/Tokenizers.h"

using namespace fovea;

namespace {

struct Opened {
  std::unique_ptr<fuzz::AlignedTables> tables;
  std::unique_ptr<Tokenizer> tokenizer;
};

std::vector<Opened> openAll() {
  std::vector<Opened> all;
  for (const char *name :
       {"tiny", "bytes", "fallback", "words", "metaspace", "word-level", "unigram"}) {
    fuzz::MemoryFile file(fuzz::readKept(std::string("test/fuzz/tokenizers/") + name + ".json"));
    std::vector<uint8_t> tables;
    std::string error;
    fuzz::require(compileTokenizer(file.path(), tables, error), error.c_str());
    Opened &opened = all.emplace_back();
    opened.tables = std::make_unique<fuzz::AlignedTables>(
        std::string_view(reinterpret_cast<const char *>(tables.data()), tables.size()));
    opened.tokenizer = Tokenizer::open(opened.tables->data(), tables.size(), error);
    fuzz::require(opened.tokenizer != nullptr, error.c_str());
  }
  return all;
}

void decodeBothWays(const Tokenizer &tokenizer, const std::vector<int32_t> &ids, bool skipSpecial) {
  std::string joined;
  StreamDecoder stream(tokenizer, skipSpecial);
  for (int32_t id : ids)
    joined += stream.push(id);
  joined += stream.finish();
  fuzz::require(joined == tokenizer.decode(ids.data(), ids.size(), skipSpecial),
                "a stream's pieces are the decoded text");
}

} // namespace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const std::vector<Opened> all = openAll();
  fuzz::Input input(data, size);
  const Tokenizer &tokenizer = *all[input.take<uint8_t>() % all.size()].tokenizer;
  auto flags = input.take<uint8_t>();
  bool special = flags & 1, skipSpecial = flags & 2;
  std::string_view text = input.rest();
  fuzz::mayTakeTooLong([&] {
    decodeBothWays(tokenizer, tokenizer.encode(text, special), skipSpecial);
    size_t half = text.size() / 2;
    (void)tokenizer.encodePair(text.substr(0, half), text.substr(half), true, flags >> 3);
  });

  std::vector<int32_t> ids(text.size() / 4);
  std::copy_n(text.data(), 4 * ids.size(), reinterpret_cast<char *>(ids.data()));
  decodeBothWays(tokenizer, ids, skipSpecial);
  for (int32_t &id : ids)
    id = static_cast<int32_t>(static_cast<uint32_t>(id) % (tokenizer.size() + 3));
  decodeBothWays(tokenizer, ids, skipSpecial);
  return 0;
}
