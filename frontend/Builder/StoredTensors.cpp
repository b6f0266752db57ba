// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens files as recipes name them and holds tensors to the type in the IR.
#include "frontend/Builder/StoredTensors.h"

#include "mlir/IR/Diagnostics.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;

/// The stored type that a tensor of this element type has, if recipes may read it.
static std::optional<::fovea::ElementType> storedType(Type element) {
  if (element.isF32())
    return ::fovea::ElementType::F32;
  if (element.isF16())
    return ::fovea::ElementType::F16;
  if (element.isBF16())
    return ::fovea::ElementType::BF16;
  if (element.isF64())
    return ::fovea::ElementType::F64;
  if (element.isSignlessInteger(1))
    return ::fovea::ElementType::Bool;
  if (element.isSignlessInteger(32))
    return ::fovea::ElementType::I32;
  if (element.isSignlessInteger(64))
    return ::fovea::ElementType::I64;
  return std::nullopt;
}

FailureOr<ArrayRef<char>> StoredTensors::read(StoredAttr tensor) {
  std::lock_guard<std::mutex> lock(mutex);
  std::string file = tensor.getFile().str(), name = tensor.getTensor().str();
  Location loc = NameLoc::get(StringAttr::get(tensor.getContext(), name));
  auto [entry, isNew] = files.try_emplace(file);
  if (isNew) {
    if (!::fovea::isPathBelowFolder(file))
      return emitError(loc) << "expects the name of a file below the model's folder, got "
                            << ::fovea::quote(file);
    ::fovea::Problems problems;
    entry->second = ::fovea::Safetensors::open(folder, file, problems);
    for (const ::fovea::Problem &problem : problems)
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
  if (stored->type != storedType(type.getElementType()) ||
      ArrayRef<int64_t>(stored->shape) != type.getShape())
    return emitError(loc) << place << ": expects " << type << ", got "
                          << ::fovea::printShape(stored->shape) << " of "
                          << ::fovea::nameOf(stored->type);
  return ArrayRef<char>(reinterpret_cast<const char *>(entry->second->data(*stored)),
                        stored->bytes);
}

void StoredTensors::release(StoredAttr tensor) {
  std::lock_guard<std::mutex> lock(mutex);
  auto entry = files.find(tensor.getFile().str());
  if (entry == files.end() || !entry->second)
    return;
  const ::fovea::StoredTensor *stored = entry->second->find(tensor.getTensor());
  if (!stored)
    return;
  // Whole pages inside the tensor: its neighbours may be in use.
  uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  uintptr_t begin = reinterpret_cast<uintptr_t>(entry->second->data(*stored));
  uintptr_t end = (begin + stored->bytes) / page * page;
  begin = (begin + page - 1) / page * page;
  if (begin < end)
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_DONTNEED);
}
