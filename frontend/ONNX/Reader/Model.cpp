// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names and sizes of ONNX's element types, and what nodes are called.
#include "frontend/ONNX/Reader/Model.h"

namespace fovea::onnx {

std::string nameOf(DataType type) {
  static const char *const names[] = {
      "undefined",      "float",      "uint8",          "int8",       "uint16",    "int16",
      "int32",          "int64",      "string",         "bool",       "float16",   "double",
      "uint32",         "uint64",     "complex64",      "complex128", "bfloat16",  "float8e4m3fn",
      "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",      "int4",      "float4e2m1",
      "float8e8m0",     "uint2",      "int2",           "float6e2m3", "float6e3m2"};
  auto number = static_cast<int32_t>(type);
  if (number >= 0 && static_cast<size_t>(number) < sizeof(names) / sizeof(*names))
    return names[number];
  return "element type " + std::to_string(number);
}

unsigned sizeOf(DataType type) {
  switch (type) {
  case DataType::Bool:
  case DataType::Int8:
  case DataType::UInt8:
  case DataType::Int4:
  case DataType::UInt4:
    return 1;
  case DataType::Int16:
  case DataType::UInt16:
  case DataType::Float16:
  case DataType::BFloat16:
    return 2;
  case DataType::Float:
  case DataType::Int32:
  case DataType::UInt32:
    return 4;
  case DataType::Double:
  case DataType::Int64:
  case DataType::UInt64:
    return 8;
  default:
    return 0;
  }
}

int64_t Tensor::count() const {
  int64_t result = 1;
  for (int64_t axis : shape)
    result *= axis;
  return result;
}

const std::string &Node::label() const {
  if (!name.empty())
    return name;
  for (const std::string &output : outputs)
    if (!output.empty())
      return output;
  return op;
}

const Attribute *Node::find(const std::string &attribute) const {
  for (const Attribute &candidate : attributes)
    if (candidate.name == attribute)
      return &candidate;
  return nullptr;
}

} // namespace fovea::onnx
