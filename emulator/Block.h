// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block: its warps, shared memory, barriers and asynchronous work. One host thread runs it.
#ifndef FOVEA_EMULATOR_BLOCK_H
#define FOVEA_EMULATOR_BLOCK_H

#include "emulator/Counters.h"
#include "emulator/GlobalMemory.h"
#include "emulator/Launch.h"
#include "emulator/SharedMemory.h"
#include "emulator/Warp.h"

#include <map>
#include <memory>

namespace fovea::emulator {

/// A launch in progress, shared by all its blocks.
struct LaunchContext {
  const Kernel *kernel = nullptr;
  GlobalMemory *memory = nullptr;
  LaunchShape shape;
  LaunchOptions options;
  std::vector<uint8_t> arguments; ///< the parameter block
};

/// A named barrier of bar.sync and bar.arrive.
/// Instruction::flags of a barrier that reduces: .popc, .and, .or by Instruction::width.
constexpr uint8_t BarrierReduces = 1;

struct NamedBarrier {
  uint32_t arrived = 0;  ///< threads
  uint32_t expected = 0; ///< threads; 0 for all of the block
  uint32_t syncing = 0;  ///< warps that wait
  uint32_t line = 0;     ///< of the first arrival
  uint32_t aligned = 0;
  uint32_t reduction = 0, reductionCount = 0; ///< of bar.red
  Knowledge knowledge;
};

/// An mbarrier object (PTX ISA 9.0, "mbarrier"). Its eight bytes in memory stay opaque.
struct MemoryBarrier {
  uint32_t index = 0;                    ///< for its agent
  uint32_t expected = 0;                 ///< arrivals of a phase
  uint32_t pending = 0;                  ///< arrivals missing in this phase
  int64_t transactions = 0;              ///< bytes missing in this phase
  uint64_t phase = 0;                    ///< completed phases
  uint32_t line = 0, warp = 0, tick = 0; ///< of its init
  uint8_t lane = 0;
  bool fenced = false;          ///< a fence made its init visible to the asynchronous proxy
  Knowledge current, completed; ///< what arrivals of this phase and of the last handed over
};

/// Asynchronous work that has been issued, to be done as late as can be.
struct PendingWork {
  uint64_t barrier = ~uint64_t{0}; ///< it reports to, an offset; all ones for none
  std::function<void()> run;
};

class Block {
public:
  Block(const LaunchContext &launch);
  void start(uint64_t x, uint64_t y, uint64_t z);
  /// Runs for about `budget` instructions. Returns whether it has ended.
  bool run(uint64_t budget);

  // --- for handlers
  Step barrier(Warp &warp, const Instruction &in, uint32_t mask, uint32_t id, uint32_t expected,
               bool sync, bool aligned);
  MemoryBarrier &memoryBarrier(Warp &warp, uint32_t lane, uint64_t offset);
  /// Completes the phase if nothing is missing, and wakes who waits for it.
  void checkPhase(uint64_t offset, MemoryBarrier &barrier);
  /// Wakes splits that wait for `offset`.
  void wakeWaiters(uint64_t offset, uint64_t phase);
  /// Offset into shared memory of a .shared address; faults unless [address, +count) lies in it.
  uint64_t sharedOffset(Warp &warp, uint32_t lane, uint64_t address, uint64_t count,
                        uint64_t alignment, const char *verb);
  /// Checked accesses to shared memory; they move the bytes.
  void readShared(Warp &warp, uint32_t lane, uint64_t offset, void *target, uint32_t count,
                  Access access);
  void writeShared(Warp &warp, uint32_t lane, uint64_t offset, const void *source, uint32_t count,
                   Access access);
  /// An access by a thread, now.
  Access access(const Warp &warp, uint32_t lane) const;
  [[noreturn]] void report(Warp &warp, uint32_t lane, const Conflict &conflict, const char *verb,
                           uint64_t count, const Access &access);
  /// Checked accesses to global memory; they move the bytes.
  uint8_t *global(Warp &warp, uint32_t lane, uint64_t address, uint64_t count, uint64_t alignment,
                  bool writes, const char *verb, bool atomically = false);

  /// Counters of the instruction's line.
  Counters::Line &line(const Instruction &in) {
    return lineCounters[static_cast<size_t>(&in - kernel.code.data())];
  }
  /// Moves the counters of lines into `counters`.
  void collect();

  std::string threadName(uint32_t warp, uint32_t lane) const;
  std::string blockName() const;
  uint32_t threadCount() const { return threads; }

  const LaunchContext &launch;
  const Kernel &kernel;
  SharedMemory shared;
  Counters counters;
  uint32_t tick = 1;
  uint64_t progress = 0; ///< grows with each effect another warp may wait for
  std::vector<std::unique_ptr<Warp>> warps;
  std::map<uint32_t, NamedBarrier> barriers;
  std::map<uint64_t, MemoryBarrier> memoryBarriers;
  std::vector<PendingWork> pending;
  /// What strong accesses to a place of shared memory handed over.
  std::map<uint64_t, Knowledge> places;
  int64_t registerPool = 0;
  uint32_t nextBarrierIndex = 0; ///< for agents of mbarriers
  struct ProductLog {            ///< the products of a warpgroup in order, to compare its warps
    std::vector<uint64_t> keys;
  };
  std::vector<ProductLog> productLogs;

private:
  void compareBlocks(Warp &warp, uint32_t lane, Allocation &allocation, uint64_t offset,
                     uint64_t count, bool writes, const char *verb);
  void checkBarrier(uint32_t id);
  bool helpOut();
  uint32_t aliveThreads() const;
  [[noreturn]] void deadlock();
  friend class Warp;
  Allocation *lastAllocation = nullptr;
  std::vector<Counters::Line> lineCounters;
  uint64_t position[3] = {};
  uint32_t threads = 0;
  uint64_t stepsLeft = 0;
  uint64_t pollProgress = 0, idle = 0;
};

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_BLOCK_H
