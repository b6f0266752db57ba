// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows sizes from results to operands: by AxesOpInterface and the traits of elementwise ops, and
// op by op where sizes are operands or attributes. An op that is missing only makes sizes look
// different.
#include "passes/Analysis/SizeOrigin.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;

namespace {

/// One step: the axis is an axis of another tensor, or is given as a size. Neither: it starts here.
struct Step {
  Value tensor;
  int64_t axis = 0;
  OpFoldResult size;
};

Step toAxis(Value tensor, int64_t axis) { return {tensor, axis, {}}; }
Step toSize(OpFoldResult size) { return {{}, 0, size}; }

/// The name that `fovea.dims` gives an axis of an entry's argument. The runtime checks before each
/// call that equal names are equal sizes.
StringAttr getName(BlockArgument argument, int64_t axis) {
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function || !function->hasAttr(FoveaDialect::kEntryAttr) ||
      !argument.getOwner()->isEntryBlock())
    return {};
  auto dims =
      function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), FoveaDialect::kDimsAttr);
  auto type = cast<RankedTensorType>(argument.getType());
  return dims ? cast<StringAttr>(dims[type.getDynamicDimIndex(axis)]) : StringAttr();
}

Step getStep(OpResult result, int64_t axis) {
  Operation *op = result.getOwner();
  if (OpTrait::hasElementwiseMappableTraits(op)) {
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        return toAxis(operand, axis);
    return {};
  }
  if (auto axes = dyn_cast<AxesOpInterface>(op);
      axes && (result.getResultNumber() == 0 || axes.isOfAllResults()))
    return toAxis(axes.getAxesOperand(), axis);
  return llvm::TypeSwitch<Operation *, Step>(op)
      .Case([&](GroupOp group) {
        Operation *yield = group.getBody().front().getTerminator();
        return toAxis(yield->getOperand(result.getResultNumber()), axis);
      })
      .Case([&](PositionsOp positions) { return toSize(OpFoldResult(positions.getCount())); })
      .Case([&](CacheReadOp read) {
        return toSize(OpFoldResult(axis == 0 ? read.getBatch() : read.getLength()));
      })
      .Case([&](tensor::CastOp cast) {
        return isa<RankedTensorType>(cast.getSource().getType()) ? toAxis(cast.getSource(), axis)
                                                                 : Step();
      })
      .Case([&](tensor::EmptyOp empty) { return toSize(empty.getMixedSizes()[axis]); })
      .Case([&](tensor::SplatOp splat) {
        return toSize(
            OpFoldResult(splat.getDynamicSizes()[splat.getType().getDynamicDimIndex(axis)]));
      })
      .Case([&](tensor::ExtractSliceOp slice) {
        SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
        llvm::SmallBitVector dropped = slice.getDroppedDims();
        for (int64_t source = 0, kept = 0;; ++source)
          if (!dropped.test(source) && kept++ == axis)
            return toSize(sizes[source]);
      })
      .Case([&](tensor::InsertSliceOp insert) { return toAxis(insert.getDest(), axis); })
      .Case([&](tensor::ConcatOp concat) {
        return static_cast<int64_t>(concat.getDim()) == axis
                   ? Step()
                   : toAxis(concat.getInputs().front(), axis);
      })
      .Case([&](tensor::ExpandShapeOp expand) {
        for (auto [source, axes] : llvm::enumerate(expand.getReassociationIndices()))
          if (axes.size() == 1 && axes.front() == axis)
            return toAxis(expand.getSrc(), source);
        return toSize(expand.getMixedOutputShape()[axis]);
      })
      .Case([&](tensor::CollapseShapeOp collapse) {
        // One axis behind the result's, but for axes of size one.
        std::optional<int64_t> source;
        ReassociationIndices axes = collapse.getReassociationIndices()[axis];
        for (int64_t candidate : axes) {
          if (collapse.getSrcType().getDimSize(candidate) == 1)
            continue;
          if (source)
            return Step();
          source = candidate;
        }
        return source ? toAxis(collapse.getSrc(), *source) : Step();
      })
      .Case<linalg::SoftmaxOp, linalg::LinalgOp>([&](auto other) {
        auto style = cast<DestinationStyleOpInterface>(other.getOperation());
        return toAxis(style.getTiedOpOperand(result)->get(), axis);
      })
      .Default(Step());
}

} // namespace

SizeOrigin mlir::fovea::getSizeOrigin(OpFoldResult size) {
  if (auto attribute = dyn_cast<Attribute>(size))
    return {IntegerAttr::get(IndexType::get(attribute.getContext()),
                             cast<IntegerAttr>(attribute).getInt()),
            {},
            -1};
  auto value = cast<Value>(size);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value operand = getGroupOperand(argument);
    return operand ? getSizeOrigin(OpFoldResult(operand)) : SizeOrigin{{}, value, -1};
  }
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return {IntegerAttr::get(IndexType::get(value.getContext()), *constant), {}, -1};
  auto dim = value.getDefiningOp<tensor::DimOp>();
  if (std::optional<int64_t> axis = dim ? dim.getConstantIndex() : std::nullopt)
    if (auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
        type && *axis >= 0 && *axis < type.getRank())
      return getSizeOrigin(dim.getSource(), *axis);
  return {{}, value, -1};
}

Value mlir::fovea::getGroupOperand(BlockArgument argument) {
  auto group = dyn_cast<GroupOp>(argument.getOwner()->getParentOp());
  return group ? group.getInputs()[argument.getArgNumber()] : Value();
}

SizeOrigin mlir::fovea::getSizeOrigin(Value tensor, int64_t axis) {
  while (true) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.isDynamicDim(axis))
      return {IntegerAttr::get(IndexType::get(type.getContext()), type.getDimSize(axis)), {}, -1};
    if (auto argument = dyn_cast<BlockArgument>(tensor)) {
      if (Value operand = getGroupOperand(argument)) {
        tensor = operand;
        continue;
      }
      if (StringAttr name = getName(argument, axis))
        return {name, {}, -1};
      return {{}, tensor, axis};
    }
    Step step = getStep(cast<OpResult>(tensor), axis);
    if (step.size)
      return getSizeOrigin(step.size);
    if (!step.tensor)
      return {{}, tensor, axis};
    tensor = step.tensor;
    axis = step.axis;
  }
}

bool mlir::fovea::haveSameSizes(Value a, Value b) {
  auto first = cast<RankedTensorType>(a.getType()), second = cast<RankedTensorType>(b.getType());
  if (first.getRank() != second.getRank())
    return false;
  for (int64_t axis = 0; axis < first.getRank(); ++axis)
    if (!(getSizeOrigin(a, axis) == getSizeOrigin(b, axis)))
      return false;
  return true;
}
