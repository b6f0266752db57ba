// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Memory.h.
#include "runtime/Memory.h"

#include "runtime/status/Status.h"

#include <cstdlib>
#include <sys/mman.h>
#include <utility>

namespace fovea {

[[noreturn]] static void failMemory(uint64_t size, const std::string &what) {
  throw Failure{FOVEA_OUT_OF_MEMORY,
                "out of memory: cannot get " + std::to_string(size) + " bytes for " + what};
}

Buffer::~Buffer() { std::free(data); }
Buffer::Buffer(Buffer &&other) noexcept
    : data(std::exchange(other.data, nullptr)), capacity(std::exchange(other.capacity, 0)) {}

void *Buffer::ensure(uint64_t size, const char *what) {
  if (data && size <= capacity)
    return data;
  if (size > PTRDIFF_MAX - 64)
    failMemory(size, what);
  size = (size + 63) / 64 * 64;
  if (size == 0)
    size = 64;
  // The old one first: both together may not fit.
  std::free(std::exchange(data, nullptr));
  capacity = 0;
  data = std::aligned_alloc(64, size);
  if (!data)
    failMemory(size, what);
  capacity = size;
  return data;
}

Pages::~Pages() {
  if (data)
    ::munmap(data, capacity);
}
Pages::Pages(Pages &&other) noexcept
    : data(std::exchange(other.data, nullptr)), capacity(std::exchange(other.capacity, 0)) {}

void *Pages::ensure(uint64_t size, const std::string &what) {
  if (data && size <= capacity)
    return data;
  if (data)
    ::munmap(std::exchange(data, nullptr), std::exchange(capacity, 0));
  if (size == 0)
    size = 1;
  void *mapped = size > PTRDIFF_MAX ? MAP_FAILED
                                    : ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED)
    failMemory(size, what);
  ::madvise(mapped, size, MADV_HUGEPAGE);
  data = mapped;
  capacity = size;
  return data;
}

} // namespace fovea
