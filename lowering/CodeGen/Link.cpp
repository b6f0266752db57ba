// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The link of objects into a shared object, by the machine's linker and without files.
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/CodeGen/MemoryFile.h"
#include "llvm/InterfaceStub/ELFObjHandler.h"
#include "llvm/InterfaceStub/IFSHandler.h"
#include "llvm/InterfaceStub/IFSStub.h"
#include "llvm/ObjCopy/ConfigManager.h"
#include "llvm/ObjCopy/ObjCopy.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Object/Binary.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <cerrno>
#include <cmath>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <set>
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

namespace {
/// Removed with it; no path: there is none.
struct TemporaryFile {
  ~TemporaryFile() {
    if (!path.empty())
      llvm::sys::fs::remove(path);
  }
  std::string path;
};
} // namespace

/// What objects refer to and none has, apart from what the C library itself has.
static llvm::Expected<std::set<std::string>> findMissing(ArrayRef<ArrayRef<char>> objects) {
  std::set<std::string> missing, present;
  for (ArrayRef<char> object : objects) {
    auto file = llvm::object::ObjectFile::createObjectFile(
        llvm::MemoryBufferRef(StringRef(object.data(), object.size()), "code.o"));
    if (!file)
      return file.takeError();
    for (const llvm::object::SymbolRef &symbol : (*file)->symbols()) {
      auto flags = symbol.getFlags();
      auto name = symbol.getName();
      if (!flags || !name)
        return llvm::joinErrors(flags.takeError(), name.takeError());
      bool isMissing = *flags & llvm::object::SymbolRef::SF_Undefined;
      if (!name->empty() && !name->starts_with("mem"))
        (isMissing ? missing : present).insert(name->str());
    }
  }
  for (const std::string &name : present)
    missing.erase(name);
  return missing;
}

/// For another family than this machine's, whose libraries need not be here: a shared object that
/// is called as the C library's mathematics and has what objects refer to, nothing else.
static LogicalResult writeMathStub(const ProcessorFamily &family, ArrayRef<ArrayRef<char>> objects,
                                   TemporaryFile &file, std::string &error) {
  auto fail = [&](const std::string &why) {
    error = "cannot write a stub of the mathematics for " + family.name.str() + ": " + why;
    return failure();
  };
  llvm::Expected<std::set<std::string>> names = findMissing(objects);
  if (!names)
    return fail(llvm::toString(names.takeError()));
  if (names->empty())
    return success();
  llvm::ifs::IFSStub stub;
  stub.IfsVersion = llvm::ifs::IFSVersionCurrent;
  stub.SoName = "libm.so.6";
  stub.Target = llvm::ifs::parseTriple(family.triple);
  for (const std::string &name : *names) {
    llvm::ifs::IFSSymbol &symbol = stub.Symbols.emplace_back(name);
    symbol.Type = llvm::ifs::IFSSymbolType::Func;
    symbol.Undefined = symbol.Weak = false;
  }
  SmallString<128> path;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("fovea-libm", "so", path))
    return fail(code.message());
  file.path = path.str().str();
  if (llvm::Error why = llvm::ifs::writeBinaryStub(file.path, stub))
    return fail(llvm::toString(std::move(why)));
  return success();
}

namespace {
struct Linker {
  std::string path;
  /// Whether it writes into the file that it is told; others write a new one beside it and rename
  /// that, unless it is a pipe.
  bool writesInPlace = false;
};
} // namespace

/// A package brings its own beside the program. GNU's, for one small object, takes 5 ms, mold 7 and
/// lld, which loads LLVM, 17. GNU's links for one family of processors, the others for all.
static Linker findLinker(const ProcessorFamily &family) {
  std::string own = (&family == &getHostFamily() ? "" : family.binutils.str()) + "ld.bfd";
  static char here;
  std::string program = llvm::sys::fs::getMainExecutable("fovea", &here);
  std::string beside = llvm::sys::path::parent_path(program).str();
  for (const std::string &folder : {beside, std::string(), std::string("/usr/lib/llvm-22/bin")})
    for (StringRef name :
         {StringRef(own), StringRef("mold"), StringRef("ld.lld-22"), StringRef("ld.lld")}) {
      StringRef only = folder;
      if (auto found = llvm::sys::findProgramByName(
              name, folder.empty() ? ArrayRef<StringRef>() : ArrayRef<StringRef>(only)))
        return {*found, name == own};
    }
  return {};
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

/// What a linker wrote, or what went wrong.
static LogicalResult run(const Linker &linker, ArrayRef<StringRef> arguments,
                         std::optional<StringRef> output, function_ref<bool()> read,
                         std::string &error) {
  std::string message;
  bool failed = false;
  SmallVector<StringRef> words{linker.path};
  llvm::append_range(words, arguments);
  llvm::sys::ProcessInfo process = llvm::sys::ExecuteNoWait(
      linker.path, words, std::nullopt, {std::nullopt, output, std::nullopt}, 0, &message, &failed);
  bool isRead = read() && !failed;
  int reason = errno;
  int code = failed ? -1 : llvm::sys::Wait(process, std::nullopt, &message).ReturnCode;
  if (code != 0)
    error = linker.path + " failed with code " + std::to_string(code) +
            (message.empty() ? "" : ": " + message);
  else if (!isRead)
    error = linker.path + ": cannot read what it wrote: " + std::strerror(reason);
  return success(code == 0 && isRead);
}

LogicalResult mlir::fovea::linkSharedObject(const ProcessorFamily &family,
                                            ArrayRef<ArrayRef<char>> objects,
                                            std::vector<char> &elf, std::string &error) {
  Linker linker = findLinker(family);
  if (linker.path.empty()) {
    error = "found no linker for " + family.name.str() +
            ", expected ld.bfd, mold or ld.lld on the PATH (Debian's packages binutils, mold and "
            "lld-22)";
    return failure();
  }
  auto fail = [&](const std::string &what) {
    error = linker.path + ": " + what + ": " + std::strerror(errno);
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
  MemoryFile input, output;
  StringRef content = (*archive)->getBuffer();
  if (!input.write(ArrayRef<char>(content.data(), content.size())))
    return fail("cannot write its input into memory");
  bool isForeign = &family != &getHostFamily();
  TemporaryFile stub;
  if (isForeign && failed(writeMathStub(family, objects, stub, error)))
    return failure();
  std::string math = isForeign ? stub.path : findMathLibrary(),
              written = linker.writesInPlace ? output.getPath() : "/proc/self/fd/1";
  SmallVector<StringRef> arguments{"-m",
                                   family.emulation,
                                   "-shared",
                                   "--hash-style=gnu",
                                   "-z",
                                   "now",
                                   "--strip-debug",
                                   "--build-id=none",
                                   "-o",
                                   written};
  arguments.append({"--whole-archive", input.getPath(), "--no-whole-archive"});
  if (!math.empty())
    arguments.append({"--as-needed", math});
  if (linker.writesInPlace) {
    auto wait = [] { return true; };
    if (failed(run(linker, arguments, std::nullopt, wait, error)))
      return failure();
    return output.read(elf) ? success() : LogicalResult(fail("cannot read what it wrote"));
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return fail("cannot make a pipe to it");
  std::string pipe = "/proc/self/fd/" + std::to_string(ends[1]);
  auto read = [&] {
    ::close(ends[1]);
    return readToEnd(ends[0], elf);
  };
  LogicalResult done = run(linker, arguments, StringRef(pipe), read, error);
  ::close(ends[0]);
  return done;
}
