// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes an artifact: weights as they are made, then the rest. Until finish()
// succeeds only a temporary file beside the target exists, and it is removed
// when the writer goes. The same input gives the same bytes. Refuses what
// ArtifactReader would refuse.
//
//   auto writer = ArtifactWriter::create("model.fovea", error);
//   unsigned w = writer->addWeight("norm", ElementType::F32, {64}, {}, 256);
//   ...                                  // all weights are declared first
//   writer->appendWeight(w, data, 256);  // from any thread, in any order of weights
//   writer->setCode(elf);
//   writer->finish(std::move(manifest), error);
#ifndef FOVEA_ARTIFACT_ARTIFACTWRITER_H
#define FOVEA_ARTIFACT_ARTIFACTWRITER_H

#include "artifact/Format.h"
#include "artifact/Temporary.h"

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace fovea::artifact {

class ArtifactWriter {
public:
  /// Begins a temporary file in `path`'s folder. Null, and `error` names the
  /// file and the reason, if that cannot be (no folder, no permission). An open
  /// file without a name, given as /proc/self/fd/N, is written in place.
  static std::unique_ptr<ArtifactWriter> create(const std::string &path, std::string &error);
  /// Removes the temporary file unless finish() succeeded.
  ~ArtifactWriter() = default;
  ArtifactWriter(const ArtifactWriter &) = delete;
  ArtifactWriter &operator=(const ArtifactWriter &) = delete;

  /// Declares a weight of `bytes` bytes; returns its number in the manifest's
  /// order. Its place in the file is known from here on. Not thread-safe; all
  /// weights are declared before the first is appended to.
  unsigned addWeight(std::string name, manifest::ElementType element, std::vector<int64_t> shape,
                     Panels panels, uint64_t bytes);

  /// Writes the next `size` bytes of a weight. Different weights may be written
  /// by different threads at once; the pieces of one come in order. False, and
  /// `error` says why, if the disk is full or the weight would grow too long;
  /// finish() then fails too.
  bool appendWeight(unsigned weight, const void *data, uint64_t size, std::string &error);

  /// The file that exists until finish() succeeds; a program that is ended from outside removes it.
  const std::string &temporaryPath() const { return file.getName(); }

  /// The ELF shared object. Required.
  void setCode(std::vector<uint8_t> bytes) { code = std::move(bytes); }
  /// Code for a better processor, by its place in `manifest.variants`, in order. Optional.
  void addVariantCode(const std::vector<uint8_t> &elf);
  /// Code for a device, by its place in `manifest.devices`, in order; a cubin may be empty.
  /// Optional.
  void addDeviceCode(std::string_view ptx, const std::vector<uint8_t> &cubin,
                     const std::vector<uint8_t> &host);
  /// The tokenizer's tables. Optional.
  void setTokenizer(std::vector<uint8_t> bytes) { tokenizer = std::move(bytes); }

  /// Writes the rest, syncs, and renames to the target. `manifest.weights`
  /// and the places of other code are filled in here; the rest is the caller's. False, and
  /// `error` says why, if something cannot be written, a weight is incomplete or
  /// the manifest is not one that a reader takes.
  bool finish(manifest::ManifestT manifest, std::string &error);

private:
  explicit ArtifactWriter(const std::string &path) : path(path), file(path) {}
  manifest::Range addOther(const void *data, size_t size);
  bool writeAt(uint64_t offset, const void *data, uint64_t size, std::string &error);
  std::string message(const std::string &what, int code) const;
  bool fill(manifest::ManifestT &manifest, std::vector<Hash> &hashes, uint64_t &weightsSize,
            std::string &error);

  struct Weight {
    uint64_t written = 0;
    Hasher hasher;
  };

  std::string path;
  TemporaryFile file;
  bool done = false;
  std::vector<std::unique_ptr<manifest::WeightT>> weights;
  std::vector<Weight> progress;
  std::vector<uint8_t> code, tokenizer, other;
  /// Places in `other` of variants, and of PTX, cubin and host code of each device.
  std::vector<manifest::Range> variantRanges;
  std::vector<std::array<manifest::Range, 3>> deviceRanges;
  std::mutex failureLock;
  std::string failure;
};

} // namespace fovea::artifact

#endif // FOVEA_ARTIFACT_ARTIFACTWRITER_H
