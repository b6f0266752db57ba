// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/grid/NativeProgram.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/Schedule/Schedule.h"
#include "mlir/IR/Verifier.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "passes/Pipelines.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>
#include <dlfcn.h>
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
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

std::unique_ptr<NativeProgram> NativeProgram::compile(ModuleOp original, std::string &error) {
  OwningOpRef<ModuleOp> module(original.clone());
  PassManager stages(module->getContext());
  buildGraphPipeline(stages);
  buildFusedPipeline(stages);
  buildScheduledPipeline(stages);
  buildKernelsPipeline(stages);
  if (failed(stages.run(*module)))
    return nullptr;
  std::unique_ptr<NativeProgram> program(new NativeProgram);
  FailureOr<std::vector<EntryLayout>> entries = describeEntries(*module);
  if (failed(entries))
    return nullptr;
  program->entries = *entries;
  PassManager native(module->getContext());
  buildLLVMPipeline(native);
  if (failed(native.run(*module)))
    return nullptr;
  FailureOr<TargetOptions> target = getTarget("host", error);
  SmallVector<char, 0> object;
  std::vector<char> elf;
  if (failed(target) || failed(emitObject(*module, *target, object)) ||
      failed(linkSharedObject(object, elf, error)))
    return nullptr;
  int file = memfd_create("grid", MFD_CLOEXEC);
  if (file < 0 || write(file, elf.data(), elf.size()) != static_cast<ssize_t>(elf.size())) {
    error = "cannot write a memory file";
    return nullptr;
  }
  program->library =
      dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  if (!program->library) {
    error = dlerror();
    return nullptr;
  }
  return program;
}

NativeProgram::~NativeProgram() {
  if (library)
    dlclose(library);
}

//===-- Tensors in memory --------------------------------------------------------------------===//

/// Guard bytes on both sides find writes past the end.
static constexpr size_t kGuard = 256;
static constexpr char kPattern = 0x5a;

namespace {
struct Memory {
  explicit Memory(size_t bytes) : bytes(bytes), all(bytes + 2 * kGuard + 64, kPattern) {}
  char *data() {
    auto address = reinterpret_cast<uintptr_t>(all.data()) + kGuard;
    return reinterpret_cast<char *>((address + 63) & ~uintptr_t(63));
  }
  bool intact() {
    char *begin = data();
    for (char *at = all.data(); at < begin; ++at)
      if (*at != kPattern)
        return false;
    for (char *at = begin + bytes; at < all.data() + all.size(); ++at)
      if (*at != kPattern)
        return false;
    return true;
  }
  size_t bytes;
  std::vector<char> all;
};
} // namespace

static void putElement(char *at, Type type, Element element) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    llvm::APFloat value(element.real);
    bool lost;
    value.convert(floatType.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = value.bitcastToAPInt().getZExtValue();
    std::memcpy(at, &bits, getStorageBytes(type, 1));
  } else {
    std::memcpy(at, &element.integer, getStorageBytes(type, 1));
  }
}

static Element getElement(const char *at, Type type) {
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

FailureOr<std::vector<RuntimeValue>> NativeProgram::call(StringRef name,
                                                         ArrayRef<RuntimeValue> arguments,
                                                         int64_t parts, std::string &error) {
  const EntryLayout *entry = nullptr;
  for (const EntryLayout &candidate : entries)
    if (candidate.name == name)
      entry = &candidate;
  if (!entry) {
    error = "no such entry";
    return failure();
  }
  auto plan =
      reinterpret_cast<fovea_plan_fn>(dlsym(library, ("fovea_" + name + "_plan").str().c_str()));
  auto step =
      reinterpret_cast<fovea_step_fn>(dlsym(library, ("fovea_" + name + "_step").str().c_str()));
  std::vector<int64_t> dims, locals(entry->localsCount);
  std::vector<Memory> memories;
  memories.reserve(arguments.size() + entry->signature.getResults().size());
  std::vector<void *> buffers;
  for (auto [value, port] : llvm::zip(arguments, entry->signature.getArguments())) {
    const Tensor &tensor = *std::get<TensorRef>(value);
    Type type = cast<RankedTensorType>(port.getType()).getElementType();
    dims.insert(dims.end(), tensor.shape.begin(), tensor.shape.end());
    Memory &memory = memories.emplace_back(getStorageBytes(type, tensor.size()));
    for (int64_t i = 0; i < tensor.size(); ++i)
      putElement(memory.data() + i * getStorageBytes(type, 1), type, tensor.at(i));
    buffers.push_back(memory.data());
  }
  plan(dims.data(), locals.data());
  Memory arena(locals[0]);
  std::vector<RuntimeValue> results;
  int64_t place = 1;
  std::vector<Tensor> tensors;
  for (PortAttr port : entry->signature.getResults()) {
    auto type = cast<RankedTensorType>(port.getType());
    Tensor tensor;
    int64_t count = 1;
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      tensor.shape.push_back(locals[place++]);
      count *= tensor.shape.back();
    }
    tensor.isReal = isa<FloatType>(type.getElementType());
    (tensor.isReal ? (void)tensor.reals.resize(count) : (void)tensor.integers.resize(count));
    buffers.push_back(memories.emplace_back(getStorageBytes(type.getElementType(), count)).data());
    tensors.push_back(std::move(tensor));
  }
  int64_t fault = 0;
  fovea_frame frame{arena.data(), nullptr, buffers.data(), locals.data(), &fault};
  for (size_t i = 0; i < entry->steps.size(); ++i)
    for (int64_t part = 0; part < parts; ++part)
      step(&frame, i, part, parts);
  if (fault) {
    error = "fault in " + entry->steps[fault - 1].kernel;
    return failure();
  }
  memories.push_back(std::move(arena));
  for (Memory &memory : memories)
    if (!memory.intact()) {
      error = "wrote outside of a buffer";
      return failure();
    }
  for (auto [i, port] : llvm::enumerate(entry->signature.getResults())) {
    Type type = cast<RankedTensorType>(port.getType()).getElementType();
    const char *data = static_cast<char *>(buffers[arguments.size() + i]);
    for (int64_t n = 0, count = tensors[i].size(); n < count; ++n)
      tensors[i].put(n, getElement(data + n * getStorageBytes(type, 1), type));
    results.push_back(std::make_shared<const Tensor>(std::move(tensors[i])));
  }
  return results;
}
