// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Randomised equivalence tests that account for every piecewise part. Two expressions of smooth
// functions that agree at a few random places are equal (an analytic function that is not zero is
// zero almost nowhere); with choices, comparisons, maxima and roundings in them they may agree
// wherever one happened to look and differ elsewhere. So an agreement counts only if each such node
//
// (a) is carried: it stands in the formula too, and both agree whatever it is;
// (b) does not matter: the expressions agree with any number, or any of its sides, in its place, as
//     for the maximum that a softmax subtracts, or the absolute value below an even power;
// (c) is decided for all inputs by its operands' ranges (clamp(p, 0, 1) of a probability); or
// (d) was seen on each of its sides where that decides the result (another number in its place
//     changes it), with agreement there: draws are steered to where it changes.
//
// What is left is a reason to refuse, by the node's name. What cannot be evaluated agrees with
// nothing.
#ifndef FOVEA_PASSES_ELEMENTS_EQUIVALENCE_H
#define FOVEA_PASSES_ELEMENTS_EQUIVALENCE_H

#include "passes/Elements/Evaluate.h"
#include "passes/Elements/Intervals.h"

namespace mlir::fovea::raise {

/// A part of the account that is left out, to see that tests notice: what both sides carry is not
/// compared, what is done to probabilities counts as harmless, intervals are too narrow, sides need
/// not be seen.
enum class PlantedFault { None, Carried, Harmless, Intervals, Coverage };
/// Plants it in all that this process raises. For tests alone.
void plantFault(PlantedFault fault);
PlantedFault getPlantedFault();

/// How numbers are drawn in one round of a test.
struct Draw {
  uint64_t seed = 1;
  double magnitude = 1; ///< of what is below no exponential
  double exponent = 1;  ///< of what exponentials are taken of
  double offset = 0;    ///< added to the latter, to all alike
  int64_t stretch = 0;  ///< of open sizes
};

/// That `source` is `formula`, for all inputs.
struct Claim {
  Expr source = nullptr, formula = nullptr;
  /// What a difference is measured by; null: the formula itself.
  Expr size = nullptr;
  /// Places are drawn along these.
  SmallVector<unsigned> dims;
  double tolerance = 1e-9;
  /// Rounding to floats of so many bits or more is not looked at.
  unsigned rounding = 32;
  /// See IntervalAnalysis.
  double negligible = 0;
  std::function<std::optional<Interval>(Expr)> ranges;
  /// Numbers of leaves in place of the usual ones.
  std::function<std::optional<Number>(Expr leaf, ArrayRef<int64_t> at, const Draw &)> draw;
  /// Rounds of draws in place of the usual ones, and those that are tried where a node was not seen
  /// on each side.
  SmallVector<Draw> rounds, steered;
  /// Draws may be of any magnitude: borders are looked for between two of them.
  bool isScalable = true;
};

/// The answer. `culprit` is the node that keeps a claim from being shown: in the source's terms.
struct Verdict {
  enum Kind {
    Equal,
    Different,  ///< seen to differ
    Unseen,     ///< agrees, but a side of `culprit` was never taken
    Unevaluated ///< too few places could be evaluated
  };
  Kind kind = Unevaluated;
  Expr culprit = nullptr;
  explicit operator bool() const { return kind == Equal; }
};

Verdict decide(Expressions &e, const Claim &claim);

/// The piecewise nodes of an expression, outermost first; `isMaximal`: none below another one.
/// Rounding to floats of `rounding` bits or more is none.
SmallVector<Expr> getPiecewise(Expr root, bool isMaximal = false, unsigned rounding = 32);

/// Static sizes along which all reductions of these expressions are sums over elements, so that
/// their places may be drawn class by class (`Evaluator::classed`).
llvm::SmallDenseSet<int64_t> findClassed(Expressions &e, ArrayRef<Expr> roots);

/// What a report says of a node: "arith.select at model.py:12".
std::string describe(Expressions &e, Expr node);
/// The same of a verdict that has a culprit: what it does, or that it was not seen on both sides.
std::string describe(Expressions &e, const Verdict &verdict);

/// Parts of expressions as unknowns: the part itself and what it is where a reduction reads it.
class Generalizer {
public:
  explicit Generalizer(Expressions &e) : e(e) {}
  /// `part` becomes an unknown number for each of its places, in all that `apply` is given.
  void add(Expr part);
  Expr apply(Expr root);
  /// What became unknowns, each with its number.
  ArrayRef<std::pair<Expr, unsigned>> getUnknowns() const { return parts; }
  bool isEmpty() const { return parts.empty(); }

private:
  Expr match(Expr part, unsigned number, Expr node);

  Expressions &e;
  SmallVector<std::pair<Expr, unsigned>> parts;
};

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_ELEMENTS_EQUIVALENCE_H
