// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens an ONNX file and hands out the bytes of its tensors, also of those in files beside it.
// Refuses bytes that are no such message, and places that do not fit their tensors' shapes.
#include "frontend/ONNX/Reader/OnnxFile.h"

#include "frontend/ForeignFile.h"

#include <algorithm>
#include <set>

namespace fovea::onnx {

std::string describeNoModel(const FileView &file, uint64_t fault) {
  std::string_view begin(reinterpret_cast<const char *>(file.data()),
                         std::min<size_t>(file.size(), 1024));
  std::string other = describeForeign(begin);
  if (other.empty())
    other = "bytes that are no such protobuf message or end too early, at byte " +
            std::to_string(fault) + " of " + std::to_string(file.size());
  return "expects an ONNX model, got " + other;
}

std::optional<OnnxFile> OnnxFile::open(const std::string &path, Problems &problems,
                                       FileAccess access) {
  OnnxFile result;
  result.path = path;
  result.access = access;
  std::string error;
  result.file = openFile(path, access, error);
  if (!result.file) {
    addError(problems, path, "", error);
    return std::nullopt;
  }
  uint64_t fault = 0;
  if (!indexTensors(result.file->data(), result.file->size(), result.places, fault)) {
    addError(problems, path, "", describeNoModel(*result.file, fault));
    return std::nullopt;
  }
  return result;
}

const TensorPlace *OnnxFile::find(const std::string &name) const {
  auto place = places.find(name);
  return place == places.end() ? nullptr : &place->second;
}

std::vector<std::string> OnnxFile::locations() const {
  std::set<std::string> result;
  for (auto &[name, place] : places)
    if (place.isExternal)
      result.insert(place.location);
  return {result.begin(), result.end()};
}

const uint8_t *OnnxFile::data(const TensorPlace &place, std::string &error) {
  if (!place.fault.empty()) {
    error = place.fault;
    return nullptr;
  }
  uint64_t wanted = sizeOf(place.type);
  for (int64_t size : place.shape)
    if (size < 0 || __builtin_mul_overflow(wanted, static_cast<uint64_t>(size), &wanted)) {
      error = "expects sizes whose bytes can be counted, got " + printShape(place.shape);
      return nullptr;
    }
  const FileView *source = file.get();
  if (place.isExternal) {
    std::unique_ptr<FileView> &external = externals[place.location];
    if (!external)
      external = openExternal(path, place.location, access, error);
    if (!external)
      return nullptr;
    source = external.get();
  }
  uint64_t size = place.size.value_or(place.isExternal ? wanted : 0);
  if (size != wanted || place.offset > source->size() || wanted > source->size() - place.offset) {
    error = "expects " + std::to_string(wanted) + " bytes at " + std::to_string(place.offset) +
            ", got " + std::to_string(size) + " in a file of " + std::to_string(source->size());
    return nullptr;
  }
  static const uint8_t empty = 0;
  return wanted ? source->data() + place.offset : &empty;
}

} // namespace fovea::onnx
