// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block's accesses to memory: bounds, alignment, what was written, races; and how a fault is
// told.
#include "emulator/Block.h"

namespace fovea::emulator {

uint64_t Block::sharedOffset(Warp &warp, uint32_t lane, uint64_t address, uint64_t count,
                             uint64_t alignment, const char *verb) {
  if (address & (alignment - 1))
    warp.fault(lane, verb, " ", count, " bytes at shared address ", hex(address),
               ": expects a multiple of ", alignment);
  uint64_t offset = address - sharedStart;
  if (address < sharedStart || offset > shared.size() || count > shared.size() - offset)
    warp.fault(lane, verb, " ", count, " bytes at shared address ", hex(address),
               ": expects them inside the block's ", shared.size(), " bytes (", hex(sharedStart),
               " to ", hex(sharedStart + shared.size()), ")");
  return offset;
}

Access Block::access(const Warp &warp, uint32_t lane) const {
  Access access;
  access.agent = access.warp = warp.index;
  access.lane = static_cast<uint8_t>(lane);
  access.instruction = warp.pc;
  access.tick = tick;
  access.ownCopies = lane < 32 ? warp.copiesWaited[lane] : 0;
  access.knows = &warp.knows;
  access.partial = lane < 32 ? warp.partialOf(lane) : nullptr;
  return access;
}

void Block::report(Warp &warp, uint32_t lane, const Conflict &conflict, const char *verb,
                   uint64_t count, const Access &access) {
  uint32_t at = lane < 32 ? lane : 0;
  std::string place = text("shared address ", hex(conflict.address + sharedStart));
  if (conflict.kind == Conflict::Unwritten)
    warp.fault(at, verb, " ", place, ", which nobody has written");
  if (conflict.kind == Conflict::Barrier)
    warp.fault(at, verb, " ", place, ", which holds an mbarrier");
  uint32_t other = indexOf(conflict.agent);
  std::string line = text(" at line ", kernel.code[conflict.instruction].line);
  std::string who;
  const char *hint = "; expects a barrier between them";
  const char *did = conflict.otherWrote ? "write" : "read";
  bool own = other == warp.index;
  switch (engineOf(conflict.agent)) {
  case Engine::Thread:
    who = text("the ", did, " by thread ", threadName(other, conflict.lane), line);
    hint = own ? "; expects bar.warp.sync between them" : hint;
    break;
  case Engine::CpAsync:
    who = text("the ", did, " by cp.async of thread ", threadName(other, conflict.lane), line);
    hint = own ? ", which is in flight; expects cp.async.wait_group before"
               : "; expects that thread to wait for its group, then a barrier";
    break;
  case Engine::Wgmma:
    who = text("the ", did, " by wgmma of warp ", other, line);
    hint = own ? ", which is in flight; expects wgmma.wait_group before"
               : "; expects that warp to wait for its group, then a barrier";
    break;
  case Engine::Bulk:
    who = text("the ", did, " by a bulk copy of thread ", threadName(other, conflict.lane), line);
    hint = own ? ", which is in flight; expects cp.async.bulk.wait_group.read before"
               : "; expects that thread to wait for its group, then a barrier";
    break;
  case Engine::Transaction:
    who = text("the ", did, " by a bulk copy", line);
    hint = "; expects a wait for its mbarrier before";
    break;
  }
  if (conflict.kind == Conflict::Unfenced)
    warp.fault(at, verb, " ", place, " through the asynchronous proxy after ", who,
               "; expects fence.proxy.async between them");
  warp.fault(at, "race on ", place, ": ", verb, " it without being ordered after ", who, hint);
}

void Block::readShared(Warp &warp, uint32_t lane, uint64_t offset, void *target, uint32_t count,
                       Access access) {
  if (Conflict conflict = shared.read(offset, count, access))
    report(warp, lane, conflict, "reads", count, access);
  std::memcpy(target, shared.data() + offset, count);
}

void Block::writeShared(Warp &warp, uint32_t lane, uint64_t offset, const void *source,
                        uint32_t count, Access access) {
  if (Conflict conflict = shared.write(offset, count, access, static_cast<const uint8_t *>(source)))
    report(warp, lane, conflict, "writes", count, access);
  if (source)
    std::memcpy(shared.data() + offset, source, count);
}

uint8_t *Block::global(Warp &warp, uint32_t lane, uint64_t address, uint64_t count,
                       uint64_t alignment, bool writes, const char *verb, bool atomically) {
  if (address & (alignment - 1))
    warp.fault(lane, verb, " ", count, " bytes at global address ", hex(address), " (",
               launch.memory->describe(address), "): expects a multiple of ", alignment);
  Allocation *found = lastAllocation;
  if (!found || address - found->address >= found->size) {
    found = launch.memory->find(address);
    if (!found)
      warp.fault(lane, verb, " ", count, " bytes at global address ", hex(address), ", ",
                 launch.memory->describe(address));
    lastAllocation = found;
  }
  uint64_t offset = address - found->address;
  if (count > found->size - offset)
    warp.fault(lane, verb, " ", count, " bytes at global address ", hex(address), ", which is ",
               launch.memory->describe(address), ": ", count - (found->size - offset),
               " of them are past its end");
  if (writes) {
    if (found->readOnly)
      warp.fault(lane, verb, " ", count, " bytes at '", found->name, "', which is read only");
    if (found->written)
      std::memset(found->written + offset, 1, count);
  } else if (found->written && launch.options.checkUnwritten) {
    if (const void *hole = std::memchr(found->written + offset, 0, count))
      warp.fault(lane, verb, " byte ", static_cast<const uint8_t *>(hole) - found->written, " of '",
                 found->name, "' (", found->size, " bytes), which nobody has written");
  }
  if (launch.options.checkBlocks && !atomically)
    compareBlocks(warp, lane, *found, offset, count, writes, verb);
  return found->bytes + offset;
}

/// What a block has read before another writes there is found by a launch in the other order.
void Block::compareBlocks(Warp &warp, uint32_t lane, Allocation &allocation, uint64_t offset,
                          uint64_t count, bool writes, const char *verb) {
  if (!allocation.writers) {
    if (!writes)
      return;
    allocation.writers = std::make_unique<uint32_t[]>(allocation.size);
  }
  const uint64_t *grid = launch.shape.grid;
  auto own =
      static_cast<uint32_t>(1 + position[0] + grid[0] * (position[1] + grid[1] * position[2]));
  uint32_t *writers = allocation.writers.get() + offset;
  for (uint64_t i = 0; i < count; ++i) {
    if (uint64_t other = writers[i]; other && other != own)
      warp.fault(lane, verb, " byte ", offset + i, " of '", allocation.name, "', which block (",
                 (other - 1) % grid[0], ",", (other - 1) / grid[0] % grid[1], ",",
                 (other - 1) / grid[0] / grid[1],
                 ") has written; expects blocks to leave each other's results alone");
    if (writes)
      writers[i] = own;
  }
}

} // namespace fovea::emulator
