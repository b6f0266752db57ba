// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ld and st in all spaces, with vectors (PTX ISA 9.0, "ld", "st"). Cache hints change nothing.
// Accesses that are .volatile, .relaxed, .acquire or .release are strong: on shared memory they
// order what came before and after, so they are no races.
#include "emulator/LoadStore.h"

#include <algorithm>

namespace fovea::emulator {

void countSectors(Block &block, const Instruction &in, uint32_t mask, const uint64_t *addresses,
                  uint32_t bytes, bool load) {
  uint64_t sectors[64];
  unsigned count = 0;
  uint64_t last = ~uint64_t{0};
  forLanes(mask, [&](uint32_t lane) {
    for (uint64_t sector = addresses[lane] >> 5; sector <= (addresses[lane] + bytes - 1) >> 5;
         ++sector)
      if (sector != last && count < 64)
        sectors[count++] = last = sector;
  });
  bool sorted = true;
  for (unsigned i = 1; i < count; ++i)
    sorted &= sectors[i - 1] < sectors[i];
  if (!sorted) {
    std::sort(sectors, sectors + count);
    count = static_cast<unsigned>(std::unique(sectors, sectors + count) - sectors);
  }
  uint64_t total = uint64_t{bytes} * __builtin_popcount(mask);
  Counters &counters = block.counters;
  (load ? counters.globalLoadBytes : counters.globalStoreBytes) += total;
  (load ? counters.globalLoadSectors : counters.globalStoreSectors) += count;
  Counters::Line &line = block.line(in);
  line.sectors += count;
  line.idealSectors += std::min<uint64_t>(count, (total + 31) / 32);
}

void countBanks(Block &block, const Instruction &in, uint32_t mask, const uint64_t *addresses,
                uint32_t bytes, bool load) {
  // 32, 16 or 8 lanes together, as many as fill 128 bytes.
  unsigned group = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
  uint64_t passes = 0, ideal = 0;
  for (unsigned first = 0; first < 32; first += group) {
    uint32_t lanes = mask & (group == 32 ? ~0u : ((1u << group) - 1) << first);
    if (!lanes)
      continue;
    // Mostly each lane has banks of its own, or all want the same words.
    if (bytes == 4 || bytes == 16) {
      unsigned shift = bytes == 4 ? 2 : 4;
      uint32_t banks = 0;
      unsigned count = 0;
      for (uint32_t left = lanes; left; left &= left - 1, ++count)
        banks |= 1u << (addresses[__builtin_ctz(left)] >> shift & (bytes == 4 ? 31 : 7));
      if (static_cast<unsigned>(__builtin_popcount(banks)) == count) {
        ++passes;
        ++ideal;
        continue;
      }
    }
    uint64_t words[32][8]; // distinct words of each bank
    uint8_t depth[32] = {};
    uint64_t most = 1;
    for (uint32_t left = lanes; left; left &= left - 1) {
      unsigned lane = __builtin_ctz(left);
      for (uint64_t word = addresses[lane] >> 2; word <= (addresses[lane] + bytes - 1) >> 2;
           ++word) {
        unsigned bank = word & 31;
        bool known = false;
        for (unsigned i = 0; i < depth[bank] && i < 8; ++i)
          known |= words[bank][i] == word;
        if (known)
          continue;
        if (depth[bank] < 8)
          words[bank][depth[bank]] = word;
        most = std::max<uint64_t>(most, ++depth[bank]);
      }
    }
    passes += most;
    ++ideal;
  }
  Counters &counters = block.counters;
  counters.sharedPasses += passes;
  counters.sharedIdealPasses += ideal;
  (load ? counters.sharedLoadBytes : counters.sharedStoreBytes) +=
      uint64_t{bytes} * __builtin_popcount(mask);
  Counters::Line &line = block.line(in);
  ++line.accesses;
  line.passes += passes;
  line.ideal += ideal;
}

void decodeAddress(Decoder &d, const Operand &operand, Space space) {
  Decoder::AddressForm form = d.address(operand, space);
  d.in.a = form.base;
  d.in.immediate = form.offset;
  if (form.wide)
    d.in.flags |= WideAddress;
}

namespace {
struct Elements : Details {
  struct Element {
    uint32_t offset; // of a register; 0 for `_`
    uint8_t bytes;   // of the register
  };
  std::vector<Element> list;
  bool isSigned = false;
};

constexpr unsigned maxBytes = 32;

/// Local memory of a lane.
uint8_t *local(Warp &warp, uint32_t lane, uint64_t address, uint32_t bytes, bool writes) {
  uint64_t size = warp.kernel.localBytes;
  if (address % bytes)
    warp.fault(lane, writes ? "writes " : "reads ", bytes, " bytes at local address ", hex(address),
               ": expects a multiple of ", bytes);
  if (address > size || bytes > size - address)
    warp.fault(lane, writes ? "writes " : "reads ", bytes, " bytes at local address ", hex(address),
               ": expects them inside the thread's ", size, " bytes");
  uint8_t *written = warp.localWritten.data() + lane * size + address;
  if (writes)
    std::memset(written, 1, bytes);
  else if (const void *hole = std::memchr(written, 0, bytes))
    warp.fault(lane, "reads byte ", address + (static_cast<const uint8_t *>(hole) - written),
               " of the thread's local memory, which it has not written");
  warp.block.counters.localBytes += bytes;
  return warp.local + lane * size + address;
}

void strongAccess(Warp &warp, const Instruction &in, uint64_t offset, uint32_t lane) {
  Knowledge &place = warp.block.places[offset];
  if (in.flags & Acquires)
    warp.acquire(1u << lane, place);
  if (in.flags & Releases)
    place.join(warp.release(1u << lane));
}

/// Moves what each lane loads or stores between memory and `data`.
template <Space S, bool Stores>
void transfer(Warp &warp, const Instruction &in, uint32_t mask, uint8_t (*data)[maxBytes]) {
  constexpr const char *verb = Stores ? "writes" : "reads";
  Block &block = warp.block;
  uint64_t addresses[32];
  laneAddresses(warp, in, addresses);
  const uint32_t bytes = in.width * in.count;
  uint32_t sharedLanes = 0, globalLanes = 0;
  forLanes(mask, [&](uint32_t lane) {
    auto move = [&](uint8_t *memory) {
      std::memcpy(Stores ? memory : data[lane], Stores ? data[lane] : memory, bytes);
    };
    uint64_t address = addresses[lane];
    Space space = S == Space::Generic ? resolve(address) : S;
    addresses[lane] = address;
    if (space == Space::Shared) {
      sharedLanes |= 1u << lane;
      uint64_t offset = block.sharedOffset(warp, lane, address, bytes, bytes, verb);
      Access access = block.access(warp, lane);
      access.atomic = in.flags & Strong;
      if (Stores)
        block.writeShared(warp, lane, offset, data[lane], bytes, access);
      if (in.flags & Strong)
        strongAccess(warp, in, offset, lane);
      if (!Stores)
        block.readShared(warp, lane, offset, data[lane], bytes, access);
    } else if (space == Space::Local) {
      move(local(warp, lane, address, bytes, Stores));
    } else if (space == Space::Param && Stores) {
      warp.fault(lane, "writes a parameter, which is read only");
    } else if (space == Space::Param) {
      const std::vector<uint8_t> &arguments = block.launch.arguments;
      if (address > arguments.size() || bytes > arguments.size() - address || address % bytes)
        warp.fault(lane, "reads ", bytes, " bytes at parameter offset ", address,
                   ": expects them inside the ", arguments.size(), " bytes, and aligned");
      std::memcpy(data[lane], arguments.data() + address, bytes);
    } else {
      globalLanes |= 1u << lane;
      move(block.global(warp, lane, address, bytes, bytes, Stores, verb));
    }
  });
  if (block.launch.options.count) {
    if (sharedLanes)
      countBanks(block, in, sharedLanes, addresses, bytes, !Stores);
    if (globalLanes)
      countSectors(block, in, globalLanes, addresses, bytes, !Stores);
  }
}

template <Space S> Step ld(Warp &warp, const Instruction &in, uint32_t mask) {
  const Elements &elements = *static_cast<const Elements *>(in.details);
  uint8_t data[32][maxBytes];
  transfer<S, false>(warp, in, mask, data);
  const unsigned width = in.width;
  for (unsigned i = 0; i < in.count; ++i) {
    const Elements::Element &element = elements.list[i];
    if (!element.offset)
      continue;
    if (width == 4 && element.bytes == 4) {
      uint32_t *target = warp.lanes<uint32_t>(element.offset);
      forLanes(mask, [&](uint32_t lane) { std::memcpy(target + lane, data[lane] + 4 * i, 4); });
      continue;
    }
    uint8_t *target = warp.lanes<uint8_t>(element.offset);
    forLanes(mask, [&](uint32_t lane) {
      uint64_t value = 0;
      std::memcpy(&value, data[lane] + width * i, width);
      if (elements.isSigned && width < 8) {
        unsigned unused = 64 - 8 * width;
        value = static_cast<uint64_t>(static_cast<int64_t>(value << unused) >> unused);
      }
      std::memcpy(target + lane * element.bytes, &value, element.bytes);
    });
  }
  return Step::Next;
}

template <Space S> Step st(Warp &warp, const Instruction &in, uint32_t mask) {
  const Elements &elements = *static_cast<const Elements *>(in.details);
  uint8_t data[32][maxBytes];
  for (unsigned i = 0; i < in.count; ++i) {
    const uint8_t *from = warp.lanes<uint8_t>(elements.list[i].offset);
    unsigned stride = elements.list[i].bytes;
    if (in.width == 4 && stride == 4)
      forLanes(mask, [&](uint32_t lane) { std::memcpy(data[lane] + 4 * i, from + 4 * lane, 4); });
    else
      forLanes(mask, [&](uint32_t lane) {
        std::memcpy(data[lane] + in.width * i, from + stride * lane, in.width);
      });
  }
  transfer<S, true>(warp, in, mask, data);
  ++warp.block.progress;
  return Step::Next;
}

/// Takes strength, scope, space, hints, vector and type.
Space takeForm(Decoder &d, bool load) {
  int strength = d.takeOneOf({"weak", "volatile", "relaxed", "acquire", "release"});
  if (strength > 0)
    d.in.flags |= Strong | Acquires | Releases;
  if (strength == 3)
    d.in.flags &= ~Releases;
  if (strength == 4)
    d.in.flags &= ~Acquires;
  d.takeOneOf({"cta", "cluster", "gpu", "sys"});
  d.takeOneOf({"mmio"});
  Space space = d.takeSpace();
  d.takeCacheHints();
  int vector = d.takeOneOf({"v2", "v4", "v8"});
  d.in.count = static_cast<uint8_t>(vector < 0 ? 1 : 2 << vector);
  Type type = d.lastType();
  d.in.width = static_cast<uint8_t>(bytesOf(type));
  if (bitsOf(type) < 8 || d.in.width * d.in.count > maxBytes)
    d.unsupported();
  d.sharedAccess(space, d.in.width * d.in.count);
  return space;
}

void elements(Decoder &d, const Operand &operand, bool load) {
  Elements &list = d.addDetails<Elements>();
  Type type = *typeNamed(d.statement->modifiers.back());
  list.isSigned = load && isSigned(type);
  std::vector<const Operand *> parts;
  if (operand.kind == Operand::Vector)
    for (const Operand &part : operand.parts)
      parts.push_back(&part);
  else
    parts.push_back(&operand);
  if (parts.size() != d.in.count)
    d.wrong("expects ", int(d.in.count), " elements, got ", parts.size());
  for (const Operand *part : parts) {
    if (load && part->kind == Operand::Name && part->name == "_") {
      list.list.push_back({0, d.in.width});
      continue;
    }
    // A register may be wider than the type.
    if (auto bits = d.registerBits(*part)) {
      if (*bits < 8u * d.in.width || (*bits > 64 && *bits != 8u * d.in.width) || *bits == 1)
        d.wrong("expects registers of at least ", 8 * d.in.width, " bits, got ", part->name, " of ",
                *bits);
      unsigned bytes = *bits == 8 ? 1 : *bits / 8;
      if (bytes == 16)
        d.unsupported("registers of 128 bits are not supported in ld and st");
      list.list.push_back({d.registerOffset(*part, load), static_cast<uint8_t>(bytes)});
      continue;
    }
    if (load)
      d.wrong("expects a register to write to, got '", part->name, "'");
    uint8_t bytes = std::max<uint8_t>(d.in.width, 2);
    Type wide = bytes == 2 ? Type::B16 : bytes == 4 ? Type::B32 : Type::B64;
    list.list.push_back({d.source(*part, isFloat(type) ? type : wide), bytes});
  }
}

Handler loadHandler(Space space) {
  switch (space) {
  case Space::Generic:
    return ld<Space::Generic>;
  case Space::Shared:
    return ld<Space::Shared>;
  case Space::Local:
    return ld<Space::Local>;
  case Space::Param:
    return ld<Space::Param>;
  default:
    return ld<Space::Global>;
  }
}

void load(Decoder &d) {
  Space space = takeForm(d, true);
  d.requireCount(2, 3); // the third is a cache policy
  decodeAddress(d, d.operand(1), space);
  elements(d, d.operand(0), true);
  d.setHandler(loadHandler(space));
}

void store(Decoder &d) {
  Space space = takeForm(d, false);
  d.requireCount(2, 3);
  decodeAddress(d, d.operand(0), space);
  elements(d, d.operand(1), false);
  switch (space) {
  case Space::Generic:
    return d.setHandler(st<Space::Generic>);
  case Space::Shared:
    return d.setHandler(st<Space::Shared>);
  case Space::Local:
    return d.setHandler(st<Space::Local>);
  case Space::Global:
    return d.setHandler(st<Space::Global>);
  default:
    d.wrong("expects st to a space that can be written, got .", nameOf(space));
  }
}

Step nothing(Warp &, const Instruction &, uint32_t) { return Step::Next; }

void prefetch(Decoder &d) {
  if (d.take("tensormap")) {
    d.takeSpace();
    return d.setHandler(nothing);
  }
  d.takeSpace();
  d.takeOneOf({"L1", "L2", "L2::evict_last", "L2::evict_normal"});
  d.setHandler(nothing);
}

Step zeros(Warp &warp, const Instruction &in, uint32_t mask) {
  forLanes(mask, [&](uint32_t lane) { warp.lanes<uint64_t>(in.d)[lane] = 0; });
  return Step::Next;
}
void createpolicy(Decoder &d) {
  // A policy changes caches only; its value means nothing here.
  d.takeOneOf({"fractional", "range"});
  d.takeCacheHints();
  d.take("L2::evict_unchanged");
  d.takeSpace();
  d.lastType();
  d.in.d = d.destination(d.operand(0), 64);
  d.setHandler(zeros);
}
} // namespace

void addMemory(DecodeTable &table) {
  table["ld"] = table["ldu"] = load;
  table["st"] = store;
  table["prefetch"] = table["prefetchu"] = prefetch;
  table["createpolicy"] = createpolicy;
}

} // namespace fovea::emulator
