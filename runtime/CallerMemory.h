// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory on a device that a caller has: what it asked the context for, and addresses that it gives.
// Refuses addresses that are not in the device's memory.
#ifndef FOVEA_RUNTIME_CALLERMEMORY_H
#define FOVEA_RUNTIME_CALLERMEMORY_H

#include "runtime/Device.h"

#include <set>
#include <string>

namespace fovea {

class CallerMemory {
public:
  explicit CallerMemory(Device &device) : device(device) {}
  ~CallerMemory();
  CallerMemory(const CallerMemory &) = delete;
  CallerMemory &operator=(const CallerMemory &) = delete;

  uint64_t allocate(uint64_t bytes);
  void release(uint64_t address);
  /// Both are done when they return.
  void copyIn(uint64_t to, const void *from, uint64_t bytes);
  void copyOut(void *to, uint64_t from, uint64_t bytes);

private:
  Device &device;
  std::set<uint64_t> allocated;
};

/// Throws Failure, which begins with `what`, if these bytes cannot be read, or written if `writes`.
void requireOnDevice(Device &device, uint64_t address, uint64_t bytes, bool writes,
                     const std::string &what);

} // namespace fovea

#endif // FOVEA_RUNTIME_CALLERMEMORY_H
