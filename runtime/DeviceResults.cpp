// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceResults.h.
#include "runtime/DeviceResults.h"

#include <algorithm>
#include <cstring>

namespace fovea {

/// Bytes in front of the first result, and what each begins at a multiple of: as allocations do.
static constexpr uint64_t alignment = 256;
/// Logits of most vocabularies are small enough.
static constexpr uint64_t maxBoxBytes = 2 << 20;

DeviceResults::DeviceResults(Device &device, std::vector<std::string> names)
    : device(device), names(std::move(names)), places(this->names.size()) {
  for (size_t i = 0; i < places.size(); ++i)
    bySize.push_back(i);
}

void DeviceResults::prepare(const std::vector<uint64_t> &bytes) {
  for (size_t i = 0; i < places.size(); ++i)
    places[i].bytes = bytes[i];
  std::sort(bySize.begin(), bySize.end(), [&](size_t a, size_t b) {
    return places[a].bytes != places[b].bytes ? places[a].bytes < places[b].bytes : a < b;
  });
  boxBytes = sizeof(int64_t);
  uint64_t next = alignment;
  for (size_t i : bySize) {
    Place &place = places[i];
    place.inBox = 0;
    if (!device.findsFaults() && place.bytes <= maxBoxBytes - std::min(next, maxBoxBytes)) {
      place.inBox = next;
      boxBytes = next + place.bytes;
      next = (boxBytes + alignment - 1) / alignment * alignment;
    } else {
      place.own.ensure(device, place.bytes, "result '" + names[i] + "'");
      place.data.ensure(place.bytes, "a result");
    }
  }
  bool isNew = boxBytes > allocated || device.findsFaults();
  allocated = std::max(allocated, boxBytes);
  box.ensure(device, allocated, "the fault word and results");
  boxData.ensure(allocated, "results");
  if (isNew) // what lies between is copied, too
    device.fill(box.address(), 0, allocated);
}

uint64_t DeviceResults::address(size_t result) const {
  const Place &place = places[result];
  return place.inBox ? box.address() + place.inBox : place.own.address();
}

void *DeviceResults::data(size_t result) const {
  const Place &place = places[result];
  return place.inBox ? static_cast<char *>(boxData.get()) + place.inBox : place.data.get();
}

int64_t DeviceResults::finish() {
  auto fault = [&] {
    int64_t word;
    std::memcpy(&word, boxData.get(), sizeof(word));
    if (word != 0)
      device.fill(box.address(), 0, sizeof(word));
    return word;
  };
  device.copyOut(boxData.get(), box.address(), boxBytes);
  // After a fault nobody wrote what this device would not read.
  if (device.findsFaults()) {
    device.synchronize();
    if (int64_t word = fault())
      return word;
  }
  for (Place &place : places)
    if (!place.inBox && place.bytes > 0)
      device.copyOut(place.data.get(), place.own.address(), place.bytes);
  device.synchronize();
  return fault();
}

} // namespace fovea
