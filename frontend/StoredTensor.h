// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a tensor of a checkpoint lies and what its bytes mean. A reader makes
// one only after its place and size have been checked against the file.
#ifndef FOVEA_FRONTEND_STOREDTENSOR_H
#define FOVEA_FRONTEND_STOREDTENSOR_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

/// Element types that checkpoints store; little endian.
enum class ElementType {
  Bool,
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  U64,
  I64,
  F8E4M3,
  F8E5M2,
  F16,
  BF16,
  F32,
  F64
};

/// Size in bytes: all types are whole bytes.
unsigned sizeOf(ElementType type);
/// "F32", as safetensors writes it.
const char *nameOf(ElementType type);
std::optional<ElementType> parseElementType(std::string_view name);
/// True for the types that weights may have: F32, F16 and BF16.
bool isWeightType(ElementType type);

/// A row-major tensor in a file.
struct StoredTensor {
  std::string file; ///< Relative to the model's folder, with '/'.
  std::string name; ///< As the file calls it.
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape;
  uint64_t offset = 0; ///< From the beginning of the file, in bytes.
  uint64_t bytes = 0;  ///< product(shape) * sizeOf(type)
};

} // namespace fovea

#endif // FOVEA_FRONTEND_STOREDTENSOR_H
