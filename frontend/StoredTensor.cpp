// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of element types.
#include "frontend/StoredTensor.h"

using namespace fovea;

namespace {
struct TypeInfo {
  ElementType type;
  const char *name;
  unsigned size;
};
} // namespace

static constexpr TypeInfo typeInfos[] = {
    {ElementType::Bool, "BOOL", 1},      {ElementType::U8, "U8", 1},
    {ElementType::I8, "I8", 1},          {ElementType::U16, "U16", 2},
    {ElementType::I16, "I16", 2},        {ElementType::U32, "U32", 4},
    {ElementType::I32, "I32", 4},        {ElementType::U64, "U64", 8},
    {ElementType::I64, "I64", 8},        {ElementType::F8E4M3, "F8_E4M3", 1},
    {ElementType::F8E5M2, "F8_E5M2", 1}, {ElementType::F16, "F16", 2},
    {ElementType::BF16, "BF16", 2},      {ElementType::F32, "F32", 4},
    {ElementType::F64, "F64", 8},
};

static const TypeInfo &infoOf(ElementType type) {
  const TypeInfo &info = typeInfos[static_cast<size_t>(type)];
  return info;
}

unsigned fovea::sizeOf(ElementType type) { return infoOf(type).size; }

const char *fovea::nameOf(ElementType type) { return infoOf(type).name; }

std::optional<ElementType> fovea::parseElementType(std::string_view name) {
  for (const TypeInfo &info : typeInfos)
    if (name == info.name)
      return info.type;
  return std::nullopt;
}

bool fovea::isWeightType(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16;
}
