// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights behind views: what a graph transposes, reshapes, slices, concatenates or casts before it
// is used becomes a weight with a recipe that does the same.
#ifndef FOVEA_PASSES_RAISE_WEIGHTVIEWS_H
#define FOVEA_PASSES_RAISE_WEIGHTVIEWS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "passes/Analysis/WeightFlow.h"

namespace mlir::fovea::raise {

/// `input` with its axes in another order; steps that cancel are left out.
Attribute permuteRecipe(Attribute input, ArrayRef<int64_t> axes);
/// `input` in another shape with as many elements.
Attribute reshapeRecipe(Attribute input, ArrayRef<int64_t> shape);

/// A weight as a value of the graph shows it: one recipe for each call of the function that the
/// value stands in, else one.
struct WeightView {
  Value root; ///< A `fovea.weight_ref` or an argument fed by such.
  WeightSites sites;
  SmallVector<Attribute> recipes; ///< As many as `sites.weights`, all of one type.

  RankedTensorType getType() const;
  WeightView permute(ArrayRef<int64_t> axes) const;
  WeightView reshape(ArrayRef<int64_t> shape) const;
};

/// A tensor of fixed sizes that an entry is given, or null: what a caller keeps weights in. Through
/// transposes; `loops`, those of `value`'s axes, become those of the argument's.
Value findArgument(Value value, SmallVectorImpl<int64_t> &loops);

/// Finds weights and makes new ones. Weights that are left without users are not erased.
class WeightViews {
public:
  explicit WeightViews(ModuleOp module) : flow(module), symbols(module) {}

  /// The weight that `value` is, seen through views and casts. A cast to a wider element type is
  /// left out: ops that read weights widen them. Nothing if the value is computed.
  std::optional<WeightView> find(Value value);

  /// The view's value at the builder's place, which lies in the same function.
  Value materialize(OpBuilder &builder, Location loc, const WeightView &view);

private:
  WeightOp getWeight(WeightOp original, Attribute recipe);

  WeightFlow flow;
  SymbolTable symbols;
  llvm::DenseMap<std::pair<Operation *, Attribute>, WeightOp> made;
  SmallVector<std::pair<WeightView, Value>> arguments; ///< Added to functions.
};

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_WEIGHTVIEWS_H
