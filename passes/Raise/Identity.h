// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Identity testing: whether an expression is a known formula of one of its parts, however it is
// spelled.
#ifndef FOVEA_PASSES_RAISE_IDENTITY_H
#define FOVEA_PASSES_RAISE_IDENTITY_H

#include "passes/Elements/Layout.h"

namespace mlir::fovea::raise {

/// The parts of `root` that stand between it and all that it depends on: each is a value of which
/// alone `root` is a function. Innermost first, `root` itself last. A leaf counts as what `root`
/// depends on if `matters` says so. Only the parts nearest to `root` are looked at.
SmallVector<Expr> getCuts(Expr root, llvm::function_ref<bool(Expr)> matters);

/// Elements and index arithmetic: all that is neither constant nor computed.
bool isLeaf(Expr expr);

/// All nodes of an expression that are at most `limit`, outermost first.
SmallVector<Expr> getParts(Expr root, unsigned limit);

/// How far two spellings of one formula may be apart: constants are rounded to the narrowest float
/// type in the expression, or to f32.
double getTolerance(Expr root);

/// Dims 0, 1, ... for the axes of a tensor, as indices; axes of size one are read at 0.
SmallVector<Expr> makeIndices(Expressions &e, Value tensor);

/// The axes of a tensor read at such indices.
SmallVector<Axis> makeAxes(ArrayRef<int64_t> shape);

/// Whether `op` computes one float tensor, each element from those at its place.
bool isElementwise(Operation *op);

/// Raises ops, the last ones first: what computes a part of what was raised has no users when its
/// turn comes, and goes. What is dead then goes too, if `raise` said that it changed something.
void raiseLastFirst(Operation *root, ArrayRef<Operation *> ops,
                    llvm::function_ref<bool(Operation *)> raise);

/// A tensor of `like`'s type whose element at dims 0, 1, ... is `part`. Null if no tensor holds it.
Value getTensor(Expressions &e, OpBuilder &builder, Expr part, Value like);

} // namespace mlir::fovea::raise

#endif // FOVEA_PASSES_RAISE_IDENTITY_H
