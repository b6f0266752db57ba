// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where weights go and where a weight comes from, through one level of calls: what a pass must know
// that changes weights together with the ops that read them.
#ifndef FOVEA_PASSES_ANALYSIS_WEIGHTFLOW_H
#define FOVEA_PASSES_ANALYSIS_WEIGHTFLOW_H

#include "dialects/Fovea/FoveaDialect.h"

namespace mlir::fovea {

/// The weights that a value stands for: one for each call of the function whose argument it is,
/// else one.
struct WeightSites {
  func::FuncOp function;           ///< Null if the value is a `fovea.weight_ref` itself.
  SmallVector<func::CallOp> calls; ///< All of the function's; those of `weights`, in order.
  SmallVector<WeightOp> weights;
};

/// Knows the module as it was when this was made; a pass asks first and changes afterwards.
class WeightFlow {
public:
  explicit WeightFlow(ModuleOp module) : users(tables, module) {}

  /// Finds the weights behind `value`, or gives the reason why they are not known.
  std::string resolve(Value value, WeightSites &sites);

  /// The operands in which the value of a weight ends up. Nothing if that is not known.
  std::optional<SmallVector<OpOperand *>> getLeaves(WeightOp weight);

private:
  std::optional<SmallVector<func::CallOp>> getCalls(func::FuncOp function);

  SymbolTableCollection tables;
  SymbolUserMap users;
};

/// Erases arguments of a function, which have no users, and what its calls pass for them. `calls`
/// are all there are.
void eraseArguments(func::FuncOp function, ArrayRef<func::CallOp> calls, const BitVector &dead);

} // namespace mlir::fovea

#endif // FOVEA_PASSES_ANALYSIS_WEIGHTFLOW_H
