// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Code.h. The file in memory stays open as long as the object is loaded: the
// loader knows objects by name, and a second one under the same number would be
// taken for the first.
#include "runtime/Code.h"

#include "runtime/status/Status.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fovea {

#if defined(__aarch64__)
static constexpr int kMachine = EM_AARCH64;
const char *const Code::kPortable = "aarch64-portable";
#else
static constexpr int kMachine = EM_X86_64;
const char *const Code::kPortable = "portable";
#endif

static std::string nameMachine(int machine) {
  return machine == EM_X86_64    ? "x86-64"
         : machine == EM_AARCH64 ? "aarch64"
                                 : "machine " + std::to_string(machine);
}

static Elf64_Ehdr readHeader(const std::string &name, const void *data, size_t size) {
  Elf64_Ehdr header;
  if (size < sizeof(header))
    failInvalid(name + ": its code cannot be loaded: expects an ELF file of at least " +
                std::to_string(sizeof(header)) + " bytes, got " + std::to_string(size));
  std::memcpy(&header, data, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    failInvalid(name + ": its code cannot be loaded: expects an ELF file, got other bytes");
  return header;
}

void Code::requireProcessor(const std::string &name, const void *data, size_t size) {
  int machine = readHeader(name, data, size).e_machine;
  if (machine != kMachine)
    throw Failure{FOVEA_UNSUPPORTED,
                  name + ": expects code for " + nameMachine(kMachine) + ", got code for " +
                      nameMachine(machine) +
                      "; compile it for this machine or with --target=" + kPortable};
}

/// The loader takes code for another processor for a file that is missing.
static void checkHeader(const std::string &name, const void *data, size_t size) {
  Elf64_Ehdr header = readHeader(name, data, size);
  bool isOurs = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == kMachine &&
                header.e_ident[EI_DATA] == ELFDATA2LSB;
  if (!isOurs || header.e_type != ET_DYN)
    failInvalid(name + ": its code cannot be loaded: expects a shared object for " +
                nameMachine(kMachine) + " (type " + std::to_string(ET_DYN) + ", machine " +
                std::to_string(kMachine) + "), got type " + std::to_string(header.e_type) +
                ", machine " + std::to_string(header.e_machine));
}

Code::Code(const std::string &name, const void *data, size_t size) : name(name) {
  checkHeader(name, data, size);
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
