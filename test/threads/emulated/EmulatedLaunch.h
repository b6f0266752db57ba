// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One launch of a PTX kernel on the emulator, with every check on; or on the device that
// FOVEA_TEST_DEVICE names, as scripts/test --gpu does.
#ifndef FOVEA_TEST_THREADS_EMULATED_EMULATEDLAUNCH_H
#define FOVEA_TEST_THREADS_EMULATED_EMULATEDLAUNCH_H

#include "abi/Abi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace fovea::test {

/// A kernel's operand: a number, a buffer that is copied there and back, or a tensor map.
struct Operand {
  bool isBuffer = false;
  uint64_t number = 0;
  std::vector<char> bytes;
  std::vector<uint64_t> behind; ///< what follows the address
  bool isMap = false;
  fovea_tensor_map map = {}; ///< but for its address: that of operand number `buffer`, a buffer
  size_t buffer = 0;
};

struct Shape {
  uint64_t blocks = 1, sharedBytes = 0;
  uint32_t threads = 128;
  bool blocksShare = false; ///< several blocks may write the same place, as they do for faults
};

/// FOVEA_TEST_DEVICE: a device by the runtime's names; empty: the emulator.
std::string deviceName();
inline bool onEmulator() { return deviceName().empty(); }
/// Whether the device runs code for `chip`. True where there is no such device: whoever runs code
/// then fails and says so.
bool runsOn(const std::string &chip);

/// Of the emulator only.
struct Counts {
  uint64_t sharedPasses = 0, idealSharedPasses = 0, globalLoadSectors = 0, instructions = 0;
};

/// Runs the kernel, asynchronous work as early or as late as possible, which a device does as it
/// likes. Returns what went wrong, or
/// nothing.
std::string launch(const std::string &ptx, const std::string &kernel, const Shape &shape,
                   std::vector<Operand> &operands, bool late, Counts *counts = nullptr);

} // namespace fovea::test

#endif // FOVEA_TEST_THREADS_EMULATED_EMULATEDLAUNCH_H
