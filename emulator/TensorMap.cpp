// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks and encodes tensor maps (CUDA driver API, "cuTensorMapEncodeTiled").
#include "emulator/TensorMap.h"

#include "emulator/Error.h"

#include <cstring>

namespace fovea::emulator {

namespace {
constexpr uint64_t magic = 0x70614d726f736e54; // "TnsorMap"
static_assert(sizeof(TensorMap) <= 120);
} // namespace

uint64_t TensorMap::boxBytes() const {
  uint64_t bytes = elementBytes;
  for (uint32_t axis = 0; axis < rank; ++axis)
    bytes *= box[axis];
  return bytes;
}

std::array<uint8_t, 128> TensorMap::encode() const {
  if (rank < 1 || rank > 5)
    fail("a tensor map expects a rank from 1 to 5, got ", rank);
  if (elementBytes != 1 && elementBytes != 2 && elementBytes != 4 && elementBytes != 8)
    fail("a tensor map expects elements of 1, 2, 4 or 8 bytes, got ", elementBytes);
  if (address % 16)
    fail("a tensor map expects an address that is a multiple of 16, got ", hex(address));
  for (uint32_t axis = 0; axis < rank; ++axis) {
    if (!sizes[axis] || sizes[axis] > uint64_t{1} << 32)
      fail("a tensor map expects sizes from 1 to 2^32, got ", sizes[axis], " along axis ", axis);
    if (!box[axis] || box[axis] > 256)
      fail("a tensor map expects a box of 1 to 256 elements, got ", box[axis], " along axis ",
           axis);
    if (axis && (strides[axis - 1] % 16 || strides[axis - 1] >= uint64_t{1} << 40))
      fail("a tensor map expects strides below 2^40 that are multiples of 16, got ",
           strides[axis - 1], " along axis ", axis);
  }
  uint64_t inner = uint64_t{box[0]} * elementBytes;
  uint64_t span = swizzle == Swizzle::None ? 0 : 16u << static_cast<unsigned>(swizzle);
  if (inner % 16)
    fail("a tensor map expects rows of a box that are multiples of 16 bytes, got ", inner);
  if (span && inner > span)
    fail("a tensor map with a swizzle of ", span,
         " bytes expects rows of a box of at most that, got ", inner);
  std::array<uint8_t, 128> bytes{};
  std::memcpy(bytes.data(), &magic, 8);
  std::memcpy(bytes.data() + 8, this, sizeof(TensorMap));
  return bytes;
}

bool TensorMap::decode(const uint8_t *bytes, TensorMap &map) {
  uint64_t start;
  std::memcpy(&start, bytes, 8);
  if (start != magic)
    return false;
  std::memcpy(&map, bytes + 8, sizeof(TensorMap));
  return map.rank >= 1 && map.rank <= 5 && map.elementBytes >= 1 && map.elementBytes <= 8 &&
         map.boxBytes() <= 1 << 20;
}

} // namespace fovea::emulator
