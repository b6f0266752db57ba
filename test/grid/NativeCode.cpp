// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way from a module of the llvm stage to code that can be called, and memory that finds
// accesses past its ends.
#include "test/grid/NativeCode.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/CodeGen/CodeGen.h"
#include "lowering/Kernels/KernelInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "test/grid/RemoteProcess.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>
#include <dlfcn.h>
#include <immintrin.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

std::unique_ptr<MLIRContext> mlir::fovea::makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<FoveaDialect, tile::TileDialect>();
  registerKernelInterfaces(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

static constexpr size_t kPage = 4096;

//===-- Code ---------------------------------------------------------------------------------===//

static std::optional<uint64_t> askRemote(::fovea::remote::Kind kind, ArrayRef<uint64_t> words,
                                         StringRef name, std::string &error) {
  RemoteProcess *process = RemoteProcess::get();
  ::fovea::remote::Request request = {};
  if (!process || name.size() >= sizeof(request.name)) {
    error = "there is no other process that runs code for this processor";
    return std::nullopt;
  }
  request.kind = kind;
  llvm::copy(words, request.words);
  llvm::copy(name, request.name);
  return process->ask(request, error);
}

/// Whether the other process may touch a page.
static void protectRemote(const char *page, bool isOpen) {
  std::string error;
  askRemote(::fovea::remote::Kind::Protect,
            {reinterpret_cast<uint64_t>(page), kPage, isOpen ? uint64_t(1) : 0}, "", error);
}

std::unique_ptr<NativeCode> NativeCode::make(ModuleOp module, StringRef cpu, std::string &error,
                                             bool optimizes, StringRef added) {
  // Kernels are private to a module; tests call them.
  module.walk([](LLVM::LLVMFuncOp function) {
    if (!function.isExternal())
      function.setLinkage(LLVM::Linkage::External);
  });
  FailureOr<TargetOptions> target = getTarget(cpu, error);
  SmallVector<char, 0> object;
  std::vector<char> elf;
  if (failed(target))
    return nullptr;
  target->optimizes = optimizes;
  if (!added.empty())
    target->features += (target->features.empty() ? "" : ",") + added.str();
  if (failed(emitObject(module, *target, object)) ||
      failed(linkSharedObject(*target->family, ArrayRef<char>(object), elf, error)))
    return nullptr;
  int file = memfd_create("grid", MFD_CLOEXEC);
  if (file < 0 || write(file, elf.data(), elf.size()) != static_cast<ssize_t>(elf.size())) {
    error = "cannot write a memory file";
    return nullptr;
  }
  std::unique_ptr<NativeCode> code(new NativeCode);
  if (target->family != &getHostFamily()) {
    std::optional<uint64_t> handle =
        askRemote(::fovea::remote::Kind::Open, {},
                  "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file), error);
    close(file);
    code->remote = handle.value_or(0);
    return handle ? std::move(code) : nullptr;
  }
  code->library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  if (!code->library) {
    error = dlerror();
    return nullptr;
  }
  return code;
}

NativeCode::~NativeCode() {
  std::string error;
  if (library)
    dlclose(library);
  if (remote)
    askRemote(::fovea::remote::Kind::Close, {remote}, "", error);
}

void *NativeCode::lookup(StringRef name) const { return dlsym(library, name.str().c_str()); }

bool NativeCode::call(StringRef name, ArrayRef<uintptr_t> words, Unwritten unwritten,
                      std::string &error) const {
  std::array<uintptr_t, ::fovea::remote::kWords> w{};
  assert(words.size() <= w.size());
  llvm::copy(words, w.begin());
  if (remote) {
    SmallVector<uint64_t> all{remote, static_cast<uint64_t>(unwritten)};
    llvm::append_range(all, w);
    return askRemote(::fovea::remote::Kind::Call, all, name, error).has_value();
  }
  void *function = lookup(name);
  if (!function) {
    error = "no such function";
    return false;
  }
  ::fovea::remote::callOverPlanted(function, w.data(), static_cast<uint32_t>(unwritten));
  return true;
}

//===-- Memory -------------------------------------------------------------------------------===//

/// In front of the bytes.
static constexpr size_t kGuard = 256;
static constexpr char kPattern = '\xff';
GuardedMemory::GuardedMemory(size_t bytes, bool isShared) : bytes(bytes), isShared(isShared) {
  size_t open = llvm::alignTo(llvm::alignTo(bytes, 64) + kGuard, kPage);
  void *address = isShared ? RemoteProcess::get()->allocate(open + kPage)
                           : mmap(nullptr, open + kPage, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED)
    llvm::report_fatal_error("no memory");
  mapping = static_cast<char *>(address);
  end = mapping + open;
  begin = end - llvm::alignTo(bytes, 64);
  std::memset(mapping, kPattern, open);
  isShared ? protectRemote(end, false) : (void)mprotect(end, kPage, PROT_NONE);
}

void GuardedMemory::plant(Unwritten word) {
  for (size_t i = 0; i < bytes; ++i)
    begin[i] = static_cast<char>(static_cast<uint32_t>(word) >> 8 * (i % 4));
}

GuardedMemory::GuardedMemory(GuardedMemory &&other)
    : mapping(std::exchange(other.mapping, nullptr)), begin(other.begin), end(other.end),
      bytes(other.bytes), isShared(other.isShared) {}

GuardedMemory::~GuardedMemory() {
  if (!mapping)
    return;
  if (!isShared) {
    munmap(mapping, end - mapping + kPage);
    return;
  }
  protectRemote(end, true);
  if (RemoteProcess *process = RemoteProcess::get())
    process->release(mapping);
}

bool GuardedMemory::isIntact() const {
  auto isPattern = [](char c) { return c == kPattern; };
  return std::all_of(mapping, begin, isPattern) && std::all_of(begin + bytes, end, isPattern);
}

//===-- What nobody has written --------------------------------------------------------------===//

/// Bits of the MXCSR register that say what has happened, and the one of denormal operands.
static constexpr unsigned kHappened = 0x3f, kDenormal = 0x02;

bool mlir::fovea::metDenormals() {
  unsigned state = _mm_getcsr();
  _mm_setcsr(state & ~kHappened);
  return (state & kDenormal) != 0;
}

//===-- Elements -----------------------------------------------------------------------------===//

// APFloat is for the types that the processor has not.

template <typename T> static Element read(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return {value, 0};
}

void mlir::fovea::putElement(char *at, Type type, Element element) {
  if (type.isF32()) {
    auto value = static_cast<float>(element.real);
    std::memcpy(at, &value, sizeof(value));
  } else if (type.isF64()) {
    std::memcpy(at, &element.real, sizeof(element.real));
  } else if (auto floatType = dyn_cast<FloatType>(type)) {
    llvm::APFloat value(element.real);
    bool lost;
    value.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    std::memcpy(at, &bits, getStorageBytes(type, 1));
  } else {
    std::memcpy(at, &element.integer, getStorageBytes(type, 1));
  }
}

Element mlir::fovea::getElement(const char *at, Type type) {
  if (type.isF32())
    return read<float>(at);
  if (type.isF64())
    return read<double>(at);
  uint64_t bits = 0;
  std::memcpy(&bits, at, getStorageBytes(type, 1));
  if (auto floatType = dyn_cast<FloatType>(type)) {
    llvm::APFloat value(floatType.getFloatSemantics(), llvm::APInt(floatType.getWidth(), bits));
    bool lost;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return {value.convertToDouble(), 0};
  }
  return {0, llvm::SignExtend64(bits, type.getIntOrFloatBitWidth())};
}
