// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call's arguments. Refuses other types and shapes than the entry's, memory that its device does
// not read, gaps between elements, and equal names of dimensions with unequal sizes.
#include "runtime/Call.h"

#include "runtime/status/Status.h"

#include <algorithm>

namespace fovea {

using manifest::ValueT;

static bool sameType(fovea_dtype a, fovea_dtype b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

std::string shapeText(const std::vector<int64_t> &shape, const std::vector<std::string> &names) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i ? ", " : "";
    if (shape[i] >= 0)
      text += std::to_string(shape[i]);
    else
      text += i < names.size() && !names[i].empty() ? names[i] : "?";
  }
  return text + "]";
}

static std::string deviceText(fovea_device device) {
  const std::string id = std::to_string(device.id);
  return device.type == FOVEA_CPU    ? "the CPU"
         : device.type == FOVEA_CUDA ? "CUDA device " + id
         : device.type == FOVEA_EMULATOR
             ? "emulator " + id
             : "device type " + std::to_string(device.type) + ", id " + id;
}

/// Whether data there is in the memory of the context's device, not the CPU's.
bool Call::isThere(const ValueT &value, fovea_device device) const {
  const fovea_device own = theContext.executor().number();
  if (device.type == FOVEA_CPU)
    return false;
  if (device.type == own.type && device.id == own.id)
    return true;
  failInvalid(place(value) + " expects a tensor in CPU memory" +
              (own.type == FOVEA_CPU ? "" : " or that of " + deviceText(own)) + ", got one of " +
              deviceText(device));
}

void Call::setArgument(const std::string &name, const fovea_tensor &tensor) {
  size_t index = argumentIndex(name);
  const ValueT &value = *description->arguments[index];
  const bool isOnDevice = isThere(value, tensor.device);
  if (tensor.ndim < 0 || tensor.ndim > 64 || (tensor.ndim > 0 && !tensor.shape))
    failInvalid(place(value) + " expects " + std::to_string(value.shape.size()) +
                " dimensions, got " + std::to_string(tensor.ndim));
  std::vector<int64_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides) {
    int64_t stride = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] > 1 && tensor.strides[i] != stride)
        failInvalid(place(value) + " expects row-major elements without gaps: stride " +
                    std::to_string(stride) + " in dimension " + std::to_string(i) + ", got " +
                    std::to_string(tensor.strides[i]));
      if (__builtin_mul_overflow(stride, shape[i], &stride))
        failInvalid(place(value) + " is impossibly large: " + shapeText(shape));
    }
  }
  bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  if (!tensor.data && !empty)
    failInvalid(place(value) + " has no data");
  const char *data = empty ? nullptr : static_cast<const char *>(tensor.data) + tensor.byte_offset;
  setArgument(name, data, tensor.dtype, std::move(shape), isOnDevice);
}

void Call::setArgument(const std::string &name, const void *data, fovea_dtype dtype,
                       std::vector<int64_t> shape, bool isThere) {
  size_t index = argumentIndex(name);
  const ValueT &value = *description->arguments[index];
  if (!sameType(dtype, dtypeOf(value.element)))
    failInvalid(place(value) + " expects element type " + artifact::elementName(value.element) +
                ", got " + dtypeName(dtype));
  bool fits = shape.size() == value.shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = value.shape[i] == -1 || value.shape[i] == shape[i];
  if (!fits)
    failInvalid(place(value) + " expects shape " + shapeText(value.shape, value.dims) + ", got " +
                shapeText(shape));
  // Of nothing a language model makes no text and an encoder no vector; a computation of arrays may
  // be about none.
  bool mayBeEmpty = theContext.module().manifest().model->kind == manifest::ModelKind::Generic;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] < (mayBeEmpty ? 0 : 1) && value.shape[i] == -1)
      failInvalid(place(value) + " expects at least " +
                  (mayBeEmpty ? "0 elements" : "one element") + " in each dimension, got shape " +
                  shapeText(shape));
  uint64_t bytes;
  if (!artifact::tensorBytes(value.element, shape, bytes))
    failInvalid(place(value) + " is impossibly large: " + shapeText(shape));
  if (reinterpret_cast<uintptr_t>(data) % artifact::elementBytes(value.element) != 0)
    failInvalid(place(value) + " expects data aligned to its elements");
  Argument &argument = arguments[index];
  argument.set = true;
  argument.data = data;
  argument.isThere = isThere;
  argument.shape = std::move(shape);
}

/// Finds the size of each named dimension; equal names must be equal sizes.
void Call::bindDimensions() {
  for (Dimension &dimension : bound)
    dimension.size = -1;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument &argument = arguments[i];
    if (argument.cache)
      continue;
    const ValueT &value = *description->arguments[i];
    if (!argument.set)
      failInvalid(place(value) + " is missing");
    for (auto [axis, number] : argument.named) {
      Dimension &dimension = bound[number];
      int64_t size = argument.shape[axis];
      if (dimension.size == -1) {
        dimension.size = size;
        dimension.owner = i;
      } else if (dimension.size != size) {
        failInvalid(place(value) + " expects " + std::to_string(dimension.size) + " for '" +
                    dimension.name + "', as '" + description->arguments[dimension.owner]->name +
                    "' has, got " + std::to_string(size) + " (shape " + shapeText(argument.shape) +
                    ")");
      }
    }
  }
}

/// Fills `sizes` as `plan` reads them and the arguments' part of `buffers`.
void Call::collectSizes() {
  sizes.clear();
  for (size_t i = 0; i < arguments.size(); ++i) {
    Argument &argument = arguments[i];
    if (!argument.cache) {
      sizes.insert(sizes.end(), argument.shape.begin(), argument.shape.end());
      uint64_t bytes = 0;
      artifact::tensorBytes(description->arguments[i]->element, argument.shape,
                            bytes); // checked when it was set
      buffers[i] = invocation->bind(i, argument.data, bytes, argument.isThere);
      continue;
    }
    Cache &cache = *argument.cache;
    theContext.prepare(cache, argument.batch >= 0 ? bound[argument.batch].size
                                                  : std::max<int64_t>(cache.batch, 1));
    sizes.insert(sizes.end(), {cache.batch, cache.capacity, cache.length});
    buffers[i] = cache.memory->address();
  }
}

} // namespace fovea
