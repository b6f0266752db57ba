// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small tokenizer.json files for the unit tests.
#ifndef FOVEA_TEST_UNIT_TOKENIZER_FILES_H
#define FOVEA_TEST_UNIT_TOKENIZER_FILES_H

#include "frontend/tokenizer/TokenizerCompiler.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace fovea::test {

/// Writes `text` to a file of its own and returns its path.
inline std::string writeFile(const std::string &text) {
  std::string path = testing::TempDir() + "fovea-tokenizer-XXXXXX";
  int descriptor = ::mkstemp(path.data());
  EXPECT_GE(descriptor, 0);
  EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  ::close(descriptor);
  return path;
}

/// The problem that compiling `text` ends with, without the file's name.
inline std::string problemOf(const std::string &text) {
  std::string path = writeFile(text), error;
  std::vector<uint8_t> tables = {1, 2, 3};
  EXPECT_FALSE(compileTokenizer(path, tables, error));
  EXPECT_EQ(tables.size(), 3u) << "tables were touched";
  std::remove(path.c_str());
  EXPECT_EQ(error.compare(0, path.size() + 2, path + ": "), 0) << error;
  return error.substr(std::min(error.size(), path.size() + 2));
}

/// A compiled tokenizer and the tables that it reads.
struct Opened {
  std::vector<uint8_t> tables;
  std::unique_ptr<Tokenizer> tokenizer;
  Tokenizer *operator->() const { return tokenizer.get(); }
};

inline Opened open(const std::string &text) {
  std::string path = writeFile(text), error;
  Opened result;
  EXPECT_TRUE(compileTokenizer(path, result.tables, error)) << error;
  std::remove(path.c_str());
  result.tokenizer = Tokenizer::open(result.tables.data(), result.tables.size(), error);
  EXPECT_TRUE(result.tokenizer) << error;
  return result;
}

inline std::string decode(const Opened &opened, const std::vector<int32_t> &ids,
                          bool skipSpecial = false) {
  return opened->decode(ids.data(), ids.size(), skipSpecial);
}

/// A tokenizer.json of words ("0".."9", "a".., given as JSON members) with
/// further parts.
inline std::string wordLevel(const std::string &vocabulary, const std::string &parts) {
  return R"({"version": "1.0", )" + parts + (parts.empty() ? "" : ", ") +
         R"("model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, )" + vocabulary +
         "}}}";
}

} // namespace fovea::test

#endif // FOVEA_TEST_UNIT_TOKENIZER_FILES_H
