// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts fovea-grid-remote of the build for aarch64, and speaks with it by two pipes.
#include "test/grid/RemoteProcess.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir::fovea;
using namespace ::fovea::remote;

RemoteProcess *RemoteProcess::get() {
  static RemoteProcess process;
  static const bool started = process.start();
  return started && process.runs ? &process : nullptr;
}

/// Beside the folder of this program: build/aarch64/bin.
static std::string findProgram() {
  static char here;
  llvm::SmallString<256> path(llvm::sys::fs::getMainExecutable("grid", &here));
  llvm::sys::path::remove_filename(path);
  llvm::sys::path::append(path, "..", "aarch64", "bin", "fovea-grid-remote");
  return llvm::sys::fs::exists(path) ? path.str().str() : "";
}

bool RemoteProcess::start() {
  std::string program = findProgram();
  auto qemu = llvm::sys::findProgramByName("qemu-aarch64");
  if (program.empty() || !qemu)
    return false;
  int memory = ::memfd_create("grid-memory", 0);
  if (memory < 0 || ::ftruncate(memory, kBytes) != 0 ||
      ::mmap(reinterpret_cast<void *>(kAddress), kBytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED_NOREPLACE, memory, 0) != reinterpret_cast<void *>(kAddress))
    return false;
  int there[2], back[2];
  if (::pipe2(there, O_CLOEXEC) != 0 || ::pipe2(back, O_CLOEXEC) != 0)
    return false;
  std::string number = std::to_string(memory);
  const char *words[] = {qemu->c_str(),   "-cpu",         "max",  "-L", "/usr/aarch64-linux-gnu",
                         program.c_str(), number.c_str(), nullptr};
  pid_t child = ::fork();
  if (child == 0) {
    ::dup2(there[0], STDIN_FILENO);
    ::dup2(back[1], STDOUT_FILENO);
    ::execv(words[0], const_cast<char **>(words));
    ::_exit(127);
  }
  ::close(there[0]);
  ::close(back[1]);
  std::signal(SIGPIPE, SIG_IGN);
  input = there[1], output = back[0];
  return runs = child > 0;
}

std::optional<uint64_t> RemoteProcess::ask(const Request &request, std::string &error) {
  Answer answer;
  size_t read = 0;
  bool isSent = ::write(input, &request, sizeof(request)) == sizeof(request);
  while (isSent && read < sizeof(answer)) {
    ssize_t some = ::read(output, reinterpret_cast<char *>(&answer) + read, sizeof(answer) - read);
    if (some <= 0)
      break;
    read += some;
  }
  if (read != sizeof(answer)) {
    runs = false;
    error = "the process of the other processor has ended";
    return std::nullopt;
  }
  if (answer.word)
    return answer.word;
  error = answer.error;
  return std::nullopt;
}

char *RemoteProcess::allocate(size_t bytes) {
  char *all = reinterpret_cast<char *>(kAddress);
  char *begin = ends.empty() ? all : ends.rbegin()->second;
  if (bytes > kBytes - static_cast<uint64_t>(begin - all))
    llvm::report_fatal_error("no memory that is shared");
  ends[begin] = begin + llvm::alignTo(bytes, 4096);
  return begin;
}
