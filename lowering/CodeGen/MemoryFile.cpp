// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See MemoryFile.h.
#include "lowering/CodeGen/MemoryFile.h"
#include <cerrno>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;

// Not closed when another program begins: it is for those.
MemoryFile::MemoryFile()
    : file(::memfd_create("fovea", 0)), path("/proc/self/fd/" + std::to_string(file)) {}

MemoryFile::~MemoryFile() {
  if (file >= 0)
    ::close(file);
}

bool MemoryFile::write(ArrayRef<char> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    bytes = bytes.drop_front(static_cast<size_t>(count));
  }
  return file >= 0;
}

bool MemoryFile::read(std::vector<char> &bytes) const {
  return ::lseek(file, 0, SEEK_SET) == 0 && readToEnd(file, bytes);
}

bool mlir::fovea::readToEnd(int file, std::vector<char> &bytes) {
  bytes.clear();
  for (size_t used = 0;;) {
    bytes.resize(used + (1 << 16));
    ssize_t count = ::read(file, bytes.data() + used, bytes.size() - used);
    if (count < 0 && errno == EINTR)
      continue;
    used += count > 0 ? static_cast<size_t>(count) : 0;
    bytes.resize(used);
    if (count <= 0)
      return count == 0;
  }
}
