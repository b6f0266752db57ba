// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TileableOpInterface of upstream ops, as external models: softmax of rows, broadcasts over the
// batch, views of columns. Ops with the traits of elementwise ones need none.
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fovea;

Value mlir::fovea::getBroadcastSource(Operation *op) {
  Value source = cast<linalg::BroadcastOp>(op).getInput();
  auto collapse = source.getDefiningOp<tensor::CollapseShapeOp>();
  if (collapse && collapse.getSrcType().getDimSize(0) == 1 &&
      collapse.getSrcType().getRank() == collapse.getResultType().getRank() + 1)
    return collapse.getSrc();
  return source;
}

namespace {

struct TileableSoftmax : TileableOpInterface::ExternalModel<TileableSoftmax, linalg::SoftmaxOp> {
  TileNeeds getTileNeeds(Operation *op) const {
    return {TileNeeds::WholeRow, getLeadingAxes(cast<linalg::SoftmaxOp>(op).getInput())};
  }
  /// Along the columns alone.
  bool visitTileOperands(Operation *operation, TileVisitor &visitor) const {
    auto op = cast<linalg::SoftmaxOp>(operation);
    return visitor.hasWholeRows(op.getInput()) && op->getNumResults() == 1 &&
           static_cast<int64_t>(op.getDimension()) == getLeadingAxes(op.getInput()) &&
           visitor.visit(op.getInput(), TileRole::Tile);
  }
};

/// [S, D] -> [B, S, D].
struct TileableBroadcast
    : TileableOpInterface::ExternalModel<TileableBroadcast, linalg::BroadcastOp> {
  TileNeeds getTileNeeds(Operation *) const { return {TileNeeds::View, 0, /*located=*/true}; }
  bool visitTileOperands(Operation *operation, TileVisitor &visitor) const {
    auto op = cast<linalg::BroadcastOp>(operation);
    Value source = getBroadcastSource(op);
    auto type = dyn_cast<RankedTensorType>(source.getType());
    if (op->getNumResults() != 1 || op.getDimensions() != ArrayRef<int64_t>{0} ||
        getLeadingAxes(op->getResult(0)) != 2 || !type)
      return false;
    if (type.getRank() == 3)
      return type.getDimSize(0) == 1 && visitor.visit(source, TileRole::Tile);
    return !type.isDynamicDim(1) && visitor.visit(source, TileRole::SharedRows);
  }
};

/// A range of a product's columns.
struct TileableSlice : TileableOpInterface::ExternalModel<TileableSlice, tensor::ExtractSliceOp> {
  TileNeeds getTileNeeds(Operation *) const { return {}; }
  bool visitTileOperands(Operation *operation, TileVisitor &visitor) const {
    auto op = cast<tensor::ExtractSliceOp>(operation);
    int64_t rows = visitor.getDomain().rowAxes;
    if (visitor.getDomain().kind != TileKind::Contraction ||
        op.getSourceType().getRank() != rows + 1 || op.getType().getRank() != rows + 1)
      return false;
    for (int64_t axis = 0; axis <= rows; ++axis)
      if (op.getStaticStrides()[axis] != 1 || ShapedType::isDynamic(op.getStaticOffsets()[axis]) ||
          (axis < rows && op.getStaticOffsets()[axis] != 0))
        return false;
    return !ShapedType::isDynamic(op.getStaticSizes()[rows]) &&
           visitor.visit(op.getSource(), TileRole::Tile);
  }
};

/// Reshapes of the columns alone.
template <typename OpTy>
struct TileableReshape : TileableOpInterface::ExternalModel<TileableReshape<OpTy>, OpTy> {
  TileNeeds getTileNeeds(Operation *) const { return {}; }
  bool visitTileOperands(Operation *operation, TileVisitor &visitor) const {
    auto op = cast<OpTy>(operation);
    auto groups = op.getReassociationIndices();
    auto rows = static_cast<size_t>(visitor.getDomain().rowAxes);
    return groups.size() > rows &&
           llvm::all_of(ArrayRef<ReassociationIndices>(groups).take_front(rows),
                        [](const ReassociationIndices &group) { return group.size() == 1; }) &&
           visitor.visit(op.getSrc(), TileRole::Tile);
  }
};

/// Code for each element: of operands that have all of the result's axes, and of vectors over the
/// last, which all rows share.
struct TileableGeneric : TileableOpInterface::ExternalModel<TileableGeneric, linalg::GenericOp> {
  TileNeeds getTileNeeds(Operation *op) const {
    return {isElementwise(cast<linalg::GenericOp>(op)) ? TileNeeds::Elements : TileNeeds::View};
  }

  bool visitTileOperands(Operation *operation, TileVisitor &visitor) const {
    auto op = cast<linalg::GenericOp>(operation);
    return isElementwise(op) && llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
             Value value = input->get();
             if (op.getMatchingIndexingMap(input).isIdentity())
               return visitor.visit(value, TileRole::Tile);
             // Of flattened tensors no columns are known.
             return visitor.getDomain().kind != TileKind::Elements && isa<BlockArgument>(value) &&
                    visitor.visit(value, TileRole::Parameter);
           });
  }

private:
  static bool isElementwise(linalg::GenericOp op) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                         : RankedTensorType();
    int64_t last = type ? type.getRank() - 1 : 0;
    if (!type || type.getRank() == 0 || !op.hasPureTensorSemantics() ||
        op.getNumParallelLoops() != op.getNumLoops() || op.getNumDpsInputs() == 0 ||
        !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity())
      return false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      bool isVector = map.getNumResults() == 1 && last > 0 && !type.isDynamicDim(last) &&
                      map.getResult(0) == getAffineDimExpr(last, op.getContext());
      if (!map.isIdentity() && !isVector)
        return false;
    }
    return isScalarBody(op);
  }
};

} // namespace

/// Arithmetic that no numbers are a fault of.
static bool isScalarCode(Operation &op) {
  auto isNumber = [](Type type) { return isa<FloatType>(type) || type.isInteger(1); };
  return OpTrait::hasElementwiseMappableTraits(&op) && op.getNumResults() == 1 &&
         isNumber(op.getResult(0).getType()) && llvm::all_of(op.getOperands(), [&](Value value) {
           return isNumber(value.getType()) &&
                  (value.getParentBlock() == op.getBlock() || matchPattern(value, m_Constant()));
         });
}

bool mlir::fovea::isScalarBody(Operation *op) {
  Block &body = op->getRegion(0).front();
  unsigned inputs = cast<DestinationStyleOpInterface>(op).getNumDpsInputs();
  return llvm::all_of(body.getArguments().drop_front(inputs),
                      [](Value value) { return value.use_empty(); }) &&
         llvm::all_of(body.without_terminator(), isScalarCode) &&
         llvm::all_of(body.getTerminator()->getOperands(),
                      [&](Value value) { return value.getParentBlock() == &body; });
}

TileNeeds mlir::fovea::getTileNeeds(Operation *op) {
  auto tileable = dyn_cast<TileableOpInterface>(op);
  return tileable ? tileable.getTileNeeds() : TileNeeds();
}

bool mlir::fovea::isComputedByElement(Operation *op) {
  if (OpTrait::hasElementwiseMappableTraits(op))
    return op->getNumResults() == 1;
  TileNeeds needs = getTileNeeds(op);
  return needs.kind == TileNeeds::Elements && !needs.located;
}

bool mlir::fovea::isElementwiseOp(Operation *op) {
  return isComputedByElement(op) && !isa<DestinationStyleOpInterface>(op);
}

bool mlir::fovea::isWeighted(Operation *op) {
  return isa<WeightsOpInterface>(op) &&
         isa<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
}

void mlir::fovea::attachTileableModels(MLIRContext &context) {
  attachTileableContraction(context);
  linalg::SoftmaxOp::attachInterface<TileableSoftmax>(context);
  linalg::BroadcastOp::attachInterface<TileableBroadcast>(context);
  tensor::ExtractSliceOp::attachInterface<TileableSlice>(context);
  linalg::GenericOp::attachInterface<TileableGeneric>(context);
  tensor::ExpandShapeOp::attachInterface<TileableReshape<tensor::ExpandShapeOp>>(context);
  tensor::CollapseShapeOp::attachInterface<TileableReshape<tensor::CollapseShapeOp>>(context);
}
