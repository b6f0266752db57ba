// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Temporary.h. Whether a maker lives is told by its lock, which goes with the process; names
// and numbers of processes come again.
#include "artifact/Temporary.h"

#include <cerrno>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace fovea::artifact {

static constexpr char kSuffix[] = ".tmp-";
static constexpr size_t kRandom = 6;
static constexpr char kLetters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// Calls again what a signal has interrupted.
template <typename Call> static auto repeat(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR)
    result = call();
  return result;
}

/// Closes a file whose content counts. An interrupted close has closed it, on Linux.
static bool closeChecked(int file) { return ::close(file) == 0 || errno == EINTR; }

/// Closes and removes without touching the reason of a failure.
static void discard(int file, const std::string &name) {
  int reason = errno;
  if (file >= 0)
    ::close(file);
  if (!name.empty())
    ::unlink(name.c_str());
  errno = reason;
}

/// What `path` names behind its symbolic links, so that a link to an output stays one.
static std::string followLinks(const std::string &path) {
  std::unique_ptr<char, void (*)(void *)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
}

/// Locks a file that nobody else has locked.
static bool lock(int file) {
  return repeat([&] { return ::flock(file, LOCK_EX | LOCK_NB); }) == 0;
}

void removeAbandoned(const std::string &target) {
  size_t slash = target.rfind('/');
  std::string begin = target.substr(slash == std::string::npos ? 0 : slash + 1) + kSuffix;
  std::unique_ptr<DIR, int (*)(DIR *)> entries(::opendir(folderOf(target).c_str()), ::closedir);
  if (!entries)
    return;
  while (const dirent *entry = ::readdir(entries.get())) {
    std::string name = entry->d_name;
    if (name.size() != begin.size() + kRandom || name.compare(0, begin.size(), begin) != 0)
      continue;
    int at = ::dirfd(entries.get());
    int file = repeat(
        [&] { return ::openat(at, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW); });
    if (file < 0)
      continue;
    struct stat status;
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && lock(file))
      ::unlinkat(at, name.c_str(), 0);
    ::close(file);
  }
}

/// A file that did not exist, with a name after `begin`.
static int createNew(const std::string &begin, std::string &name) {
  unsigned char random[kRandom];
  do {
    if (repeat([&] { return ::getrandom(random, sizeof random, 0); }) != sizeof random)
      return -1;
    name = begin;
    for (unsigned char byte : random)
      name += kLetters[byte % (sizeof kLetters - 1)];
    int file =
        repeat([&] { return ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666); });
    if (file >= 0)
      return file;
  } while (errno == EEXIST);
  return -1;
}

TemporaryFile::TemporaryFile(const std::string &path) {
  struct stat status;
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      errno = EISDIR;
      return;
    }
    if (!S_ISREG(status.st_mode) || status.st_nlink == 0) {
      file = repeat([&] { return ::open(path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC); });
      return;
    }
  }
  target = followLinks(path);
  removeAbandoned(target);
  if (!create())
    name.clear();
}

bool TemporaryFile::create() {
  // Another program may take the file for abandoned before it is locked, and remove it.
  for (int attempt = 0; attempt < 100; ++attempt) {
    int made = createNew(target + kSuffix, name);
    if (made < 0)
      return false;
    // Some file systems have no locks, and nobody removes there.
    bool isOurs = lock(made) || errno != EWOULDBLOCK;
    struct stat status;
    if (isOurs && ::fstat(made, &status) == 0 && status.st_nlink > 0) {
      file = made;
      return true;
    }
    ::close(made);
  }
  errno = EAGAIN;
  return false;
}

TemporaryFile::~TemporaryFile() { discard(file, name); }

bool TemporaryFile::write(const void *data, size_t size) {
  const char *from = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t count = repeat([&] { return ::write(file, from, size); });
    if (count == 0)
      errno = ENOSPC;
    if (count <= 0)
      return false;
    from += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool TemporaryFile::writeAt(uint64_t offset, const void *data, size_t size) {
  const char *from = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t count = repeat([&] { return ::pwrite(file, from, size, static_cast<off_t>(offset)); });
    if (count == 0)
      errno = ENOSPC;
    if (count <= 0)
      return false;
    from += count;
    offset += static_cast<uint64_t>(count);
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool TemporaryFile::keep() {
  if (name.empty())
    return closeChecked(std::exchange(file, -1));
  if (repeat([&] { return ::fsync(file); }) != 0)
    return false;
  // Some file systems tell only at the end that they had no place. The lock stays with the copy,
  // until the file has its name.
  int copy = ::fcntl(file, F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || !closeChecked(std::exchange(file, copy)) ||
      repeat([&] { return ::rename(name.c_str(), target.c_str()); }) != 0)
    return false;
  name.clear();
  ::close(std::exchange(file, -1));
  // The name is durable once its folder is; a folder that cannot be synced (some network file
  // systems) is no reason to fail.
  int folder = ::open(folderOf(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return true;
}

} // namespace fovea::artifact
