// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async with its groups (PTX ISA 9.0, "cp.async"). A copy belongs to its thread; from issue to
// the wait for its group nobody may touch the bytes. It goes through the generic proxy. The source
// is read when the copy is issued, also if the bytes arrive late.
#include "emulator/Async.h"
#include "emulator/LoadStore.h"

namespace fovea::emulator {

void commitGroup(Warp &warp, AsyncQueue &queue, uint32_t mask) {
  if (queue.open.lanes & ~mask)
    warp.fault(__builtin_ctz(mask), "expects all threads of the warp that have open copies (lanes ",
               hex(queue.open.lanes), ") to commit them together, got lanes ", hex(mask));
  AsyncGroup group = std::move(queue.open);
  queue.open = {};
  group.lanes = mask;
  group.tick = warp.block.tick++;
  group.instruction = warp.executed;
  queue.committed.push_back(std::move(group));
}

std::vector<AsyncGroup> waitGroup(Warp &warp, const Instruction &in, AsyncQueue &queue,
                                  Engine engine, uint32_t mask, uint64_t keep) {
  if (!queue.committed.empty()) {
    Counters::Wait &wait = warp.block.counters.waits[in.line];
    uint64_t between = warp.executed - queue.committed.back().instruction;
    ++wait.count;
    wait.instructions += between;
    wait.fewest = std::min(wait.fewest, between);
  }
  // Groups of these lanes, the newest first.
  std::vector<AsyncGroup> done;
  uint64_t seen = 0;
  size_t last = queue.committed.size();
  for (; last > 0; --last)
    if ((queue.committed[last - 1].lanes & mask) && seen++ >= keep)
      break;
  uint32_t tick = 0;
  for (size_t i = 0; i < last;) {
    AsyncGroup &group = queue.committed[i];
    if (!(group.lanes & mask)) {
      ++i;
      continue;
    }
    for (auto &work : group.writes)
      work();
    tick = std::max(tick, group.tick);
    done.push_back(std::move(group));
    queue.committed.erase(queue.committed.begin() + static_cast<ptrdiff_t>(i));
    --last;
  }
  if (tick && engine == Engine::CpAsync) {
    // Each thread waits for its own copies only.
    forLanes(mask, [&](uint32_t lane) { warp.copiesWaited[lane] = tick; });
    ++warp.block.progress;
  } else if (tick) {
    Knowledge known;
    uint32_t agent = agentOf(engine, warp.index);
    known.happened.at(agent) = mask == warp.alive ? Mark{tick, 0, 0} : Mark{0, mask, tick};
    warp.acquire(mask, known);
    ++warp.block.progress;
  }
  return done;
}

namespace {
enum Flags : uint8_t { HasSize = 16, Ignores = 32, IgnoresNegated = 64 };

Step copy(Warp &warp, const Instruction &in, uint32_t mask) {
  Block &block = warp.block;
  uint64_t targets[32], sources[32];
  laneAddresses(warp, in, targets);
  const uint64_t *source = warp.lanes<uint64_t>(in.b);
  const uint32_t bytes = in.width;
  struct Piece {
    uint64_t offset;
    uint8_t data[16];
  };
  std::vector<Piece> pieces;
  bool late = isLate(warp);
  uint32_t reading = 0;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t offset = block.sharedOffset(warp, lane, targets[lane], bytes, bytes, "copies to");
    uint32_t size = bytes;
    if (in.flags & HasSize)
      size = warp.lanes<uint32_t>(in.c)[lane];
    if (size > bytes)
      warp.fault(lane, "expects a source of at most ", bytes, " bytes, got ", size);
    if ((in.flags & Ignores) &&
        ((warp.predicate(in.c) >> lane & 1) != (in.flags & IgnoresNegated ? 1u : 0u)))
      size = 0;
    Piece piece{offset, {}};
    sources[lane] =
        source[lane] + static_cast<uint64_t>(int64_t{static_cast<int32_t>(in.predicate2)});
    if (size) {
      reading |= 1u << lane;
      std::memcpy(piece.data, block.global(warp, lane, sources[lane], size, bytes, false, "copies"),
                  size);
    }
    Access access = block.access(warp, lane);
    access.agent = agentOf(Engine::CpAsync, warp.index);
    if (Conflict conflict = block.shared.write(offset, bytes, access, nullptr))
      block.report(warp, lane, conflict, "copies to", bytes, access);
    if (late)
      pieces.push_back(piece);
    else
      std::memcpy(block.shared.data() + offset, piece.data, bytes);
  });
  block.counters.cpAsyncBytes += uint64_t{bytes} * __builtin_popcount(reading);
  if (block.launch.options.count && reading) {
    countSectors(block, in, reading, sources, bytes, true);
    block.counters.globalLoadBytes -= uint64_t{bytes} * __builtin_popcount(reading);
  }
  warp.copies.open.lanes |= mask;
  if (late)
    warp.copies.open.writes.push_back([&block, pieces = std::move(pieces), bytes] {
      for (const Piece &piece : pieces)
        std::memcpy(block.shared.data() + piece.offset, piece.data, bytes);
    });
  return Step::Next;
}

Step commit(Warp &warp, const Instruction &, uint32_t mask) {
  commitGroup(warp, warp.copies, mask);
  return Step::Next;
}
Step wait(Warp &warp, const Instruction &in, uint32_t mask) {
  if (in.flags) // wait_all also commits
    commitGroup(warp, warp.copies, mask);
  waitGroup(warp, in, warp.copies, Engine::CpAsync, mask, static_cast<uint64_t>(in.immediate));
  return Step::Next;
}

/// The mbarrier learns when all copies of the thread so far are done.
Step arriveWhenDone(Warp &warp, const Instruction &in, uint32_t mask) {
  Block &block = warp.block;
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  if (warp.copies.open.lanes & ~mask)
    warp.fault(__builtin_ctz(mask), "expects all threads of the warp that have open copies to "
                                    "execute this together");
  std::vector<std::function<void()>> work;
  for (AsyncGroup &group : warp.copies.committed)
    for (auto &each : group.writes)
      work.push_back(std::move(each));
  for (auto &each : warp.copies.open.writes)
    work.push_back(std::move(each));
  for (AsyncGroup &group : warp.copies.committed)
    group.writes.clear();
  warp.copies.open.writes.clear();
  uint32_t tick = block.tick++;
  Knowledge given;
  given.happened.at(agentOf(Engine::CpAsync, warp.index)) =
      mask == warp.alive ? Mark{tick, 0, 0} : Mark{0, mask, tick};
  std::vector<uint64_t> offsets;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t offset = block.sharedOffset(warp, lane, addresses[lane], 8, 8, "arrives at");
    MemoryBarrier &barrier = block.memoryBarrier(warp, lane, offset);
    if (!in.count) // without .noinc the arrival is one more than expected
      ++barrier.pending;
    offsets.push_back(offset);
  });
  uint32_t lane = __builtin_ctz(mask);
  auto finish = [&warp, &block, work = std::move(work), given, offsets, lane] {
    for (auto &each : work)
      each();
    for (uint64_t offset : offsets)
      if (auto found = block.memoryBarriers.find(offset); found != block.memoryBarriers.end())
        arrive(warp, lane, offset, found->second, 1, given);
  };
  if (isLate(warp))
    block.pending.push_back({offsets[0], finish});
  else
    finish();
  return Step::Next;
}
} // namespace

void decodeCpAsync(Decoder &d) {
  d.requireArchitecture(80);
  if (d.take("commit_group")) {
    d.requireCount(0, 0);
    return d.setHandler(commit);
  }
  if (d.take("wait_all")) {
    d.requireCount(0, 0);
    d.in.flags = 1;
    return d.setHandler(wait);
  }
  if (d.take("wait_group")) {
    d.requireCount(1, 1);
    d.in.immediate = d.integer(d.operand(0), "number of groups");
    if (d.in.immediate < 0)
      d.wrong("expects a number of groups of at least zero, got ", d.in.immediate);
    return d.setHandler(wait);
  }
  if (d.take("mbarrier")) {
    if (!d.take("arrive"))
      d.unsupported();
    bool noinc = d.take("noinc");
    d.takeSpace();
    d.lastType();
    d.requireCount(1, 1);
    decodeAddress(d, d.operand(0), Space::Shared);
    d.in.count = noinc;
    return d.setHandler(arriveWhenDone);
  }
  bool all = d.take("ca");
  if (!all && !d.take("cg"))
    d.unsupported();
  if (!d.take("shared") && !d.take("shared::cta"))
    d.unsupported();
  if (!d.take("global"))
    d.unsupported();
  d.takeCacheHints();
  d.requireCount(3, 5);
  int64_t bytes = d.integer(d.operand(2), "size");
  if (!(bytes == 16 || (all && (bytes == 4 || bytes == 8))))
    d.wrong("expects a size of ", all ? "4, 8 or 16" : "16", " bytes, got ", bytes);
  d.in.width = static_cast<uint8_t>(bytes);
  decodeAddress(d, d.operand(0), Space::Shared);
  Decoder::AddressForm source = d.address(d.operand(1), Space::Global);
  if (!source.wide || source.offset != static_cast<int32_t>(source.offset))
    d.wrong("expects a global address of 64 bits and an offset of 32");
  d.in.b = source.base;
  d.in.predicate2 = static_cast<uint32_t>(source.offset);
  bool hint = d.has("L2::cache_hint");
  if (d.count() > (hint ? 4u : 3u)) {
    const Operand &third = d.operand(3);
    if (d.registerBits(third) == 1u) {
      d.in.c = d.predicate(third, IgnoresNegated);
      d.in.flags |= Ignores;
    } else {
      d.in.c = d.source(third, Type::U32);
      d.in.flags |= HasSize;
    }
  }
  d.sharedAccess(Space::Shared, static_cast<uint64_t>(bytes));
  d.setHandler(copy);
}

} // namespace fovea::emulator
