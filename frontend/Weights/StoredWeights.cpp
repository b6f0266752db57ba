// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stored tensors for weight recipes. Refuses paths that lead out of the model's folder and tensors
// that are not what the IR says.
#include "frontend/Weights/StoredWeights.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::fovea;

/// The name that safetensors has for an element type; empty if it has none.
static StringRef storedName(Type type) {
  if (type.isF64())
    return "F64";
  if (type.isF32())
    return "F32";
  if (type.isF16())
    return "F16";
  if (type.isBF16())
    return "BF16";
  if (!type.isInteger())
    return "";
  bool isUnsigned = type.isUnsignedInteger();
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return "BOOL";
  case 8:
    return isUnsigned ? "U8" : "I8";
  case 16:
    return isUnsigned ? "U16" : "I16";
  case 32:
    return isUnsigned ? "U32" : "I32";
  case 64:
    return isUnsigned ? "U64" : "I64";
  }
  return "";
}

FailureOr<ArrayRef<char>> StoredWeights::read(StoredAttr attr) {
  auto error = [&](const std::string &text) {
    return emitError(UnknownLoc::get(attr.getContext())) << text;
  };
  std::string file = attr.getFile().str(), name = attr.getTensor().str();
  auto [entry, isNew] = files.try_emplace(file);
  if (isNew) {
    if (!::fovea::isPathBelowFolder(file)) {
      error(::fovea::quote(file) + ": expects a file below the model's folder");
      return failure();
    }
    ::fovea::Problems problems;
    entry->second = ::fovea::Safetensors::open(folder, file, problems);
    for (const ::fovea::Problem &problem : problems)
      if (problem.severity == ::fovea::Problem::Severity::Error)
        error(problem.text());
  }
  if (!entry->second)
    return failure();

  std::string place = folder + "/" + file + ": " + ::fovea::quote(name) + ": ";
  const ::fovea::StoredTensor *stored = entry->second->find(name);
  if (!stored) {
    error(place + "expects a tensor of this name, got none");
    return failure();
  }
  RankedTensorType type = attr.getType();
  if (storedName(type.getElementType()) != ::fovea::nameOf(stored->type) ||
      type.getShape() != ArrayRef(stored->shape)) {
    std::string expected;
    llvm::raw_string_ostream(expected) << type;
    error(place + "expects " + expected + ", got " + ::fovea::nameOf(stored->type) + " " +
          ::fovea::printShape(stored->shape));
    return failure();
  }
  const uint8_t *data = entry->second->data(*stored);
  return ArrayRef(reinterpret_cast<const char *>(data), stored->bytes);
}
