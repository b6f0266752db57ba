// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a tokenizer's file, opens the tables and uses them; what is refused must say why.
#ifndef FOVEA_TEST_FUZZ_TARGETS_COMPILEDTOKENIZERS_H
#define FOVEA_TEST_FUZZ_TARGETS_COMPILEDTOKENIZERS_H

#include "frontend/tokenizer/TokenizerCompiler.h"
#include "test/fuzz/targets/Tokenizers.h"

namespace fovea::fuzz {

inline void compileAndUse(const std::string &path) {
  Problems problems;
  std::vector<uint8_t> tables;
  bool made = compileTokenizer(path, tables, problems);
  checkProblems(problems, made);
  if (!made)
    return;
  AlignedTables aligned({reinterpret_cast<const char *>(tables.data()), tables.size()});
  std::string error;
  std::unique_ptr<Tokenizer> tokenizer = Tokenizer::open(aligned.data(), tables.size(), error);
  require(tokenizer != nullptr, "what was compiled can be opened");
  useTokenizer(*tokenizer);
}

} // namespace fovea::fuzz

#endif // FOVEA_TEST_FUZZ_TARGETS_COMPILEDTOKENIZERS_H
