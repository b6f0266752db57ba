// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block's shared memory with a shadow: for each granule (the narrowest access of the kernel) its
// last writer and, for each warp or engine, its last reader since. Accesses must be ordered by the
// clocks of Clock.h; a pair that is not is a race.
#ifndef FOVEA_EMULATOR_SHAREDMEMORY_H
#define FOVEA_EMULATOR_SHAREDMEMORY_H

#include "emulator/Clock.h"

namespace fovea::emulator {

/// Who works on shared memory: the warps themselves, and for each warp the copies of cp.async, the
/// products of wgmma and the bulk copies it started; each mbarrier has the bulk copies that report
/// to it.
enum class Engine : uint8_t { Thread, CpAsync, Wgmma, Bulk, Transaction };
constexpr uint32_t maxWarps = 32;
inline uint32_t agentOf(Engine engine, uint32_t index) {
  return static_cast<uint32_t>(engine) * maxWarps + index;
}
inline Engine engineOf(uint32_t agent) {
  return static_cast<Engine>(std::min<uint32_t>(agent / maxWarps, 4));
}
inline uint32_t indexOf(uint32_t agent) {
  return agent - maxWarps * static_cast<uint32_t>(engineOf(agent));
}

/// What an access is, beside its place.
struct Access {
  uint32_t agent = 0;        ///< on whose behalf
  uint32_t warp = 0;         ///< who issued it
  uint8_t lane = 0;          ///< manyLanes if the warp as a whole
  bool asynchronous = false; ///< through the asynchronous proxy
  bool atomic = false;
  uint32_t instruction = 0; ///< index into Kernel::code
  uint32_t tick = 0;
  uint32_t ownCopies = 0;             ///< the lane has waited for its cp.async up to this tick
  const Knowledge *knows = nullptr;   ///< of the whole warp
  const Knowledge *partial = nullptr; ///< what only some lanes know; may be null
};

/// What went wrong, without place and time; `other` is the earlier access.
struct Conflict {
  enum Kind : uint8_t { None, Unwritten, Race, Unfenced, Barrier };
  Kind kind = None;
  bool otherWrote = false;
  uint32_t agent = 0, instruction = 0;
  uint8_t lane = 0;
  uint64_t address = 0;
  explicit operator bool() const { return kind != None; }
};

class SharedMemory {
public:
  /// `size` bytes; `granule` divides every access.
  void reset(uint64_t size, uint32_t granule, uint32_t warps, bool checked);
  uint64_t size() const { return bytes.size(); }
  uint8_t *data() { return bytes.data(); }

  /// Checks an access to [offset, offset + count), which lies inside, and remembers it. For a
  /// write `source` holds the new bytes, which this does not copy: two writes of one value agree.
  Conflict read(uint64_t offset, uint32_t count, const Access &access);
  Conflict write(uint64_t offset, uint32_t count, const Access &access, const uint8_t *source);
  /// Marks eight bytes as an mbarrier, or as plain memory again.
  void setBarrier(uint64_t offset, bool barrier);

private:
  enum Flags : uint8_t { Written = 1, Atomic = 2, AsyncFlag = 4, BarrierFlag = 8 };
  struct Cell {
    uint32_t stamp, instruction;
    uint16_t agent;
    uint8_t lane, flags;
    uint64_t readers; // a bit for each plane
  };
  struct Reader {
    uint32_t stamp, instruction;
    uint8_t lane;
  };
  struct Plane {
    uint32_t agent;
    std::vector<Reader> readers;
  };
  static constexpr uint8_t unknownPlane = 0xff;
  uint32_t planeOf(uint32_t agent) {
    uint32_t plane = agent < planeIndex.size() ? planeIndex[agent] : unknownPlane;
    return plane == unknownPlane ? addPlane(agent) : plane;
  }
  uint32_t addPlane(uint32_t agent);
  static bool ordered(const Access &access, uint32_t agent, uint8_t lane, uint32_t stamp);

  bool checked = true;
  uint32_t granule = 1;
  std::vector<uint8_t> bytes;
  std::vector<Cell> cells;
  std::vector<Plane> planes;
  std::vector<uint8_t> planeIndex; // by agent; 0xff none
};

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_SHAREDMEMORY_H
