// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that calls work in: buffers that only grow, and zeroed pages for caches.
#ifndef FOVEA_RUNTIME_MEMORY_H
#define FOVEA_RUNTIME_MEMORY_H

#include <cstdint>
#include <string>

namespace fovea {

/// Bytes aligned to 64. Contents are not kept when it grows.
class Buffer {
public:
  Buffer() = default;
  ~Buffer();
  Buffer(Buffer &&other) noexcept;
  Buffer &operator=(Buffer &&) = delete;

  /// Memory of at least `size` bytes, never null. Throws Failure that names
  /// `what` if there is none.
  void *ensure(uint64_t size, const char *what);
  void *get() const { return data; }

private:
  void *data = nullptr;
  uint64_t capacity = 0;
};

/// Zeroed pages that take no memory until they are written to.
class Pages {
public:
  Pages() = default;
  ~Pages();
  Pages(Pages &&other) noexcept;
  Pages &operator=(Pages &&) = delete;

  /// At least `size` bytes, all zero if it had to grow. Throws Failure.
  void *ensure(uint64_t size, const std::string &what);
  void *get() const { return data; }
  uint64_t size() const { return capacity; }

private:
  void *data = nullptr;
  uint64_t capacity = 0;
};

} // namespace fovea

#endif // FOVEA_RUNTIME_MEMORY_H
