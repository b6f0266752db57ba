// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of tensor maps (CUDA driver API, "cuTensorMapEncodeTiled"), told one by one: the driver
// only says that something is wrong. For every device.
#ifndef FOVEA_RUNTIME_TENSORMAP_H
#define FOVEA_RUNTIME_TENSORMAP_H

#include "abi/Abi.h"
#include "runtime/status/Status.h"

#include <string>

namespace fovea {

/// For messages: parameter number `index` of a kernel's maps.
inline std::string tensorMapPlace(const std::string &device, const std::string &kernel,
                                  int64_t index) {
  return device + ": kernel '" + kernel + "': tensor map " + std::to_string(index);
}

/// Of one element; 0 if it is none of FOVEA_MAP_...
inline int64_t elementBytes(const fovea_tensor_map &map) {
  switch (map.element) {
  case FOVEA_MAP_I8:
    return 1;
  case FOVEA_MAP_F16:
  case FOVEA_MAP_BF16:
    return 2;
  case FOVEA_MAP_F32:
    return 4;
  default:
    return 0;
  }
}

/// Throws Failure, which begins with `where`, if a rule is broken: the compiler wrote the map.
inline void checkTensorMap(const fovea_tensor_map &map, const std::string &where) {
  auto expect = [&](bool holds, const std::string &what, int64_t got, int64_t axis = -1) {
    if (!holds)
      failInternal(where + " expects " + what + ", got " + std::to_string(got) +
                   (axis >= 0 ? " along axis " + std::to_string(axis) : ""));
  };
  expect(map.rank >= 1 && map.rank <= 5, "a rank from 1 to 5", map.rank);
  expect(elementBytes(map) > 0, "elements of a known type", map.element);
  expect(map.address > 0 && map.address % 16 == 0, "an address that is a multiple of 16",
         map.address);
  expect(map.swizzle == 0 || map.swizzle == 32 || map.swizzle == 64 || map.swizzle == 128,
         "a swizzle of 0, 32, 64 or 128 bytes", map.swizzle);
  for (int64_t axis = 0; axis < map.rank; ++axis) {
    expect(map.sizes[axis] >= 1 && map.sizes[axis] <= int64_t{1} << 32, "sizes from 1 to 2^32",
           map.sizes[axis], axis);
    expect(map.box[axis] >= 1 && map.box[axis] <= 256, "a box of 1 to 256 elements", map.box[axis],
           axis);
    if (axis == 0)
      continue;
    int64_t stride = map.strides[axis - 1];
    expect(stride >= 0 && stride % 16 == 0 && stride < int64_t{1} << 40,
           "strides below 2^40 that are multiples of 16", stride, axis);
  }
  int64_t row = map.box[0] * elementBytes(map);
  expect(row % 16 == 0, "rows of a box that are multiples of 16 bytes", row);
  expect(map.swizzle == 0 || row <= map.swizzle,
         "rows of a box of at most the swizzle's " + std::to_string(map.swizzle) + " bytes", row);
}

} // namespace fovea

#endif // FOVEA_RUNTIME_TENSORMAP_H
