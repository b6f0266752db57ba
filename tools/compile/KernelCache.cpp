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
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;
using ::fovea::artifact::Hash;
using ::fovea::artifact::hashBytes;
using ::fovea::compile::hashCompiler;
using ::fovea::compile::hashTexts;

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

std::optional<std::string> mlir::fovea::hashKernel(func::FuncOp kernel, const TargetOptions &target,
                                                   unsigned optimization) {
  const std::string &compiler = hashCompiler();
  if (compiler.empty() || !standsAlone(kernel))
    return std::nullopt;
  OwningOpRef<func::FuncOp> copy(kernel.clone());
  copy->setSymName("kernel");
  (*copy)->removeAttr(FoveaDialect::kComputesAttr);
  return hashTexts({compiler, target.family->name.str(), target.cpu, target.features,
                    std::to_string(optimization), printWhole(*copy)});
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

static std::string getPath(const std::string &folder, StringRef key) {
  return folder + "/" + key.str() + ::fovea::compile::kKernelEnding;
}

bool KernelCache::find(StringRef key, SmallVectorImpl<char> &object) const {
  if (folder.empty())
    return false;
  std::string path = getPath(folder, key);
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  Hash hash;
  if (!file || (*file)->getBufferSize() < sizeof(Hash))
    return false;
  StringRef content = (*file)->getBuffer().drop_back(sizeof(Hash));
  std::memcpy(&hash, content.end(), sizeof(Hash));
  if (hashBytes(content.data(), content.size()) != hash)
    return false;
  object.assign(content.begin(), content.end());
  (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); // it was used now
  return true;
}

/// The file has no name until it is whole, so that nothing is left of it whenever the program ends.
void KernelCache::keep(StringRef key, ArrayRef<char> object) const {
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  int file = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (file < 0)
    return;
  Hash hash = hashBytes(object.data(), object.size());
  llvm::raw_fd_ostream out(file, /*shouldClose=*/false);
  out.write(object.data(), object.size());
  out.write(reinterpret_cast<const char *>(&hash), sizeof(hash));
  out.flush();
  bool isWhole = !out.has_error();
  out.clear_error();
  std::string path = getPath(folder, key), open = "/proc/self/fd/" + std::to_string(file);
  auto name = [&] {
    return ::linkat(AT_FDCWD, open.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
  };
  if (isWhole && !name() && errno == EEXIST) {
    // That one is damaged, or another program was faster.
    ::unlink(path.c_str());
    (void)name();
  }
  ::close(file);
}
