// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceResults.h.
#include "runtime/DeviceResults.h"

#include <algorithm>
#include <cstring>
#include <utility>

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

void DeviceResults::prepare(const std::vector<uint64_t> &bytes, bool stay) {
  this->stay = stay;
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
      if (!stay)
        place.data.ensure(place.bytes, "a result");
    }
  }
  bool isNew = boxBytes > allocated || device.findsFaults();
  if (isLeft && isNew && leftFault == 0)
    leftFault = fetchFault();
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

bool DeviceResults::overlaps(uint64_t address, uint64_t bytes) const {
  return box.overlaps(address, bytes) ||
         std::any_of(places.begin(), places.end(),
                     [&](const Place &place) { return place.own.overlaps(address, bytes); });
}

void *DeviceResults::data(size_t result) const {
  const Place &place = places[result];
  return place.inBox ? static_cast<char *>(boxData.get()) + place.inBox : place.data.get();
}

/// Of what has come.
int64_t DeviceResults::takeFault() {
  int64_t word;
  std::memcpy(&word, boxData.get(), sizeof(word));
  if (word != 0)
    device.fill(box.address(), 0, sizeof(word));
  return word;
}

/// The word alone, when the device is done.
int64_t DeviceResults::fetchFault() {
  device.copyOut(boxData.get(), box.address(), sizeof(int64_t));
  device.synchronize();
  return takeFault();
}

int64_t DeviceResults::wait() {
  if (!isLeft)
    return 0;
  isLeft = false;
  int64_t word = fetchFault(), before = std::exchange(leftFault, 0);
  return before ? before : word;
}

int64_t DeviceResults::finish() {
  isComplete = isLeft = false;
  uint64_t end = sizeof(int64_t);
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i].inBox && isWanted(i))
      end = std::max(end, places[i].inBox + places[i].bytes);
  device.copyOut(boxData.get(), box.address(), end);
  // After a fault nobody wrote what this device would not read.
  if (device.findsFaults()) {
    device.synchronize();
    if (int64_t word = takeFault())
      return word;
  }
  for (size_t i = 0; i < places.size(); ++i)
    if (!places[i].inBox && isWanted(i) && places[i].bytes > 0)
      device.copyOut(places[i].data.get(), places[i].own.address(), places[i].bytes);
  device.synchronize();
  int64_t word = device.findsFaults() ? 0 : takeFault(), before = std::exchange(leftFault, 0);
  return before ? before : word;
}

void *DeviceResults::fetch(size_t result) {
  if (!isWanted(result) && !isComplete)
    fetchRest();
  return data(result);
}

void DeviceResults::fetchRest() {
  for (size_t i = 0; i < places.size(); ++i)
    if (!isWanted(i) && places[i].bytes > 0)
      device.copyOut(data(i), address(i), places[i].bytes);
  device.synchronize();
  isComplete = true;
}

} // namespace fovea
