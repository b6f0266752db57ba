// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of a group's tensors, each computed where it is read: from a buffer, or from elements of
// what the tensor is made of.
#ifndef FOVEA_LOWERING_KERNELS_ELEMENTS_H
#define FOVEA_LOWERING_KERNELS_ELEMENTS_H

#include "lowering/Kernels/KernelBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::fovea {

/// Emits code for single elements. Create it where the kernel begins: sizes and scalars of the
/// group are computed there, and every op's operands are asked whether their sizes agree.
///
/// An op that is not known is an error at the op; code is emitted on, and `failed` tells.
class ElementReader {
public:
  /// `root`'s own results have the sizes of the kernel's outputs.
  ElementReader(KernelBuilder &k, Operation *root);

  bool failed() const { return hasFailed; }
  LogicalResult result() const { return failure(hasFailed); }
  /// Says so at `op`.
  InFlightDiagnostic fail(Operation *op, const Twine &message);

  /// The size of an axis of a tensor of the group.
  Value size(Value tensor, int64_t axis) { return sizes(tensor)[axis]; }
  SmallVector<Value> sizes(Value tensor);
  /// A scalar of the group.
  Value scalar(Value value);

  /// Two sizes that must be the same: a call where they are not ends with a fault.
  void requireEqual(Value l, Value r);
  /// What must not hold in any call.
  void refuse(Value condition);
  /// The extents of a loop nest, all zero in a call that ended so.
  SmallVector<Value> guarded(ValueRange extents);

  /// The element of `tensor` at these indices, all inside.
  Value read(Value tensor, ValueRange at);
  /// The same for indices that may be anything: what is outside is a fault, and zero.
  Value readAnywhere(Value tensor, ValueRange at);
  /// An affine map of indices.
  SmallVector<Value> apply(AffineMap map, ValueRange indices);

  /// The extents of a structured op's loops: of the axes that one loop alone runs along. Requires
  /// all to agree, and all other indices to stay inside.
  SmallVector<Value> loopExtents(linalg::LinalgOp op);
  /// Its inputs where its loops are at these indices: scalars, and elements of tensors.
  SmallVector<Value> readInputs(linalg::LinalgOp op, ValueRange loops);
  /// A structured op's body on scalars: what it yields. `loops` are what `linalg.index` gives.
  SmallVector<Value> emitBody(linalg::LinalgOp op, ValueRange arguments, ValueRange loops);

private:
  void prepare(Operation *op);
  void require(Operation *op);
  SmallVector<Value> computeSizes(Operation *op);
  Value readOp(Operation *op, unsigned result, ValueRange at);
  Value readStructured(linalg::LinalgOp op, unsigned result, ValueRange at);
  Value readConcat(tensor::ConcatOp concat, ValueRange at);
  Value readPad(tensor::PadOp pad, ValueRange at);
  Value readInsertSlice(tensor::InsertSliceOp insert, ValueRange at);
  Value readExtractSlice(tensor::ExtractSliceOp slice, ValueRange at);
  Value readExpanded(tensor::ExpandShapeOp expand, ValueRange at);
  Value readCollapsed(tensor::CollapseShapeOp collapse, ValueRange at);
  SmallVector<Value> emitBlock(Block &block, IRMapping &mapping, ValueRange loops);
  SmallVector<Value> valuesOf(ArrayRef<OpFoldResult> mixed);
  Value zeroOf(Type type);
  Value inRange(Value index, Value size);
  Value negate(Value condition);
  /// `condition` and `other`; `other` where there is no condition yet.
  Value both(Value condition, Value other);
  /// One of two elements, of which only that one is computed.
  Value either(Value condition, Type element, function_ref<Value()> then,
               function_ref<Value()> otherwise);

  KernelBuilder &k;
  Operation *root;
  bool hasFailed = false;
  llvm::DenseMap<Value, SmallVector<Value>> knownSizes;
  Value refused; ///< i1, or null
};

} // namespace mlir::fovea

#endif // FOVEA_LOWERING_KERNELS_ELEMENTS_H
