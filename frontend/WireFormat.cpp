// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads tags, varints and lengths, each checked against the end of its message.
#include "frontend/WireFormat.h"

namespace fovea {

bool Message::next() {
  uint64_t tag;
  if (at >= end || !varint(tag))
    return false;
  field = tag >> 3;
  type = tag & 7;
  switch (type) {
  case 0:
    return varint(number);
  case 1:
    return take(8);
  case 2:
    return varint(number) && take(number);
  case 5:
    return take(4);
  default:
    return fail();
  }
}

bool Message::fail() {
  isFaulty = true;
  fault = at;
  return false;
}

bool Message::varint(uint64_t &value) {
  value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at >= end)
      return fail();
    uint8_t byte = bytes[at++];
    value |= uint64_t(byte & 127) << shift;
    if (!(byte & 128))
      return true;
  }
  return fail();
}

bool Message::take(uint64_t count) {
  if (count > end - at)
    return fail();
  first = at;
  at += count;
  return true;
}

} // namespace fovea
