// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ArtifactReader.h. Order of the checks: header by its hash, sections by
// theirs, the FlatBuffers verifier, the manifest's meaning; nothing is used
// before its check.
#include "artifact/ArtifactReader.h"

#include "artifact/ManifestCheck.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fovea::artifact {

std::unique_ptr<ArtifactReader> ArtifactReader::open(const std::string &path, std::string &error,
                                                     FileAccess access) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) {
    error = path + ": cannot be opened: " + std::strerror(errno);
    return nullptr;
  }
  std::unique_ptr<ArtifactReader> reader(new ArtifactReader);
  reader->filePath = path;
  struct stat status;
  if (::fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    error = std::string("expects a regular file, got a ") + (S_ISDIR(status.st_mode)    ? "folder"
                                                             : S_ISFIFO(status.st_mode) ? "pipe"
                                                                                        : "device");
  else
    reader->file = FileView::open(file, static_cast<size_t>(status.st_size), path, access, error);
  ::close(file);
  if (!reader->file || !reader->check(access, error)) {
    error = path + ": " + error;
    return nullptr;
  }
  return reader;
}

Bytes ArtifactReader::section(SectionKind kind) const {
  for (const Section &section : fileHeader.sections)
    if (section.kind == kind)
      return {file->data() + section.offset, static_cast<size_t>(section.size)};
  return {};
}

Bytes ArtifactReader::weight(size_t index) const {
  const manifest::WeightT &weight = *contents.weights[index];
  Bytes weights = section(SectionKind::Weights);
  // A weight without elements may stand in no section at all.
  if (!weights.data)
    return {file->data(), 0};
  return {weights.data + weight.offset, static_cast<size_t>(weight.bytes)};
}

void ArtifactReader::select(size_t index) {
  manifest::VariantT &variant = *contents.variants[index];
  for (size_t i = 0; i < contents.entries.size(); ++i) {
    std::swap(contents.entries[i]->locals, variant.programs[i]->locals);
    std::swap(contents.entries[i]->steps, variant.programs[i]->steps);
  }
  std::swap(contents.kernels, variant.kernels);
  std::swap(contents.cpu_features, variant.cpu_features);
  std::swap(contents.target, variant.name);
  std::swap(selected, variant.code);
}

Bytes ArtifactReader::otherCode(const manifest::Range *range) const {
  Bytes all = section(SectionKind::OtherCode);
  if (!range || range->bytes() == 0)
    return {};
  return {all.data + range->offset(), static_cast<size_t>(range->bytes())};
}

bool ArtifactReader::check(FileAccess access, std::string &error) {
  if (!decodeHeader(file->data(), file->size(), fileHeader, error))
    return false;
  for (SectionKind kind :
       {SectionKind::Manifest, SectionKind::Code, SectionKind::Tokenizer, SectionKind::OtherCode})
    if (!checkSectionHash(kind, error))
      return false;

  Bytes bytes = section(SectionKind::Manifest);
  if (bytes.size < 8 || flatbuffers::ReadScalar<uint32_t>(bytes.data) >= bytes.size) {
    error = "has a malformed manifest: expects a root table inside its " +
            std::to_string(bytes.size) + " bytes, got another place";
    return false;
  }
  if (!isWellFormed(bytes.data, bytes.size)) {
    error = "has a malformed manifest: expects FlatBuffers tables inside its " +
            std::to_string(bytes.size) + " bytes, got offsets that lead outside or overlap";
    return false;
  }
  manifest::GetManifest(bytes.data)->UnPackTo(&contents);
  Bytes weights = section(SectionKind::Weights);
  Bytes other = section(SectionKind::OtherCode);
  if (!checkManifest(contents, weights.size, other.size, error)) {
    error = "has a malformed manifest: " + error;
    return false;
  }
  bool isLong = access == FileAccess::Mapped && weights.size > weightsCheckedOnOpening;
  return isLong || checkWeights(error);
}

bool ArtifactReader::checkSectionHash(SectionKind kind, std::string &error) const {
  for (const Section &section : fileHeader.sections)
    if (section.kind == kind &&
        hashBytes(file->data() + section.offset, section.size) != section.hash) {
      error = std::string("is damaged: the hash of its ") + sectionName(kind) +
              " section does not match";
      return false;
    }
  return true;
}

bool ArtifactReader::checkWeights(std::string &error) const {
  Bytes bytes = section(SectionKind::Weights);
  std::vector<Hash> hashes;
  uint64_t end = 0;
  for (size_t i = 0; i < contents.weights.size(); ++i) {
    const manifest::WeightT &weight = *contents.weights[i];
    Hash expected{weight.hash_high, weight.hash_low};
    Bytes own = this->weight(i);
    if (hashBytes(own.data, own.size) != expected) {
      error = "is damaged: the hash of weight '" + weight.name + "' does not match";
      return false;
    }
    if (bytes.data && !isZero(bytes.data + end, weight.offset - end)) {
      error = "is damaged: the padding before weight '" + weight.name + "' is not zero";
      return false;
    }
    hashes.push_back(expected);
    end = weight.offset + weight.bytes;
  }
  for (const Section &section : fileHeader.sections)
    if (section.kind == SectionKind::Weights && hashOfHashes(hashes) != section.hash) {
      error = "is damaged: the hash of its weights section does not match its manifest";
      return false;
    }
  return true;
}

bool ArtifactReader::verifyAll(std::string &error) const {
  for (const Section &section : fileHeader.sections) {
    bool weights = section.kind == SectionKind::Weights;
    if (!(weights ? checkWeights(error) : checkSectionHash(section.kind, error))) {
      error = filePath + ": " + error;
      return false;
    }
  }
  return true;
}

} // namespace fovea::artifact
