// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KernelCache.h. A file is an object, and behind it the object's hash.
#include "tools/compile/KernelCache.h"
#include "artifact/Format.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "tools/compile/ContentHash.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::artifact::Hash;
using ::fovea::artifact::Hasher;

//===-- Keys ---------------------------------------------------------------------------------===//

/// All of it as text: no flag of MLIR's that shortens what people read may make two kernels one.
static std::string printWhole(func::FuncOp kernel) {
  OpPrintingFlags flags;
  flags.enableDebugInfo(false)
      .printGenericOpForm()
      .useLocalScope()
      .elideLargeElementsAttrs(std::numeric_limits<int64_t>::max())
      .elideLargeResourceString(std::numeric_limits<int64_t>::max());
  std::string text;
  llvm::raw_string_ostream stream(text);
  kernel->print(stream, flags);
  return text;
}

/// Whether it says nothing of other operations, nor of data that text only names.
static bool standsAlone(func::FuncOp kernel) {
  WalkResult found = kernel->walk([](Operation *op) {
    return op->getAttrDictionary().walk([](Attribute attribute) {
      return isa<SymbolRefAttr, DenseResourceElementsAttr>(attribute) ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
    });
  });
  return !found.wasInterrupted();
}

static std::string hashTexts(ArrayRef<StringRef> texts) {
  Hasher hasher;
  for (StringRef text : texts) {
    uint64_t size = text.size();
    hasher.add(&size, sizeof(size));
    hasher.add(text.data(), text.size());
  }
  return ::fovea::compile::printHash(hasher.get());
}

std::optional<std::string> mlir::fovea::hashKernel(func::FuncOp kernel, const TargetOptions &target,
                                                   unsigned optimization) {
  static const std::string compiler = ::fovea::compile::hashCompiler();
  if (compiler.empty() || !standsAlone(kernel))
    return std::nullopt;
  OwningOpRef<func::FuncOp> copy(kernel.clone());
  copy->setSymName("kernel");
  (*copy)->removeAttr(FoveaDialect::kComputesAttr);
  return hashTexts(
      {compiler, target.cpu, target.features, std::to_string(optimization), printWhole(*copy)});
}

std::optional<std::string> mlir::fovea::hashAssembly(StringRef ptxas, StringRef chip,
                                                     StringRef ptx) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(ptxas, status))
    return std::nullopt;
  std::string time = std::to_string(status.getLastModificationTime().time_since_epoch().count());
  return hashTexts({ptxas, std::to_string(status.getSize()), time, chip, ptx});
}

//===-- Files --------------------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kEnding = ".o";

static Hash hashObject(StringRef object) {
  Hasher hasher;
  hasher.add(object.data(), object.size());
  return hasher.get();
}

static std::string getPath(const std::string &folder, StringRef key) {
  return folder + "/" + key.str() + kEnding.str();
}

bool KernelCache::find(StringRef key, SmallVectorImpl<char> &object) const {
  if (folder.path.empty())
    return false;
  std::string path = getPath(folder.path, key);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  Hash hash;
  if (!file || (*file)->getBufferSize() < sizeof(Hash))
    return false;
  StringRef content = (*file)->getBuffer().drop_back(sizeof(Hash));
  std::memcpy(&hash, content.end(), sizeof(Hash));
  if (!(hashObject(content) == hash))
    return false;
  object.assign(content.begin(), content.end());
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // it was used now
  return true;
}

static bool writeAll(int file, const void *data, size_t size) {
  for (const char *at = static_cast<const char *>(data); size > 0;) {
    ssize_t count = ::write(file, at, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

/// The file has no name until it is whole, so that nothing is left of it whenever the program ends.
void KernelCache::keep(StringRef key, ArrayRef<char> object) const {
  if (folder.path.empty() || llvm::sys::fs::create_directories(folder.path))
    return;
  int file = ::open(folder.path.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return;
  Hash hash = hashObject(StringRef(object.data(), object.size()));
  std::string path = getPath(folder.path, key), open = "/proc/self/fd/" + std::to_string(file);
  auto name = [&] {
    return ::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (writeAll(file, object.data(), object.size()) && writeAll(file, &hash, sizeof(hash)) &&
      !name() && errno == EEXIST) {
    // That one is damaged, or another program was faster.
    ::unlink(path.c_str());
    (void)name();
  }
  ::close(file);
}

/// Whether nobody has looked at all files for a while, which takes a tenth of a second where they
/// are many; then that is done now.
static bool isDue(const std::string &folder) {
  constexpr std::time_t kPause = 60;
  std::string mark = folder + "/" + ::fovea::compile::kTrimMark;
  struct stat status;
  bool isNew = ::stat(mark.c_str(), &status) != 0;
  if (!isNew && std::time(nullptr) - status.st_mtime < kPause)
    return false;
  int file = ::open(mark.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return false;
  (void)::futimens(file, nullptr);
  ::close(file);
  return true;
}

void KernelCache::trim() const {
  struct File {
    std::string path;
    uint64_t bytes;
    std::time_t used;
  };
  if (folder.path.empty() || folder.limit == 0 || !isDue(folder.path))
    return;
  std::vector<File> files;
  uint64_t bytes = 0;
  std::error_code code;
  for (std::filesystem::directory_iterator it(folder.path, code), end; !code && it != end;
       it.increment(code)) {
    struct stat status;
    std::string path = it->path().string();
    if (!StringRef(path).ends_with(kEnding) || ::stat(path.c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    files.push_back({path, static_cast<uint64_t>(status.st_size), status.st_mtime});
    bytes += files.back().bytes;
  }
  if (bytes <= folder.limit)
    return;
  llvm::sort(files, [](const File &left, const File &right) {
    return left.used != right.used ? left.used < right.used : left.path < right.path;
  });
  for (const File &file : files) {
    if (bytes <= folder.limit)
      return;
    if (std::filesystem::remove(file.path, code))
      bytes -= file.bytes;
  }
}
