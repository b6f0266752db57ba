// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a launch did, counted: the emulator's performance test without a device.
#ifndef FOVEA_EMULATOR_COUNTERS_H
#define FOVEA_EMULATOR_COUNTERS_H

#include <cstdint>
#include <map>
#include <string>

namespace fovea::emulator {

struct Kernel;

struct Counters {
  uint64_t blocks = 0;
  uint64_t instructions = 0;       ///< executed by warps
  uint64_t threadInstructions = 0; ///< lanes that took part, summed
  uint64_t divergentBranches = 0;
  uint64_t barriers = 0;
  uint64_t atomics = 0;
  /// Operations of tensor cores, two for a multiply-add.
  uint64_t tensorOperations = 0;
  /// Loads and stores of global memory: bytes asked for, and sectors of 32 bytes touched.
  uint64_t globalLoadBytes = 0, globalStoreBytes = 0, globalLoadSectors = 0, globalStoreSectors = 0;
  uint64_t sharedLoadBytes = 0, sharedStoreBytes = 0;
  uint64_t cpAsyncBytes = 0, tmaLoadBytes = 0, tmaStoreBytes = 0, localBytes = 0;
  /// Passes over the 32 banks that accesses to shared memory took, and the fewest they could.
  uint64_t sharedPasses = 0, sharedIdealPasses = 0;

  /// By PTX line.
  struct Line {
    uint64_t accesses = 0, passes = 0, ideal = 0; ///< shared memory
    uint64_t sectors = 0, idealSectors = 0;       ///< global memory
  };
  std::map<uint32_t, Line> lines;
  /// By PTX line of a wait for asynchronous work: instructions of the warp since its last commit.
  struct Wait {
    uint64_t count = 0, instructions = 0, fewest = ~uint64_t{0};
  };
  std::map<uint32_t, Wait> waits;

  void add(const Counters &other);
  /// Bank conflicts: passes more than needed.
  uint64_t bankConflicts() const { return sharedPasses - sharedIdealPasses; }
  /// One JSON object; `worst` lines of each table at most.
  std::string json(unsigned worst = 8) const;
};

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_COUNTERS_H
