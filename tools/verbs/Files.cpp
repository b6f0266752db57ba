// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Files.h.
#include "tools/verbs/Files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace fovea::verbs {

/// Reads to the end; `file` may be null, which `errno` explains.
static bool readAll(FILE *file, const std::string &name, std::string &bytes, std::string &error) {
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
  if (file && file != stdin)
    std::fclose(file);
  if (!good)
    error = name + ": cannot be read: " + std::strerror(code);
  return good;
}

bool readFile(const std::string &path, std::string &bytes, std::string &error) {
  if (path == "-")
    return readAll(stdin, "standard input", bytes, error);
  return readAll(std::fopen(path.c_str(), "rbe"), path, bytes, error);
}

bool readRegularFile(const std::string &path, std::string &bytes, std::string &error) {
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  if (file >= 0 && ::fstat(file, &status) == 0 && !S_ISREG(status.st_mode)) {
    ::close(file);
    error = path + ": expects a regular file, got a " +
            (S_ISDIR(status.st_mode)    ? "folder"
             : S_ISFIFO(status.st_mode) ? "pipe"
                                        : "device");
    return false;
  }
  return readAll(file < 0 ? nullptr : ::fdopen(file, "rb"), path, bytes, error);
}

} // namespace fovea::verbs
