// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Brings tensors into the layout that an op wants, from an expression of their elements: slices,
// reshapes and transposes where these say it, a gather else.
#ifndef FOVEA_PASSES_ELEMENTS_LAYOUT_H
#define FOVEA_PASSES_ELEMENTS_LAYOUT_H

#include "mlir/IR/Builders.h"
#include "passes/Elements/Expression.h"

namespace mlir::fovea::raise {

/// The dims of one axis, outermost first; none: size one.
using Axis = SmallVector<unsigned>;

/// The product of the dims' extents.
AffineExpr getExtent(Expressions &e, ArrayRef<unsigned> dims);

/// The dims that an index counts through, outermost first; nothing if it is not all of an axis.
std::optional<Axis> getAxis(Expressions &e, Expr index);

/// A tensor whose element at dims `axes` is `tensor[indices]`. Dims that the indices do not name
/// are broadcast.
Value layOut(Expressions &e, OpBuilder &builder, Location loc, Value tensor, ArrayRef<Expr> indices,
             ArrayRef<Axis> axes);

/// `tensor`, whose axes are `from`, with axes `to`; both hold the same dims.
Value rearrange(Expressions &e, OpBuilder &builder, Location loc, Value tensor, ArrayRef<Axis> from,
                ArrayRef<Axis> to);

/// A scalar or tensor of floats or signed integers with elements of another such type.
Value toElementType(OpBuilder &builder, Location loc, Value value, Type element);

/// Writes scalar code for an expression. `leaf` gives the values of elements and index expressions,
/// or null if there is no such value. Null if a part cannot be written.
Value emitScalar(OpBuilder &builder, Location loc, Expr expr, llvm::function_ref<Value(Expr)> leaf,
                 llvm::DenseMap<Expr, Value> &done);

/// A tensor with axes `axes` that holds the value of `expr`, computed by one linalg.generic. Null
/// if that cannot be written.
Value compute(Expressions &e, OpBuilder &builder, Location loc, Expr expr, ArrayRef<Axis> axes);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_ELEMENTS_LAYOUT_H
