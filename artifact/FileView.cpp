// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FileView.h. The table of mappings is a list that only grows: a handler may walk it at any
// moment, and what it reads stays memory. Records of views that are gone are used again.
#include "artifact/FileView.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

namespace fovea::artifact {

namespace {
struct Record {
  std::atomic<const uint8_t *> begin{nullptr}; ///< null: free
  std::atomic<size_t> size{0};
  char path[1024]; ///< its end, if it is longer
  Record *next = nullptr;
};
} // namespace

static std::atomic<Record *> records{nullptr};
static std::mutex recordsLock;

static void note(const uint8_t *begin, size_t size, const std::string &path) {
  std::lock_guard<std::mutex> lock(recordsLock);
  Record *record = records;
  while (record && record->begin)
    record = record->next;
  bool isNew = !record;
  if (isNew)
    record = new Record;
  size_t length = std::min(path.size(), sizeof(record->path) - 1);
  std::memcpy(record->path, path.c_str() + path.size() - length, length + 1);
  record->size = size;
  record->begin = begin;
  if (isNew) {
    record->next = records;
    records = record;
  }
}

static void forget(const uint8_t *begin) {
  std::lock_guard<std::mutex> lock(recordsLock);
  for (Record *record = records; record; record = record->next)
    if (record->begin == begin)
      record->begin = nullptr;
}

const char *findMappedFile(const void *address) {
  auto at = reinterpret_cast<uintptr_t>(address);
  for (const Record *record = records; record; record = record->next) {
    auto begin = reinterpret_cast<uintptr_t>(record->begin.load());
    // The last page is mapped whole.
    if (begin && at >= begin && at - begin < (record->size + 4095) / 4096 * 4096)
      return record->path;
  }
  return nullptr;
}

static void *mapMemory(size_t size, int protection, int flags, int descriptor, std::string &error) {
  void *memory = ::mmap(nullptr, size, protection, MAP_PRIVATE | flags, descriptor, 0);
  if (memory != MAP_FAILED)
    return memory;
  error = std::string("cannot be ") +
          (descriptor < 0 ? "copied into memory: " : "mapped into memory: ") + std::strerror(errno);
  return nullptr;
}

static bool readAll(int descriptor, uint8_t *to, size_t size, std::string &error) {
  for (size_t done = 0; done < size;) {
    ssize_t count = ::pread(descriptor, to + done, size - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      error = std::string("cannot be read: ") + std::strerror(errno);
    else if (count == 0)
      error = "was cut while it was read: expects " + std::to_string(size) + " bytes, got " +
              std::to_string(done);
    if (count <= 0)
      return false;
    done += static_cast<size_t>(count);
  }
  return true;
}

std::unique_ptr<FileView> FileView::open(int descriptor, size_t size, const std::string &path,
                                         FileAccess access, std::string &error) {
  std::unique_ptr<FileView> view(new FileView);
  if (size == 0)
    return view;
  bool isMapped = access == FileAccess::Mapped;
  void *memory = isMapped ? mapMemory(size, PROT_READ, 0, descriptor, error)
                          : mapMemory(size, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1, error);
  if (!memory)
    return nullptr;
  view->bytes = static_cast<const uint8_t *>(memory);
  view->count = size;
  view->isMapped = isMapped;
  if (isMapped) {
    note(view->bytes, size, path);
    return view;
  }
  if (!readAll(descriptor, static_cast<uint8_t *>(memory), size, error))
    return nullptr;
  ::mprotect(memory, size, PROT_READ);
  return view;
}

FileView::~FileView() {
  if (!bytes)
    return;
  if (isMapped)
    forget(bytes);
  ::munmap(const_cast<uint8_t *>(bytes), count);
}

void FileView::drop(const uint8_t *begin, size_t length) const {
  if (!isMapped)
    return;
  auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t first = (reinterpret_cast<uintptr_t>(begin) + page - 1) / page * page;
  uintptr_t end = (reinterpret_cast<uintptr_t>(begin) + length) / page * page;
  if (first < end)
    ::madvise(reinterpret_cast<void *>(first), end - first, MADV_DONTNEED);
}

} // namespace fovea::artifact
