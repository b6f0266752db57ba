// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic writing of text and object files.
#include "tools/compile/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
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
  auto fail = [&](const std::string &what) {
    error = path + ": cannot be written: " + what;
    return false;
  };
  if (path == "-") {
    error = "standard output: cannot be written: ";
    return writeAll(STDOUT_FILENO, content) || (error += std::strerror(errno), false);
  }
  if (llvm::sys::fs::is_directory(path))
    return fail("is a folder");
  // A device or a pipe is not replaced by a file.
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path)) {
    int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    bool done = file >= 0 && writeAll(file, content);
    int code = errno;
    if (file >= 0 && ::close(file) != 0)
      done = false;
    return done || fail(std::strerror(code));
  }
  llvm::Expected<llvm::sys::fs::TempFile> temporary =
      llvm::sys::fs::TempFile::create(path + ".%%%%%%%%", 0666);
  if (!temporary)
    return fail(llvm::toString(temporary.takeError()));
  if (!writeAll(temporary->FD, content)) {
    std::string what = std::strerror(errno);
    llvm::consumeError(temporary->discard());
    return fail(what);
  }
  if (llvm::Error problem = temporary->keep(path))
    return fail(llvm::toString(std::move(problem)));
  return true;
}
