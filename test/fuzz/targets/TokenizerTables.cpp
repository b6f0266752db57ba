// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tokenizer's tables as an artifact holds them, opened and used.
#include "test/fuzz/support/TableEdits.h"
#include "test/fuzz/targets/Tokenizers.h"

using namespace fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateTokenizer(data, size, most, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::AlignedTables aligned({reinterpret_cast<const char *>(data), size});
  std::string error;
  std::unique_ptr<Tokenizer> tokenizer = Tokenizer::open(aligned.data(), size, error);
  fuzz::require(tokenizer || !error.empty(), "what is refused has an error");
  if (tokenizer)
    fuzz::useTokenizer(*tokenizer);
  return 0;
}
