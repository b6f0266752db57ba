// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of types, those that are not read with their names for messages.
#include "frontend/GGUF/TensorTypes.h"

using namespace fovea;

namespace {
struct Known {
  uint32_t number;
  ElementType type;
};
struct Named {
  uint32_t number;
  const char *name;
};
} // namespace

static constexpr Known known[] = {
    {0, ElementType::F32},     {1, ElementType::F16},    {2, ElementType::Q4_0},
    {3, ElementType::Q4_1},    {6, ElementType::Q5_0},   {7, ElementType::Q5_1},
    {8, ElementType::Q8_0},    {10, ElementType::Q2_K},  {11, ElementType::Q3_K},
    {12, ElementType::Q4_K},   {13, ElementType::Q5_K},  {14, ElementType::Q6_K},
    {20, ElementType::IQ4_NL}, {24, ElementType::I8},    {25, ElementType::I16},
    {26, ElementType::I32},    {27, ElementType::I64},   {28, ElementType::F64},
    {30, ElementType::BF16},   {39, ElementType::MXFP4},
};

static constexpr Named others[] = {
    {4, "Q4_2"},    {5, "Q4_3"},     {9, "Q8_1"},      {15, "Q8_K"},     {16, "IQ2_XXS"},
    {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"},    {21, "IQ3_S"},    {22, "IQ2_S"},
    {23, "IQ4_XS"}, {29, "IQ1_M"},   {31, "Q4_0_4_4"}, {32, "Q4_0_4_8"}, {33, "Q4_0_8_8"},
    {34, "TQ1_0"},  {35, "TQ2_0"},   {40, "NVFP4"},    {41, "Q1_0"},
};

std::optional<ElementType> fovea::ggufElementType(uint32_t number) {
  for (const Known &entry : known)
    if (entry.number == number)
      return entry.type;
  return std::nullopt;
}

std::string fovea::nameOfGgufType(uint32_t number) {
  for (const Named &entry : others)
    if (entry.number == number)
      return entry.name;
  std::optional<ElementType> type = ggufElementType(number);
  return type ? nameOf(*type) : "number " + std::to_string(number);
}

std::string fovea::listGgufTypes() {
  std::string result;
  for (const Known &entry : known)
    if (isWeightType(entry.type))
      result += (result.empty() ? "" : ", ") + std::string(nameOf(entry.type));
  return result;
}
