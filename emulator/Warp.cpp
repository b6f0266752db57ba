// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stepping, splitting and joining lanes, and what a warp knows of others' accesses.
#include "emulator/Warp.h"

#include "emulator/Block.h"
#include "emulator/Error.h"

#include <algorithm>

namespace fovea::emulator {

namespace {
constexpr size_t alignment = 64;
}

Warp::Warp(Block &block, const Kernel &kernel, uint32_t index)
    : block(block), kernel(kernel), index(index) {
  memory.reset(new uint8_t[kernel.storageBytes + alignment]);
  uintptr_t raw = reinterpret_cast<uintptr_t>(memory.get());
  storage = memory.get() + ((alignment - raw % alignment) % alignment);
  if (!kernel.constants.empty())
    std::memcpy(storage + kernel.constantOffset, kernel.constants.data(), kernel.constants.size());
  if (kernel.localBytes) {
    localMemory.reset(new uint8_t[32 * kernel.localBytes]);
    local = localMemory.get();
  }
}

void Warp::start(uint32_t threads) {
  // Registers that nobody wrote hold NaN rather than the last block's numbers.
  std::memset(storage, 0xff, kernel.registerBytes);
  alive = threads >= 32 ? ~0u : (1u << threads) - 1;
  active = alive;
  pc = 0;
  executed = 0;
  waiting = {};
  others.clear();
  updateLimit();
  knows.clear();
  partial.clear();
  partialLanes = 0;
  copies = bulk = products = {};
  std::fill(std::begin(copiesWaited), std::end(copiesWaited), 0);
  pendingRegisters.clear();
  if (kernel.usesWgmma)
    pendingRegisters.resize(kernel.registerBytes / 64);
  fencedSinceWait = false;
  productCount = 0;
  localWritten.assign(32 * kernel.localBytes, 0);
}

bool Warp::run(uint64_t budget) {
  if (!alive || waiting.kind != Wait::None)
    return false;
  const Instruction *code = kernel.code.data();
  const uint64_t end = executed + budget;
  const uint64_t begin = executed;
  uint64_t threadCount = 0;
  for (;;) {
    if (pc >= limit) {
      if (!reconverge())
        break;
      continue;
    }
    const Instruction &in = code[pc];
    uint32_t mask = active;
    if (in.predication) {
      uint32_t set = *reinterpret_cast<uint32_t *>(storage + in.predicate);
      mask &= in.predication == 1 ? set : ~set;
      if (!mask) {
        ++executed;
        ++pc;
        continue;
      }
    }
    ++executed;
    threadCount += mask == ~0u ? 32 : __builtin_popcount(mask);
    Step step = in.run(*this, in, mask);
    if (__builtin_expect(step == Step::Next, 1)) {
      ++pc;
      continue;
    }
    if (!alive)
      break;
    if (step == Step::Stop && waiting.kind != Wait::None)
      break;
    if (executed >= end)
      break;
  }
  block.counters.instructions += executed - begin;
  block.counters.threadInstructions += threadCount;
  return executed != begin;
}

void Warp::insert(Split split) {
  auto place = std::upper_bound(others.begin(), others.end(), split.pc,
                                [](uint32_t a, const Split &b) { return a < b.pc; });
  others.insert(place, split);
}

void Warp::updateLimit() {
  limit = ~0u;
  for (const Split &other : others)
    if (other.waiting.kind == Wait::None ||
        (other.waiting.kind == Wait::WarpBarrier && other.pc >= pc)) {
      limit = other.pc;
      return;
    }
}

void Warp::switchTo(std::vector<Split>::iterator other) {
  Split next = *other;
  others.erase(other);
  insert({pc, active, waiting});
  pc = next.pc;
  active = next.mask;
  waiting = {};
  updateLimit();
}

bool Warp::reconverge() {
  for (auto other = others.begin(); other != others.end(); ++other) {
    bool ready = other->waiting.kind == Wait::None;
    if (other->pc == pc && (ready || other->waiting.kind == Wait::WarpBarrier)) {
      active |= other->mask;
      others.erase(other);
      updateLimit();
      return true;
    }
    if (ready && other->pc < pc) {
      switchTo(other);
      return true;
    }
  }
  updateLimit();
  return true;
}

void Warp::takeLowest() {
  // The lowest that can run; if none can, the lowest.
  auto best = others.begin();
  for (auto other = others.begin(); other != others.end(); ++other)
    if (other->waiting.kind == Wait::None || other->waiting.kind == Wait::WarpBarrier) {
      best = other;
      break;
    }
  pc = best->pc;
  active = best->mask;
  waiting = best->waiting;
  if (waiting.kind == Wait::WarpBarrier)
    waiting = {};
  others.erase(best);
  updateLimit();
}

void Warp::sortSplits() {
  std::sort(others.begin(), others.end(),
            [](const Split &a, const Split &b) { return a.pc < b.pc; });
  updateLimit();
}

bool Warp::rotate() {
  for (auto other = others.begin(); other != others.end(); ++other)
    if (other->waiting.kind == Wait::None || other->waiting.kind == Wait::WarpBarrier) {
      switchTo(other);
      return true;
    }
  return false;
}

Step Warp::branch(uint32_t taken, uint32_t target) {
  uint32_t rest = active & ~taken;
  if (!rest) {
    pc = target;
  } else {
    ++block.counters.divergentBranches;
    uint32_t next = pc + 1;
    if (target < next) {
      insert({next, rest, {}});
      pc = target;
      active = taken;
    } else {
      insert({target, taken, {}});
      pc = next;
      active = rest;
    }
  }
  if (!others.empty())
    updateLimit();
  return Step::Jump;
}

Step Warp::branchEach(uint32_t mask, const uint32_t *targets) {
  uint32_t rest = active & ~mask;
  if (rest)
    insert({pc + 1, rest, {}});
  for (uint32_t left = mask; left;) {
    uint32_t target = targets[__builtin_ctz(left)], together = 0;
    for (uint32_t lane = 0; lane < 32; ++lane)
      if ((left >> lane & 1) && targets[lane] == target)
        together |= 1u << lane;
    insert({target, together, {}});
    left &= ~together;
  }
  if (others.size() > 1)
    ++block.counters.divergentBranches;
  takeLowest();
  return Step::Jump;
}

Step Warp::exit(uint32_t mask) {
  for (const AsyncGroup &group : bulk.committed)
    if (group.lanes & mask)
      fault(__builtin_ctz(mask), "ends while a bulk copy out of shared memory is in flight; "
                                 "expects cp.async.bulk.wait_group before");
  if (!products.committed.empty() || products.open.lanes)
    fault(__builtin_ctz(mask), "ends while a wgmma is in flight; expects wgmma.wait_group before");
  alive &= ~mask;
  active &= ~mask;
  ++block.progress;
  for (auto &[id, barrier] : block.barriers)
    if (barrier.arrived) {
      block.checkBarrier(id);
      break;
    }
  if (active)
    return Step::Next;
  if (others.empty())
    return Step::Stop;
  takeLowest();
  return waiting.kind == Wait::None ? Step::Jump : Step::Stop;
}

Step Warp::wait(Wait reason) {
  if (reason.kind == Wait::WarpBarrier) {
    // Lanes elsewhere have to come here; another split runs until they do.
    for (auto other = others.begin(); other != others.end(); ++other)
      if (other->waiting.kind == Wait::None) {
        Split next = *other;
        others.erase(other);
        insert({pc, active, reason});
        pc = next.pc;
        active = next.mask;
        updateLimit();
        return Step::Jump;
      }
    std::string where;
    for (const Split &other : others)
      where += text(", lanes ", hex(other.mask), " wait at line ", kernel.code[other.pc].line);
    fault(__builtin_ctz(active), "expects more threads of the warp to come here than lanes ",
          hex(active), where);
  }
  waiting = reason;
  return Step::Stop;
}

void Warp::requireAligned(const Instruction &in, uint32_t mask) {
  if (mask == alive)
    return;
  std::string where;
  for (const Split &other : others)
    where += text(where.empty() ? "" : ", ", "lanes ", hex(other.mask), " are at line ",
                  kernel.code[other.pc].line);
  if (where.empty())
    where = text("lanes ", hex(alive & ~mask), " are predicated off");
  fault(__builtin_ctz(mask), "expects all threads of the warp (lanes ", hex(alive),
        ") to execute this together, got lanes ", hex(mask), ": ", where);
}

void Warp::faultText(uint32_t lane, const std::string &message) {
  const Instruction &in = kernel.code[pc];
  throw Error(text(kernel.place(in), ": ", kernel.function->name, ", block ", block.blockName(),
                   ", thread ", block.threadName(index, lane), ": ", message, "\n  ",
                   kernel.statement(in).source));
}

Mark Warp::ownCopies(uint32_t mask) const {
  uint32_t last = 0;
  forLanes(mask, [&](uint32_t lane) { last = std::max(last, copiesWaited[lane]); });
  return mask == alive ? Mark{last, 0, 0} : Mark{0, mask, last};
}

void Warp::synchronise(uint32_t mask) {
  if (Mark copied = ownCopies(mask); copied.base || copied.tick)
    knows.happened.at(agentOf(Engine::CpAsync, index)).join(copied);
  if (mask == alive) {
    if (partialLanes) {
      knows.join(partial);
      partial.clear();
      partialLanes = 0;
    }
    knows.happened.at(index).base = block.tick;
  } else {
    knows.happened.at(index).join({0, mask, block.tick});
    if (mask & partialLanes)
      partialLanes |= mask;
  }
  ++block.tick;
}

Knowledge Warp::release(uint32_t mask) {
  Knowledge given = knows;
  if (mask & partialLanes)
    given.join(partial);
  given.happened.at(index).join(mask == alive ? Mark{block.tick, 0, 0} : Mark{0, mask, block.tick});
  if (Mark copied = ownCopies(mask); copied.base || copied.tick)
    given.happened.at(agentOf(Engine::CpAsync, index)).join(copied);
  ++block.tick;
  ++block.progress;
  return given;
}

void Warp::acquire(uint32_t mask, const Knowledge &other) {
  if (mask == alive) {
    knows.join(other);
  } else {
    partial.join(other);
    partialLanes |= mask;
  }
}

void Warp::proxyFence(uint32_t mask) {
  Mark copied = ownCopies(mask);
  if (copied.base || copied.tick)
    (mask == alive ? knows : partial).fenced.at(agentOf(Engine::CpAsync, index)).join(copied);
  if (mask == alive) {
    if (partialLanes)
      knows.fenced.join(partial.fenced);
    knows.fenced.join(knows.happened);
    knows.fenced.at(index).join({block.tick, 0, 0});
  } else {
    if (mask & partialLanes)
      partial.fenced.join(partial.happened);
    partial.fenced.join(knows.happened);
    partial.fenced.at(index).join({0, mask, block.tick});
    partialLanes |= mask;
  }
  ++block.tick;
}

} // namespace fovea::emulator
