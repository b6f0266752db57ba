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
#include "weights/Evaluate.h"

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

/// What an op that chooses has taken so far, of all elements together: bits of `Side`. Ops are
/// `arith.select` (a condition that holds, or not), `arith.cmpf`, `scf.if` and tests of floats
/// (true, false), the greater and the lesser of two floats (the first operand, the second) and
/// `math.clampf` (the number, the bound below, the bound above). Where both are equal neither side
/// shows.
using ChoiceMap = DenseMap<Operation *, unsigned>;
enum Side : unsigned { FirstSide = 1, SecondSide = 2, ThirdSide = 4 };
/// The sides that an op has: 0 if it does not choose.
unsigned getSides(Operation *op);

/// Not for several threads at once.
class Interpreter {
public:
  /// `module` must be verified. It and `weights`, which gives the bytes of stored tensors, are used
  /// until the interpreter is gone.
  Interpreter(ModuleOp module, RecipeSource &weights);
  ~Interpreter();

  /// Runs a function. Fails after a diagnostic.
  FailureOr<std::vector<RuntimeValue>> call(StringRef function, ArrayRef<RuntimeValue> arguments,
                                            Observer *observer = nullptr,
                                            Precision precision = Precision::Reference);

  /// From now on notes at each op that chooses which of its sides were taken. Null: no longer.
  void recordChoices(ChoiceMap *choices);

private:
  friend class Frame;
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mlir::fovea::interpreter

#endif // FOVEA_INTERPRETER_INTERPRETER_H
