// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Allocations and host copies.
#include "emulator/GlobalMemory.h"

#include "emulator/Error.h"

#include <algorithm>
#include <cstring>

namespace fovea::emulator {

namespace {
constexpr uint64_t redZone = 4096;
constexpr uint64_t maxBytes = uint64_t{1} << 38;
} // namespace

Allocation &GlobalMemory::add(uint64_t size, std::string name, uint64_t alignment) {
  if (size > maxBytes)
    fail("expects an allocation of at most ", maxBytes, " bytes, got ", size, " for '", name, "'");
  alignment = std::max<uint64_t>(alignment, 256);
  next = (next + redZone + alignment - 1) / alignment * alignment;
  auto allocation = std::make_unique<Allocation>();
  allocation->address = next;
  allocation->size = size;
  allocation->name = std::move(name);
  next += size;
  allocations.push_back(std::move(allocation));
  return *allocations.back();
}

uint64_t GlobalMemory::allocate(uint64_t size, std::string name, uint64_t alignment) {
  Allocation &allocation = add(size, std::move(name), alignment);
  // Bytes that nobody wrote are a signalling pattern, not zero, for launches without the check.
  allocation.ownBytes = std::unique_ptr<uint8_t[]>(new uint8_t[size + 16]);
  std::memset(allocation.ownBytes.get(), 0xff, size + 16);
  allocation.ownWritten = std::make_unique<uint8_t[]>(size + 16);
  allocation.bytes = allocation.ownBytes.get();
  allocation.written = allocation.ownWritten.get();
  inUse += size;
  return allocation.address;
}

uint64_t GlobalMemory::map(const void *bytes, uint64_t size, std::string name) {
  uint64_t address = map(const_cast<void *>(bytes), size, std::move(name));
  allocations.back()->readOnly = true;
  return address;
}

uint64_t GlobalMemory::map(void *bytes, uint64_t size, std::string name) {
  Allocation &allocation = add(size, std::move(name), 256);
  allocation.bytes = static_cast<uint8_t *>(bytes);
  return allocation.address;
}

void GlobalMemory::forgetWriters() {
  for (auto &allocation : allocations)
    allocation->writers.reset();
}

Allocation *GlobalMemory::find(uint64_t address) const {
  auto after = std::upper_bound(
      allocations.begin(), allocations.end(), address,
      [](uint64_t a, const std::unique_ptr<Allocation> &b) { return a < b->address; });
  if (after == allocations.begin())
    return nullptr;
  Allocation *found = std::prev(after)->get();
  return found->bytes && address - found->address < found->size ? found : nullptr;
}

std::string GlobalMemory::describe(uint64_t address) const {
  auto after = std::upper_bound(
      allocations.begin(), allocations.end(), address,
      [](uint64_t a, const std::unique_ptr<Allocation> &b) { return a < b->address; });
  const Allocation *before = after == allocations.begin() ? nullptr : std::prev(after)->get();
  if (before && address - before->address < before->size)
    return text(before->bytes ? "byte " : "freed: byte ", address - before->address, " of '",
                before->name, "' (", before->size, " bytes)");
  uint64_t past = before ? address - before->address - before->size : ~uint64_t{0};
  uint64_t ahead = after == allocations.end() ? ~uint64_t{0} : (*after)->address - address;
  if (past < (uint64_t{1} << 32) && past <= ahead)
    return text(past, " bytes past the end of ", before->bytes ? "'" : "the freed '", before->name,
                "' (", before->size, " bytes)");
  if (ahead < (uint64_t{1} << 32))
    return text(ahead, " bytes before '", (*after)->name, "' (", (*after)->size, " bytes)");
  return "near no allocation";
}

Allocation &GlobalMemory::range(uint64_t address, uint64_t size, const char *what) const {
  Allocation *allocation = find(address);
  if (!allocation && !size)
    for (auto &each : allocations)
      if (each->bytes && each->address == address)
        return *each;
  if (!allocation || size > allocation->size - (address - allocation->address))
    fail(what, " expects ", size, " bytes in one allocation at ", hex(address), ", got ",
         allocation ? text(allocation->size - (address - allocation->address),
                           " up to the end of '", allocation->name, "'")
                    : describe(address));
  return *allocation;
}

void GlobalMemory::free(uint64_t address) {
  Allocation *found = nullptr;
  for (auto &each : allocations)
    if (each->address == address)
      found = each.get();
  if (!found || !found->bytes)
    fail("free expects the address of a living allocation, got ", hex(address), ": ",
         describe(address));
  inUse -= found->ownBytes ? found->size : 0;
  found->bytes = found->written = nullptr;
  found->ownBytes.reset();
  found->ownWritten.reset();
}

void GlobalMemory::write(uint64_t address, const void *source, uint64_t size) {
  Allocation &allocation = range(address, size, "a copy to the device");
  if (allocation.readOnly)
    fail("a copy to the device expects memory that may be written, got '", allocation.name, "'");
  uint64_t offset = address - allocation.address;
  if (size)
    std::memcpy(allocation.bytes + offset, source, size);
  if (allocation.written)
    std::memset(allocation.written + offset, 1, size);
}

void GlobalMemory::fill(uint64_t address, uint8_t value, uint64_t size) {
  Allocation &allocation = range(address, size, "a fill");
  if (allocation.readOnly)
    fail("a fill expects memory that may be written, got '", allocation.name, "'");
  std::memset(allocation.bytes + (address - allocation.address), value, size);
  if (allocation.written)
    std::memset(allocation.written + (address - allocation.address), 1, size);
}

void GlobalMemory::read(uint64_t address, void *target, uint64_t size, bool anyway) const {
  Allocation &allocation = range(address, size, "a copy from the device");
  uint64_t offset = address - allocation.address;
  if (allocation.written && !anyway)
    if (const void *hole = std::memchr(allocation.written + offset, 0, size))
      fail("a copy from the device expects bytes that were written, got byte ",
           static_cast<const uint8_t *>(hole) - allocation.written, " of '", allocation.name, "' (",
           allocation.size, " bytes), which nobody wrote");
  if (size)
    std::memcpy(target, allocation.bytes + offset, size);
}

void GlobalMemory::forget(uint64_t address) {
  Allocation &allocation = range(address, 0, "forget");
  if (allocation.written)
    std::memset(allocation.written, 0, allocation.size);
}

} // namespace fovea::emulator
