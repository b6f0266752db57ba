// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a call gives back from a device: the fault word and the results. The word and what is small
// lie in one piece of memory there, the smallest first, and come in one copy. On a device that
// finds faults each has memory of its own.
#ifndef FOVEA_RUNTIME_DEVICERESULTS_H
#define FOVEA_RUNTIME_DEVICERESULTS_H

#include "runtime/Device.h"
#include "runtime/Memory.h"

#include <string>
#include <vector>

namespace fovea {

class DeviceResults {
public:
  /// `names` of the results, for messages.
  DeviceResults(Device &device, std::vector<std::string> names);

  /// Memory for results of these sizes, which stay on the device if `stay`; what they held is lost.
  void prepare(const std::vector<uint64_t> &bytes, bool stay);
  /// On the device.
  uint64_t address(size_t result) const;
  uint64_t faultAddress() const { return box.address(); }

  /// From now on finish() fetches this result alone.
  void fetchOnly(size_t result) { wanted = result; }
  /// Waits for the device and fetches the results that do not stay. Returns the fault word; if it
  /// is not 0 the results are nothing, and it is 0 again on the device.
  int64_t finish();
  /// In place of finish(): nobody waits, and the results stay.
  void leave() { isLeft = true; }
  /// Waits for runs that were left. Returns their fault word, the first that is not 0.
  int64_t wait();
  /// Whether one of these bytes is a result's.
  bool overlaps(uint64_t address, uint64_t bytes) const;
  /// A result in this machine's memory, until the next prepare(); fetches what finish() did not.
  void *fetch(size_t result);

private:
  struct Place {
    uint64_t bytes = 0;
    uint64_t inBox = 0; ///< or 0: in memory of its own
    DeviceBuffer own;
    Buffer data;
  };

  static constexpr size_t all = SIZE_MAX;

  bool isWanted(size_t result) const { return !stay && (wanted == all || wanted == result); }
  void *data(size_t result) const;
  void fetchRest();
  int64_t takeFault();
  int64_t fetchFault();

  Device &device;
  std::vector<std::string> names;
  std::vector<Place> places;
  std::vector<size_t> bySize;
  DeviceBuffer box;
  Buffer boxData;
  uint64_t boxBytes = 0, allocated = 0;
  size_t wanted = all;
  bool stay = false;
  bool isLeft = false;     ///< runs were asked for whose fault word nobody has seen
  int64_t leftFault = 0;   ///< of such runs, whose word's memory is gone
  bool isComplete = false; ///< all results of the last run are fetched
};

} // namespace fovea

#endif // FOVEA_RUNTIME_DEVICERESULTS_H
