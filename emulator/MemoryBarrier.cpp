// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarrier objects (PTX ISA 9.0, "mbarrier"). A phase is complete when neither arrivals nor bytes
// are missing; the next begins at once with the expected number of arrivals. A wait by parity P
// succeeds unless the phase in progress has parity P. try_wait suspends its threads until the phase
// is complete, as it may; test_wait does not.
#include "emulator/Async.h"
#include "emulator/LoadStore.h"

namespace fovea::emulator {

void arrive(Warp &warp, uint32_t lane, uint64_t offset, MemoryBarrier &barrier, uint32_t count,
            const Knowledge &given) {
  if (count > barrier.pending)
    warp.fault(lane, "arrives ", count, " times at the mbarrier at shared address ",
               hex(offset + sharedStart), ", which expects ", barrier.pending, " of its ",
               barrier.expected, " arrivals in this phase");
  barrier.pending -= count;
  barrier.current.join(given);
  warp.block.checkPhase(offset, barrier);
}

namespace {
constexpr int64_t maxTransactions = (1 << 20) - 1;
constexpr uint32_t maxCount = (1 << 20) - 1;
enum WaitFlags : uint8_t { Parity = 16, Try = 32, Relaxed = 64 };

uint64_t place(Warp &warp, uint32_t lane, uint64_t address, bool generic) {
  if (generic && resolve(address) != Space::Shared)
    warp.fault(lane, "expects an mbarrier in shared memory");
  return warp.block.sharedOffset(warp, lane, address, 8, 8, "uses an mbarrier of");
}
bool isGeneric(const Instruction &in) { return in.count == 1; }

Step init(Warp &warp, const Instruction &in, uint32_t mask) {
  Block &block = warp.block;
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  const uint32_t *counts = warp.lanes<uint32_t>(in.b);
  forLanes(mask, [&](uint32_t lane) {
    uint64_t offset = place(warp, lane, addresses[lane], isGeneric(in));
    if (!counts[lane] || counts[lane] > maxCount)
      warp.fault(lane, "expects a number of arrivals from 1 to ", maxCount, ", got ", counts[lane]);
    if (block.memoryBarriers.count(offset))
      warp.fault(lane, "makes an mbarrier at shared address ", hex(offset + sharedStart),
                 ", where one is; expects mbarrier.inval before");
    // A write like any other, until others may use the object.
    uint64_t zero = 0;
    block.writeShared(warp, lane, offset, &zero, 8, block.access(warp, lane));
    block.shared.setBarrier(offset, true);
    MemoryBarrier &barrier = block.memoryBarriers[offset];
    barrier.index = block.nextBarrierIndex++;
    barrier.expected = barrier.pending = counts[lane];
    barrier.line = in.line;
    barrier.warp = warp.index;
    barrier.lane = static_cast<uint8_t>(lane);
    barrier.tick = block.tick;
  });
  return Step::Next;
}

Step inval(Warp &warp, const Instruction &in, uint32_t mask) {
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  forLanes(mask, [&](uint32_t lane) {
    uint64_t offset = place(warp, lane, addresses[lane], isGeneric(in));
    warp.block.memoryBarrier(warp, lane, offset);
    for (auto &other : warp.block.warps)
      if (other->waiting.kind == Wait::Transaction && other->waiting.address == offset)
        warp.fault(lane, "invalidates the mbarrier at shared address ", hex(offset + sharedStart),
                   " while warp ", other->index, " waits for it");
    warp.block.memoryBarriers.erase(offset);
    warp.block.shared.setBarrier(offset, false);
  });
  return Step::Next;
}

void addBytes(Warp &warp, uint32_t lane, uint64_t offset, MemoryBarrier &barrier, int64_t bytes) {
  barrier.transactions += bytes;
  if (barrier.transactions > maxTransactions || barrier.transactions < -maxTransactions)
    warp.fault(lane, "expects at most ", maxTransactions,
               " bytes in flight for the mbarrier at shared address ", hex(offset + sharedStart),
               ", got ", barrier.transactions);
}

/// arrive, arrive_drop, with expect_tx; expect_tx and complete_tx alone.
struct Arrival : Details {
  bool arrives = true, drops = false, expects = false, completes = false, releases = true;
  uint32_t target = 0;           // of the state
  uint32_t count = 0, bytes = 0; // offsets, zero if not given
};

Step arriveLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const Arrival &form = *static_cast<const Arrival *>(in.details);
  Block &block = warp.block;
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  Knowledge given;
  if (form.arrives && form.releases)
    given = warp.release(mask);
  forLanes(mask, [&](uint32_t lane) {
    uint64_t offset = place(warp, lane, addresses[lane], isGeneric(in));
    MemoryBarrier &barrier = block.memoryBarrier(warp, lane, offset);
    if (form.bytes) {
      int64_t bytes = warp.lanes<uint32_t>(form.bytes)[lane];
      addBytes(warp, lane, offset, barrier, form.completes ? -bytes : bytes);
    }
    if (form.target)
      warp.lanes<uint64_t>(form.target)[lane] = barrier.phase;
    if (!form.arrives) {
      block.checkPhase(offset, barrier);
      return;
    }
    uint32_t count = form.count ? warp.lanes<uint32_t>(form.count)[lane] : 1;
    if (!count)
      warp.fault(lane, "expects to arrive at least once");
    if (form.drops) {
      if (count > barrier.expected)
        warp.fault(lane, "drops more arrivals than the mbarrier expects");
      barrier.expected -= count;
    }
    arrive(warp, lane, offset, barrier, count, given);
  });
  return Step::Next;
}

Step waitLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  Block &block = warp.block;
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  uint32_t done = 0, missing = 0;
  Wait reason;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t offset = place(warp, lane, addresses[lane], isGeneric(in));
    MemoryBarrier &barrier = block.memoryBarrier(warp, lane, offset);
    bool complete;
    if (in.flags & Parity) {
      uint32_t parity = warp.lanes<uint32_t>(in.b)[lane];
      if (parity > 1)
        warp.fault(lane, "expects a parity of 0 or 1, got ", parity);
      complete = (barrier.phase & 1) != parity;
    } else {
      complete = barrier.phase > warp.lanes<uint64_t>(in.b)[lane];
    }
    if (complete) {
      done |= 1u << lane;
    } else {
      missing |= 1u << lane;
      reason.kind = Wait::Transaction;
      reason.address = offset;
      reason.phase = barrier.phase;
    }
  });
  if (missing && (in.flags & Try))
    return warp.wait(reason);
  if (!(in.flags & Relaxed) && done) {
    // Lanes mostly wait for one barrier.
    uint32_t left = done;
    while (left) {
      uint32_t first = __builtin_ctz(left), same = 0;
      forLanes(left, [&](uint32_t lane) {
        if (addresses[lane] == addresses[first])
          same |= 1u << lane;
      });
      uint64_t offset = place(warp, first, addresses[first], isGeneric(in));
      warp.acquire(same, block.memoryBarriers[offset].completed);
      left &= ~same;
    }
  }
  if (in.d)
    warp.setPredicate(in.d, mask, done);
  if (missing) {
    ++warp.pc;
    reason.kind = Wait::Poll;
    return warp.wait(reason);
  }
  return Step::Next;
}

void mbarrier(Decoder &d) {
  d.requireArchitecture(80);
  // An mbarrier has eight bytes.
  d.sharedAccess(Space::Shared, 8);
  int kind = d.takeOneOf({"init", "inval", "arrive", "arrive_drop", "expect_tx", "complete_tx",
                          "test_wait", "try_wait", "pending_count"});
  if (kind < 0)
    d.unsupported();
  if (kind == 8)
    d.unsupported("mbarrier.pending_count is not supported");
  auto address = [&](size_t i) {
    Space space = d.takeSpace();
    if (space != Space::Shared && space != Space::Generic)
      d.unsupported();
    decodeAddress(d, d.operand(i), space);
    d.in.count = space == Space::Generic;
    d.take("b64");
  };
  if (kind == 0) {
    d.requireCount(2, 2);
    address(0);
    d.in.b = d.source(d.operand(1), Type::U32);
    return d.setHandler(init);
  }
  if (kind == 1) {
    d.requireCount(1, 1);
    address(0);
    return d.setHandler(inval);
  }
  if (kind <= 5) {
    Arrival &form = d.addDetails<Arrival>();
    form.arrives = kind <= 3;
    form.drops = kind == 3;
    form.completes = kind == 5;
    if (form.arrives && d.take("noComplete"))
      d.unsupported("mbarrier.arrive.noComplete is not supported");
    form.expects = kind == 4 || (form.arrives && d.take("expect_tx"));
    if (d.take("relaxed"))
      form.releases = false;
    else
      d.take("release");
    d.takeOneOf({"cta", "cluster"});
    size_t next = 0;
    if (form.arrives && d.operand(0).kind != Operand::Address) {
      form.target = d.destination(d.operand(0), 64);
      next = 1;
    }
    address(next++);
    if (form.expects || form.completes) {
      d.requireCount(next + 1, next + 1);
      form.bytes = d.source(d.operand(next), Type::U32);
    } else {
      d.requireCount(next, next + 1);
      if (d.count() > next)
        form.count = d.source(d.operand(next), Type::U32);
    }
    return d.setHandler(arriveLanes);
  }
  uint8_t flags = kind == 7 ? Try : 0;
  if (kind == 7)
    d.requireArchitecture(90);
  if (d.take("parity"))
    flags |= Parity;
  if (d.take("relaxed"))
    flags |= Relaxed;
  else
    d.take("acquire");
  d.takeOneOf({"cta", "cluster"});
  d.requireCount(3, kind == 7 ? 4 : 3);
  address(1);
  d.in.flags |= flags;
  d.in.b = flags & Parity ? d.source(d.operand(2), Type::U32) : d.source(d.operand(2), Type::B64);
  d.in.d = d.predicate(d.operand(0));
  d.setHandler(waitLanes);
}
} // namespace

void addMemoryBarriers(DecodeTable &table) { table["mbarrier"] = mbarrier; }

} // namespace fovea::emulator
