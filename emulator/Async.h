// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What asynchronous instructions share: groups that are committed and waited for.
#ifndef FOVEA_EMULATOR_ASYNC_H
#define FOVEA_EMULATOR_ASYNC_H

#include "emulator/Block.h"

namespace fovea::emulator {

inline bool isLate(const Warp &warp) {
  return warp.block.launch.options.schedule == LaunchOptions::Schedule::Late;
}

/// Closes the open group.
void commitGroup(Warp &warp, AsyncQueue &queue, uint32_t mask);
/// Completes all but the newest `keep` groups of `mask`: does their work if it is late, and makes
/// it known to these lanes as work of `engine`. Returns the completed groups.
std::vector<AsyncGroup> waitGroup(Warp &warp, const Instruction &in, AsyncQueue &queue,
                                  Engine engine, uint32_t mask, uint64_t keep);
/// Arrives at an mbarrier for `lane` with `count`; `given` is what it hands over.
void arrive(Warp &warp, uint32_t lane, uint64_t offset, MemoryBarrier &barrier, uint32_t count,
            const Knowledge &given);

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_ASYNC_H
