// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device's memory: allocations at addresses of their own, far apart, so that an access past
// one's end meets nothing. Each byte knows whether it has been written. Addresses are never used
// again, so a freed allocation is recognised.
#ifndef FOVEA_EMULATOR_GLOBALMEMORY_H
#define FOVEA_EMULATOR_GLOBALMEMORY_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fovea::emulator {

struct Allocation {
  uint64_t address = 0, size = 0;
  uint8_t *bytes = nullptr;   ///< null once freed
  uint8_t *written = nullptr; ///< one for each byte, 1 if written; null if all are
  bool readOnly = false;
  /// The number of the block that wrote each byte in this launch, from one; null if none did, or if
  /// nobody asks for it.
  std::unique_ptr<uint32_t[]> writers;
  std::string name;
  std::unique_ptr<uint8_t[]> ownBytes, ownWritten;
};

class GlobalMemory {
public:
  /// `size` bytes that nobody has written. `name` is for messages. The address is a multiple of
  /// `alignment`, at least 256.
  uint64_t allocate(uint64_t size, std::string name, uint64_t alignment = 256);
  /// The caller's bytes, which must outlive their use; read only if they are const.
  uint64_t map(const void *bytes, uint64_t size, std::string name);
  uint64_t map(void *bytes, uint64_t size, std::string name);
  void free(uint64_t address);

  /// Host copies. Throw Error unless the whole range lies in one allocation.
  void write(uint64_t address, const void *source, uint64_t size);
  void fill(uint64_t address, uint8_t value, uint64_t size);
  /// Refuses bytes that were never written unless `anyway`.
  void read(uint64_t address, void *target, uint64_t size, bool anyway = false) const;
  /// Makes all of an allocation unwritten again.
  void forget(uint64_t address);

  /// A launch begins that compares the accesses of blocks.
  void forgetWriters();

  /// The living allocation around `address`; null if there is none.
  Allocation *find(uint64_t address) const;
  /// Where `address` is, in words: "12 bytes past the end of 'q' (4096 bytes)".
  std::string describe(uint64_t address) const;
  /// Guards one atomic operation on `address`.
  std::mutex &lockFor(uint64_t address) const { return locks[address >> 4 & 63]; }
  /// Bytes of living allocations that are not mapped.
  uint64_t bytesInUse() const { return inUse; }

private:
  Allocation &add(uint64_t size, std::string name, uint64_t alignment);
  Allocation &range(uint64_t address, uint64_t size, const char *what) const;

  std::vector<std::unique_ptr<Allocation>> allocations; // by address
  uint64_t next = uint64_t{1} << 40;
  uint64_t inUse = 0;
  mutable std::mutex locks[64];
};

} // namespace fovea::emulator

#endif // FOVEA_EMULATOR_GLOBALMEMORY_H
