// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Artifacts with right hashes, opened; all that they name is read. The input's first byte chooses:
// a whole file, or a manifest, round which an artifact is made, with its places mended or as they
// are.
#include "artifact/ArtifactReader.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "test/fuzz/support/ArtifactFile.h"
#include "test/fuzz/support/Fuzz.h"
#include "test/fuzz/support/TableEdits.h"

using namespace fovea;
using namespace fovea::artifact;

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed) {
  if (size && data[0] % 4 == 0)
    return LLVMFuzzerMutate(data, size, most);
  return fuzz::mutateBehind(1, data, size, most, seed, fuzz::mutateManifest);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  fuzz::Input input(data, size);
  auto mode = input.take<uint8_t>();
  std::string content;
  if (mode % 4 == 0) {
    content = input.rest();
    fuzz::mendHashes(content);
  } else {
    std::unique_ptr<manifest::ManifestT> manifest = fuzz::unpackManifest(input.rest());
    if (!manifest)
      return 0;
    fuzz::Sections sections{
        "code",
        manifest->devices.empty() && manifest->variants.empty() ? "" : std::string(512, 'd'), ""};
    if (mode % 4 != 1)
      fuzz::mendPlaces(*manifest, sections.deviceCode.size());
    content = fuzz::makeArtifact(*manifest, sections);
  }
  static fuzz::MemoryFile file;
  file.set(content);
  std::string error;
  std::unique_ptr<ArtifactReader> reader = ArtifactReader::open(file.path(), error);
  fuzz::require(reader || !error.empty(), "what is refused has an error");
  if (!reader)
    return 0;
  for (size_t i = 0; i < reader->manifest().weights.size(); ++i)
    fuzz::touch(reader->weight(i).data, reader->weight(i).size);
  fuzz::touch(reader->code().data, reader->code().size);
  for (const auto &device : reader->manifest().devices)
    for (const auto *range : {device->ptx.get(), device->cubin.get(), device->host.get()}) {
      Bytes bytes = reader->otherCode(range);
      fuzz::touch(bytes.data, bytes.size);
    }
  for (size_t i = 0; i < reader->manifest().variants.size(); ++i) {
    reader->select(i);
    fuzz::touch(reader->code().data, reader->code().size);
  }
  fuzz::require(reader->verifyAll(error), "what was opened and is small has been verified");
  if (Bytes tables = reader->tokenizer(); tables.size)
    (void)Tokenizer::open(tables.data, tables.size, error);
  return 0;
}
