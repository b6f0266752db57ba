// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Header page of an artifact; see Format.h. Refuses to decode any
// header whose own hash or whose section table does not fit the file.
#include "artifact/Format.h"

#include "abi/Abi.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <limits>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "artifacts are little-endian");

namespace fovea::artifact {

namespace {
constexpr size_t tableOffset = 32;
constexpr size_t sectionBytes = 40;
constexpr size_t hashOffset = pageSize - 16;
constexpr size_t maxSections = 16;

template <typename T> T get(const uint8_t *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}
template <typename T> void put(uint8_t *data, T value) { std::memcpy(data, &value, sizeof(T)); }
} // namespace

const char *sectionName(SectionKind kind) {
  switch (kind) {
  case SectionKind::Manifest:
    return "manifest";
  case SectionKind::Code:
    return "code";
  case SectionKind::Tokenizer:
    return "tokenizer";
  case SectionKind::Weights:
    return "weights";
  case SectionKind::OtherCode:
    return "other code";
  }
  return "unknown";
}

void encodeHeader(const Header &header, uint8_t *page) {
  std::memset(page, 0, pageSize);
  std::memcpy(page, magic, sizeof(magic));
  put<uint32_t>(page + 8, formatVersion);
  put<uint32_t>(page + 12, header.abiVersion);
  put<uint32_t>(page + 16, static_cast<uint32_t>(header.sections.size()));
  put<uint64_t>(page + 24, header.fileSize);
  uint8_t *at = page + tableOffset;
  for (const Section &section : header.sections) {
    put<uint32_t>(at, static_cast<uint32_t>(section.kind));
    put<uint64_t>(at + 8, section.offset);
    put<uint64_t>(at + 16, section.size);
    put<uint64_t>(at + 24, section.hash.high);
    put<uint64_t>(at + 32, section.hash.low);
    at += sectionBytes;
  }
  Hash hash = hashBytes(page, hashOffset);
  put<uint64_t>(page + hashOffset, hash.high);
  put<uint64_t>(page + hashOffset + 8, hash.low);
}

/// " 89 46 4f".
static std::string describeBytes(const uint8_t *data, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; ++i)
    text += std::string(" ") + "0123456789abcdef"[data[i] >> 4] + "0123456789abcdef"[data[i] & 15];
  return text;
}

/// That a file is an artifact of this version, whose header is whole.
static bool checkIdentity(const uint8_t *data, size_t size, std::string &error) {
  if (size < sizeof(magic) || std::memcmp(data, magic, sizeof(magic)) != 0) {
    error = "is not a Fovea artifact: expects it to begin with the bytes" +
            describeBytes(magic, sizeof(magic)) + ", got" +
            (size ? describeBytes(data, std::min(size, sizeof(magic))) : " nothing");
    return false;
  }
  if (size < pageSize) {
    error = "is cut short: expects a header of 4096 bytes, got " + std::to_string(size);
    return false;
  }
  // The version before the hash: a later format may place the hash elsewhere.
  if (uint32_t version = get<uint32_t>(data + 8); version != formatVersion) {
    error = "has artifact format version " + std::to_string(version) + "; this program reads " +
            std::to_string(formatVersion) + "; compile the model again";
    return false;
  }
  if (hashBytes(data, hashOffset) !=
      Hash{get<uint64_t>(data + hashOffset), get<uint64_t>(data + hashOffset + 8)}) {
    error = "is damaged: the hash of its header does not match";
    return false;
  }
  return true;
}

static Section decodeSection(const uint8_t *at) {
  Section section;
  section.kind = static_cast<SectionKind>(get<uint32_t>(at));
  section.offset = get<uint64_t>(at + 8);
  section.size = get<uint64_t>(at + 16);
  section.hash = {get<uint64_t>(at + 24), get<uint64_t>(at + 32)};
  return section;
}

/// Why a section cannot stand where it does, behind bytes that end at `end`; empty if it can.
/// `seen`: a bit for each kind that is there already.
static std::string findFault(const Section &section, size_t size, uint64_t end, uint32_t seen) {
  uint32_t kind = static_cast<uint32_t>(section.kind);
  bool fits = section.offset % pageSize == 0 && section.offset >= end &&
              section.offset - end < pageSize && section.offset <= size && section.size > 0 &&
              section.size <= size - section.offset;
  if (kind < 1 || kind > 5)
    return "is of an unknown kind; expects 1 to 5, got " + std::to_string(kind);
  if (!fits)
    return "does not fit the file of " + std::to_string(size) +
           " bytes behind what stands before it, which ends at " + std::to_string(end);
  return seen >> kind & 1 ? "is there twice" : "";
}

static bool decodeSections(const uint8_t *data, size_t size, uint32_t count,
                           std::vector<Section> &sections, std::string &error) {
  uint64_t end = pageSize;
  uint32_t seen = 0;
  sections.clear();
  for (uint32_t i = 0; i < count; ++i) {
    Section section = decodeSection(data + tableOffset + i * sectionBytes);
    if (std::string fault = findFault(section, size, end, seen); !fault.empty()) {
      error = "has a malformed header: section " + std::to_string(i) + " (" +
              sectionName(section.kind) + ") at " + std::to_string(section.offset) + ", " +
              std::to_string(section.size) + " bytes, " + fault;
      return false;
    }
    if (!isZero(data + end, section.offset - end)) {
      error = std::string("is damaged: the padding before its ") + sectionName(section.kind) +
              " section is not zero";
      return false;
    }
    seen |= 1u << static_cast<uint32_t>(section.kind);
    end = section.offset + section.size;
    sections.push_back(section);
  }
  if (end != size) {
    error = "has a malformed header: its sections end at " + std::to_string(end) + " of " +
            std::to_string(size) + " bytes";
    return false;
  }
  if ((seen & 0b110) != 0b110) {
    error = "has a malformed header: no manifest or no code section";
    return false;
  }
  return true;
}

bool decodeHeader(const uint8_t *data, size_t size, Header &header, std::string &error) {
  if (!checkIdentity(data, size, error))
    return false;
  header.abiVersion = get<uint32_t>(data + 12);
  if (header.abiVersion != FOVEA_ABI_VERSION) {
    error = "holds code for version " + std::to_string(header.abiVersion) +
            " of the runtime's interface; this program has version " +
            std::to_string(FOVEA_ABI_VERSION) + "; compile the model again";
    return false;
  }
  header.fileSize = get<uint64_t>(data + 24);
  if (header.fileSize != size) {
    error = std::string(size < header.fileSize ? "is cut short" : "has bytes after its end") +
            ": expects " + std::to_string(header.fileSize) + " bytes, got " + std::to_string(size);
    return false;
  }
  uint32_t count = get<uint32_t>(data + 16);
  if (count > maxSections) {
    error = "has a malformed header: expects at most " + std::to_string(maxSections) +
            " sections, got " + std::to_string(count);
    return false;
  }
  return decodeSections(data, size, count, header.sections, error);
}

bool isArtifactFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  char begin[sizeof(magic)] = {};
  return file.read(begin, sizeof(begin)) && std::memcmp(begin, magic, sizeof(begin)) == 0;
}

bool isZero(const uint8_t *data, size_t size) {
  for (size_t i = 0; i < size; ++i)
    if (data[i])
      return false;
  return true;
}

namespace {
struct Element {
  const char *name;
  size_t bytes; ///< of one element, or of as many as share a byte
};
constexpr Element elements[] = {{"none", 0}, {"f32", 4}, {"f64", 8},  {"f16", 2},
                                {"bf16", 2}, {"i8", 1},  {"u8", 1},   {"i16", 2},
                                {"i32", 4},  {"i64", 8}, {"bool", 1}, {"i4", 1}};
const Element &element(manifest::ElementType type) {
  auto index = static_cast<size_t>(type);
  return elements[index < std::size(elements) ? index : 0];
}
} // namespace

size_t elementBytes(manifest::ElementType type) { return element(type).bytes; }
const char *elementName(manifest::ElementType type) { return element(type).name; }

int64_t elementsPerByte(manifest::ElementType type) {
  return type == manifest::ElementType::I4 ? 2 : 1;
}

int64_t storedInputs(manifest::ElementType type, int64_t inputs) {
  int64_t share = elementsPerByte(type);
  return inputs / share + (inputs % share != 0);
}

/// Bytes of `shape` in memory, whose last axis counts what lies there.
static bool countBytes(manifest::ElementType type, const std::vector<int64_t> &shape,
                       uint64_t &bytes) {
  int64_t product = static_cast<int64_t>(elementBytes(type));
  if (product == 0)
    return false;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(product, size, &product))
      return false;
  bytes = static_cast<uint64_t>(product);
  return true;
}

bool tensorBytes(manifest::ElementType type, const std::vector<int64_t> &shape, uint64_t &bytes) {
  std::vector<int64_t> stored = shape;
  if (!stored.empty())
    stored.back() = storedInputs(type, stored.back());
  return countBytes(type, stored, bytes);
}

bool weightBytes(manifest::ElementType type, const std::vector<int64_t> &shape,
                 const Panels &panels, uint64_t &bytes) {
  if (panels.isRowMajor())
    return tensorBytes(type, shape, bytes);
  constexpr int64_t most = std::numeric_limits<int64_t>::max() - 1024; // for rounding up
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > most || shape[1] > most)
    return false;
  int64_t depth = panels.depth(storedInputs(type, shape[1]));
  return countBytes(type, {panels.count(shape[0]), panels.width, depth}, bytes);
}

std::string layoutName(const Panels &panels) {
  if (panels.isRowMajor())
    return "row-major";
  std::string interleave =
      panels.interleave == 1 ? "" : ", interleave = " + std::to_string(panels.interleave);
  return "fovea.panels<" + std::to_string(panels.width) + interleave + ">";
}

} // namespace fovea::artifact

fovea::manifest::PanelSizes flatbuffers::Pack(const fovea::Panels &panels) {
  return {static_cast<int32_t>(panels.width), static_cast<int32_t>(panels.interleave)};
}

fovea::Panels flatbuffers::UnPack(const fovea::manifest::PanelSizes &panels) {
  return {panels.width(), panels.interleave()};
}
