// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The container part of an artifact: header page, section table, hashes. Knows
// nothing of what is inside the sections. The bytes are described at the top of
// ArtifactReader.h.
#ifndef FOVEA_ARTIFACT_FORMAT_H
#define FOVEA_ARTIFACT_FORMAT_H

#include "artifact/Manifest_generated.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace fovea::artifact {

/// First byte not ASCII and a line end inside: a transfer in text mode shows.
constexpr uint8_t magic[8] = {0x89, 'F', 'O', 'V', 'E', 'A', '\r', '\n'};
constexpr uint32_t formatVersion = 2;
/// The header's size, and what sections are aligned to.
constexpr size_t pageSize = 4096;
/// What each weight is aligned to, in the section and so in memory; each piece of other code too.
constexpr size_t weightAlignment = 64;

enum class SectionKind : uint32_t {
  Manifest = 1,
  Code = 2,
  Tokenizer = 3,
  Weights = 4,
  OtherCode = 5
};

/// "manifest", "code", ...; "unknown" for any other number.
const char *sectionName(SectionKind kind);

/// XXH3-128 in two halves.
struct Hash {
  uint64_t high = 0;
  uint64_t low = 0;
  bool operator==(const Hash &other) const { return high == other.high && low == other.low; }
  bool operator!=(const Hash &other) const { return !(*this == other); }
};

Hash hashBytes(const void *data, size_t size);

/// A hash of bytes that come in pieces.
class Hasher {
public:
  Hasher();
  ~Hasher();
  Hasher(Hasher &&) noexcept;
  Hasher &operator=(Hasher &&) noexcept;
  void add(const void *data, size_t size);
  Hash get() const;

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The weights section's hash: the hash of its weights' hashes, each as 16
/// bytes (high half first, both big-endian), in the manifest's order. So weights
/// can be written in any order and a damaged one can be named.
Hash hashOfHashes(const std::vector<Hash> &hashes);

struct Section {
  SectionKind kind = SectionKind::Manifest;
  uint64_t offset = 0;
  uint64_t size = 0;
  Hash hash;
};

struct Header {
  uint32_t abiVersion = 0;
  uint64_t fileSize = 0;
  std::vector<Section> sections;
};

/// Fills `page` (pageSize bytes).
void encodeHeader(const Header &header, uint8_t *page);

/// Reads and checks the header of a file of `size` bytes: magic, versions, hash,
/// each section inside the file, page-aligned, in order, with less than a page
/// between them, the last ending with the file, no kind twice, manifest and code
/// present. `error` then says what is wrong, without the file's name.
bool decodeHeader(const uint8_t *data, size_t size, Header &header, std::string &error);

/// True if a file begins with the magic; false also if it cannot be read.
bool isArtifactFile(const std::string &path);

/// True if all bytes are 0.
bool isZero(const uint8_t *data, size_t size);

/// Bytes of one element, and of as many as share one: 1 for I4; 0 for None or an unknown number.
size_t elementBytes(manifest::ElementType type);
/// How many neighbours of the last axis share a byte: 2 of I4, else 1.
int64_t elementsPerByte(manifest::ElementType type);
/// `inputs` elements of a row, counted in what `elementBytes` speaks of.
int64_t storedInputs(manifest::ElementType type, int64_t inputs);
/// "f32", "i64", ...; "none" for None or an unknown number.
const char *elementName(manifest::ElementType type);

/// `shape`'s elements, of which some may share bytes, times their bytes; false on a negative size,
/// an unknown type or overflow of 63 bits.
bool tensorBytes(manifest::ElementType type, const std::vector<int64_t> &shape, uint64_t &bytes);

/// Bytes of a weight in a known layout; false if it is in panels and no matrix, else as
/// tensorBytes.
bool weightBytes(manifest::ElementType type, const std::vector<int64_t> &shape,
                 const Panels &panels, uint64_t &bytes);
/// "row-major", "fovea.panels<16>", "fovea.panels<16, interleave = 2>": as the IR writes it.
std::string layoutName(const Panels &panels);

/// Rounds up to a multiple of a power of two.
constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

} // namespace fovea::artifact

#endif // FOVEA_ARTIFACT_FORMAT_H
