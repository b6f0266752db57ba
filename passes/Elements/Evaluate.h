// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation of expressions at places, with random numbers for what is not known.
#ifndef FOVEA_PASSES_ELEMENTS_EVALUATE_H
#define FOVEA_PASSES_ELEMENTS_EVALUATE_H

#include "passes/Elements/Expression.h"
#include <functional>
#include <map>

namespace mlir::fovea::raise {

/// A number of any scalar type.
struct Number {
  double real = 0;     ///< of floats
  int64_t integer = 0; ///< of integers, indices and booleans
};

/// 64 well-mixed bits (Steele et al. 2014, SplitMix): without a pattern between numbers that are
/// near to each other, the same on each machine.
uint64_t mix(uint64_t x);
uint64_t mix(uint64_t x, uint64_t y, ArrayRef<int64_t> more = {});

/// Evaluates expressions for equivalence tests: elements of tensors are drawn at random, the same
/// element always the same, dense constants are what they are; sizes that are not known are small.
class Evaluator {
public:
  Evaluator(Expressions &expressions, uint64_t seed, SmallVector<int64_t> place = {})
      : place(std::move(place)), expressions(expressions), seed(seed) {}

  /// Where the dims stand; those that an expression needs must be set.
  SmallVector<int64_t> place;
  /// Values of elements and variables instead of random ones.
  std::function<std::optional<Number>(Expr leaf, ArrayRef<int64_t> indices)> given;
  /// Sees what a piecewise node (`isPiecewise`) chooses between, each time that it is computed: the
  /// numbers it is of, of a reduction the first and the chosen one.
  std::function<void(Expr node, ArrayRef<Number> args, Number result)> observe;
  /// Changes what such a node gives, likewise.
  std::function<void(Expr node, ArrayRef<Number> args, Number &result)> alter;
  /// What is added to sizes that are not known.
  int64_t stretch = 0;
  /// Sizes along which places are drawn alike, class by class: then a sum over 4096 elements has as
  /// many different terms as there are classes.
  llvm::SmallDenseSet<int64_t> classed;
  /// One class has a single place.
  bool hasLonePlace = false;
  /// What some parts are said to be, wherever they stand.
  llvm::DenseMap<Expr, Number> assumed;
  /// Narrow floats are rounded after each op, as a framework does.
  bool rounds = false;
  /// Not zero: sizes of another choice, and integers up to greater numbers.
  unsigned variant = 0;
  /// Some exponential was of a number that is too great for it.
  bool overflows = false;
  /// Some constant was read beside its elements: no program is of such sizes.
  bool leavesTables = false;
  /// Steps after which it gives up.
  static constexpr int64_t kBudget = 2'000'000;
  int64_t budget = kBudget;

  /// Nothing when the budget is spent or an op is unknown: no answer, which agrees with nothing.
  std::optional<Number> evaluate(Expr expr);
  std::optional<double> evaluateReal(Expr expr);
  int64_t evaluate(AffineExpr affine);
  int64_t getExtent(unsigned dim) { return evaluate(expressions.getExtent(dim)); }
  /// What size an unknown symbol has, the same for each evaluator of one variant: 5 to 11 and the
  /// stretch.
  int64_t getSymbolValue(unsigned symbol) const {
    return stretch + 5 + (symbol * (3 + variant / 7) + variant) % 7;
  }
  /// Whether all that a reduction reads at its dim are elements at just that place, so that equal
  /// elements make equal terms, and its size may be classed.
  bool isUniform(Expr reduction);

private:
  std::optional<Number> evaluateHere(Expr expr);
  std::optional<Number> evaluateReduction(Expr expr);
  std::optional<Number> evaluateLeaf(Expr expr, ArrayRef<Number> args);
  std::optional<uint64_t> pack(Expr expr) const;
  std::optional<Number> compute(Expr expr, ArrayRef<Number> args);
  Number draw(Expr leaf, ArrayRef<int64_t> indices);
  int64_t getClass(int64_t place) const;

  Expressions &expressions;
  uint64_t seed;
  // By what `pack` makes of the places of an expression's dims; where it cannot, by the places.
  llvm::DenseMap<std::pair<Expr, uint64_t>, Number> memo;
  std::map<std::pair<Expr, std::vector<int64_t>>, Number> memoFar;
  llvm::DenseMap<Expr, bool> uniform;
};

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_ELEMENTS_EVALUATE_H
