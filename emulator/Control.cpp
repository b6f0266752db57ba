// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches and ends, barriers of threads, fences, setmaxnreg, griddepcontrol (PTX ISA 9.0,
// "Control Flow Instructions", "Parallel Synchronization and Communication Instructions").
#include "emulator/Block.h"
#include "emulator/Decode.h"
#include "emulator/Warp.h"

namespace fovea::emulator {

namespace {
Step nothing(Warp &, const Instruction &, uint32_t) { return Step::Next; }

// --- branches
Step braLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  return warp.branch(mask, static_cast<uint32_t>(in.immediate));
}
void bra(Decoder &d) {
  d.take("uni");
  d.in.immediate = d.label(d.operand(0).name);
  d.setHandler(braLanes);
}

struct Targets : Details {
  std::vector<uint32_t> places;
};
Step brxLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const Targets &targets = *static_cast<const Targets *>(in.details);
  const uint32_t *index = warp.lanes<uint32_t>(in.a);
  uint32_t places[32] = {};
  forLanes(mask, [&](uint32_t lane) {
    if (index[lane] >= targets.places.size())
      warp.fault(lane, "expects an index below ", targets.places.size(), ", got ", index[lane]);
    places[lane] = targets.places[index[lane]];
  });
  return warp.branchEach(mask, places);
}
void brx(Decoder &d) {
  if (!d.take("idx"))
    d.unsupported();
  d.take("uni");
  d.in.a = d.source(d.operand(0), Type::U32);
  Targets &targets = d.addDetails<Targets>();
  for (const std::string &name : *d.branchTargets(d.operand(1).name))
    targets.places.push_back(d.label(name));
  d.setHandler(brxLanes);
}

Step exitLanes(Warp &warp, const Instruction &, uint32_t mask) { return warp.exit(mask); }
void ret(Decoder &d) {
  d.take("uni");
  d.requireCount(0, 0);
  d.setHandler(exitLanes);
}
Step trapLanes(Warp &warp, const Instruction &, uint32_t mask) {
  warp.fault(__builtin_ctz(mask), "the kernel trapped");
}

// --- barriers
struct BarrierForm : Details {
  bool sync = false, aligned = false, predicated = false, negated = false;
  uint32_t predicate = 0;
};

Step barrierLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const BarrierForm &form = *static_cast<const BarrierForm *>(in.details);
  uint32_t first = __builtin_ctz(mask);
  const uint32_t *ids = warp.lanes<uint32_t>(in.a);
  const uint32_t *counts = in.b ? warp.lanes<uint32_t>(in.b) : nullptr;
  forLanes(mask, [&](uint32_t lane) {
    if (ids[lane] != ids[first] || (counts && counts[lane] != counts[first]))
      warp.fault(lane, "expects one barrier for all threads of a warp");
  });
  if (counts && !counts[first])
    warp.fault(first, "expects a number of threads above zero");
  if (in.flags & BarrierReduces) {
    NamedBarrier &barrier = warp.block.barriers[ids[first]];
    uint32_t set = warp.predicate(form.predicate) ^ (form.negated ? ~0u : 0u);
    barrier.reduction += __builtin_popcount(set & mask);
    barrier.reductionCount += __builtin_popcount(mask);
  }
  return warp.block.barrier(warp, in, mask, ids[first], counts ? counts[first] : 0, form.sync,
                            form.aligned);
}

Step warpBarrierLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *members = warp.lanes<uint32_t>(in.a);
  uint32_t first = __builtin_ctz(mask), wanted = members[first];
  forLanes(mask, [&](uint32_t lane) {
    if (!(members[lane] >> lane & 1))
      warp.fault(lane, "expects the thread itself to be in its mask, got ", hex(members[lane]));
    if (members[lane] != wanted)
      warp.fault(lane, "expects one mask for all threads, got ", hex(members[lane]), " and ",
                 hex(wanted));
  });
  if (wanted & warp.alive & ~mask) {
    Wait wait;
    wait.kind = Wait::WarpBarrier;
    return warp.wait(wait);
  }
  warp.synchronise(mask);
  return Step::Next;
}

void barrier(Decoder &d) {
  bool old = d.statement->opcode == "bar";
  if (d.take("warp")) {
    if (!d.take("sync"))
      d.unsupported();
    d.in.a = d.source(d.operand(0), Type::B32);
    return d.setHandler(warpBarrierLanes);
  }
  if (d.take("cluster")) {
    // A cluster of one block: arrive and wait together are a barrier of the block.
    d.takeOneOf({"acquire", "release", "relaxed"});
    bool aligned = d.take("aligned");
    d.requireCount(0, 0);
    if (d.take("arrive"))
      return d.setHandler(nothing);
    if (!d.take("wait"))
      d.unsupported();
    BarrierForm &form = d.addDetails<BarrierForm>();
    form.sync = true;
    form.aligned = aligned;
    d.in.a = d.constant(32, 15);
    return d.setHandler(barrierLanes);
  }
  d.take("cta");
  BarrierForm &form = d.addDetails<BarrierForm>();
  form.aligned = d.take("aligned") || old;
  int kind = d.takeOneOf({"sync", "arrive", "red"});
  if (kind < 0)
    d.wrong("expects ", d.statement->opcode, " to say .sync, .arrive or .red");
  form.sync = kind != 1;
  size_t first = 0, last = d.count();
  if (kind == 2) {
    int op = d.takeOneOf({"popc", "and", "or"});
    if (op < 0)
      d.unsupported();
    d.take(op == 0 ? "u32" : "pred");
    d.requireCount(3, 4);
    d.in.width = static_cast<uint8_t>(op);
    d.in.flags = BarrierReduces;
    d.in.d = op == 0 ? d.destination(d.operand(0), 32) : d.predicate(d.operand(0));
    form.predicate = d.predicate(d.operand(last - 1), &form.negated);
    first = 1;
    --last;
  } else {
    d.requireCount(1, 2);
  }
  d.in.a = d.source(d.operand(first), Type::B32);
  d.in.b = last - first > 1 ? d.source(d.operand(first + 1), Type::B32) : 0;
  d.setHandler(barrierLanes);
}

// --- fences
Step initFence(Warp &warp, const Instruction &, uint32_t mask) {
  for (auto &[offset, barrier] : warp.block.memoryBarriers)
    if (barrier.warp == warp.index && (mask >> barrier.lane & 1))
      barrier.fenced = true;
  return Step::Next;
}
Step asyncFence(Warp &warp, const Instruction &in, uint32_t mask) {
  initFence(warp, in, mask);
  warp.proxyFence(mask);
  return Step::Next;
}

void fence(Decoder &d) {
  d.setHandler(nothing);
  if (d.take("mbarrier_init")) {
    d.take("release");
    d.take("cluster");
    return d.setHandler(initFence);
  }
  if (d.take("proxy")) {
    d.requireArchitecture(70);
    if (d.takeOneOf({"async", "async::generic", "async.global", "async.shared::cta"}) >= 0) {
      if (d.takeOneOf({"acquire", "release"}) >= 0)
        d.takeOneOf({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"});
      d.takeOneOf({"cta", "cluster", "gpu", "sys"});
      Space space = d.takeSpace();
      if (space == Space::Generic || space == Space::Shared)
        d.setHandler(asyncFence);
      return;
    }
    if (d.takeOneOf({"alias", "tensormap::generic"}) < 0)
      d.unsupported();
    d.takeOneOf({"acquire", "release"});
    d.takeOneOf({"cta", "cluster", "gpu", "sys"});
    return;
  }
  d.takeOneOf({"sc", "acq_rel", "acquire", "release"});
  d.takeOneOf({"sync_restrict::shared::cluster", "sync_restrict::shared::cta"});
  d.takeOneOf({"cta", "cluster", "gpu", "sys", "gl"});
  d.requireCount(0, 0);
}

// --- registers and grids
// Blocks of all registers of the multiprocessor: what a warp gives back another may take.
Step setRegisters(Warp &warp, const Instruction &in, uint32_t mask) {
  warp.requireAligned(in, mask);
  uint32_t wanted = static_cast<uint32_t>(in.immediate);
  uint32_t lane = __builtin_ctz(mask);
  // What ptxas gave the kernel is not known here: an increase that our share covers does nothing.
  if (in.flags && wanted <= warp.maxRegisters)
    return Step::Next;
  if (!in.flags && wanted > warp.maxRegisters)
    warp.fault(lane, "expects at most the warp's ", warp.maxRegisters, " registers, got ", wanted);
  int64_t more = 32 * (static_cast<int64_t>(wanted) - warp.maxRegisters);
  Block &block = warp.block;
  if (more > block.registerPool) {
    Wait wait;
    wait.kind = Wait::Registers;
    return warp.wait(wait);
  }
  block.registerPool -= more;
  warp.maxRegisters = wanted;
  ++block.progress;
  if (more < 0)
    for (auto &other : block.warps)
      if (other->waiting.kind == Wait::Registers)
        other->wake();
  return Step::Next;
}
void setmaxnreg(Decoder &d) {
  d.requireArchitecture(90);
  int kind = d.takeOneOf({"inc", "dec"});
  if (kind < 0 || !d.take("sync") || !d.take("aligned") || !d.take("u32"))
    d.unsupported();
  d.requireCount(1, 1);
  int64_t value = d.integer(d.operand(0), "number of registers");
  if (value < 24 || value > 256 || value % 8)
    d.wrong("expects a multiple of 8 from 24 to 256, got ", value);
  d.in.flags = kind == 0;
  d.in.immediate = value;
  d.setHandler(setRegisters);
}

void griddepcontrol(Decoder &d) {
  d.requireArchitecture(90);
  if (d.takeOneOf({"launch_dependents", "wait"}) < 0)
    d.unsupported();
  d.requireCount(0, 0);
  d.setHandler(nothing); // launches follow each other
}
} // namespace

void addControl(DecodeTable &table) {
  table["bra"] = bra;
  table["brx"] = brx;
  table["ret"] = table["exit"] = ret;
  table["trap"] = [](Decoder &d) { d.setHandler(trapLanes); };
  table["bar"] = table["barrier"] = barrier;
  table["fence"] = table["membar"] = fence;
  table["setmaxnreg"] = setmaxnreg;
  table["griddepcontrol"] = griddepcontrol;
  table["nanosleep"] = [](Decoder &d) {
    d.lastType();
    d.in.a = d.source(d.operand(0), Type::U32);
    d.setHandler(nothing);
  };
  table["pmevent"] = [](Decoder &d) {
    d.take("mask");
    d.setHandler(nothing);
  };
  table["call"] = [](Decoder &d) { d.unsupported("calls are not supported: inline the function"); };
}

} // namespace fovea::emulator
