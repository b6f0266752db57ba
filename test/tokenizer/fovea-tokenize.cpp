// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A test tool: compiles the tokenizer of a folder (or file) and answers requests
// on standard input until it ends. Numbers are little-endian.
//
//   request: u8 flags (1 add special tokens, 2 a second text follows, 4 decode
//            without special tokens, 8 decode: the text is i32 ids), u32 size, text
//            [, u32 size, text]
//   answer:  u32 n, n x i32 ids, n x i32 type ids, u32 size, their decoded text
#include "frontend/tokenizer/TokenizerCompiler.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "runtime/tokenizer/Utf8.h"

#include <chrono>
#include <cstdio>
#include <cstring>

using namespace fovea;

namespace {
bool readText(std::string &text) {
  uint32_t size = 0;
  if (std::fread(&size, sizeof size, 1, stdin) != 1)
    return false;
  text.resize(size);
  return std::fread(text.data(), 1, size, stdin) == size;
}

void writeNumbers(const std::vector<int32_t> &numbers) {
  std::fwrite(numbers.data(), sizeof(int32_t), numbers.size(), stdout);
}

/// The decoded text, put together from what the stream gave out; each part has
/// to be UTF-8.
bool decodeInParts(const Tokenizer &tokenizer, const std::vector<int32_t> &ids, bool skipSpecial,
                   std::string &out) {
  StreamDecoder stream(tokenizer, skipSpecial);
  auto take = [&](const std::string &part) {
    std::string valid;
    appendLossy(valid, part, true);
    out += part;
    return valid == part;
  };
  for (int32_t id : ids)
    if (!take(stream.push(id)))
      return false;
  return take(stream.finish());
}
} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fovea-tokenize FOLDER|FILE\n");
    return 1;
  }
  std::vector<uint8_t> tables;
  std::string error;
  if (!compileTokenizer(argv[1], tables, error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  auto begin = std::chrono::steady_clock::now();
  std::unique_ptr<Tokenizer> tokenizer = Tokenizer::open(tables.data(), tables.size(), error);
  std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::fprintf(stderr, "opened %zu bytes in %.2f ms\n", tables.size(), took.count());
  for (int flags; (flags = std::getc(stdin)) != EOF;) {
    std::string first, second;
    if (!readText(first) || ((flags & 2) && !readText(second)))
      return 1;
    Tokenizer::Encoding encoding;
    if (flags & 8) {
      encoding.ids.resize(first.size() / 4);
      std::memcpy(encoding.ids.data(), first.data(), encoding.ids.size() * 4);
      encoding.typeIds.resize(encoding.ids.size());
    } else if (flags & 2) {
      encoding = tokenizer->encodePair(first, second, flags & 1);
    } else {
      encoding = tokenizer->encodeSingle(first, flags & 1);
    }
    std::string text;
    if (!decodeInParts(*tokenizer, encoding.ids, flags & 4, text)) {
      std::fprintf(stderr, "a part of a decoded stream is no UTF-8\n");
      return 1;
    }
    auto count = static_cast<uint32_t>(encoding.ids.size());
    std::fwrite(&count, sizeof count, 1, stdout);
    writeNumbers(encoding.ids);
    writeNumbers(encoding.typeIds);
    auto size = static_cast<uint32_t>(text.size());
    std::fwrite(&size, sizeof size, 1, stdout);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  return 0;
}
