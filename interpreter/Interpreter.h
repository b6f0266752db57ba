// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference interpreter: runs functions of the `import`, `graph` and `fused` stages in f64 with
// plain loops that follow the formulas in the ops' own texts. It is the oracle for compiled code
// and shares none of its decompositions. It refuses, with a diagnostic at the op, what it does not
// know and every index outside its table.
#ifndef FOVEA_INTERPRETER_INTERPRETER_H
#define FOVEA_INTERPRETER_INTERPRETER_H

#include "dialects/Fovea/FoveaDialect.h"
#include "interpreter/Value.h"

namespace mlir::fovea::interpreter {

/// Sees the results of all ops as they are computed, but for those inside regions that run once for
/// each element (score regions, linalg bodies).
class Observer {
public:
  virtual ~Observer() = default;
  /// `calls` are the calls on the way from the function that was asked for, outermost first. The
  /// value may be replaced; tests plant errors that way.
  virtual void onResult(ArrayRef<func::CallOp> calls, OpResult result, RuntimeValue &value) = 0;
};

/// Not for several threads at once.
class Interpreter {
public:
  /// `module` must be verified. It and `weights`, which gives the bytes of stored tensors, are used
  /// until the interpreter is gone.
  Interpreter(ModuleOp module, RecipeSource &weights);
  ~Interpreter();

  /// Runs a function. Fails after a diagnostic.
  FailureOr<std::vector<RuntimeValue>> call(StringRef function, ArrayRef<RuntimeValue> arguments,
                                            Observer *observer = nullptr);

private:
  friend class Frame;
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mlir::fovea::interpreter

#endif // FOVEA_INTERPRETER_INTERPRETER_H
