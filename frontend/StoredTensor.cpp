// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types, and the tensors of a file by name.
#include "frontend/StoredTensor.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace fovea;

namespace {
struct TypeInfo {
  ElementType type;
  const char *name;
  unsigned bytes, elements = 1;
};
} // namespace

static constexpr TypeInfo typeInfos[] = {
    {ElementType::Bool, "BOOL", 1},
    {ElementType::U8, "U8", 1},
    {ElementType::I8, "I8", 1},
    {ElementType::U16, "U16", 2},
    {ElementType::I16, "I16", 2},
    {ElementType::U32, "U32", 4},
    {ElementType::I32, "I32", 4},
    {ElementType::U64, "U64", 8},
    {ElementType::I64, "I64", 8},
    {ElementType::F8E4M3, "F8_E4M3", 1},
    {ElementType::F8E5M2, "F8_E5M2", 1},
    {ElementType::F16, "F16", 2},
    {ElementType::BF16, "BF16", 2},
    {ElementType::F32, "F32", 4},
    {ElementType::F64, "F64", 8},
    {ElementType::Q4_0, "Q4_0", 18, 32},
    {ElementType::Q4_1, "Q4_1", 20, 32},
    {ElementType::Q5_0, "Q5_0", 22, 32},
    {ElementType::Q5_1, "Q5_1", 24, 32},
    {ElementType::Q8_0, "Q8_0", 34, 32},
    {ElementType::Q2_K, "Q2_K", 84, 256},
    {ElementType::Q3_K, "Q3_K", 110, 256},
    {ElementType::Q4_K, "Q4_K", 144, 256},
    {ElementType::Q5_K, "Q5_K", 176, 256},
    {ElementType::Q6_K, "Q6_K", 210, 256},
    {ElementType::IQ4_NL, "IQ4_NL", 18, 32},
    {ElementType::MXFP4, "MXFP4", 17, 32},
};

static const TypeInfo &infoOf(ElementType type) {
  const TypeInfo &info = typeInfos[static_cast<size_t>(type)];
  return info;
}

unsigned fovea::elementsOfBlock(ElementType type) { return infoOf(type).elements; }

unsigned fovea::bytesOfBlock(ElementType type) { return infoOf(type).bytes; }

bool fovea::isBlockType(ElementType type) { return infoOf(type).elements > 1; }

const char *fovea::nameOf(ElementType type) { return infoOf(type).name; }

std::optional<ElementType> fovea::parseElementType(std::string_view name) {
  for (const TypeInfo &info : typeInfos)
    if (name == info.name && !isBlockType(info.type))
      return info.type;
  return std::nullopt;
}

bool fovea::isWeightType(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16 ||
         isBlockType(type);
}

std::optional<uint64_t> fovea::countBytes(ElementType type, const std::vector<int64_t> &shape) {
  uint64_t bytes = bytesOfBlock(type);
  for (size_t i = 0; i < shape.size(); ++i) {
    auto size = static_cast<uint64_t>(shape[i]);
    if (i + 1 == shape.size()) {
      if (size % elementsOfBlock(type) != 0)
        return std::nullopt;
      size /= elementsOfBlock(type);
    }
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return std::nullopt;
  }
  // A single number is no block.
  return shape.empty() && isBlockType(type) ? std::nullopt : std::optional(bytes);
}

void fovea::sortByPlace(std::vector<StoredTensor> &tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const StoredTensor &a, const StoredTensor &b) {
    return std::tie(a.offset, a.bytes, a.name) < std::tie(b.offset, b.bytes, b.name);
  });
}

TensorIndex::TensorIndex(const std::vector<StoredTensor> &tensors) : sorted(tensors.size()) {
  std::iota(sorted.begin(), sorted.end(), size_t(0));
  std::sort(sorted.begin(), sorted.end(),
            [&](size_t a, size_t b) { return tensors[a].name < tensors[b].name; });
}

const StoredTensor *TensorIndex::find(const std::vector<StoredTensor> &tensors,
                                      std::string_view name) const {
  auto position =
      std::lower_bound(sorted.begin(), sorted.end(), name,
                       [&](size_t i, std::string_view wanted) { return tensors[i].name < wanted; });
  if (position == sorted.end() || tensors[*position].name != name)
    return nullptr;
  return &tensors[*position];
}

const StoredTensor *TensorIndex::findTwice(const std::vector<StoredTensor> &tensors) const {
  auto twice = std::adjacent_find(sorted.begin(), sorted.end(), [&](size_t a, size_t b) {
    return tensors[a].name == tensors[b].name;
  });
  return twice == sorted.end() ? nullptr : &tensors[*twice];
}
