// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference interpreter as a backend, and what is said of entries.
#include "tools/verify/Backend.h"
#include "dialects/Fovea/Try.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

SmallVector<func::FuncOp> verify::getEntries(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(FoveaDialect::kEntryAttr))
      entries.push_back(function);
  return entries;
}

bool verify::takesCache(func::FuncOp entry) {
  return llvm::any_of(entry.getArgumentTypes(), llvm::IsaPred<CacheType>);
}

std::string verify::nameOfArgument(func::FuncOp entry, unsigned i) {
  if (auto name = entry.getArgAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr))
    return name.str();
  return "argument " + std::to_string(i);
}

std::string verify::nameOfResult(func::FuncOp entry, unsigned i) {
  if (auto name = entry.getResultAttrOfType<StringAttr>(i, FoveaDialect::kNameAttr))
    return name.str();
  return "result " + std::to_string(i);
}

LogicalResult InterpreterBackend::reset(int64_t newBatch, int64_t newCapacity) {
  batch = newBatch;
  capacity = newCapacity;
  caches.clear();
  return success();
}

FailureOr<std::vector<TensorRef>> InterpreterBackend::run(StringRef name,
                                                          ArrayRef<TensorRef> tensors) {
  auto entry = module.lookupSymbol<func::FuncOp>(name);
  if (!entry)
    return module.emitError("expects an entry named '") << name << "', got none";
  std::vector<RuntimeValue> arguments;
  for (auto [i, type] : llvm::enumerate(entry.getArgumentTypes())) {
    if (auto cache = dyn_cast<CacheType>(type)) {
      auto [found, isNew] = caches.try_emplace(nameOfArgument(entry, i));
      if (isNew)
        found->second = makeCache(batch, capacity, cache.getHeads(), cache.getSize());
      arguments.push_back(found->second);
      continue;
    }
    if (tensors.empty())
      return entry.emitOpError("expects a tensor for ") << nameOfArgument(entry, i);
    arguments.push_back(tensors.front());
    tensors = tensors.drop_front();
  }
  TRY(std::vector<RuntimeValue> values, interpreter.call(name, arguments, observer, precision));
  std::vector<TensorRef> results;
  for (auto [i, value] : llvm::enumerate(values)) {
    if (std::holds_alternative<CacheRef>(value))
      caches[nameOfResult(entry, i)] = value;
    else if (auto *tensor = std::get_if<TensorRef>(&value))
      results.push_back(*tensor);
    else
      return entry.emitOpError("expects results that are tensors or caches, got ")
             << describe(value);
  }
  return results;
}
