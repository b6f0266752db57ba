// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shadow of shared memory. Sound in one direction: what it reports is a race; unions of
// partial knowledge (Clock.h) may hide one.
#include "emulator/SharedMemory.h"

#include <cstring>

namespace fovea::emulator {

void SharedMemory::reset(uint64_t size, uint32_t granuleBytes, uint32_t warps, bool check) {
  checked = check;
  granule = granuleBytes;
  bytes.assign(size, 0xff);
  cells.clear();
  if (checked)
    cells.resize((size + granule - 1) / granule, Cell{});
  for (Plane &plane : planes)
    plane.readers.resize(cells.size());
}

uint32_t SharedMemory::addPlane(uint32_t agent) {
  if (agent >= planeIndex.size())
    planeIndex.resize(agent + 1, unknownPlane);
  // More than 64 reading agents cannot be told apart; the last ones are then not checked against
  // later writes.
  if (planes.size() >= 64)
    return planeIndex[agent] = 64;
  planes.push_back({agent, std::vector<Reader>(cells.size())});
  return planeIndex[agent] = static_cast<uint8_t>(planes.size() - 1);
}

bool SharedMemory::ordered(const Access &access, uint32_t agent, uint8_t lane, uint32_t stamp) {
  if (agent == access.warp && lane == access.lane && lane != manyLanes)
    return true; // program order
  if (agent == agentOf(Engine::CpAsync, access.warp) && lane == access.lane &&
      stamp <= access.ownCopies)
    return true; // a copy the lane itself has waited for
  if (access.knows->happened[agent].covers(lane, stamp))
    return true;
  return access.partial && access.partial->happened[agent].covers(lane, stamp);
}

Conflict SharedMemory::read(uint64_t offset, uint32_t count, const Access &access) {
  if (!checked)
    return {};
  uint32_t plane = planeOf(access.agent);
  uint64_t bit = plane < 64 ? uint64_t{1} << plane : 0;
  Reader *readers = bit ? planes[plane].readers.data() : nullptr;
  // Neighbours mostly have one writer: what was found in order is not asked again.
  const Cell *known = nullptr;
  size_t last = (offset + count - 1) / granule;
  for (size_t i = offset / granule; i <= last; ++i) {
    Cell &cell = cells[i];
    auto conflict = [&](Conflict::Kind kind) {
      return Conflict{kind, true, cell.agent, cell.instruction, cell.lane, i * granule};
    };
    if (cell.flags & BarrierFlag)
      return conflict(Conflict::Barrier);
    if (!(cell.flags & Written))
      return conflict(Conflict::Unwritten);
    if (!known || known->stamp != cell.stamp || known->agent != cell.agent ||
        known->lane != cell.lane || known->flags != cell.flags) {
      if (!(access.atomic && (cell.flags & Atomic)) &&
          !ordered(access, cell.agent, cell.lane, cell.stamp))
        return conflict(Conflict::Race);
      if (access.asynchronous && !(cell.flags & AsyncFlag) &&
          !access.knows->fenced[cell.agent].covers(cell.lane, cell.stamp) &&
          !(access.partial && access.partial->fenced[cell.agent].covers(cell.lane, cell.stamp)))
        return conflict(Conflict::Unfenced);
      known = &cell;
    }
    if (!bit)
      continue;
    Reader &reader = readers[i];
    bool others = (cell.readers & bit) && reader.lane != access.lane &&
                  !ordered(access, access.agent, reader.lane, reader.stamp);
    reader = {access.tick, access.instruction, others ? manyLanes : access.lane};
    cell.readers |= bit;
  }
  return {};
}

Conflict SharedMemory::write(uint64_t offset, uint32_t count, const Access &access,
                             const uint8_t *source) {
  if (!checked)
    return {};
  size_t last = (offset + count - 1) / granule;
  for (size_t i = offset / granule; i <= last; ++i) {
    Cell &cell = cells[i];
    if (cell.flags & BarrierFlag)
      return {Conflict::Barrier, true, cell.agent, cell.instruction, cell.lane, i * granule};
    if ((cell.flags & Written) && !(access.atomic && (cell.flags & Atomic)) &&
        !ordered(access, cell.agent, cell.lane, cell.stamp)) {
      size_t begin = std::max<size_t>(i * granule, offset);
      size_t end = std::min<size_t>((i + 1) * granule, offset + count);
      if (!source || std::memcmp(bytes.data() + begin, source + (begin - offset), end - begin) != 0)
        return {Conflict::Race, true, cell.agent, cell.instruction, cell.lane, i * granule};
    }
    for (uint64_t left = cell.readers; left; left &= left - 1) {
      const Plane &plane = planes[__builtin_ctzll(left)];
      const Reader &reader = plane.readers[i];
      if (!(access.atomic && (cell.flags & Atomic)) &&
          !ordered(access, plane.agent, reader.lane, reader.stamp))
        return {Conflict::Race, false, plane.agent, reader.instruction, reader.lane, i * granule};
    }
    cell = {access.tick,
            access.instruction,
            static_cast<uint16_t>(access.agent),
            access.lane,
            static_cast<uint8_t>(Written | (access.atomic ? Atomic : 0) |
                                 (access.asynchronous ? AsyncFlag : 0)),
            0};
  }
  return {};
}

void SharedMemory::setBarrier(uint64_t offset, bool barrier) {
  if (!checked)
    return;
  for (size_t i = offset / granule; i <= (offset + 7) / granule; ++i)
    cells[i].flags = barrier ? BarrierFlag : 0;
}

} // namespace fovea::emulator
