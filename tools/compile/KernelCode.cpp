// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See KernelCode.h. In the cache all kernels have one name; an object gets its kernel's when it is
// linked.
#include "tools/compile/KernelCode.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "lowering/Entries/Entries.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::fovea;

void KernelCode::find(ModuleOp module, bool asWritten) {
  llvm::StringMap<size_t> numbers; // of kernels, by key
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPrivate())
      continue;
    std::optional<std::string> key = hashKernel(function, target, optimization);
    if (!key)
      continue;
    std::string name = function.getName().str();
    auto [first, isNew] = numbers.try_emplace(*key, kernels.size());
    if (isNew) {
      Kernel &made = kernels.emplace_back(Kernel{name, *key, {}, false});
      made.isKnown = !asWritten && cache.find(*key, made.object);
    }
    const Kernel &kernel = kernels[first->second];
    knownCount += kernel.isKnown;
    if (!isNew)
      twins.emplace_back(name, kernel.name);
    if (asWritten || (isNew && !kernel.isKnown))
      continue;
    if (mayFault(function))
      function->setAttr(FoveaDialect::kFaultsAttr, UnitAttr::get(module.getContext()));
    function.eraseBody();
  }
}

/// Adds to `used` what a function refers to, and what that refers to.
static void addUsed(Operation *function, SymbolTable &symbols, llvm::SetVector<Operation *> &used) {
  auto uses = SymbolTable::getSymbolUses(function);
  if (!uses)
    return;
  for (const SymbolTable::SymbolUse &use : *uses)
    if (Operation *other = symbols.lookup(use.getSymbolRef().getRootReference()))
      if (used.insert(other))
        addUsed(other, symbols, used);
}

llvm::SetVector<Operation *> mlir::fovea::findUsed(Operation *function, SymbolTable &symbols) {
  llvm::SetVector<Operation *> used;
  addUsed(function, symbols, used);
  return used;
}

/// A call of it is a direct one, and is resolved when the objects are linked.
static void declare(LLVM::LLVMFuncOp function) {
  function.setLinkage(LLVM::Linkage::External);
  function.setVisibility_(LLVM::Visibility::Hidden);
}

std::vector<KernelCode::Part> KernelCode::split(ModuleOp module) const {
  std::vector<Part> parts(1);
  OwningOpRef<ModuleOp> rest(module.clone());
  SymbolTable symbols(*rest);
  llvm::SetVector<Operation *> helpers;
  for (const Kernel &kernel : kernels) {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(kernel.name);
    declare(function);
    Part &part = parts.emplace_back(Part{nullptr, kernel.name, kernel.key, kernel.object});
    if (function.isExternal())
      continue;
    part.module = ModuleOp::create(function.getLoc());
    (*part.module)->setAttrs((*rest)->getAttrDictionary());
    OpBuilder builder = OpBuilder::atBlockEnd(part.module->getBody());
    llvm::SetVector<Operation *> used = findUsed(function, symbols);
    for (Operation *helper : used)
      builder.clone(*helper);
    helpers.insert(used.begin(), used.end());
    OpBuilder(function).insert(function->cloneWithoutRegions());
    function->remove();
    builder.insert(function);
    function.setSymName(kKernelName);
  }
  for (const auto &[name, twin] : twins) {
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(name);
    (void)SymbolTable::replaceAllSymbolUses(function, StringAttr::get(module.getContext(), twin),
                                            *rest);
    function.erase();
  }
  for (Operation *helper : helpers)
    if (SymbolTable::symbolKnownUseEmpty(helper, *rest))
      helper->erase();
  parts.front().module = std::move(rest);
  return parts;
}

LogicalResult KernelCode::emit(Part &part) const {
  if (part.module) {
    part.isRefused = failed(emitObject(*part.module, target, part.object));
    if (part.isRefused)
      return failure();
    if (!part.key.empty())
      cache.keep(part.key, part.object);
  }
  return part.key.empty() ? success() : renameSymbol(part.object, kKernelName, part.name);
}
