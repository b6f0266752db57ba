// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes a score apart: what is a mask, and what is left as the score's rule. Predicates on
// positions become mask ops; others a dense mask.
#ifndef FOVEA_PASSES_RAISE_ATTENTION_SCORE_H
#define FOVEA_PASSES_RAISE_ATTENTION_SCORE_H

#include "passes/Raise/Attention/AttentionForm.h"

namespace mlir::fovea::raise {

/// A score without its masks.
struct MaskedScore {
  Expr rule = nullptr;      ///< what the score is where it is allowed
  Expr allowed = nullptr;   ///< i1; null: everywhere
  std::optional<Fill> fill; ///< what producers meant for rows without a key; nothing without mask
};

/// Splits `form.score`.
MaskedScore splitScore(Expressions &e, const AttentionForm &form);

/// `root` where `allowed` holds: conditions that it decides, in whatever spelling, are constants.
Expr assume(Expressions &e, Expr root, Expr allowed);

/// A number that is zero or very negative.
struct AdditiveMask {
  double low = 0;       ///< the greatest that it is where it is not zero
  bool ofFlags = false; ///< if tensors of floats are zeros and ones, as in (1 - m) * -1e4
};

/// What `sign * expr` is as a mask; nothing if it may take other values too. Integers of tensors
/// that are computed with like flags are taken as zeros and ones.
std::optional<AdditiveMask> getAdditiveMask(Expressions &e, Expr expr, double sign);

/// The axes [b, h, i, j] for an expression; those it does not depend on are of size one. `present`
/// gets the numbers of the others.
SmallVector<Axis> axesOf(const AttentionForm &form, Expr expr, SmallVectorImpl<unsigned> &present);

/// A score or probability region to be, with its operands.
struct RegionParts {
  Region region;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
};

/// Builds the parts of an attention op from expressions.
class ScoreBuilder {
public:
  ScoreBuilder(Expressions &e, OpBuilder &builder, Location loc, const AttentionForm &form)
      : e(e), builder(builder), loc(loc), form(form) {}

  /// The mask that a predicate means. Null if it cannot be written.
  Value buildMask(Expr allowed);
  /// Looks for an offset of the first query's position that the predicate, which may be null, or
  /// else the rule counts with: masks and the score region then see positions i + offset.
  void findQueryOffset(Expr allowed, Expr rule);
  Value buildQueryPositions();

  /// What the region of a rule needs: `of` is what its first argument stands for. False if it
  /// cannot be written.
  bool buildRegion(Expr rule, Expr of, RegionParts &parts, FloatType accumulation);

private:
  // Null if the predicate is no such mask.
  Value maskOfAny(ArrayRef<Expr> parts);
  Value maskOfComplement(Expr whole, Expr inner);
  Value maskOfComparison(Expr comparison);
  Value maskOfBand(AffineExpr lower, AffineExpr upper);
  Value maskOfLimit(arith::CmpIPredicate predicate, AffineExpr bound);
  std::optional<Value> maskOfDistance(arith::CmpIPredicate predicate, Expr distance, int64_t width);
  Value maskOfSegments(Expr ofQueries, Expr ofKeys);
  Value maskOfClasses(AffineExpr left, AffineExpr right);
  Value maskOfLengths(arith::CmpIPredicate predicate, Expr position, Expr length);
  void takeQueryOffset(AffineExpr bound, AffineExpr lengths);
  Value layOutIntegers(Expr element, ArrayRef<Axis> others);
  /// A predicate of a constant matrix's element as one of places; null if there is none.
  Expr asPlaces(Expr predicate);
  Value dense(Expr allowed);
  Value logical(bool isAnd, ArrayRef<Value> masks);
  Value negate(Value mask);

  Expressions &e;
  OpBuilder &builder;
  Location loc;
  const AttentionForm &form;
  AffineExpr offset; ///< of queries; null: none
};

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_ATTENTION_SCORE_H
