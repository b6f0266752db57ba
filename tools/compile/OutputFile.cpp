// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OutputFile.h.
#include "tools/compile/OutputFile.h"
#include "artifact/Temporary.h"
#include "llvm/Support/Signals.h"
#include <cerrno>
#include <cstring>
#include <unistd.h>

static bool writeAll(int file, llvm::StringRef content) {
  while (!content.empty()) {
    ssize_t count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    content = content.drop_front(static_cast<size_t>(count));
  }
  return true;
}

bool mlir::fovea::writeOutputFile(const std::string &path, llvm::StringRef content,
                                  std::string &error) {
  if (path == "-") {
    bool done = writeAll(STDOUT_FILENO, content);
    error = std::string("standard output: cannot be written: ") + std::strerror(errno);
    return done;
  }
  ::fovea::artifact::TemporaryFile file(path);
  std::string name = file.getName();
  if (!name.empty())
    llvm::sys::RemoveFileOnSignal(name);
  bool done = file.good() && file.write(content.data(), content.size()) && file.keep();
  error = path + ": cannot be written: " + std::strerror(errno);
  if (done && !name.empty())
    llvm::sys::DontRemoveFileOnSignal(name);
  return done;
}
