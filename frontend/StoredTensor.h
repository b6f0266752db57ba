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
  F64,
  // Blocks of GGUF: neighbours in a row that share scales.
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  MXFP4
};

/// Elements that are stored together: one, or a block's. The sizes of rows are multiples of it.
unsigned elementsOfBlock(ElementType type);
/// What these take; all types are whole bytes.
unsigned bytesOfBlock(ElementType type);
bool isBlockType(ElementType type);
/// "F32", as safetensors writes it, or "Q4_K", as GGUF's tools do.
const char *nameOf(ElementType type);
/// A type that safetensors has; blocks are none.
std::optional<ElementType> parseElementType(std::string_view name);
/// True for the types that weights may have: F32, F16 and BF16, and blocks.
bool isWeightType(ElementType type);
/// The bytes of a tensor; nothing if its rows are no whole blocks, or if 64 bits do not hold it.
std::optional<uint64_t> countBytes(ElementType type, const std::vector<int64_t> &shape);

/// A row-major tensor in a file.
struct StoredTensor {
  std::string file; ///< Relative to the model's folder, with '/'.
  std::string name; ///< As the file calls it.
  ElementType type = ElementType::F32;
  std::vector<int64_t> shape; ///< In elements; the last axis is a multiple of the block.
  uint64_t offset = 0;        ///< From the beginning of the file, in bytes.
  uint64_t bytes = 0;         ///< countBytes(type, shape)
};

/// Puts the tensors of a file into the order of its data.
void sortByPlace(std::vector<StoredTensor> &tensors);

/// Tensors by name, as indices of a list that stays as it is.
class TensorIndex {
public:
  TensorIndex() = default;
  explicit TensorIndex(const std::vector<StoredTensor> &tensors);

  /// Null if there is none of this name.
  const StoredTensor *find(const std::vector<StoredTensor> &tensors, std::string_view name) const;
  /// One whose name another has, too; null without any.
  const StoredTensor *findTwice(const std::vector<StoredTensor> &tensors) const;

private:
  std::vector<size_t> sorted;
};

} // namespace fovea

#endif // FOVEA_FRONTEND_STOREDTENSOR_H
