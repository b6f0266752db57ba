// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Code.h. The file in memory stays open as long as the object is loaded: the
// loader knows objects by name, and a second one under the same number would be
// taken for the first.
#include "runtime/Code.h"

#include "runtime/Status.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fovea {

Code::Code(const std::string &name, const void *data, size_t size) : name(name) {
  file = ::memfd_create("fovea-code", MFD_CLOEXEC);
  if (file < 0)
    throw Failure{FOVEA_UNSUPPORTED,
                  name +
                      ": its code cannot be loaded: this system gives no file in memory "
                      "(memfd_create): " +
                      std::strerror(errno)};
  const char *from = static_cast<const char *>(data);
  for (size_t left = size; left > 0;) {
    ssize_t count = ::write(file, from, left);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      int code = errno;
      ::close(file);
      throw Failure{FOVEA_OUT_OF_MEMORY,
                    name + ": its code cannot be copied into memory: " + std::strerror(code)};
    }
    from += count;
    left -= static_cast<size_t>(count);
  }
  std::string path = "/proc/self/fd/" + std::to_string(file);
  handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = ::dlerror();
    std::string message = name + ": its code cannot be loaded: " + (reason ? reason : "unknown");
    if (::access("/proc/self/fd", X_OK) != 0)
      message += " (/proc is not mounted)";
    ::close(file);
    throw Failure{FOVEA_INVALID, message};
  }
}

Code::~Code() {
  ::dlclose(handle);
  ::close(file);
}

void *Code::find(const std::string &symbol) const {
  void *address = ::dlsym(handle, symbol.c_str());
  if (!address)
    failInvalid(name + ": its code does not export '" + symbol + "'");
  return address;
}

} // namespace fovea
