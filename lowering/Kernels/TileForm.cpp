// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for what tile builders can do; refuses by giving the kind None.
#include "lowering/Kernels/TileForm.h"
#include "dialects/ElementTypes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;

RmsNormOp mlir::fovea::getFactor(LinearOp op) {
  auto norm = op.getInput().getDefiningOp<RmsNormOp>();
  // Of halves, what is multiplied is rounded before.
  bool isExact = norm && norm.getResult().getType().getElementType().isF32();
  return isExact && !norm.getWeight() ? norm : RmsNormOp();
}

Value mlir::fovea::getBroadcastSource(Operation *op) {
  Value source = cast<linalg::BroadcastOp>(op).getInput();
  auto collapse = source.getDefiningOp<tensor::CollapseShapeOp>();
  if (collapse && collapse.getSrcType().getDimSize(0) == 1 &&
      collapse.getSrcType().getRank() == collapse.getResultType().getRank() + 1)
    return collapse.getSrc();
  return source;
}

namespace {
class FormFinder {
public:
  explicit FormFinder(GroupOp group) : group(group) {}
  TileForm find();

private:
  bool chooseKind();
  bool visitArgmax(ArgmaxOp op);
  bool visitResult(Value value);
  bool visit(Value value);
  bool visitOp(Operation *op);
  bool visitRows(Value value);
  bool isParameter(Value value);
  bool isWeight(LinearOp op);
  bool isPositions(Value value);
  bool visitIds(Value value);

  GroupOp group;
  TileForm form;
  llvm::SetVector<BlockArgument> rowOperands;
  llvm::DenseSet<Value> done;
};
} // namespace

static RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

/// By the op that needs most of a row's neighbours.
bool FormFinder::chooseKind() {
  SmallVector<int64_t> linears, whole, tables, located;
  for (Operation &op : group.getBody().front()) {
    auto rankOf = [](Value value) { return cast<RankedTensorType>(value.getType()).getRank(); };
    llvm::TypeSwitch<Operation *>(&op)
        .Case([&](LinearOp o) { linears.push_back(rankOf(o.getInput()) - 1); })
        .Case<LayerNormOp, RmsNormOp, L2NormOp>(
            [&](auto o) { whole.push_back(rankOf(o.getInput()) - 1); })
        .Case([&](linalg::SoftmaxOp o) { whole.push_back(rankOf(o.getInput()) - 1); })
        .Case([&](EmbeddingOp o) { tables.push_back(rankOf(o.getResult()) - 1); })
        .Case<PositionLearnedOp>([&](PositionLearnedOp) { located.push_back(2); })
        .Case<RopeOp, CacheAppendOp, linalg::BroadcastOp>(
            [&](Operation *) { located.push_back(2); });
  }
  SmallVector<int64_t> all(linears);
  if (linears.empty()) {
    llvm::append_range(all, whole);
    llvm::append_range(all, tables);
  }
  llvm::append_range(all, located);
  form.located = !located.empty();
  // Heads of a row are done apart, which whole rows cannot be.
  if (linears.empty() && !whole.empty() &&
      llvm::any_of(group.getBody().front(), llvm::IsaPred<RopeOp, CacheAppendOp>))
    return false;
  if (!all.empty()) {
    form.kind = linears.empty() ? TileForm::Kind::Rows : TileForm::Kind::Contraction;
    form.rowAxes = all.front();
    return all.front() > 0 && llvm::all_equal(all);
  }
  form.kind = TileForm::Kind::Elements;
  RankedTensorType type = group->getNumResults() ? typeOf(group.getResult(0)) : RankedTensorType();
  if (!type || type.getRank() == 0)
    return false;
  form.rowAxes = type.getRank() - 1;
  return true;
}

/// A weight, bias or the like, of any narrow floating-point type.
bool FormFinder::isParameter(Value value) {
  RankedTensorType type = value ? typeOf(value) : RankedTensorType();
  return isa<BlockArgument>(value) && type && type.hasStaticShape() &&
         isComputedInF32(type.getElementType());
}

/// Of floats, or of integers with their scales. Integers that share bytes are read in panels only.
bool FormFinder::isWeight(LinearOp op) {
  if (!op.getScales())
    return isParameter(op.getWeight());
  RankedTensorType type = typeOf(op.getWeight());
  return isa<BlockArgument>(op.getWeight()) && isParameter(op.getScales()) &&
         (type.getElementType().isInteger(8) || getPanels(type));
}

bool FormFinder::isPositions(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    form.sharedOperands.push_back(argument);
  return isa<BlockArgument>(value) || value.getDefiningOp<PositionsOp>();
}

/// Numbers of a table's rows, one for each row.
bool FormFinder::visitIds(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  RankedTensorType type = typeOf(value);
  if (!argument || !type || type.getRank() != form.rowAxes)
    return false;
  rowOperands.insert(argument);
  return true;
}

/// An argument with the group's rows.
bool FormFinder::visitRows(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  RankedTensorType type = typeOf(value);
  if (!argument || !type || !isComputedInF32(type.getElementType()) || type.getEncoding())
    return false;
  if (type.getRank() <= static_cast<int64_t>(form.rowAxes) ||
      ShapedType::isDynamicShape(type.getShape().drop_front(form.rowAxes)))
    return false;
  // Rows that all batches share are no measure of the rows.
  if (!form.located || type.getDimSize(0) != 1)
    rowOperands.insert(argument);
  else
    form.sharedOperands.push_back(argument);
  return true;
}

bool FormFinder::visit(Value value) {
  if (!done.insert(value).second)
    return true;
  RankedTensorType type = typeOf(value);
  if (!type)
    return false;
  if (isa<FloatType>(type.getElementType()) && !isComputedInF32(type.getElementType()))
    return false;
  if (isa<BlockArgument>(value))
    return visitRows(value);
  if (type.getRank() <= static_cast<int64_t>(form.rowAxes) ||
      ShapedType::isDynamicShape(type.getShape().drop_front(form.rowAxes)))
    return false;
  return visitOp(value.getDefiningOp());
}

bool FormFinder::visitOp(Operation *op) {
  bool whole = form.kind == TileForm::Kind::Rows;
  auto isWhole = [&](Value input) {
    return whole && typeOf(input).getRank() == static_cast<int64_t>(form.rowAxes) + 1;
  };
  auto optional = [&](Value value) { return !value || isParameter(value); };
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](LinearOp o) {
        Value input = o.getInput();
        if (RmsNormOp norm = getFactor(o)) {
          input = norm.getInput();
          if (!llvm::is_contained(form.factors, norm))
            form.factors.push_back(norm);
        }
        return isWeight(o) && optional(o.getBias()) && isa<BlockArgument>(input) && visit(input);
      })
      .Case([&](LayerNormOp o) {
        return isWhole(o.getInput()) && optional(o.getWeight()) && optional(o.getBias()) &&
               visit(o.getInput());
      })
      .Case([&](RmsNormOp o) {
        return isWhole(o.getInput()) && optional(o.getWeight()) && visit(o.getInput());
      })
      .Case([&](L2NormOp o) { return isWhole(o.getInput()) && visit(o.getInput()); })
      .Case([&](linalg::SoftmaxOp o) {
        return isWhole(o.getInput()) && o->getNumResults() == 1 &&
               static_cast<int64_t>(o.getDimension()) == typeOf(o.getInput()).getRank() - 1 &&
               visit(o.getInput());
      })
      .Case(
          [&](EmbeddingOp o) { return whole && isParameter(o.getTable()) && visitIds(o.getIds()); })
      .Case([&](PositionLearnedOp o) {
        return whole && isParameter(o.getTable()) && isPositions(o.getPositions());
      })
      .Case([&](ActivationOp o) { return visit(o.getInput()); })
      .Case([&](GluOp o) { return visit(o.getGate()) && visit(o.getUp()); })
      .Case([&](DropoutOp o) { return visit(o.getInput()); })
      .Case([&](RopeOp o) {
        if (o.getPairing() != RopePairing::Half || !isPositions(o.getPositions()))
          return false;
        RopeScalingAttr scaling = o.getScalingAttr();
        bool context = scaling && (scaling.getKind() == RopeScalingKind::Dynamic ||
                                   scaling.getKind() == RopeScalingKind::LongRope);
        if (context && !isa<BlockArgument>(o.getPositions()))
          return false;
        form.ropes.push_back(o);
        return visit(o.getInput());
      })
      .Case([&](linalg::BroadcastOp o) {
        Value source = getBroadcastSource(o);
        RankedTensorType type = typeOf(source);
        if (o->getNumResults() != 1 || o.getDimensions() != ArrayRef<int64_t>{0} ||
            typeOf(o->getResult(0)).getRank() != 3 || !type)
          return false;
        if (type.getRank() == 3)
          return type.getDimSize(0) == 1 && visit(source);
        return isa<BlockArgument>(source) && isComputedInF32(type.getElementType()) &&
               !type.isDynamicDim(1);
      })
      .Case([&](tensor::ExtractSliceOp o) {
        // A range of the columns.
        RankedTensorType type = o.getSourceType();
        unsigned rows = form.rowAxes;
        if (form.kind != TileForm::Kind::Contraction || type.getRank() != rows + 1 ||
            o.getType().getRank() != type.getRank())
          return false;
        for (unsigned axis = 0; axis <= rows; ++axis)
          if (o.getStaticStrides()[axis] != 1 ||
              ShapedType::isDynamic(o.getStaticOffsets()[axis]) ||
              (axis < rows && o.getStaticOffsets()[axis] != 0))
            return false;
        return !ShapedType::isDynamic(o.getStaticSizes()[rows]) && visit(o.getSource());
      })
      .Case<tensor::ExpandShapeOp, tensor::CollapseShapeOp>([&](auto o) {
        // Of the columns alone.
        auto groups = o.getReassociationIndices();
        if (groups.size() <= form.rowAxes)
          return false;
        for (unsigned axis = 0; axis < form.rowAxes; ++axis)
          if (groups[axis].size() != 1)
            return false;
        return visit(o.getSrc());
      })
      .Default([&](Operation *other) {
        if (!OpTrait::hasElementwiseMappableTraits(other) || other->getNumResults() != 1)
          return false;
        for (Value operand : other->getOperands()) {
          DenseElementsAttr constant;
          if (matchPattern(operand, m_Constant(&constant))) {
            if (!constant.isSplat())
              return false;
          } else if (!operand.getDefiningOp<tensor::SplatOp>() && !visit(operand)) {
            return false;
          }
        }
        return true;
      });
}

/// Columns of a product, in blocks that hold no heads. They are counted in f32.
bool FormFinder::visitArgmax(ArgmaxOp op) {
  RankedTensorType type = typeOf(op.getInput());
  if (form.kind != TileForm::Kind::Contraction || form.argmax ||
      type.getRank() != static_cast<int64_t>(form.rowAxes) + 1 ||
      type.getShape().back() > (int64_t(1) << 24) ||
      llvm::any_of(group.getBody().front(), llvm::IsaPred<RopeOp, CacheAppendOp>))
    return false;
  form.argmax = op;
  return visit(op.getInput());
}

bool FormFinder::visitResult(Value value) {
  if (auto argmax = value.getDefiningOp<ArgmaxOp>())
    return visitArgmax(argmax);
  if (auto append = value.getDefiningOp<CacheAppendOp>())
    return isa<BlockArgument>(append.getCache()) &&
           !append.getCache().getType().getElementType().isF64() && visit(append.getInput());
  RankedTensorType type = typeOf(value);
  if (!type || isa<BlockArgument>(value))
    return false;
  if (value.getDefiningOp<PositionsOp>())
    return form.kind == TileForm::Kind::Elements;
  return isComputedInF32(type.getElementType()) && visit(value);
}

TileForm FormFinder::find() {
  Operation *yield = group.getBody().front().getTerminator();
  if (yield->getNumOperands() == 0 || !chooseKind())
    return {};
  for (Value value : yield->getOperands())
    if (!visitResult(value))
      return {};
  // A flattened tensor has one shape.
  if (form.kind == TileForm::Kind::Elements)
    for (BlockArgument argument : rowOperands)
      if (typeOf(argument).getRank() != static_cast<int64_t>(form.rowAxes) + 1)
        return {};
  form.rowOperands = rowOperands.takeVector();
  return form;
}

TileForm mlir::fovea::getTileForm(GroupOp group) { return FormFinder(group).find(); }
