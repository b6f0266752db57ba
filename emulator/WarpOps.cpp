// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exchange between the lanes of a warp: shfl, vote, match, redux, activemask, elect (PTX ISA 9.0,
// "Parallel Synchronization and Communication Instructions"). Lanes that an instruction names wait
// for each other; to name a lane that never comes is a fault.
#include "emulator/LoadStore.h"

#include <algorithm>

namespace fovea::emulator {

namespace {
/// Checks the members of an instruction; a step if the split has to wait for others.
std::optional<Step> gather(Warp &warp, uint32_t mask, const uint32_t *members) {
  uint32_t first = __builtin_ctz(mask);
  uint32_t wanted = members[first];
  if (wanted == ~0u && mask == warp.alive) // the usual case
    return std::nullopt;
  forLanes(mask, [&](uint32_t lane) {
    if (!(members[lane] >> lane & 1))
      warp.fault(lane, "expects the thread itself to be in its mask, got ", hex(members[lane]));
  });
  if (members[first] & warp.alive & ~mask) {
    Wait wait;
    wait.kind = Wait::WarpBarrier;
    return warp.wait(wait);
  }
  return std::nullopt;
}

/// A register, or one with a predicate: `d|p`.
void takeTarget(Decoder &d) {
  const Operand &target = d.operand(0);
  bool isPair = target.kind == Operand::Pair;
  d.in.d = d.destination(isPair ? target.parts[0] : target, 32);
  if (isPair)
    d.in.predicate2 = d.predicate(target.parts[1]);
  d.in.count = isPair;
}

Step storeTarget(Warp &warp, const Instruction &in, uint32_t mask, const uint32_t *result,
                 uint32_t holds) {
  uint32_t *d = warp.lanes<uint32_t>(in.d);
  forLanes(mask, [&](uint32_t lane) { d[lane] = result[lane]; });
  if (in.count)
    warp.setPredicate(in.predicate2, mask, holds);
  return Step::Next;
}

// --- shfl
enum class Shuffle : uint8_t { Up, Down, Butterfly, Index };

template <Shuffle Mode> Step shfl(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *value = warp.lanes<uint32_t>(in.a), *shift = warp.lanes<uint32_t>(in.b),
                 *control = warp.lanes<uint32_t>(in.c),
                 *members = warp.lanes<uint32_t>(static_cast<uint32_t>(in.immediate));
  if (std::optional<Step> waits = gather(warp, mask, members))
    return *waits;
  uint32_t result[32], inside = 0;
  forLanes(mask, [&](uint32_t lane) {
    uint32_t clamp = control[lane] & 31, segment = control[lane] >> 8 & 31;
    uint32_t most = (lane & segment) | (clamp & ~segment), least = lane & segment;
    uint32_t b = shift[lane] & 31;
    int32_t source = 0;
    bool valid = false;
    switch (Mode) {
    case Shuffle::Up:
      source = static_cast<int32_t>(lane) - static_cast<int32_t>(b);
      valid = source >= static_cast<int32_t>(most);
      break;
    case Shuffle::Down:
      source = static_cast<int32_t>(lane + b);
      valid = source <= static_cast<int32_t>(most);
      break;
    case Shuffle::Butterfly:
      source = static_cast<int32_t>(lane ^ b);
      valid = source <= static_cast<int32_t>(most);
      break;
    case Shuffle::Index:
      source = static_cast<int32_t>(least | (b & ~segment & 31));
      valid = source <= static_cast<int32_t>(most);
      break;
    }
    if (!valid)
      source = static_cast<int32_t>(lane);
    else
      inside |= 1u << lane;
    if (!(mask >> source & 1))
      warp.fault(lane, "takes the value of lane ", source, ", which does not take part (lanes ",
                 hex(mask), " do)");
    result[lane] = value[source];
  });
  return storeTarget(warp, in, mask, result, inside);
}

void shuffle(Decoder &d) {
  if (!d.take("sync"))
    d.unsupported("shfl without .sync is not supported");
  int mode = d.takeOneOf({"up", "down", "bfly", "idx"});
  if (mode < 0 || d.lastType() != Type::B32)
    d.unsupported();
  d.requireCount(5, 5);
  d.in.a = d.source(d.operand(1), Type::B32);
  d.in.b = d.source(d.operand(2), Type::B32);
  d.in.c = d.source(d.operand(3), Type::B32);
  d.in.immediate = d.source(d.operand(4), Type::B32);
  takeTarget(d);
  constexpr Handler handlers[] = {shfl<Shuffle::Up>, shfl<Shuffle::Down>, shfl<Shuffle::Butterfly>,
                                  shfl<Shuffle::Index>};
  d.setHandler(handlers[mode]);
}

// --- vote, activemask
enum class Vote : uint8_t { All, Any, Uni, Ballot };

template <Vote Mode> Step voteLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *members = warp.lanes<uint32_t>(in.b);
  if (std::optional<Step> waits = gather(warp, mask, members))
    return *waits;
  uint32_t wanted = members[__builtin_ctz(mask)] & mask;
  uint32_t set = (warp.predicate(in.a) ^ (in.flags ? ~0u : 0u)) & wanted;
  if (Mode == Vote::Ballot) {
    uint32_t *d = warp.lanes<uint32_t>(in.d);
    forLanes(mask, [&](uint32_t lane) { d[lane] = set; });
    return Step::Next;
  }
  bool result = Mode == Vote::All   ? set == wanted
                : Mode == Vote::Any ? set != 0
                                    : set == 0 || set == wanted;
  warp.setPredicate(in.d, mask, result ? mask : 0);
  return Step::Next;
}

void vote(Decoder &d) {
  if (!d.take("sync"))
    d.unsupported("vote without .sync is not supported");
  int mode = d.takeOneOf({"all", "any", "uni", "ballot"});
  if (mode < 0 || d.lastType() != (mode == 3 ? Type::B32 : Type::Pred))
    d.unsupported();
  d.requireCount(3, 3);
  d.in.a = d.predicate(d.operand(1), 1);
  d.in.b = d.source(d.operand(2), Type::B32);
  d.in.d = mode == 3 ? d.destination(d.operand(0), 32) : d.predicate(d.operand(0));
  constexpr Handler handlers[] = {voteLanes<Vote::All>, voteLanes<Vote::Any>, voteLanes<Vote::Uni>,
                                  voteLanes<Vote::Ballot>};
  d.setHandler(handlers[mode]);
}

Step activeLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t *d = warp.lanes<uint32_t>(in.d);
  forLanes(mask, [&](uint32_t lane) { d[lane] = mask; });
  return Step::Next;
}

// --- match
template <typename T, bool All> Step matchLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *members = warp.lanes<uint32_t>(in.b);
  if (std::optional<Step> waits = gather(warp, mask, members))
    return *waits;
  const T *a = warp.lanes<T>(in.a);
  uint32_t result[32] = {}, holds = 0;
  forLanes(mask, [&](uint32_t lane) {
    forLanes(mask, [&](uint32_t other) {
      if (a[other] == a[lane])
        result[lane] |= 1u << other;
    });
    if (All && result[lane] == mask)
      holds |= 1u << lane;
    else if (All)
      result[lane] = 0;
  });
  return storeTarget(warp, in, mask, result, holds);
}

void match(Decoder &d) {
  int mode = d.takeOneOf({"any", "all"});
  if (mode < 0 || !d.take("sync"))
    d.unsupported();
  Type type = d.lastType();
  if (type != Type::B32 && type != Type::B64)
    d.unsupported();
  d.requireCount(3, 3);
  d.in.a = d.source(d.operand(1), type);
  d.in.b = d.source(d.operand(2), Type::B32);
  takeTarget(d);
  if (type == Type::B32)
    d.setHandler(mode ? matchLanes<uint32_t, true> : matchLanes<uint32_t, false>);
  else
    d.setHandler(mode ? matchLanes<uint64_t, true> : matchLanes<uint64_t, false>);
}

// --- redux
template <typename T, AtomicOp Op>
Step reduxLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *members = warp.lanes<uint32_t>(in.b);
  if (std::optional<Step> waits = gather(warp, mask, members))
    return *waits;
  const T *a = warp.lanes<T>(in.a);
  T result = a[__builtin_ctz(mask)];
  forLanes(mask & (mask - 1), [&](uint32_t lane) { result = combine(Op, result, a[lane]); });
  T *d = warp.lanes<T>(in.d);
  forLanes(mask, [&](uint32_t lane) { d[lane] = result; });
  return Step::Next;
}

void redux(Decoder &d) {
  d.requireArchitecture(80);
  if (!d.take("sync"))
    d.unsupported();
  int op = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  Type type = d.lastType();
  if (op < 0 || (type != Type::U32 && type != Type::S32 && type != Type::B32))
    d.unsupported();
  d.takeOperands({type, Type::B32}, 32);
  constexpr Handler plain[] = {
      reduxLanes<uint32_t, AtomicOp::Add>, reduxLanes<uint32_t, AtomicOp::Min>,
      reduxLanes<uint32_t, AtomicOp::Max>, reduxLanes<uint32_t, AtomicOp::And>,
      reduxLanes<uint32_t, AtomicOp::Or>,  reduxLanes<uint32_t, AtomicOp::Xor>};
  Handler handler = plain[op];
  if (type == Type::S32 && op == 1)
    handler = reduxLanes<int32_t, AtomicOp::Min>;
  if (type == Type::S32 && op == 2)
    handler = reduxLanes<int32_t, AtomicOp::Max>;
  d.setHandler(handler);
}

// --- elect
Step electLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *members = warp.lanes<uint32_t>(in.a);
  if (std::optional<Step> waits = gather(warp, mask, members))
    return *waits;
  uint32_t leader = __builtin_ctz(mask), result[32];
  std::fill_n(result, 32, leader);
  return storeTarget(warp, in, mask, result, 1u << leader);
}

void elect(Decoder &d) {
  d.requireArchitecture(90);
  if (!d.take("sync"))
    d.unsupported();
  d.requireCount(2, 2);
  if (d.operand(0).kind != Operand::Pair)
    d.wrong("expects elect to write a register and a predicate: d|p");
  takeTarget(d);
  d.in.a = d.source(d.operand(1), Type::B32);
  d.setHandler(electLanes);
}
} // namespace

void addWarpOps(DecodeTable &table) {
  table["shfl"] = shuffle;
  table["vote"] = vote;
  table["activemask"] = [](Decoder &d) {
    d.lastType();
    d.in.d = d.destination(d.operand(0), 32);
    d.setHandler(activeLanes);
  };
  table["match"] = match;
  table["redux"] = redux;
  table["elect"] = elect;
}

} // namespace fovea::emulator
