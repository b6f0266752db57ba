// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// atom and red on global and shared memory (PTX ISA 9.0, "atom", "red"). Lanes go one after the
// other. On shared memory each is an acquire and a release, so atomics never race with each other.
#include "emulator/Float.h"
#include "emulator/LoadStore.h"

namespace fovea::emulator {

std::optional<uint64_t> combineBits(AtomicOp op, Type type, uint64_t old, uint64_t value) {
  auto asInteger = [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    return static_cast<std::make_unsigned_t<T>>(
        combine(op, static_cast<T>(old), static_cast<T>(value)));
  };
  auto halves = [&](auto from, auto to) {
    uint64_t result = 0;
    for (unsigned i = 0; i < bitsOf(type) / 16; ++i)
      result |= uint64_t{to(combine(op, from(static_cast<uint16_t>(old >> (16 * i))),
                                    from(static_cast<uint16_t>(value >> (16 * i)))))}
                << (16 * i);
    return result;
  };
  if (op == AtomicOp::And || op == AtomicOp::Or || op == AtomicOp::Xor)
    return combine(op, old, value);
  switch (type) {
  case Type::U32:
  case Type::B32:
    return asInteger(uint32_t());
  case Type::S32:
    return asInteger(int32_t());
  case Type::U64:
  case Type::B64:
    return asInteger(uint64_t());
  case Type::S64:
    return asInteger(int64_t());
  case Type::F32:
    return bitsAs<uint32_t>(combine(op, bitsAs<float>(static_cast<uint32_t>(old)),
                                    bitsAs<float>(static_cast<uint32_t>(value))));
  case Type::F64:
    return bitsAs<uint64_t>(combine(op, bitsAs<double>(old), bitsAs<double>(value)));
  case Type::F16:
  case Type::F16x2:
    return halves(fromF16, toF16);
  case Type::BF16:
  case Type::BF16x2:
    return halves(fromBf16, toBf16);
  default:
    return std::nullopt;
  }
}

namespace {
struct Atomic : Details {
  AtomicOp op = AtomicOp::Add;
  Type type = Type::B32;
  Space space = Space::Generic;
  unsigned count = 1; // elements of a vector
  std::vector<uint32_t> targets, values;
  uint32_t compare = 0;
};

uint64_t compute(const Atomic &a, uint64_t old, uint64_t value, uint64_t compare) {
  switch (a.op) {
  case AtomicOp::Exch:
    return value;
  case AtomicOp::Cas:
    return old == compare ? value : old;
  case AtomicOp::Inc:
    return static_cast<uint32_t>(old) >= static_cast<uint32_t>(value) ? 0 : old + 1;
  case AtomicOp::Dec:
    return old == 0 || static_cast<uint32_t>(old) > static_cast<uint32_t>(value) ? value : old - 1;
  default:
    return combineBits(a.op, a.type, old, value).value_or(value);
  }
}

Step atomLanes(Warp &warp, const Instruction &in, uint32_t mask) {
  const Atomic &a = *static_cast<const Atomic *>(in.details);
  Block &block = warp.block;
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  const uint32_t width = in.width, bytes = width * a.count;
  forLanes(mask, [&](uint32_t lane) {
    uint64_t address = addresses[lane];
    Space space = a.space == Space::Generic ? resolve(address) : a.space;
    uint8_t data[16];
    auto update = [&] {
      for (unsigned i = 0; i < a.count; ++i) {
        uint64_t old = 0, value = 0, compare = 0;
        std::memcpy(&old, data + i * width, width);
        std::memcpy(&value, warp.lanes<uint8_t>(a.values[i]) + lane * width, width);
        if (a.compare)
          std::memcpy(&compare, warp.lanes<uint8_t>(a.compare) + lane * width, width);
        uint64_t result = compute(a, old, value, compare);
        std::memcpy(data + i * width, &result, width);
        if (!a.targets.empty() && a.targets[i])
          std::memcpy(warp.lanes<uint8_t>(a.targets[i]) + lane * width, &old, width);
      }
    };
    if (space == Space::Shared) {
      uint64_t offset = block.sharedOffset(warp, lane, address, bytes, bytes, "updates");
      Knowledge &place = block.places[offset];
      warp.acquire(1u << lane, place);
      Access access = block.access(warp, lane);
      access.atomic = true;
      block.readShared(warp, lane, offset, data, bytes, access);
      update();
      block.writeShared(warp, lane, offset, data, bytes, access);
      place.join(warp.release(1u << lane));
    } else if (space == Space::Global || space == Space::Const) {
      uint8_t *target =
          block.global(warp, lane, address, bytes, bytes, false, "updates", /*atomically=*/true);
      block.global(warp, lane, address, bytes, bytes, true, "updates", /*atomically=*/true);
      std::lock_guard<std::mutex> guard(block.launch.memory->lockFor(address));
      std::memcpy(data, target, bytes);
      update();
      std::memcpy(target, data, bytes);
    } else {
      warp.fault(lane, "expects an address in global or shared memory");
    }
  });
  block.counters.atomics += __builtin_popcount(mask);
  ++block.progress;
  return Step::Next;
}

template <bool Returns> void atom(Decoder &d) {
  Atomic &a = d.addDetails<Atomic>();
  d.takeOneOf({"relaxed", "acquire", "release", "acq_rel"});
  d.takeOneOf({"cta", "cluster", "gpu", "sys"});
  a.space = d.takeSpace();
  d.take("noftz");
  d.takeCacheHints();
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  int op = d.takeOneOf({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  a.type = d.lastType();
  if (op < 0)
    d.wrong("expects ", d.statement->opcode, " to name an operation");
  a.op = static_cast<AtomicOp>(op);
  a.count = vector < 0 ? 1 : 2u << vector;
  unsigned bits = bitsOf(a.type);
  d.in.width = static_cast<uint8_t>(bits / 8);
  if (bits < 16 || bits > 64 || a.count * bits > 128 ||
      (isFloat(a.type) &&
       (a.op != AtomicOp::Add &&
        !(bits <= 32 && a.type != Type::F32 && (a.op == AtomicOp::Min || a.op == AtomicOp::Max)))))
    d.unsupported();
  d.sharedAccess(a.space, a.count * bits / 8);
  size_t next = Returns ? 1 : 0;
  size_t least = next + (a.op == AtomicOp::Cas ? 3 : 2);
  d.requireCount(least, least + 1);
  decodeAddress(d, d.operand(next++), a.space);
  if (a.op == AtomicOp::Cas)
    a.compare = d.source(d.operand(next++), a.type);
  auto each = [&](const Operand &operand, auto body) {
    if (a.count == 1)
      return body(operand);
    if (operand.kind != Operand::Vector || operand.parts.size() != a.count)
      d.wrong("expects a vector of ", a.count);
    for (const Operand &part : operand.parts)
      body(part);
  };
  each(d.operand(next), [&](const Operand &o) { a.values.push_back(d.source(o, a.type)); });
  if (Returns)
    each(d.operand(0), [&](const Operand &o) { a.targets.push_back(d.destination(o, bits)); });
  d.setHandler(atomLanes);
}
} // namespace

void addAtomics(DecodeTable &table) {
  table["atom"] = atom<true>;
  table["red"] = [](Decoder &d) {
    if (d.has("async"))
      d.unsupported();
    atom<false>(d);
  };
}

} // namespace fovea::emulator
