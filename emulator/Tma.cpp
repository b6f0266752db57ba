// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bulk copies: cp.async.bulk and cp.async.bulk.tensor of one to five dimensions, loads that report
// to an mbarrier and stores in bulk groups, with swizzles and filling outside of the tensor, and
// sums into global memory (PTX ISA 9.0, "cp.async.bulk", "cp.async.bulk.tensor"). They go through
// the asynchronous proxy. Refuses im2col, gather, multicast, and shared memory of other blocks.
#include "emulator/Async.h"
#include "emulator/Float.h"
#include "emulator/LoadStore.h"
#include "emulator/TensorMap.h"

namespace fovea::emulator {

namespace {
struct Bulk : Details {
  bool load = true, tensor = false, prefetch = false;
  unsigned rank = 0;
  std::optional<AtomicOp> reduction;
  Type type = Type::F32;
  // Offsets of 64-bit or 32-bit lanes and what is added.
  Decoder::AddressForm shared, global, map, barrier;
  uint32_t coordinates[5] = {};
  uint32_t size = 0;
};

uint64_t at(Warp &warp, const Decoder::AddressForm &form, uint32_t lane) {
  return form.wide ? warp.lanes<uint64_t>(form.base)[lane] + static_cast<uint64_t>(form.offset)
                   : static_cast<uint32_t>(warp.lanes<uint32_t>(form.base)[lane] +
                                           static_cast<uint32_t>(form.offset));
}

TensorMap readMap(Warp &warp, uint32_t lane, uint64_t address) {
  Block &block = warp.block;
  const uint8_t *bytes = nullptr;
  uint64_t place = address;
  Space space = resolve(place);
  if (address % 64)
    warp.fault(lane, "expects a tensor map at a multiple of 64, got ", hex(address));
  if (space == Space::Param) {
    if (place + 128 > block.launch.arguments.size())
      warp.fault(lane, "expects a tensor map of 128 bytes inside the parameters");
    bytes = block.launch.arguments.data() + place;
  } else if (space == Space::Global) {
    bytes = block.global(warp, lane, address, 128, 64, false, "reads the tensor map of");
  } else {
    warp.fault(lane, "expects a tensor map in global memory or in a parameter");
  }
  TensorMap map;
  if (!TensorMap::decode(bytes, map))
    warp.fault(lane, "expects a tensor map at ", hex(address), ", got other bytes");
  return map;
}

/// One stretch of a row of a box.
struct Piece {
  uint64_t box;    // offset in the box, before swizzling
  uint64_t global; // address, if inside
  uint64_t count;
};

/// The parts of a box that lie inside the tensor.
std::vector<Piece> pieces(const TensorMap &map, const int64_t *start) {
  std::vector<Piece> result;
  uint64_t rows = 1, rowBytes = uint64_t{map.box[0]} * map.elementBytes;
  for (uint32_t axis = 1; axis < map.rank; ++axis)
    rows *= map.box[axis];
  int64_t low = std::max<int64_t>(0, -start[0]);
  int64_t high = std::min<int64_t>(map.box[0], static_cast<int64_t>(map.sizes[0]) - start[0]);
  if (low >= high)
    return result;
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t rest = row, address = map.address;
    bool inside = true;
    for (uint32_t axis = 1; axis < map.rank; ++axis) {
      int64_t index = start[axis] + static_cast<int64_t>(rest % map.box[axis]);
      rest /= map.box[axis];
      if (index < 0 || static_cast<uint64_t>(index) >= map.sizes[axis]) {
        inside = false;
        break;
      }
      address += static_cast<uint64_t>(index) * map.strides[axis - 1];
    }
    if (!inside)
      continue;
    result.push_back({row * rowBytes + static_cast<uint64_t>(low) * map.elementBytes,
                      address + static_cast<uint64_t>(start[0] + low) * map.elementBytes,
                      static_cast<uint64_t>(high - low) * map.elementBytes});
  }
  return result;
}

void reduceInto(uint8_t *target, const uint8_t *source, uint64_t bytes, AtomicOp op, Type type) {
  unsigned width = bytesOf(type);
  for (uint64_t i = 0; i + width <= bytes; i += width) {
    uint64_t old = 0, value = 0;
    std::memcpy(&old, target + i, width);
    std::memcpy(&value, source + i, width);
    uint64_t result = combineBits(op, type, old, value).value_or(combine(op, old, value));
    std::memcpy(target + i, &result, width);
  }
}

/// The copy of one lane.
class Transfer {
public:
  Transfer(Warp &warp, const Bulk &bulk, uint32_t lane)
      : warp(warp), block(warp.block), bulk(bulk), lane(lane) {
    bulk.tensor ? describeBox() : describeLine();
  }

  void prefetch() {
    for (const Piece &part : parts)
      block.global(warp, lane, part.global, part.count, 1, false, "prefetches");
  }
  void load();
  void store();

private:
  void describeBox();
  void describeLine();
  uint64_t sharedAddress(const Decoder::AddressForm &form) {
    uint64_t address = at(warp, form, lane);
    return resolve(address) == Space::Shared ? address : at(warp, form, lane);
  }
  /// Where the box begins in shared memory.
  uint64_t findOffset() {
    return block.sharedOffset(warp, lane, sharedAddress(bulk.shared), bytes, bulk.tensor ? 128 : 16,
                              bulk.load ? "copies to" : "copies from");
  }
  /// From bytes of the box to bytes of shared memory.
  auto placesFrom(uint64_t offset) const {
    return [span = span, offset](uint64_t box) {
      return swizzled(offset + sharedStart + box, span) - sharedStart;
    };
  }
  Access access(Engine engine, uint32_t index) {
    Access access = block.access(warp, lane);
    access.agent = agentOf(engine, index);
    access.asynchronous = true;
    return access;
  }
  uint8_t *global(const Piece &part, bool writes, const char *does) {
    return block.global(warp, lane, part.global, part.count, bulk.tensor ? 1 : 16, writes, does);
  }
  MemoryBarrier &findBarrier(uint64_t offset);
  std::vector<uint8_t> read();

  Warp &warp;
  Block &block;
  const Bulk &bulk;
  uint32_t lane;
  TensorMap map;
  std::vector<Piece> parts;
  uint64_t bytes = 0;
  uint32_t span = 0;
};

void Transfer::describeBox() {
  map = readMap(warp, lane, at(warp, bulk.map, lane));
  if (map.rank != bulk.rank)
    warp.fault(lane, "expects a tensor map of ", bulk.rank, " dimensions, got one of ", map.rank);
  int64_t start[5] = {};
  for (unsigned axis = 0; axis < bulk.rank; ++axis)
    start[axis] = static_cast<int32_t>(warp.lanes<uint32_t>(bulk.coordinates[axis])[lane]);
  // Nowhere written; an H200 takes others for an illegal instruction.
  if (start[0] * static_cast<int64_t>(map.elementBytes) % 16 != 0)
    warp.fault(lane, "expects a box that begins at a multiple of 16 bytes, got element ", start[0],
               " of ", map.elementBytes, " bytes");
  bytes = map.boxBytes();
  parts = pieces(map, start);
  span = map.swizzle == TensorMap::Swizzle::None ? 0 : 16u << static_cast<unsigned>(map.swizzle);
}

void Transfer::describeLine() {
  bytes = warp.lanes<uint32_t>(bulk.size)[lane];
  if (!bytes || bytes % 16)
    warp.fault(lane, "expects a size that is a multiple of 16, got ", bytes);
  parts.push_back({0, at(warp, bulk.global, lane), bytes});
}

MemoryBarrier &Transfer::findBarrier(uint64_t offset) {
  MemoryBarrier &barrier = block.memoryBarrier(warp, lane, offset);
  if (!barrier.fenced && block.launch.options.checkShared)
    warp.fault(lane, "gives an mbarrier to a bulk copy that line ", barrier.line,
               " made; expects fence.mbarrier_init or fence.proxy.async after it");
  return barrier;
}

/// The bytes as they will stand in shared memory, swizzle undone.
std::vector<uint8_t> Transfer::read() {
  std::vector<uint8_t> data(bytes, 0);
  if (bulk.tensor && map.fillNan)
    for (uint64_t i = 0; i + map.elementBytes <= bytes; i += map.elementBytes)
      for (uint32_t j = 0; j < map.elementBytes; ++j)
        data[i + j] = j + 1 == map.elementBytes ? 0x7f : 0xff;
  for (const Piece &part : parts)
    std::memcpy(data.data() + part.box, global(part, false, "copies"), part.count);
  return data;
}

void Transfer::load() {
  uint64_t offset = findOffset();
  uint64_t barrierOffset =
      block.sharedOffset(warp, lane, sharedAddress(bulk.barrier), 8, 8, "uses an mbarrier of");
  MemoryBarrier &barrier = findBarrier(barrierOffset);
  std::vector<uint8_t> data = read();
  Access access = this->access(Engine::Transaction, barrier.index);
  if (Conflict conflict = block.shared.write(offset, static_cast<uint32_t>(bytes), access, nullptr))
    block.report(warp, lane, conflict, "copies to", bytes, access);
  block.counters.tmaLoadBytes += bytes;
  ++block.tick;
  auto finish = [&block = block, data = std::move(data), place = placesFrom(offset), bytes = bytes,
                 barrierOffset, agent = access.agent] {
    for (uint64_t i = 0; i < bytes; i += 16)
      std::memcpy(block.shared.data() + place(i), data.data() + i, 16);
    auto found = block.memoryBarriers.find(barrierOffset);
    if (found == block.memoryBarriers.end())
      return;
    MemoryBarrier &barrier = found->second;
    barrier.current.happened.at(agent).join({block.tick++, 0, 0});
    barrier.transactions -= static_cast<int64_t>(bytes);
    block.checkPhase(barrierOffset, barrier);
  };
  if (isLate(warp))
    block.pending.push_back({barrierOffset, finish});
  else
    finish();
}

/// The bytes are read from shared memory until the group is waited for.
void Transfer::store() {
  uint64_t offset = findOffset();
  Access access = this->access(Engine::Bulk, warp.index);
  if (Conflict conflict = block.shared.read(offset, static_cast<uint32_t>(bytes), access))
    block.report(warp, lane, conflict, "copies from", bytes, access);
  struct Target {
    uint64_t box;
    uint8_t *bytes;
    uint64_t count;
  };
  std::vector<Target> targets;
  for (const Piece &part : parts)
    targets.push_back({part.box, global(part, true, "copies to"), part.count});
  block.counters.tmaStoreBytes += bytes;
  auto finish = [&block = block, targets = std::move(targets), place = placesFrom(offset),
                 op = bulk.reduction, type = bulk.type] {
    for (const Target &target : targets) {
      std::vector<uint8_t> data(target.count);
      for (uint64_t i = 0; i < target.count; ++i)
        data[i] = block.shared.data()[place(target.box + i)];
      if (!op) {
        std::memcpy(target.bytes, data.data(), target.count);
      } else {
        std::lock_guard<std::mutex> guard(block.launch.memory->lockFor(0));
        reduceInto(target.bytes, data.data(), target.count, *op, type);
      }
    }
  };
  warp.bulk.open.lanes |= 1u << lane;
  if (isLate(warp))
    warp.bulk.open.writes.push_back(std::move(finish));
  else
    finish();
}

void copyLane(Warp &warp, const Bulk &bulk, uint32_t lane) {
  Transfer transfer(warp, bulk, lane);
  if (bulk.prefetch)
    return transfer.prefetch();
  bulk.load ? transfer.load() : transfer.store();
}

Step copy(Warp &warp, const Instruction &in, uint32_t mask) {
  const Bulk &bulk = *static_cast<const Bulk *>(in.details);
  forLanes(mask, [&](uint32_t lane) { copyLane(warp, bulk, lane); });
  return Step::Next;
}

Step commit(Warp &warp, const Instruction &, uint32_t mask) {
  // Lanes that copied nothing have nothing to commit.
  if (uint32_t lanes = warp.bulk.open.lanes & mask) {
    if (warp.bulk.open.lanes & ~mask)
      warp.fault(__builtin_ctz(mask),
                 "expects all threads of the warp that have open bulk copies to "
                 "commit them together");
    commitGroup(warp, warp.bulk, lanes);
  }
  return Step::Next;
}
Step wait(Warp &warp, const Instruction &in, uint32_t mask) {
  waitGroup(warp, in, warp.bulk, Engine::Bulk, mask, static_cast<uint64_t>(in.immediate));
  return Step::Next;
}

/// `[map, {x, y}]`
void tensorOperand(Decoder &d, Bulk &bulk, const Operand &operand) {
  if (operand.kind != Operand::Address || operand.parts.size() != 2)
    d.wrong("expects a tensor map and coordinates in [ ]");
  Operand map = operand;
  map.parts.resize(1);
  bulk.map = d.address(map, Space::Generic);
  const Operand &vector = operand.parts[1];
  size_t count = vector.kind == Operand::Vector ? vector.parts.size() : 1;
  if (count != bulk.rank)
    d.wrong("expects ", bulk.rank, " coordinates, got ", count);
  for (size_t i = 0; i < count; ++i)
    bulk.coordinates[i] =
        d.source(vector.kind == Operand::Vector ? vector.parts[i] : vector, Type::S32);
}

void takeShape(Decoder &d, Bulk &bulk) {
  bulk.tensor = d.take("tensor");
  bulk.prefetch = d.take("prefetch");
  if (bulk.prefetch)
    bulk.tensor |= d.take("tensor");
  if (bulk.tensor)
    bulk.rank = static_cast<unsigned>(d.takeOneOf({"1d", "2d", "3d", "4d", "5d"}) + 1);
  if (bulk.tensor && !bulk.rank)
    d.unsupported();
  d.take("tile");
}

void takeReduction(Decoder &d, Bulk &bulk) {
  int op = d.takeOneOf({"add", "min", "max", "and", "or", "xor"});
  if (op < 0)
    d.unsupported();
  bulk.reduction = static_cast<AtomicOp>(op);
  d.take("noftz");
  if (!bulk.tensor)
    bulk.type = d.firstType();
}

enum class Direction { None, ToShared, ToGlobal };

/// To shared from global, or to global from shared: the space that is named first.
Direction takeDirection(Decoder &d) {
  Direction direction = Direction::None;
  for (const std::string &modifier : d.statement->modifiers) {
    if (direction != Direction::None)
      break;
    if (modifier == "global")
      direction = Direction::ToGlobal;
    if (modifier == "shared::cta" || modifier == "shared::cluster")
      direction = Direction::ToShared;
  }
  d.take("global");
  bool shared = d.take("shared::cta"), cluster = d.take("shared::cluster");
  if (d.has("multicast::cluster") || (shared && cluster) || d.has("cta_group::2"))
    d.unsupported("copies among the blocks of a cluster are not supported");
  d.takeCacheHints();
  return direction;
}

/// What lies in global memory: a tensor's box, or so many bytes, whose number is the operand
/// `size`.
void globalOperand(Decoder &d, Bulk &bulk, size_t global, size_t size) {
  if (bulk.tensor)
    return tensorOperand(d, bulk, d.operand(global));
  bulk.global = d.address(d.operand(global), Space::Global);
  bulk.size = d.source(d.operand(size), Type::U32);
}

/// The operands of a load; how many.
size_t takeLoad(Decoder &d, Bulk &bulk) {
  if (!d.take("mbarrier::complete_tx::bytes"))
    d.wrong("expects .mbarrier::complete_tx::bytes");
  bulk.shared = d.address(d.operand(0), Space::Shared);
  globalOperand(d, bulk, 1, 2);
  size_t barrier = bulk.tensor ? 2 : 3;
  bulk.barrier = d.address(d.operand(barrier), Space::Shared);
  return barrier + 1;
}

size_t takeStore(Decoder &d, Bulk &bulk) {
  if (!d.take("bulk_group"))
    d.wrong("expects .bulk_group");
  if (bulk.tensor)
    tensorOperand(d, bulk, d.operand(0));
  else
    bulk.global = d.address(d.operand(0), Space::Global);
  bulk.shared = d.address(d.operand(1), Space::Shared);
  if (bulk.tensor)
    return 2;
  bulk.size = d.source(d.operand(2), Type::U32);
  return 3;
}

void bulkCopy(Decoder &d, bool reduces) {
  d.requireArchitecture(90);
  if (!reduces && d.take("commit_group"))
    return d.setHandler(commit);
  if (!reduces && d.take("wait_group")) {
    d.take("read");
    d.requireCount(1, 1);
    d.in.immediate = d.integer(d.operand(0), "number of groups");
    return d.setHandler(wait);
  }
  Bulk &bulk = d.addDetails<Bulk>();
  takeShape(d, bulk);
  if (reduces)
    takeReduction(d, bulk);
  Direction direction = takeDirection(d);
  bulk.load = direction == Direction::ToShared;
  if (bulk.prefetch) {
    d.take("L2");
    globalOperand(d, bulk, 0, 1);
    return d.setHandler(copy);
  }
  if (direction == Direction::None || (reduces && bulk.load))
    d.unsupported();
  size_t count = bulk.load ? takeLoad(d, bulk) : takeStore(d, bulk);
  d.requireCount(count, count + (d.has("L2::cache_hint") ? 1 : 0));
  d.setHandler(copy);
}

void cp(Decoder &d) {
  bool reduces = d.take("reduce");
  if (!d.take("async"))
    d.unsupported();
  if (d.take("bulk"))
    return bulkCopy(d, reduces);
  if (reduces)
    d.unsupported();
  decodeCpAsync(d);
}
} // namespace

void addAsync(DecodeTable &table) { table["cp"] = cp; }

} // namespace fovea::emulator
