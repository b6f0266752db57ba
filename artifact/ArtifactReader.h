// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens an artifact: maps the file or reads it, checks it, gives access. Refuses a file that
// is cut short, has a byte changed, is of another format or ABI version, or whose
// manifest refers to something that is not there.
//
// The file, all numbers little-endian:
//
//   header, one page of 4096 bytes
//     0     u8[8]   magic: 89 'F' 'O' 'V' 'E' 'A' 0D 0A
//     8     u32     format version, 1
//     12    u32     version of the interface between code and runtime (abi/Abi.h)
//     16    u32     number of sections, n
//     20    u32     0
//     24    u64     size of the whole file
//     32    n times 40 bytes
//             u32   kind: 1 manifest, 2 code, 3 tokenizer, 4 weights, 5 other code; each at
//                   most once, manifest and code always
//             u32   0
//             u64   offset, a multiple of 4096; sections stand in ascending order
//             u64   size, not 0
//             u64[2] hash, XXH3-128, high half first
//     ..    0
//     4080  u64[2]  XXH3-128 of bytes 0 to 4079
//   sections, zeros between them up to the next page; the last ends the file
//     weights    each weight at the offset that the manifest gives, a multiple of 64;
//                zeros between them. The section's hash is that of the list of the
//                weights' hashes (hashOfHashes in Format.h)
//     code       ELF shared object
//     other code ELF shared objects for better processors; PTX, cubins and host objects for
//                devices; each at the offset that the manifest gives, a multiple of 64; zeros
//                between them
//     tokenizer  FlatBuffers, runtime/tokenizer
//     manifest   FlatBuffers, Manifest.fbs
//
// So a hash or a demand for zeros covers every byte of the file.
#ifndef FOVEA_ARTIFACT_ARTIFACTREADER_H
#define FOVEA_ARTIFACT_ARTIFACTREADER_H

#include "artifact/FileView.h"
#include "artifact/Format.h"

#include <memory>
#include <string>

namespace fovea::artifact {

/// Bytes inside the file.
struct Bytes {
  const uint8_t *data = nullptr;
  size_t size = 0;
};

class ArtifactReader {
public:
  /// Weights up to this size are checked on opening, larger ones by verifyAll(), or if the file is
  /// copied into memory: then all of it is read anyhow.
  static constexpr uint64_t weightsCheckedOnOpening = 256u << 20;

  /// Null, and `error` begins with the file's name and says what is wrong.
  static std::unique_ptr<ArtifactReader> open(const std::string &path, std::string &error,
                                              FileAccess access = FileAccess::Mapped);
  ArtifactReader(const ArtifactReader &) = delete;
  ArtifactReader &operator=(const ArtifactReader &) = delete;

  const std::string &path() const { return filePath; }
  const Header &header() const { return fileHeader; }
  const manifest::ManifestT &manifest() const { return contents; }
  /// Exchanges what manifest() says of entries, kernels and processor, and code(), for a variant's.
  void select(size_t variant);
  Bytes code() const { return selected ? otherCode(selected.get()) : section(SectionKind::Code); }
  /// Empty without a tokenizer.
  Bytes tokenizer() const { return section(SectionKind::Tokenizer); }
  /// What a manifest's device or variant names; empty if it names nothing.
  Bytes otherCode(const manifest::Range *range) const;
  /// The bytes of weight `index`, aligned to 64, read-only. Processes that map
  /// the file share them.
  Bytes weight(size_t index) const;

  /// Checks every hash, of weights of any size too. False, and `error` names the
  /// first damaged section or weight.
  bool verifyAll(std::string &error) const;

private:
  ArtifactReader() = default;
  Bytes section(SectionKind kind) const;
  bool check(FileAccess access, std::string &error);
  bool checkSectionHash(SectionKind kind, std::string &error) const;
  bool checkWeights(std::string &error) const;

  std::string filePath;
  std::unique_ptr<FileView> file;
  Header fileHeader;
  manifest::ManifestT contents;
  std::unique_ptr<manifest::Range> selected; ///< code of a variant
};

} // namespace fovea::artifact

#endif // FOVEA_ARTIFACT_ARTIFACTREADER_H
