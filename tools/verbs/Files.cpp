// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Files.h.
#include "tools/verbs/Files.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fovea::verbs {

bool readFile(const std::string &path, std::string &bytes, std::string &error) {
  bool standard = path == "-";
  FILE *file = standard ? stdin : std::fopen(path.c_str(), "rbe");
  bool good = file != nullptr;
  bytes.clear();
  char chunk[1 << 16];
  while (good) {
    size_t count = std::fread(chunk, 1, sizeof(chunk), file);
    bytes.append(chunk, count);
    good = !std::ferror(file);
    if (count < sizeof(chunk))
      break;
  }
  int code = errno;
  if (file && !standard)
    std::fclose(file);
  if (!good)
    error = (standard ? "standard input" : path) + ": cannot be read: " + std::strerror(code);
  return good;
}

TemporaryFile::TemporaryFile(const std::string &path) : name(path + ".tmp-XXXXXX") {
  file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    return;
  mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(file, 0666 & ~mask);
}

TemporaryFile::~TemporaryFile() {
  if (file >= 0)
    ::close(file);
  if (file >= 0 && !kept)
    ::unlink(name.c_str());
}

bool TemporaryFile::write(const void *data, size_t size) {
  const char *from = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t count = ::write(file, from, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    from += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

bool TemporaryFile::keep(const std::string &path) {
  kept = ::fsync(file) == 0 && ::rename(name.c_str(), path.c_str()) == 0;
  return kept;
}

} // namespace fovea::verbs
