// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tokenizer.json to tables, which are opened and used. The input's first byte chooses: that file,
// or the tokenizer_config.json beside a small one.
#include "test/fuzz/support/JsonTree.h"
#include "test/fuzz/targets/CompiledTokenizers.h"

using namespace fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  return fuzz::mutateBehind(1, data, size, most, seed, fuzz::mutateJson);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::MemoryFile file;
  static fuzz::Folder folder;
  static const bool once =
      (folder.write("tokenizer.json", fuzz::readKept("test/fuzz/tokenizers/tiny.json")), true);
  (void)once;
  fuzz::Input input(data, size);
  bool isConfig = input.take<uint8_t>() % 2;
  if (isConfig)
    folder.write("tokenizer_config.json", input.rest());
  else
    file.set(input.rest());
  fuzz::compileAndUse(isConfig ? folder.path() : file.path());
  return 0;
}
