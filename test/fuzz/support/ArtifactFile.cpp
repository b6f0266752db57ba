// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ArtifactFile.h. The bytes are described at the top of artifact/ArtifactReader.h.
#include "test/fuzz/support/ArtifactFile.h"

#include "abi/Abi.h"
#include "test/fuzz/support/TableEdits.h"

#include <algorithm>
#include <cstring>

namespace fovea::fuzz {

using namespace artifact;

static constexpr uint64_t kMostWeights = 1 << 16;

void mendPlaces(manifest::ManifestT &manifest, uint64_t deviceBytes) {
  uint64_t end = 0;
  for (auto &weight : manifest.weights) {
    uint64_t bytes = 0;
    bool isKnown = weight->shape.size() <= 16 && weight->panels.isKnown() &&
                   weightBytes(weight->element, weight->shape, weight->panels, bytes);
    if (isKnown && bytes <= kMostWeights / 4)
      weight->bytes = bytes;
    weight->offset = alignUp(end, weightAlignment);
    end = weight->offset + weight->bytes;
  }
  end = 0;
  std::vector<std::unique_ptr<manifest::Range> *> ranges;
  for (auto &device : manifest.devices)
    ranges.insert(ranges.end(), {&device->ptx, &device->cubin, &device->host});
  for (auto &variant : manifest.variants)
    ranges.push_back(&variant->code);
  size_t left = ranges.size();
  for (auto *range : ranges) {
    uint64_t offset = alignUp(end, weightAlignment);
    uint64_t bytes = --left ? std::min<uint64_t>(64, deviceBytes - std::min(deviceBytes, offset))
                            : deviceBytes - std::min(deviceBytes, offset);
    *range = std::make_unique<manifest::Range>(offset, bytes);
    end = offset + bytes;
  }
}

/// The section of weights, of which those inside it get their hashes.
static std::string makeWeights(manifest::ManifestT &manifest, std::vector<Hash> &hashes) {
  uint64_t size = 0;
  for (const auto &weight : manifest.weights)
    if (weight->offset <= kMostWeights && weight->bytes <= kMostWeights - weight->offset)
      size = std::max(size, weight->offset + weight->bytes);
  std::string bytes(size, '\0');
  auto isInside = [&](const manifest::WeightT &weight) {
    return weight.offset <= size && weight.bytes <= size - weight.offset;
  };
  for (const auto &weight : manifest.weights)
    if (isInside(*weight))
      std::memset(bytes.data() + weight->offset, 0x3c, weight->bytes);
  for (auto &weight : manifest.weights) {
    if (isInside(*weight)) {
      Hash hash = hashBytes(bytes.data() + weight->offset, weight->bytes);
      weight->hash_high = hash.high;
      weight->hash_low = hash.low;
    }
    hashes.push_back({weight->hash_high, weight->hash_low});
  }
  return bytes;
}

std::string makeArtifact(manifest::ManifestT &manifest, const Sections &sections) {
  Header header;
  header.abiVersion = FOVEA_ABI_VERSION;
  std::string file(pageSize, '\0');
  auto add = [&](SectionKind kind, const std::string &bytes, Hash hash) {
    if (bytes.empty())
      return;
    file.resize(alignUp(file.size(), pageSize));
    header.sections.push_back({kind, file.size(), bytes.size(), hash});
    file += bytes;
  };
  auto hashOf = [](const std::string &bytes) { return hashBytes(bytes.data(), bytes.size()); };
  std::vector<Hash> hashes;
  std::string weights = makeWeights(manifest, hashes);
  add(SectionKind::Weights, weights, hashOfHashes(hashes));
  add(SectionKind::Code, sections.code, hashOf(sections.code));
  add(SectionKind::OtherCode, sections.deviceCode, hashOf(sections.deviceCode));
  add(SectionKind::Tokenizer, sections.tokenizer, hashOf(sections.tokenizer));
  std::string table = pack(manifest);
  add(SectionKind::Manifest, table, hashOf(table));
  header.fileSize = file.size();
  encodeHeader(header, reinterpret_cast<uint8_t *>(file.data()));
  return file;
}

void mendHashes(std::string &artifact) {
  constexpr size_t table = 32, sectionBytes = 40, hashOffset = pageSize - 16;
  if (artifact.size() < pageSize)
    return;
  auto number = [&](size_t at, auto &value) {
    std::memcpy(&value, artifact.data() + at, sizeof(value));
  };
  auto put = [&](size_t at, Hash hash) {
    std::memcpy(artifact.data() + at, &hash.high, 8);
    std::memcpy(artifact.data() + at + 8, &hash.low, 8);
  };
  uint32_t count = 0;
  number(16, count);
  for (uint32_t i = 0; i < std::min<uint32_t>(count, 16); ++i) {
    size_t at = table + i * sectionBytes;
    uint32_t kind = 0;
    uint64_t offset = 0, size = 0;
    number(at, kind);
    number(at + 8, offset);
    number(at + 16, size);
    if (kind != static_cast<uint32_t>(SectionKind::Weights) && offset <= artifact.size() &&
        size <= artifact.size() - offset)
      put(at + 24, hashBytes(artifact.data() + offset, size));
  }
  put(hashOffset, hashBytes(artifact.data(), hashOffset));
}

} // namespace fovea::fuzz
