// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic, loops and vectors for lowerings that print straight-line code: everything that
// is constant folds at once, so that what is left is what the address units need.
#ifndef FOVEA_LOWERING_TILE_EMITTER_H
#define FOVEA_LOWERING_TILE_EMITTER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <string>

namespace mlir::fovea {

/// The vectors of a pass: `option`, or, where it is empty, the level of the `fovea.target` that the
/// module around `op` has; empty if it has none.
std::string getVectorLevel(Operation *op, StringRef option);

/// The value of a constant index.
std::optional<int64_t> getConstant(Value index);

/// Adds the ops that `value` is made of, each behind its operands, as far as it is not known. False
/// if one of them asks memory, or is no op.
bool collectSlice(Value value, function_ref<bool(Value)> isKnown,
                  llvm::SetVector<Operation *> &slice);

/// Clones what `value` is made of beyond what is known; null if it depends on memory. Clones go
/// through `mapping`, and into it.
Value repeat(OpBuilder &b, Value value, IRMapping &mapping, function_ref<bool(Value)> isKnown);

/// A floating-point scalar or vector with other elements, rounded to nearest even.
Value convertFloat(ImplicitLocOpBuilder &builder, Value value, Type element);

class ProductInstructions;

class Emitter : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// Of the processor that code is for (lowering/CPU/ProductInstructions.h); null if it has none.
  const ProductInstructions *products = nullptr;

  //===-- Index arithmetic, folded --------------------------------------------------------===//

  Value index(int64_t value);
  Value index(OpFoldResult value);
  Value add(Value l, Value r);
  Value add(Value l, int64_t r) { return add(l, index(r)); }
  Value sub(Value l, Value r);
  Value mul(Value l, Value r);
  Value mul(Value l, int64_t r) { return mul(l, index(r)); }
  Value div(Value l, int64_t r); ///< of numbers that are not negative
  Value rem(Value l, int64_t r); ///< likewise
  Value minimum(Value l, Value r);
  Value maximum(Value l, Value r);

  //===-- Control -------------------------------------------------------------------------===//

  /// `for i = begin to end step step: body(i)`; nothing at all for a loop known to be empty, no
  /// loop for one that is known to run once.
  void loop(Value begin, Value end, int64_t step, function_ref<void(Value)> body);
  SmallVector<Value> loop(Value begin, Value end, int64_t step, ValueRange carried,
                          function_ref<SmallVector<Value>(Value, ValueRange)> body);
  void when(Value condition, function_ref<void()> then, function_ref<void()> otherwise = nullptr);

  //===-- Vectors -------------------------------------------------------------------------===//

  Value splat(Value scalar, int64_t lanes);
  /// [0, 1, ...] of i32.
  Value iota(int64_t lanes);
  /// Which lanes are below `count`, an index.
  Value lanesBelow(Value count, int64_t lanes);
  /// A zero of a scalar or vector type.
  Value zero(Type type);
  Value load(Type element, Value memory, Value at, int64_t lanes, int64_t alignment = 0);
  void store(Value vector, Value memory, Value at, int64_t alignment = 0);
  /// Lanes that are not in `mask` are zero.
  Value loadMasked(Type element, Value memory, Value at, Value mask);
  void storeMasked(Value vector, Value memory, Value at, Value mask);
  /// Fetches the line at a place, to be read, into the nearest cache (3) or the one behind it (2).
  void prefetch(Value memory, Value at, unsigned locality = 3);
  /// Keeps what is loaded and fetched before here before what is after, in LLVM's scheduling; no
  /// instruction.
  void keepOrder();
  /// Scalars or vectors of another floating-point type.
  Value convert(Value value, Type element);
  Value mulAdd(Value a, Value b, Value c); ///< a * b + c, fused where the target can
  Value maximumNumber(Value l, Value r);   ///< `l > r ? l : r`, one instruction

  /// Element (i, j) of the result is element (j, i) of `rows`: as many vectors as each has lanes, a
  /// power of two.
  SmallVector<Value> transpose(SmallVector<Value> rows);
  /// Sums across lanes, of as many vectors as each has lanes, a power of two. First four vectors
  /// that follow each other become one, of whose units of four lanes each has a part of all their
  /// sums; then the units of these are added up, and all sums stand in order.
  Value sumInUnits(ArrayRef<Value> four);
  Value sumUnits(SmallVector<Value> vectors);
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_TILE_EMITTER_H
