// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warp: 32 lanes that step together as long as they are at one place. Lanes elsewhere form other
// splits; the split at the lowest place runs first. Decode orders the code so that every join
// comes after all that leads to it, which makes lanes meet again as early as they can.
#ifndef FOVEA_EMULATOR_WARP_H
#define FOVEA_EMULATOR_WARP_H

#include "emulator/Clock.h"
#include "emulator/Error.h"
#include "emulator/Kernel.h"

#include <cstring>
#include <deque>
#include <functional>
#include <vector>

namespace fovea::emulator {

class Block;

/// What a split waits for.
struct Wait {
  enum Kind : uint8_t { None, Barrier, WarpBarrier, Transaction, Registers, Poll };
  Kind kind = None;
  uint32_t barrier = 0; ///< number of a named barrier
  uint64_t address = 0; ///< of an mbarrier, an offset into shared memory
  uint64_t phase = 0;   ///< of it that must be complete
};

/// Work of cp.async, of bulk copies or of wgmma that belongs to one group.
struct AsyncGroup {
  uint32_t tick = 0;                                ///< of its commit
  uint32_t lanes = 0;                               ///< that committed
  uint64_t instruction = 0;                         ///< Warp::executed at its commit
  std::vector<std::function<void()>> reads, writes; ///< not done yet (late)
  std::vector<uint32_t> registers;                  ///< offsets of wgmma's operands
};
struct AsyncQueue {
  AsyncGroup open;
  std::deque<AsyncGroup> committed;
};

class Warp {
public:
  Warp(Block &block, const Kernel &kernel, uint32_t index);
  /// Begins a block: `threads` lanes are alive.
  void start(uint32_t threads);

  /// Runs until all lanes wait or have ended, or for about `budget` instructions. Returns whether
  /// an instruction was executed.
  bool run(uint64_t budget);

  template <typename T> T *lanes(uint32_t offset) {
    return reinterpret_cast<T *>(storage + offset);
  }
  uint32_t &predicate(uint32_t offset) { return *reinterpret_cast<uint32_t *>(storage + offset); }
  void setPredicate(uint32_t offset, uint32_t mask, uint32_t value) {
    predicate(offset) = (predicate(offset) & ~mask) | (value & mask);
  }

  // --- control, for handlers
  Step branch(uint32_t taken, uint32_t target);
  /// Sends each lane of `mask` to its own target; the others go on.
  Step branchEach(uint32_t mask, const uint32_t *targets);
  Step exit(uint32_t mask);
  /// The split waits; when it is woken it executes the same instruction again.
  Step wait(Wait reason);
  /// Refuses an instruction that all living lanes must execute together.
  void requireAligned(const Instruction &instruction, uint32_t mask);

  /// Throws Error with place and thread of the instruction that is being executed.
  template <typename... Parts> [[noreturn]] void fault(uint32_t lane, const Parts &...parts);
  [[noreturn]] void faultText(uint32_t lane, const std::string &message);

  // --- order of memory, for handlers
  /// All lanes of `mask` have synchronised with each other.
  void synchronise(uint32_t mask);
  /// What `mask` hands over now; the tick moves on.
  Knowledge release(uint32_t mask);
  void acquire(uint32_t mask, const Knowledge &other);
  /// A proxy fence: all that `mask` knows is visible to the asynchronous proxy.
  void proxyFence(uint32_t mask);
  /// What is known by lane `lane` beyond `knows`; null if nothing.
  const Knowledge *partialOf(uint32_t lane) const {
    return (partialLanes >> lane & 1) ? &partial : nullptr;
  }

  Block &block;
  const Kernel &kernel;
  const uint32_t index;
  uint32_t alive = 0;  ///< lanes that have not ended
  uint32_t active = 0; ///< lanes of the split that runs
  uint32_t pc = 0;
  uint64_t executed = 0; ///< instructions in this block
  Wait waiting;          ///< of the current split
  struct Split {
    uint32_t pc, mask;
    Wait waiting;
  };
  std::vector<Split> others; ///< by place, ascending

  /// Makes another split the current one if it can run; for blocks in which nothing else can.
  bool rotate();
  void wake() { waiting.kind = Wait::None; }
  /// After splits were woken or moved from outside.
  void sortSplits();

  Knowledge knows, partial;
  uint32_t partialLanes = 0;

  AsyncQueue copies, bulk, products;
  /// By lane: it has waited for its own cp.async up to this tick. Other lanes know of them only
  /// after they have synchronised with it.
  uint32_t copiesWaited[32] = {};
  /// What `mask` knows of its own copies.
  Mark ownCopies(uint32_t mask) const;
  /// What wgmma needs to know of a register: how many products in flight read and write it, and
  /// how it was read or written since the last wgmma.fence.
  struct Pending {
    uint32_t reads = 0, writes = 0;
    enum State : uint8_t { Clean, Read, Moved, Dirty } state = Dirty;
  };
  bool fencedSinceWait = false;          ///< a wgmma.fence, since the last wgmma.wait_group
  std::vector<Pending> pendingRegisters; ///< by storage offset / 64, empty without wgmma
  uint64_t productCount = 0;
  uint32_t maxRegisters = 0;
  uint8_t *local = nullptr; ///< 32 times Kernel::localBytes
  std::vector<uint8_t> localWritten;

private:
  bool reconverge();
  uint32_t limit = 0; ///< place of the lowest other split

  std::unique_ptr<uint8_t[]> memory, localMemory;
  uint8_t *storage;
  void updateLimit();
  void insert(Split split);
  void takeLowest();
  /// Makes another split the current one, which waits in its place.
  void switchTo(std::vector<Split>::iterator other);
};

template <typename... Parts> void Warp::fault(uint32_t lane, const Parts &...parts) {
  std::ostringstream out;
  (out << ... << parts);
  faultText(lane, out.str());
}

/// Calls `body(lane)` for each lane of `mask`.
template <typename Body> inline void forLanes(uint32_t mask, Body body) {
  if (mask == ~0u) {
    for (uint32_t lane = 0; lane < 32; ++lane)
      body(lane);
    return;
  }
  for (; mask; mask &= mask - 1)
    body(static_cast<uint32_t>(__builtin_ctz(mask)));
}

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_WARP_H
