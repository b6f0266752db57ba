// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens files as recipes name them and holds tensors to the type in the IR.
#include "frontend/Builder/StoredTensors.h"

#include "frontend/Builder/Body.h"
#include "mlir/IR/Diagnostics.h"
#include "weights/Tables.h"

using namespace mlir;
using namespace mlir::fovea;

/// True if ONNX's `type` is what the IR calls `element`, which has no signs.
static bool isStoredAs(::fovea::onnx::DataType type, Type element) {
  using ::fovea::onnx::DataType;
  switch (type) {
  case DataType::Float:
    return element.isF32();
  case DataType::Float16:
    return element.isF16();
  case DataType::BFloat16:
    return element.isBF16();
  case DataType::Double:
    return element.isF64();
  case DataType::Bool:
    return element.isSignlessInteger(1);
  case DataType::Int4:
  case DataType::UInt4:
    return false;
  default:
    return element.isSignlessInteger(8 * ::fovea::onnx::sizeOf(type));
  }
}

FailureOr<ArrayRef<char>> StoredTensors::readOnnx(StoredAttr tensor) {
  std::string file = tensor.getFile().str(), name = tensor.getTensor().str();
  std::string path = folder + "/" + file;
  Location loc = NameLoc::get(StringAttr::get(tensor.getContext(), name));
  auto [entry, isNew] = onnxFiles.try_emplace(file);
  if (isNew) {
    if (!::fovea::isPathBelowFolder(file))
      return emitError(loc) << "expects the name of a file below the model's folder, got "
                            << ::fovea::quote(file);
    ::fovea::Problems problems;
    entry->second = ::fovea::onnx::OnnxFile::open(path, problems, access);
    for (const ::fovea::Problem &problem : problems)
      emitError(loc) << problem.text();
  }
  if (!entry->second)
    return failure();
  std::string place = ::fovea::printable(path, 400) + ": tensor " + ::fovea::quote(name);
  const ::fovea::onnx::TensorPlace *stored = entry->second->find(name);
  if (!stored)
    return emitError(loc) << place << ": is missing";
  RankedTensorType type = tensor.getType();
  if (!isStoredAs(stored->type, type.getElementType()) ||
      ArrayRef<int64_t>(stored->shape) != type.getShape())
    return emitError(loc) << place << ": expects " << type << ", got "
                          << ::fovea::printShape(stored->shape) << " of "
                          << ::fovea::onnx::nameOf(stored->type);
  std::string error;
  const uint8_t *bytes = entry->second->data(*stored, error);
  if (!bytes)
    return emitError(loc) << place << ": " << error;
  uint64_t size =
      ::fovea::onnx::sizeOf(stored->type) * static_cast<uint64_t>(type.getNumElements());
  return ArrayRef<char>(reinterpret_cast<const char *>(bytes), size);
}

FailureOr<ArrayRef<char>> StoredTensors::readTable(StoredAttr table) {
  auto [entry, isNew] = tables.try_emplace(table);
  if (isNew)
    if (FailureOr<std::vector<float>> computed = computeTable(table); succeeded(computed))
      entry->second = std::move(*computed);
  if (!entry->second)
    return failure();
  return ArrayRef<char>(reinterpret_cast<const char *>(entry->second->data()),
                        entry->second->size() * sizeof(float));
}

template <typename File>
FailureOr<ArrayRef<char>>
StoredTensors::readFrom(std::map<std::string, std::optional<File>> &opened, StoredAttr tensor) {
  std::string file = tensor.getFile().str(), name = tensor.getTensor().str();
  Location loc = NameLoc::get(StringAttr::get(tensor.getContext(), name));
  auto [entry, isNew] = opened.try_emplace(file);
  if (isNew) {
    if (!::fovea::isPathBelowFolder(file))
      return emitError(loc) << "expects the name of a file below the model's folder, got "
                            << ::fovea::quote(file);
    ::fovea::Problems problems;
    entry->second = File::open(folder, file, problems, access);
    for (const ::fovea::Problem &problem : problems)
      if (problem.severity == ::fovea::Problem::Severity::Error)
        emitError(loc) << problem.text();
  }
  if (!entry->second)
    return failure();
  std::string place =
      ::fovea::printable(folder + "/" + file, 400) + ": tensor " + ::fovea::quote(name);
  const ::fovea::StoredTensor *stored = entry->second->find(name);
  if (!stored)
    return emitError(loc) << place << ": is missing";
  RankedTensorType type = tensor.getType();
  if (getElementType(type.getContext(), stored->type) != type.getElementType() ||
      ArrayRef<int64_t>(stored->shape) != type.getShape())
    return emitError(loc) << place << ": expects " << type << ", got "
                          << ::fovea::printShape(stored->shape) << " of "
                          << ::fovea::nameOf(stored->type);
  return ArrayRef<char>(reinterpret_cast<const char *>(entry->second->data(*stored)),
                        stored->bytes);
}

FailureOr<ArrayRef<char>> StoredTensors::read(StoredAttr tensor) {
  std::lock_guard<std::mutex> lock(mutex);
  if (isTable(tensor))
    return readTable(tensor);
  if (auto known = inMemory.find({tensor.getFile().str(), tensor.getTensor().str()});
      known != inMemory.end())
    return known->second;
  if (tensor.getFile().ends_with(".onnx"))
    return readOnnx(tensor);
  return ::fovea::isGgufFile(tensor.getFile()) ? readFrom(ggufFiles, tensor)
                                               : readFrom(files, tensor);
}

/// Drops a tensor of a file that is open; its neighbours may be in use.
template <typename File>
static void dropFrom(const std::map<std::string, std::optional<File>> &opened, StoredAttr tensor) {
  auto entry = opened.find(tensor.getFile().str());
  if (entry == opened.end() || !entry->second)
    return;
  if (const ::fovea::StoredTensor *stored = entry->second->find(tensor.getTensor()))
    entry->second->drop(*stored);
}

void StoredTensors::release(StoredAttr tensor) {
  std::lock_guard<std::mutex> lock(mutex);
  dropFrom(files, tensor);
  dropFrom(ggufFiles, tensor);
}
