// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A launch's tensor map as the emulator knows it.
#ifndef FOVEA_RUNTIME_EMULATOR_ENCODETENSORMAP_H
#define FOVEA_RUNTIME_EMULATOR_ENCODETENSORMAP_H

#include "emulator/TensorMap.h"
#include "runtime/TensorMap.h"

namespace fovea {

/// Throws Failure, which begins with `where`, if a rule is broken.
inline std::array<uint8_t, 128> encodeForEmulator(const fovea_tensor_map &map,
                                                  const std::string &where) {
  checkTensorMap(map, where);
  emulator::TensorMap encoded;
  encoded.rank = static_cast<uint32_t>(map.rank);
  encoded.elementBytes = static_cast<uint32_t>(elementBytes(map));
  encoded.address = static_cast<uint64_t>(map.address);
  for (uint32_t axis = 0; axis < encoded.rank; ++axis) {
    encoded.sizes[axis] = static_cast<uint64_t>(map.sizes[axis]);
    encoded.box[axis] = static_cast<uint32_t>(map.box[axis]);
    if (axis > 0)
      encoded.strides[axis - 1] = static_cast<uint64_t>(map.strides[axis - 1]);
  }
  encoded.swizzle = emulator::TensorMap::swizzleOf(static_cast<uint64_t>(map.swizzle));
  return encoded.encode();
}

} // namespace fovea

#endif // FOVEA_RUNTIME_EMULATOR_ENCODETENSORMAP_H
