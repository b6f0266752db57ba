// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opening and reading files whose names nobody vouches for: a pipe or a device,
// which may never end, is refused before a byte is read.
#include "frontend/Json.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

using namespace fovea;

bool fovea::exists(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) == 0;
}

std::optional<RegularFile> RegularFile::open(const std::string &path, Problems &problems) {
  auto fail = [&](const std::string &message) {
    addError(problems, path, "", message);
    return std::nullopt;
  };
  RegularFile result;
  // Without O_NONBLOCK, opening a pipe would wait for its writer.
  result.descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (result.descriptor < 0)
    return fail(std::string("cannot be opened: ") + std::strerror(errno));
  struct stat status;
  if (::fstat(result.descriptor, &status) != 0)
    return fail(std::string("cannot be read: ") + std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return fail(std::string("expects a regular file, got ") + (S_ISDIR(status.st_mode) ? "a folder"
                                                               : S_ISFIFO(status.st_mode)
                                                                   ? "a pipe"
                                                                   : "a device"));
  result.size = static_cast<uint64_t>(status.st_size);
  return result;
}

RegularFile::RegularFile(RegularFile &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)), size(other.size) {}

RegularFile::~RegularFile() {
  if (descriptor >= 0)
    ::close(descriptor);
}

std::optional<std::string> fovea::readFile(const std::string &path, uint64_t maxBytes,
                                           Problems &problems) {
  auto fail = [&](const std::string &message) {
    addError(problems, path, "", message);
    return std::nullopt;
  };
  std::optional<RegularFile> opened = RegularFile::open(path, problems);
  if (!opened)
    return std::nullopt;
  if (opened->size > maxBytes)
    return fail("expects at most " + std::to_string(maxBytes) + " bytes, got " +
                std::to_string(opened->size));
  std::string content(static_cast<size_t>(opened->size), '\0');
  size_t done = 0;
  while (done < content.size()) {
    ssize_t got = ::read(opened->descriptor, content.data() + done, content.size() - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return fail(std::string("cannot be read: ") + std::strerror(errno));
    if (got == 0)
      return fail("expects " + std::to_string(content.size()) + " bytes, got only " +
                  std::to_string(done));
    done += static_cast<size_t>(got);
  }
  return content;
}
