// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceKernels.h. What is kept of a kernel is a line with its launch's attributes, and its
// PTX.
#include "tools/compile/DeviceKernels.h"
#include "lowering/Entries/LaunchSite.h"
#include "lowering/GPU/GPU.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "tools/compile/KernelCode.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::fovea;

void DeviceKernels::find(ModuleOp module, ModuleOp host, bool asWritten) {
  TargetOptions target{chip, chip, "", optimizes};
  SymbolTable symbols(host);
  for (auto function : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (function.isExternal() || !function.isPrivate())
      continue;
    std::optional<std::string> key = hashKernel(function, target, optimization);
    if (!key)
      continue;
    Kernel &kernel = kernels.emplace_back(Kernel{function.getName().str(), *key, ""});
    SmallVector<char, 0> kept;
    if (asWritten || !cache.find(*key, kept))
      continue;
    auto [line, body] = StringRef(kept.data(), kept.size()).split('\n');
    auto launch =
        dyn_cast_or_null<DictionaryAttr>(parseAttribute(line, module.getContext(), Type()));
    if (!launch || body.empty())
      continue;
    setLaunchShape(symbols.lookup(kernel.name), launch);
    kernel.body = body.str();
    function.erase();
  }
}

/// What belongs to the module, not to the kernel, in its PTX.
static bool isOfModule(StringRef line) {
  return llvm::any_of(ArrayRef<StringRef>{".version", ".target", ".address_size", "//"},
                      [&](StringRef word) { return line.starts_with(word); });
}

/// Without the header; empty if there is more than one kernel and the memory that it shares.
static std::string cutBody(StringRef text) {
  std::string body;
  size_t entries = 0;
  for (StringRef line : llvm::split(text, '\n')) {
    if (isOfModule(line))
      continue;
    entries += line.starts_with(".visible .entry ");
    for (StringRef word : {".global", ".const", ".func", ".weak", ".common", ".visible .func",
                           ".visible .global", ".visible .const", ".extern .func"})
      if (line.starts_with(word))
        return "";
    body += line.str() + "\n";
  }
  return entries == 1 ? body : "";
}

LogicalResult DeviceKernels::emitApart(ModuleOp apart, Kernel &kernel) const {
  std::string text;
  for (auto kernels : apart.getOps<gpu::GPUModuleOp>())
    if (failed(emitPtx(kernels, chip, text, optimizes)))
      return failure();
  kernel.body = cutBody(text);
  return success();
}

/// Appends a kernel by its own name. What it says of shared memory, all say.
static void append(std::string &text, StringRef body, StringRef name) {
  for (StringRef line : llvm::split(body, '\n')) {
    if (line.starts_with(".extern .shared") && StringRef(text).contains(line))
      continue;
    for (size_t at; (at = line.find(kKernelName)) != StringRef::npos;) {
      text += line.take_front(at).str() + name.str();
      line = line.drop_front(at + kKernelName.size());
    }
    text += line.str() + "\n";
  }
}

LogicalResult DeviceKernels::emit(gpu::GPUModuleOp module, ModuleOp host, std::string &text) {
  SymbolTable symbols(module), launches(host);
  llvm::SetVector<Operation *> helpers;
  std::vector<std::pair<Kernel *, OwningOpRef<ModuleOp>>> parts;
  for (Kernel &kernel : kernels) {
    if (!kernel.body.empty())
      continue;
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(kernel.name);
    OwningOpRef<ModuleOp> apart = ModuleOp::create(function.getLoc());
    OpBuilder builder = OpBuilder::atBlockEnd(apart->getBody());
    auto own = gpu::GPUModuleOp::create(builder, module.getLoc(), module.getName());
    own->setAttrs(module->getAttrDictionary());
    builder.setInsertionPointToEnd(own.getBody());
    llvm::SetVector<Operation *> used = findUsed(function, symbols);
    for (Operation *helper : used)
      builder.clone(*helper);
    helpers.insert(used.begin(), used.end());
    builder.clone(*function);
    cast<LLVM::LLVMFuncOp>(own.getBody()->back()).setSymName(kKernelName);
    parts.emplace_back(&kernel, std::move(apart));
  }
  registerTranslations(*module.getContext());
  if (failed(failableParallelForEach(module.getContext(), parts, [&](auto &part) {
        return emitApart(*part.second, *part.first);
      })))
    return failure();

  // What has no text of its own yet is the rest's.
  for (auto &part : parts) {
    Kernel &kernel = *part.first;
    if (kernel.body.empty())
      continue;
    std::string kept;
    llvm::raw_string_ostream(kept) << getLaunchShape(launches.lookup(kernel.name)) << '\n'
                                   << kernel.body;
    cache.keep(kernel.key, ArrayRef<char>(kept.data(), kept.size()));
    symbols.erase(symbols.lookup(kernel.name));
  }
  for (Operation *helper : helpers)
    if (SymbolTable::symbolKnownUseEmpty(helper, module))
      helper->erase();
  if (failed(emitPtx(module, chip, text, optimizes)))
    return failure();
  for (const Kernel &kernel : kernels)
    if (!kernel.body.empty())
      append(text, kernel.body, kernel.name);
  return success();
}
