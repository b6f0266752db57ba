// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interval analysis of expressions: what values a part may take, whatever the inputs are. It
// decides comparisons and choices for all inputs at once: a probability lies between zero and one,
// a square is not negative, an exponential is positive. What it says holds in exact arithmetic for
// inputs that are finite; that overflows and underflows are the source's own is part of what is
// promised (docs/rationale/raising.md).
#ifndef FOVEA_PASSES_ELEMENTS_INTERVALS_H
#define FOVEA_PASSES_ELEMENTS_INTERVALS_H

#include "passes/Elements/Expression.h"
#include <limits>

namespace mlir::fovea::raise {

/// The least and the greatest value, each included or only approached.
struct Interval {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double least = -kInfinity, most = kInfinity;
  bool openLeast = true, openMost = true; ///< the bound itself is no value
  bool mayBeNan = false;

  static Interval all() { return {}; } ///< all finite numbers
  static Interval of(double number) { return {number, number, false, false, number != number}; }
  static Interval between(double least, double most) { return {least, most, false, false, false}; }
  static Interval unknown() { return {-kInfinity, kInfinity, false, false, true}; }

  bool isBelow(double number) const {
    return !mayBeNan && (most < number || (most == number && openMost));
  }
  bool isAbove(double number) const {
    return !mayBeNan && (least > number || (least == number && openLeast));
  }
  bool isAtMost(double number) const { return !mayBeNan && most <= number; }
  bool isAtLeast(double number) const { return !mayBeNan && least >= number; }
  bool isNumber() const { return !mayBeNan && least == most; }
  bool isFinite() const {
    return !mayBeNan && (least > -kInfinity || openLeast) && (most < kInfinity || openMost);
  }
};

/// IntervalAnalysis of the parts of expressions, each found once.
class IntervalAnalysis {
public:
  explicit IntervalAnalysis(Expressions &e) : e(e) {}

  /// What is known of parts, elements and variables above all; asked first.
  std::function<std::optional<Interval>(Expr)> given;
  /// The part of a sum that rounding may hide: what adds less is left out.
  double negligible = 0;

  Interval get(Expr expr);

  /// The expression without choices that ranges decide: of clamp(p, 0, 1) the probability is left.
  /// Equal for all inputs that the ranges hold for.
  Expr fold(Expr expr);

private:
  Interval find(Expr expr);
  Interval ofElement(Expr expr);
  Interval ofIndex(Expr expr);
  Interval ofReduction(Expr expr);
  Interval ofCompute(Expr expr);
  Interval ofReal(Expr expr, ArrayRef<Interval> operands);
  Interval ofInteger(Expr expr, ArrayRef<Interval> operands);
  Interval ofSelect(Expr expr);
  Interval ofBranch(Expr condition, bool holds, Expr branch);
  /// Whether `a` may compare with `b` so.
  struct Orders {
    bool less, equal, greater;
  };
  std::optional<Orders> getOrders(Expr comparison);
  std::optional<bool> decide(Expr condition);
  std::optional<bool> decideLogical(Expr condition);
  std::optional<bool> decideComparison(Expr condition);
  Expr foldHere(Expr expr);
  Expr foldExtreme(Expr expr);
  Expr foldNegligible(Expr expr);
  Expr foldBranches(Expr choice);

  Expressions &e;
  llvm::DenseMap<Expr, Interval> known;
  llvm::DenseMap<Expr, Expr> folded;
};

/// Whether `x` is a number less the greatest of these numbers along an axis: never positive, and
/// zero at some place of the axis.
bool isBelowItsMaximum(Expressions &e, Expr x);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_ELEMENTS_INTERVALS_H
