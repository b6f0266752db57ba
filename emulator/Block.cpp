// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a block's warps in turn, completes barriers, does late work when nothing else can go on,
// and tells who waits for what when that does not help.
#include "emulator/Block.h"

#include <algorithm>

namespace fovea::emulator {

namespace {
constexpr uint64_t quantum = 20000;    // instructions of a warp before another's turn
constexpr uint64_t idlePolls = 100000; // rounds of polling without any progress
} // namespace

Block::Block(const LaunchContext &launch) : launch(launch), kernel(*launch.kernel) {
  threads = launch.shape.block[0] * launch.shape.block[1] * launch.shape.block[2];
  for (uint32_t i = 0; i * 32 < threads; ++i)
    warps.push_back(std::make_unique<Warp>(*this, kernel, i));
  lineCounters.resize(kernel.code.size());
}

void Block::collect() {
  for (size_t i = 0; i < lineCounters.size(); ++i) {
    Counters::Line &from = lineCounters[i];
    if (!from.accesses && !from.sectors)
      continue;
    Counters::Line &to = counters.lines[kernel.code[i].line];
    to.accesses += from.accesses;
    to.passes += from.passes;
    to.ideal += from.ideal;
    to.sectors += from.sectors;
    to.idealSectors += from.idealSectors;
    from = {};
  }
}

void Block::start(uint64_t x, uint64_t y, uint64_t z) {
  position[0] = x;
  position[1] = y;
  position[2] = z;
  tick = 1;
  progress = 0;
  pollProgress = idle = 0;
  nextBarrierIndex = 0;
  barriers.clear();
  memoryBarriers.clear();
  pending.clear();
  places.clear();
  productLogs.assign((warps.size() + 3) / 4, {});
  stepsLeft = launch.options.maxInstructions;
  shared.reset(kernel.dynamicShared + launch.shape.dynamicShared, kernel.granule,
               static_cast<uint32_t>(warps.size()), launch.options.checkShared);
  // Registers that a block gets when it starts: an equal share, as ptxas may give.
  uint32_t each =
      std::min<uint32_t>(65536 / (32 * static_cast<uint32_t>(warps.size())) / 8 * 8, 255 / 8 * 8);
  registerPool = 65536 - int64_t{32} * each * static_cast<int64_t>(warps.size());
  const uint32_t *size = launch.shape.block;
  for (auto &warp : warps) {
    warp->start(threads - warp->index * 32);
    warp->maxRegisters = each;
    auto fill = [&](SpecialRegister which, auto value) {
      if (uint32_t offset = kernel.specials[which]) {
        uint32_t *lanes = warp->lanes<uint32_t>(offset);
        for (uint32_t lane = 0; lane < 32; ++lane)
          lanes[lane] = static_cast<uint32_t>(value(lane));
      }
    };
    auto thread = [&](uint32_t lane) { return warp->index * 32 + lane; };
    fill(TidX, [&](uint32_t l) { return thread(l) % size[0]; });
    fill(TidY, [&](uint32_t l) { return thread(l) / size[0] % size[1]; });
    fill(TidZ, [&](uint32_t l) { return thread(l) / size[0] / size[1]; });
    fill(NtidX, [&](uint32_t) { return size[0]; });
    fill(NtidY, [&](uint32_t) { return size[1]; });
    fill(NtidZ, [&](uint32_t) { return size[2]; });
    fill(CtaidX, [&](uint32_t) { return x; });
    fill(CtaidY, [&](uint32_t) { return y; });
    fill(CtaidZ, [&](uint32_t) { return z; });
    fill(NctaidX, [&](uint32_t) { return launch.shape.grid[0]; });
    fill(NctaidY, [&](uint32_t) { return launch.shape.grid[1]; });
    fill(NctaidZ, [&](uint32_t) { return launch.shape.grid[2]; });
    fill(LaneId, [&](uint32_t l) { return l; });
    fill(WarpId, [&](uint32_t) { return warp->index; });
    fill(NwarpId, [&](uint32_t) { return warps.size(); });
    fill(LanemaskEq, [&](uint32_t l) { return 1u << l; });
    fill(LanemaskLt, [&](uint32_t l) { return (1u << l) - 1; });
    fill(LanemaskLe, [&](uint32_t l) { return (2u << l) - 1; });
    fill(LanemaskGt, [&](uint32_t l) { return ~((2u << l) - 1); });
    fill(LanemaskGe, [&](uint32_t l) { return ~((1u << l) - 1); });
    fill(DynamicSmemSize, [&](uint32_t) { return launch.shape.dynamicShared; });
    fill(TotalSmemSize, [&](uint32_t) { return shared.size() + sharedStart; });
    fill(SmId, [&](uint32_t) { return 0; });
    fill(NsmId, [&](uint32_t) { return 132; });
    fill(Zero32, [&](uint32_t) { return 0; });
    fill(One32, [&](uint32_t) { return 1; });
    if (uint32_t offset = kernel.specials[GridId64])
      std::fill_n(warp->lanes<uint64_t>(offset), 32, uint64_t{1});
  }
}

bool Block::run(uint64_t budget) {
  uint64_t before = counters.instructions;
  while (true) {
    bool moved = false, living = false;
    for (size_t i = 0; i < warps.size(); ++i) {
      Warp &warp = *warps[i];
      moved |= warp.run(quantum);
      living |= warp.alive != 0;
    }
    if (!living) {
      // What is still under way ends with the block.
      for (PendingWork &each : pending)
        each.run();
      ++counters.blocks;
      return true;
    }
    if (!moved && !helpOut())
      deadlock();
    uint64_t used = counters.instructions - before;
    if (used >= stepsLeft)
      warps[0]->fault(0, "expects to end within ", launch.options.maxInstructions,
                      " instructions of a block, which is the launch's limit");
    if (used >= budget) {
      stepsLeft -= used;
      return false;
    }
  }
}

bool Block::helpOut() {
  // Late work: the newest that somebody waits for, else the newest.
  auto awaited = [&](uint64_t offset) {
    for (auto &warp : warps) {
      if (warp->alive && warp->waiting.kind == Wait::Transaction && warp->waiting.address == offset)
        return true;
      for (const Warp::Split &split : warp->others)
        if (split.waiting.kind == Wait::Transaction && split.waiting.address == offset)
          return true;
    }
    return false;
  };
  if (!pending.empty()) {
    size_t chosen = pending.size() - 1;
    for (size_t i = pending.size(); i-- > 0;)
      if (awaited(pending[i].barrier)) {
        chosen = i;
        break;
      }
    auto work = std::move(pending[chosen].run);
    pending.erase(pending.begin() + static_cast<ptrdiff_t>(chosen));
    work();
    ++progress;
    // A poll may see it.
    for (auto &warp : warps)
      if (warp->waiting.kind == Wait::Poll)
        warp->wake();
    return true;
  }
  for (auto &warp : warps)
    if (warp->alive && warp->rotate())
      return true;
  bool polled = false;
  for (auto &warp : warps)
    if (warp->alive && warp->waiting.kind == Wait::Poll) {
      warp->wake();
      polled = true;
    }
  if (!polled)
    return false;
  // A poll without any effect of anybody for long is no progress.
  idle = pollProgress == progress ? idle + 1 : 0;
  pollProgress = progress;
  return idle < idlePolls;
}

Step Block::barrier(Warp &warp, const Instruction &in, uint32_t mask, uint32_t id,
                    uint32_t expected, bool sync, bool aligned) {
  uint32_t lane = __builtin_ctz(mask);
  if (aligned)
    warp.requireAligned(in, mask);
  if (id >= 16)
    warp.fault(lane, "expects a barrier from 0 to 15, got ", id);
  if (expected % 32)
    warp.fault(lane, "expects a number of threads that is a multiple of 32, got ", expected);
  NamedBarrier &barrier = barriers[id];
  if (!barrier.arrived) {
    barrier.expected = expected;
    barrier.line = in.line;
  } else if (barrier.expected != expected) {
    warp.fault(lane, "expects barrier ", id, " to be used with one number of threads, got ",
               expected ? std::to_string(expected) : "all", " here and ",
               barrier.expected ? std::to_string(barrier.expected) : "all", " at line ",
               barrier.line);
  }
  if (!sync && !expected)
    warp.fault(lane, "expects a number of threads");
  barrier.arrived += aligned && expected ? 32 : __builtin_popcount(mask);
  if (expected && barrier.arrived > expected)
    warp.fault(lane, "expects ", expected, " threads at barrier ", id, ", got ", barrier.arrived);
  barrier.knowledge.join(warp.release(mask));
  if (!sync) {
    ++warp.pc;
    checkBarrier(id);
    return Step::Jump;
  }
  ++barrier.syncing;
  Wait reason;
  reason.kind = Wait::Barrier;
  reason.barrier = id;
  warp.waiting = reason;
  checkBarrier(id);
  return Step::Stop;
}

void Block::checkBarrier(uint32_t id) {
  NamedBarrier &barrier = barriers[id];
  uint32_t needed = barrier.expected;
  if (!needed)
    for (auto &warp : warps)
      needed += __builtin_popcount(warp->alive);
  if (!barrier.arrived || barrier.arrived < needed)
    return;
  NamedBarrier done = std::move(barrier);
  barriers.erase(id);
  ++counters.barriers;
  ++progress;
  for (auto &warp : warps) {
    auto finish = [&](uint32_t &place, uint32_t mask, Wait &wait) {
      if (wait.kind != Wait::Barrier || wait.barrier != id)
        return false;
      const Instruction &in = kernel.code[place];
      if (in.flags & BarrierReduces) {
        if (in.width == 0) { // .popc into a register
          uint32_t *lanes = warp->lanes<uint32_t>(in.d);
          forLanes(mask, [&](uint32_t lane) { lanes[lane] = done.reduction; });
        } else {
          bool all = done.reduction == done.reductionCount, any = done.reduction != 0;
          warp->setPredicate(in.d, mask, (in.width == 1 ? all : any) ? mask : 0);
        }
      }
      wait = {};
      ++place;
      warp->acquire(mask, done.knowledge);
      if (mask == warp->alive)
        warp->synchronise(mask);
      return true;
    };
    if (!warp->alive)
      continue;
    bool any = finish(warp->pc, warp->active, warp->waiting);
    for (Warp::Split &split : warp->others)
      any |= finish(split.pc, split.mask, split.waiting);
    if (any)
      warp->sortSplits();
  }
}

MemoryBarrier &Block::memoryBarrier(Warp &warp, uint32_t lane, uint64_t offset) {
  auto found = memoryBarriers.find(offset);
  if (found == memoryBarriers.end())
    warp.fault(lane, "expects an mbarrier that mbarrier.init has made at shared address ",
               hex(offset + sharedStart), ", got none");
  MemoryBarrier &barrier = found->second;
  bool ordered = (barrier.warp == warp.index && barrier.lane == lane) ||
                 warp.knows.happened[barrier.warp].covers(barrier.lane, barrier.tick);
  if (const Knowledge *partial = warp.partialOf(lane))
    ordered |= partial->happened[barrier.warp].covers(barrier.lane, barrier.tick);
  if (!ordered && launch.options.checkShared)
    warp.fault(lane, "race on the mbarrier at shared address ", hex(offset + sharedStart),
               ": expects a barrier between this and its mbarrier.init by thread ",
               threadName(barrier.warp, barrier.lane), " at line ", barrier.line);
  return barrier;
}

void Block::checkPhase(uint64_t offset, MemoryBarrier &barrier) {
  if (barrier.pending || barrier.transactions)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
  barrier.completed.join(barrier.current);
  barrier.current.clear();
  ++progress;
  wakeWaiters(offset, barrier.phase);
}

void Block::wakeWaiters(uint64_t offset, uint64_t phase) {
  for (auto &warp : warps) {
    bool any = false;
    auto finish = [&](Wait &wait) {
      if (wait.kind == Wait::Transaction && wait.address == offset && wait.phase < phase) {
        wait = {};
        any = true;
      }
    };
    finish(warp->waiting);
    for (Warp::Split &split : warp->others)
      finish(split.waiting);
    if (any)
      warp->sortSplits();
  }
}

std::string Block::blockName() const {
  return text("(", position[0], ",", position[1], ",", position[2], ")");
}

std::string Block::threadName(uint32_t warp, uint32_t lane) const {
  const uint32_t *size = launch.shape.block;
  uint32_t thread = warp * 32 + (lane == manyLanes ? 0 : lane);
  std::string name = text("(", thread % size[0], ",", thread / size[0] % size[1], ",",
                          thread / size[0] / size[1], ")");
  return lane == manyLanes ? text("of warp ", warp) : name;
}

void Block::deadlock() {
  std::ostringstream out;
  out << kernel.module->file() << ": " << kernel.function->name << ", block " << blockName()
      << ": deadlock: no thread can go on";
  for (auto &warp : warps) {
    auto show = [&](uint32_t place, uint32_t mask, const Wait &wait) {
      const Instruction &in = kernel.code[place];
      out << "\n  warp " << warp->index << ", lanes " << hex(mask) << ", line " << in.line << ": ";
      if (wait.kind == Wait::Barrier) {
        const NamedBarrier &barrier = barriers[wait.barrier];
        out << "waits at barrier " << wait.barrier << ", where " << barrier.arrived << " of "
            << (barrier.expected ? barrier.expected : aliveThreads()) << " threads have arrived";
      } else if (wait.kind == Wait::Transaction) {
        const MemoryBarrier &barrier = memoryBarriers[wait.address];
        out << "waits for phase " << wait.phase << " of the mbarrier at shared address "
            << hex(wait.address + sharedStart) << ", which is in phase " << barrier.phase
            << " and lacks " << barrier.pending << " of " << barrier.expected << " arrivals and "
            << barrier.transactions << " bytes";
      } else if (wait.kind == Wait::Registers) {
        out << "waits for registers of setmaxnreg.inc, of which " << registerPool << " are free";
      } else if (wait.kind == Wait::Poll) {
        out << "polls without end";
      } else {
        out << "waits for other lanes of its warp";
      }
    };
    if (warp->alive) {
      show(warp->pc, warp->active, warp->waiting);
      for (const Warp::Split &split : warp->others)
        show(split.pc, split.mask, split.waiting);
    }
  }
  throw Error(out.str());
}

uint32_t Block::aliveThreads() const {
  uint32_t count = 0;
  for (auto &warp : warps)
    count += __builtin_popcount(warp->alive);
  return count;
}

} // namespace fovea::emulator
