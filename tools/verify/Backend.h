// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `verify` compares: something that runs the entries of a module. The compiled code is one,
// the reference interpreter is the other.
#ifndef FOVEA_TOOLS_VERIFY_BACKEND_H
#define FOVEA_TOOLS_VERIFY_BACKEND_H

#include "interpreter/Interpreter.h"
#include <map>

namespace mlir::fovea::verify {

/// Runs entries one after the other. A cache stays inside: an entry's result goes to the argument
/// of the same `fovea.name` in the next call.
class Backend {
public:
  virtual ~Backend() = default;
  /// Whether there is an entry of this name: compiling may add and leave out some.
  virtual bool hasEntry(StringRef entry) = 0;
  /// Empties all caches and makes them anew for `batch` rows of up to `capacity` positions.
  virtual LogicalResult reset(int64_t batch, int64_t capacity) = 0;
  /// `tensors` are the entry's arguments in order without its caches, the answer its results in
  /// order without its caches. Fails after a diagnostic.
  virtual FailureOr<std::vector<interpreter::TensorRef>>
  run(StringRef entry, ArrayRef<interpreter::TensorRef> tensors) = 0;
};

/// Makes a backend that runs a module of the `import` stage: compiles it, for example. The backend
/// may use the module as long as it lives.
using BackendFactory = std::function<FailureOr<std::unique_ptr<Backend>>(ModuleOp)>;

/// The reference.
class InterpreterBackend : public Backend {
public:
  /// `observer` may be null; tests plant errors through it.
  InterpreterBackend(ModuleOp module, RecipeSource &weights,
                     interpreter::Observer *observer = nullptr)
      : module(module), interpreter(module, weights), observer(observer) {}
  bool hasEntry(StringRef entry) override {
    return module.lookupSymbol<func::FuncOp>(entry) != nullptr;
  }
  LogicalResult reset(int64_t batch, int64_t capacity) override;
  FailureOr<std::vector<interpreter::TensorRef>>
  run(StringRef entry, ArrayRef<interpreter::TensorRef> tensors) override;
  void setPrecision(interpreter::Precision chosen) { precision = chosen; }
  void recordChoices(interpreter::ChoiceMap *choices) { interpreter.recordChoices(choices); }

private:
  ModuleOp module;
  interpreter::Interpreter interpreter;
  interpreter::Observer *observer;
  interpreter::Precision precision = interpreter::Precision::Reference;
  int64_t batch = 0, capacity = 0;
  std::map<std::string, interpreter::RuntimeValue> caches;
};

/// The entries of a module, in order.
SmallVector<func::FuncOp> getEntries(ModuleOp module);
/// Whether an argument is a cache.
bool takesCache(func::FuncOp entry);
/// `fovea.name` of an argument or result; "argument 2", "result 0" if it has none.
std::string nameOfArgument(func::FuncOp entry, unsigned i);
std::string nameOfResult(func::FuncOp entry, unsigned i);

} // namespace mlir::fovea::verify

#endif // FOVEA_TOOLS_VERIFY_BACKEND_H
