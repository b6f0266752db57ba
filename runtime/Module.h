// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An opened artifact with its code loaded. Immutable after construction, so any
// number of threads may read it.
#ifndef FOVEA_RUNTIME_MODULE_H
#define FOVEA_RUNTIME_MODULE_H

#include "abi/Abi.h"
#include "artifact/ArtifactReader.h"
#include "runtime/Code.h"
#include "runtime/include/fovea/runtime.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <memory>
#include <string>
#include <vector>

namespace fovea {

/// An entry with its functions.
struct Entry {
  const manifest::EntryT *description;
  fovea_plan_fn plan;
  fovea_step_fn step;
  /// As the C interface shows them: pointers into the manifest.
  std::vector<std::vector<const char *>> argumentDimensions, resultDimensions;
};

class Module {
public:
  /// Throws Failure.
  explicit Module(const std::string &path,
                  artifact::FileAccess access = artifact::FileAccess::Mapped);

  const std::string &path() const { return reader->path(); }
  const manifest::ManifestT &manifest() const { return reader->manifest(); }
  /// Of all that the artifact holds.
  artifact::Hash hash() const;
  const std::vector<Entry> &entries() const { return allEntries; }
  /// -1 if there is none.
  int findEntry(const std::string &name) const;
  int findEntry(manifest::EntryKind kind) const;
  /// Throws Failure that lists the names there are.
  size_t requireEntry(const std::string &name) const;
  artifact::Bytes otherCode(const manifest::Range *range) const { return reader->otherCode(range); }
  const void *const *weights() const { return weightData.data(); }
  uint64_t weightBytes() const { return totalWeightBytes; }
  /// The name of a weight of floats that holds NaN, or else infinity; empty if none does. Reads
  /// all weights: for when something has failed.
  std::string findNotFinite() const;
  /// Null if the artifact has none.
  const Tokenizer *tokenizer() const { return textTokenizer.get(); }
  /// Throws Failure if the artifact has none.
  const Tokenizer &requireTokenizer() const;

private:
  std::unique_ptr<artifact::ArtifactReader> reader;
  std::unique_ptr<Code> code;
  std::vector<Entry> allEntries;
  std::vector<const void *> weightData;
  uint64_t totalWeightBytes = 0;
  std::unique_ptr<Tokenizer> textTokenizer;
};

/// DLPack's words for an element type.
fovea_dtype dtypeOf(manifest::ElementType type);
/// "f32", "i64", ...; "u16x4" and the like for what Fovea does not have.
std::string dtypeName(fovea_dtype type);

} // namespace fovea

struct fovea_module {
  std::shared_ptr<const fovea::Module> module;
};

#endif // FOVEA_RUNTIME_MODULE_H
