// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Safetensors files. The input's first byte chooses: a whole file, or a header as JSON, behind
// which as many bytes of data stand as the next two bytes say.
#include "frontend/HuggingFace/Safetensors.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/JsonTree.h"

using namespace fovea;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  if (size && data[0] % 2 == 0)
    return LLVMFuzzerMutate(data, size, most);
  return fuzz::mutateBehind(3, data, size, most, seed, fuzz::mutateJson);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::Input input(data, size);
  std::string content;
  if (input.take<uint8_t>() % 2 == 0) {
    content = input.rest();
  } else {
    auto bytes = input.take<uint16_t>();
    uint64_t header = input.rest().size();
    content.assign(reinterpret_cast<const char *>(&header), sizeof(header));
    content += input.rest();
    content.append(bytes, 'x');
  }
  static fuzz::MemoryFile file;
  file.set(content);
  Problems problems;
  std::optional<Safetensors> tensors =
      Safetensors::open(fuzz::MemoryFile::folder(), file.name(), problems);
  fuzz::checkProblems(problems, tensors.has_value());
  if (!tensors)
    return 0;
  for (const StoredTensor &tensor : tensors->tensors()) {
    fuzz::touch(tensors->data(tensor), tensor.bytes);
    fuzz::require(tensors->find(tensor.name) == &tensor, "a tensor is found by its name");
  }
  return 0;
}
