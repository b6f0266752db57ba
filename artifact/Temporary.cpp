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
#include <sys/stat.h>
#include <unistd.h>

namespace fovea::artifact {

static constexpr char kSuffix[] = ".tmp-XXXXXX";
static constexpr size_t kRandom = 6;

std::string followLinks(const std::string &path) {
  std::unique_ptr<char, void (*)(void *)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? real.get() : path;
}

/// Locks a file that nobody else has locked.
static bool lock(int file) { return ::flock(file, LOCK_EX | LOCK_NB) == 0; }

static void removeAbandoned(const std::string &target) {
  size_t slash = target.rfind('/');
  std::string folder = slash == std::string::npos ? "." : target.substr(0, slash + 1);
  std::string begin = target.substr(slash == std::string::npos ? 0 : slash + 1) +
                      std::string(kSuffix, sizeof kSuffix - 1 - kRandom);
  std::unique_ptr<DIR, int (*)(DIR *)> entries(::opendir(folder.c_str()), ::closedir);
  if (!entries)
    return;
  while (const dirent *entry = ::readdir(entries.get())) {
    std::string name = entry->d_name;
    if (name.size() != begin.size() + kRandom || name.compare(0, begin.size(), begin) != 0)
      continue;
    int at = ::dirfd(entries.get());
    int file = ::openat(at, name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (file < 0)
      continue;
    struct stat status;
    if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && lock(file))
      ::unlinkat(at, name.c_str(), 0);
    ::close(file);
  }
}

int makeTemporary(const std::string &target, std::string &name) {
  removeAbandoned(target);
  // Another program may take the file for abandoned between the two calls, and remove it.
  for (int attempt = 0; attempt < 100; ++attempt) {
    name = target + kSuffix;
    int file = ::mkostemp(name.data(), O_CLOEXEC);
    if (file < 0)
      return -1;
    bool locked = lock(file);
    struct stat status;
    // Some file systems have no locks, and nobody removes there.
    if ((locked || errno != EWOULDBLOCK) && ::fstat(file, &status) == 0 && status.st_nlink > 0) {
      mode_t mask = ::umask(0);
      ::umask(mask);
      ::fchmod(file, 0666 & ~mask);
      return file;
    }
    ::close(file);
  }
  errno = EAGAIN;
  return -1;
}

} // namespace fovea::artifact
