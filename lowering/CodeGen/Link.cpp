// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The link of objects into a shared object, by lld and without files.
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/CodeGen/MemoryFile.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/Binary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;

/// Where the C library's mathematics lies: kernels call it, so the shared object names it as
/// needed.
static std::string findMathLibrary() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(static_cast<double (*)(double, double)>(&std::pow)), &info) &&
      info.dli_fname)
    return info.dli_fname;
  return "";
}

/// A package brings its own beside the program; mold, which needs no LLVM, does as well as lld.
static std::string findLinker() {
  static char here;
  std::string program = llvm::sys::fs::getMainExecutable("fovea", &here);
  std::string beside = llvm::sys::path::parent_path(program).str();
  for (const std::string &folder : {beside, std::string(), std::string("/usr/lib/llvm-22/bin")})
    for (StringRef name : {"ld.lld-22", "ld.lld", "mold"}) {
      StringRef only = folder;
      if (auto found = llvm::sys::findProgramByName(
              name, folder.empty() ? ArrayRef<StringRef>() : ArrayRef<StringRef>(only)))
        return *found;
    }
  return "";
}

LogicalResult mlir::fovea::renameSymbol(SmallVectorImpl<char> &object, StringRef from,
                                        StringRef to) {
  auto binary = llvm::object::createBinary(
      llvm::MemoryBufferRef(StringRef(object.data(), object.size()), "kernel"));
  if (!binary) {
    llvm::consumeError(binary.takeError());
    return failure();
  }
  llvm::objcopy::ConfigManager config;
  config.Common.SymbolsToRename[from] = to;
  SmallVector<char, 0> renamed;
  llvm::raw_svector_ostream out(renamed);
  if (llvm::Error error = llvm::objcopy::executeObjcopyOnBinary(config, **binary, out)) {
    llvm::consumeError(std::move(error));
    return failure();
  }
  object.assign(renamed.begin(), renamed.end());
  return success();
}

LogicalResult mlir::fovea::linkSharedObject(ArrayRef<ArrayRef<char>> objects,
                                            std::vector<char> &elf, std::string &error) {
  std::string linker = findLinker();
  if (linker.empty()) {
    error = "found no linker, expected ld.lld-22, ld.lld or mold on the PATH (Debian's packages "
            "lld-22 and mold)";
    return failure();
  }
  auto fail = [&](const std::string &what) {
    error = linker + ": " + what + ": " + std::strerror(errno);
    return failure();
  };
  // One file for all: a process may not have many open.
  std::vector<llvm::NewArchiveMember> members;
  for (ArrayRef<char> object : objects)
    members.emplace_back(llvm::MemoryBufferRef(StringRef(object.data(), object.size()), "code.o"));
  llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive) {
    error = "cannot put objects together: " + llvm::toString(archive.takeError());
    return failure();
  }
  MemoryFile input;
  StringRef content = (*archive)->getBuffer();
  if (!input.write(ArrayRef<char>(content.data(), content.size())))
    return fail("cannot write its input into memory");
  // The linker renames what it writes, unless that is a pipe.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail("cannot make a pipe to it");
  std::string output = "/proc/self/fd/" + std::to_string(ends[1]), math = findMathLibrary(),
              message;
  SmallVector<StringRef> arguments{
      linker, "-shared",        "--hash-style=gnu", "-z", "now", "--strip-debug", "--build-id=none",
      "-o",   "/proc/self/fd/1"};
  arguments.append({"--whole-archive", input.getPath(), "--no-whole-archive"});
  if (!math.empty())
    arguments.append({"--as-needed", math});
  bool failed = false;
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      linker, arguments, std::nullopt, {std::nullopt, StringRef(output), std::nullopt}, 0, &message,
      &failed);
  ::close(ends[1]);
  bool isRead = !failed && readToEnd(ends[0], elf);
  int reason = errno;
  ::close(ends[0]);
  int code = failed ? -1 : llvm::sys::Wait(process, std::nullopt, &message).ReturnCode;
  if (code != 0) {
    error = linker + " failed with code " + std::to_string(code) +
            (message.empty() ? "" : ": " + message);
    return failure();
  }
  if (!isRead) {
    errno = reason;
    return fail("cannot read what it wrote");
  }
  return success();
}
