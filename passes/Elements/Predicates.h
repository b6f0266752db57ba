// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boolean expressions as masks need them: comparisons of numbers that are made of conditions are
// decided by cases, positions that were made floats become integers again, and what implies what
// is known. A predicate that none of this fits stays as it is.
#ifndef FOVEA_PASSES_ELEMENTS_PREDICATES_H
#define FOVEA_PASSES_ELEMENTS_PREDICATES_H

#include "passes/Elements/Expression.h"

namespace mlir::fovea::raise {

/// Whether all elements that an expression names surely exist. Those of a concatenation's parts do
/// only where the part is chosen.
bool isSafe(Expressions &e, Expr root);

/// Makes boolean expressions; constants fold, and of two where one implies the other one is left.
class Predicates {
public:
  explicit Predicates(Expressions &e) : e(e), type(IntegerType::get(e.getContext(), 1)) {}

  Expr constant(bool value) { return e.constant(int64_t(value), type); }
  Expr both(Expr a, Expr b);
  Expr either(Expr a, Expr b);
  Expr negate(Expr a);
  Expr choose(Expr condition, Expr yes, Expr no);

  /// Whether `x > bound` (above) or `x < bound`, as a predicate without floats where it can be.
  Expr compare(Expr x, double bound, bool above);
  /// The same predicate with comparisons of numbers that are booleans undone.
  Expr normalize(Expr x);

  /// Whether `a` can only hold where `b` does: two comparisons with one difference.
  bool implies(Expr a, Expr b);

  /// A choice between parts of a concatenation as an element of the concatenation; null if the
  /// parts can be read by themselves.
  Expr asWhole(Expr x);

private:
  Expr compareReal(arith::CmpFPredicate predicate, Expr x, double bound);
  Expr undoOutermost(Expr x, double bound, bool above);
  Expr undoProduct(Expr x, double bound, bool above);
  Expr undoSum(Expr x, double bound, bool above);
  Expr undoConversion(Expr x, double bound, bool above);
  Expr normalizeReals(Expr x);
  Expr normalizeIntegers(Expr x);
  bool addConditions(Expr x, bool isWhole, SmallVectorImpl<Expr> &conditions);
  Expr byCases(Expr x, ArrayRef<Expr> conditions, llvm::DenseMap<Expr, Expr> known);

  Expressions &e;
  Type type; ///< i1
};

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_ELEMENTS_PREDICATES_H
