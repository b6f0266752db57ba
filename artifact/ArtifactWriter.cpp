// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ArtifactWriter.h. Weights stand first in the file, straight after the
// header page, so that their places do not depend on code or manifest.
#include "artifact/ArtifactWriter.h"

#include "abi/Abi.h"
#include "artifact/ManifestCheck.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fovea::artifact {

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string ArtifactWriter::message(const std::string &what, int code) const {
  return path + ": " + what + ": " + std::strerror(code);
}

std::unique_ptr<ArtifactWriter> ArtifactWriter::create(const std::string &path,
                                                       std::string &error) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    error = path + ": cannot be written: " +
            (S_ISDIR(status.st_mode) ? "it is a directory" : "it is not a regular file");
    return nullptr;
  }
  std::unique_ptr<ArtifactWriter> writer(new ArtifactWriter(path));
  if (!writer->file.good()) {
    error = writer->message("cannot write a file in '" + folderOf(path) + "'", errno);
    return nullptr;
  }
  char link[PATH_MAX];
  ssize_t length = writer->file.getName().empty() ? ::readlink(path.c_str(), link, PATH_MAX) : -1;
  if (length > 0) // a file without a name: says in which folder it lies
    writer->path.assign(link, static_cast<size_t>(length));
  return writer;
}

unsigned ArtifactWriter::addWeight(std::string name, manifest::ElementType element,
                                   std::vector<int64_t> shape, Panels panels, uint64_t bytes) {
  auto weight = std::make_unique<manifest::WeightT>();
  weight->name = std::move(name);
  weight->element = element;
  weight->shape = std::move(shape);
  weight->panels = panels;
  weight->offset = weights.empty()
                       ? 0
                       : alignUp(weights.back()->offset + weights.back()->bytes, weightAlignment);
  weight->bytes = bytes;
  weights.push_back(std::move(weight));
  progress.emplace_back();
  return static_cast<unsigned>(weights.size() - 1);
}

bool ArtifactWriter::writeAt(uint64_t offset, const void *data, uint64_t size, std::string &error) {
  if (file.writeAt(offset, data, size))
    return true;
  error = message("cannot write " + std::to_string(size) + " bytes at " + std::to_string(offset),
                  errno);
  std::lock_guard<std::mutex> lock(failureLock);
  if (failure.empty())
    failure = error;
  return false;
}

bool ArtifactWriter::appendWeight(unsigned index, const void *data, uint64_t size,
                                  std::string &error) {
  if (index >= weights.size()) {
    error = path + ": there is no weight number " + std::to_string(index);
    return false;
  }
  const manifest::WeightT &weight = *weights[index];
  Weight &state = progress[index];
  if (size > weight.bytes - state.written) {
    error = path + ": weight '" + weight.name + "' expects " + std::to_string(weight.bytes) +
            " bytes, got at least " + std::to_string(state.written + size);
    std::lock_guard<std::mutex> lock(failureLock);
    if (failure.empty())
      failure = error;
    return false;
  }
  if (!writeAt(pageSize + weight.offset + state.written, data, size, error))
    return false;
  state.hasher.add(data, size);
  state.written += size;
  return true;
}

manifest::Range ArtifactWriter::addOther(const void *data, size_t size) {
  if (size == 0)
    return {0, 0};
  other.resize(alignUp(other.size(), weightAlignment));
  manifest::Range range(other.size(), size);
  const auto *bytes = static_cast<const uint8_t *>(data);
  other.insert(other.end(), bytes, bytes + size);
  return range;
}

void ArtifactWriter::addVariantCode(const std::vector<uint8_t> &elf) {
  variantRanges.push_back(addOther(elf.data(), elf.size()));
}

void ArtifactWriter::addDeviceCode(std::string_view ptx, const std::vector<uint8_t> &cubin,
                                   const std::vector<uint8_t> &host) {
  auto add = [&](const auto &bytes) { return addOther(bytes.data(), bytes.size()); };
  deviceRanges.push_back({add(ptx), add(cubin), add(host)});
}

/// Moves what is known of the weights and the other code into the manifest.
bool ArtifactWriter::fill(manifest::ManifestT &manifest, std::vector<Hash> &hashes,
                          uint64_t &weightsSize, std::string &error) {
  for (size_t i = 0; i < weights.size(); ++i) {
    if (progress[i].written != weights[i]->bytes) {
      error = path + ": weight '" + weights[i]->name + "' expects " +
              std::to_string(weights[i]->bytes) + " bytes, got " +
              std::to_string(progress[i].written);
      return false;
    }
    hashes.push_back(progress[i].hasher.get());
    weights[i]->hash_high = hashes.back().high;
    weights[i]->hash_low = hashes.back().low;
  }
  weightsSize = weights.empty() ? 0 : weights.back()->offset + weights.back()->bytes;
  manifest.weights = std::move(weights);
  weights.clear();
  progress.clear();
  auto count = [&](const char *of, size_t expected, size_t got) {
    if (expected == got)
      return true;
    error = path + ": expects code for " + std::to_string(expected) + " " + of + ", got it for " +
            std::to_string(got);
    return false;
  };
  if (!count("variants", manifest.variants.size(), variantRanges.size()) ||
      !count("devices", manifest.devices.size(), deviceRanges.size()))
    return false;
  auto place = [](const manifest::Range &range) {
    return range.bytes() ? std::make_unique<manifest::Range>(range) : nullptr;
  };
  for (size_t i = 0; i < variantRanges.size(); ++i)
    manifest.variants[i]->code = place(variantRanges[i]);
  for (size_t i = 0; i < deviceRanges.size(); ++i) {
    manifest::DeviceT &device = *manifest.devices[i];
    device.ptx = place(deviceRanges[i][0]);
    device.cubin = place(deviceRanges[i][1]);
    device.host = place(deviceRanges[i][2]);
  }
  if (!checkManifest(manifest, weightsSize, other.size(), error)) {
    error = path + ": " + error;
    return false;
  }
  return true;
}

bool ArtifactWriter::finish(manifest::ManifestT manifest, std::string &error) {
  if (done) {
    error = path + ": is already written";
    return false;
  }
  if (!failure.empty()) {
    error = failure;
    return false;
  }
  std::vector<Hash> hashes;
  uint64_t weightsSize = 0;
  if (!fill(manifest, hashes, weightsSize, error))
    return false;
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(manifest::Manifest::Pack(builder, &manifest));

  Header header;
  header.abiVersion = FOVEA_ABI_VERSION;
  uint64_t end = pageSize;
  if (weightsSize > 0) {
    header.sections.push_back({SectionKind::Weights, end, weightsSize, hashOfHashes(hashes)});
    end += weightsSize;
  }
  auto section = [&](SectionKind kind, const uint8_t *data, size_t size) {
    if (size == 0)
      return true;
    uint64_t offset = alignUp(end, pageSize);
    header.sections.push_back({kind, offset, size, hashBytes(data, size)});
    end = offset + size;
    return writeAt(offset, data, size, error);
  };
  if (code.empty()) {
    error = path + ": the code section is empty";
    return false;
  }
  if (!section(SectionKind::Code, code.data(), code.size()) ||
      !section(SectionKind::OtherCode, other.data(), other.size()) ||
      !section(SectionKind::Tokenizer, tokenizer.data(), tokenizer.size()) ||
      !section(SectionKind::Manifest, builder.GetBufferPointer(), builder.GetSize()))
    return false;
  header.fileSize = end;
  uint8_t page[pageSize];
  encodeHeader(header, page);
  if (!writeAt(0, page, pageSize, error))
    return false;

  if (!file.keep()) {
    error = message("cannot be written", errno);
    return false;
  }
  done = true;
  return true;
}

} // namespace fovea::artifact
