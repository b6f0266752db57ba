// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GGUF files: described as models, and their vocabularies compiled to tables, which are opened and
// used.
#include "frontend/GGUF/GGUF.h"
#include "test/fuzz/targets/CompiledTokenizers.h"

using namespace fovea;

/// Changes a number of 4 or 8 bytes somewhere: counts, lengths, types and offsets are such, and
/// stand at any byte.
template <typename T> static void changeNumber(uint8_t *at, fuzz::Random &random) {
  T number;
  std::memcpy(&number, at, sizeof(number));
  number = static_cast<T>(fuzz::changedNumber(number, random));
  std::memcpy(at, &number, sizeof(number));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  fuzz::Random random(seed);
  if (size < 24 || random.oneIn(3))
    return LLVMFuzzerMutate(data, size, most);
  uint8_t *at = data + 4 + random.below(size - 12);
  if (random.oneIn(2))
    changeNumber<uint64_t>(at, random);
  else
    changeNumber<uint32_t>(at, random);
  return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static fuzz::Folder folder;
  folder.write("model.gguf", {reinterpret_cast<const char *>(data), size});
  std::string path = folder.path() + "/model.gguf";
  Problems problems;
  std::optional<ModelDescription> model = readGguf(path, problems);
  fuzz::checkProblems(problems, model.has_value());
  Problems none;
  if (auto file = GgufFile::open(folder.path(), "model.gguf", none))
    for (const StoredTensor *tensor : file->list()) {
      fuzz::touch(file->data(*tensor), tensor->bytes);
      fuzz::require(file->find(tensor->name) == tensor, "a tensor is found by its name");
    }
  fuzz::compileAndUse(path);
  return 0;
}
