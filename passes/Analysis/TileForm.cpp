// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The search for a group's tile program; refuses by giving the kind None.
#include "passes/Analysis/TileForm.h"
#include "dialects/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::fovea;

static RankedTensorType typeOf(Value value) { return dyn_cast<RankedTensorType>(value.getType()); }

namespace {
class FormFinder : public TileVisitor {
public:
  explicit FormFinder(GroupOp group) : group(group) {}
  TileForm find();

  const TileDomain &getDomain() const override { return form; }
  bool visit(Value operand, TileRole role) override;
  void requirePhaseBefore(Operation *op) override { phasesBefore.insert(op); }
  void requireEqualSizes(TensorAxis a, TensorAxis b) override {
    if (typeOf(a.tensor).isDynamicDim(a.axis) || typeOf(b.tensor).isDynamicDim(b.axis))
      form.equalSizes.push_back({a, b});
  }

private:
  bool chooseDomain();
  bool visitArgmax(ArgmaxOp op);
  bool visitResult(Value value);
  bool visitTile(Value value);
  bool visitRows(Value value, bool isOpen = false);
  bool visitIds(Value value, int64_t axes);
  bool visitElementwise(Operation *op);
  bool hasColumns(RankedTensorType type);

  GroupOp group;
  TileForm form;
  llvm::SetVector<BlockArgument> rowOperands;
  llvm::SetVector<Operation *> phasesBefore;
  llvm::DenseSet<Value> done;
};
} // namespace

/// By the ops that need most of a row's neighbours.
bool FormFinder::chooseDomain() {
  SmallVector<int64_t> products, rows, places;
  bool hasWholeRows = false, hasHeads = false;
  for (Operation &op : group.getBody().front()) {
    TileNeeds needs = getTileNeeds(&op);
    if (needs.kind == TileNeeds::Sequence)
      return false;
    if (needs.kind == TileNeeds::Product)
      products.push_back(needs.rowAxes);
    else if (needs.kind > TileNeeds::Elements)
      rows.push_back(needs.rowAxes);
    if (needs.located)
      places.push_back(2);
    form.outerAxes = std::max(form.outerAxes, needs.outerAxes);
    if (needs.kind == TileNeeds::Product && products.size() > 1 && needs.parts != form.parts)
      return false;
    if (needs.kind == TileNeeds::Product)
      form.parts = needs.parts;
    hasWholeRows |= needs.kind == TileNeeds::WholeRow;
    hasHeads |= needs.heads;
  }
  SmallVector<int64_t> all(products.empty() ? rows : products);
  llvm::append_range(all, places);
  form.located = !places.empty();
  if ((form.located && form.outerAxes > 0) || (form.located && form.parts))
    return false;
  // Heads of a row are done apart, which whole rows cannot be.
  if (products.empty() && hasWholeRows && hasHeads)
    return false;
  if (!all.empty()) {
    form.kind = products.empty() ? TileKind::Rows : TileKind::Contraction;
    form.rowAxes = all.front();
    return all.front() > 0 && llvm::all_equal(all);
  }
  form.kind = TileKind::Elements;
  RankedTensorType type = group->getNumResults() ? typeOf(group.getResult(0)) : RankedTensorType();
  if (!type || type.getRank() == 0)
    return false;
  form.rowAxes = type.getRank() - 1;
  return true;
}

/// Whether a tensor has columns behind the rows, of known sizes where tiles do not see it
/// flattened and not all results have open ones.
bool FormFinder::hasColumns(RankedTensorType type) {
  if (form.hasOpenColumns)
    return type.getRank() == form.rowAxes + 1;
  return type.getRank() > form.rowAxes &&
         (form.kind == TileKind::Elements ||
          !ShapedType::isDynamicShape(type.getShape().drop_front(form.rowAxes)));
}

/// Numbers of a table's rows, one for each row, or as many as an axis behind the rows has.
bool FormFinder::visitIds(Value value, int64_t axes) {
  auto argument = dyn_cast<BlockArgument>(value);
  RankedTensorType type = typeOf(value);
  if (!argument || !type || type.getRank() != form.rowAxes + axes)
    return false;
  rowOperands.insert(argument);
  return true;
}

/// An argument with the group's rows, of which `isOpen` allows any length.
bool FormFinder::visitRows(Value value, bool isOpen) {
  auto argument = dyn_cast<BlockArgument>(value);
  RankedTensorType type = typeOf(value);
  if (!argument || !type || !isKernelFloat(type.getElementType()) || type.getEncoding())
    return false;
  if (isOpen ? type.getRank() != form.rowAxes + 1 : !hasColumns(type))
    return false;
  // Rows that all batches share are no measure of the rows.
  if (!form.located || type.getDimSize(0) != 1)
    rowOperands.insert(argument);
  else
    form.sharedOperands.push_back(argument);
  return true;
}

bool FormFinder::visitTile(Value value) {
  if (!done.insert(value).second)
    return true;
  RankedTensorType type = typeOf(value);
  if (!type)
    return false;
  if (isa<FloatType>(type.getElementType()) && !isKernelFloat(type.getElementType()))
    return false;
  if (isa<BlockArgument>(value))
    return visitRows(value);
  if (!hasColumns(type))
    return false;
  Operation *op = value.getDefiningOp();
  if (auto tileable = dyn_cast<TileableOpInterface>(op))
    return tileable.visitTileOperands(*this);
  return visitElementwise(op);
}

bool mlir::fovea::isUniform(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) ? constant.isSplat()
                                                    : bool(value.getDefiningOp<tensor::SplatOp>());
}

bool FormFinder::visit(Value operand, TileRole role) {
  auto isFloatsInMemory = [&] {
    bool isThere = isa<BlockArgument>(operand) || operand.getDefiningOp<arith::ConstantOp>();
    return isThere && typeOf(operand) && isKernelFloat(typeOf(operand).getElementType());
  };
  if (!operand)
    return true;
  switch (role) {
  case TileRole::Tile:
    return isUniform(operand) || visitTile(operand);
  case TileRole::RowBuffer:
    return isa<BlockArgument>(operand) && visitTile(operand);
  case TileRole::RowMatrix:
    return visitRows(operand, /*isOpen=*/true);
  case TileRole::Parameter:
    return isFloatsInMemory() && typeOf(operand).hasStaticShape();
  case TileRole::SharedRows:
    return isa<BlockArgument>(operand) && isFloatsInMemory();
  case TileRole::Ids:
    return visitIds(operand, 0);
  case TileRole::RowsOfIds:
    return visitIds(operand, 1);
  case TileRole::Matrix:
    if (!isa<BlockArgument>(operand) || !isFloatsInMemory())
      return false;
    form.matrices.push_back(cast<BlockArgument>(operand));
    return true;
  case TileRole::Offsets:
    return isa<BlockArgument>(operand);
  case TileRole::Positions:
    if (auto argument = dyn_cast<BlockArgument>(operand))
      form.sharedOperands.push_back(argument);
    return isa<BlockArgument>(operand) || operand.getDefiningOp<PositionsOp>();
  }
  llvm_unreachable("all roles return");
}

/// An op with the traits of elementwise ones on tiles, and on numbers that all elements share.
bool FormFinder::visitElementwise(Operation *op) {
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return false;
  return llvm::all_of(op->getOperands(),
                      [&](Value operand) { return visit(operand, TileRole::Tile); });
}

/// Columns of a product, in blocks that hold no heads. They are counted in floats.
bool FormFinder::visitArgmax(ArgmaxOp op) {
  RankedTensorType type = op.getInput().getType();
  if (form.kind != TileKind::Contraction || form.argmax || form.parts ||
      type.getRank() != form.rowAxes + 1 || type.isDynamicDim(form.rowAxes) ||
      type.getShape().back() > kMaxArgmaxColumns)
    return false;
  for (Operation &other : group.getBody().front())
    if (getTileNeeds(&other).heads)
      return false;
  form.argmax = op;
  return visitTile(op.getInput());
}

bool FormFinder::visitResult(Value value) {
  if (auto argmax = value.getDefiningOp<ArgmaxOp>())
    return visitArgmax(argmax);
  if (isa<CacheType>(value.getType())) {
    auto grown = value.getDefiningOp<TileableOpInterface>();
    return grown && grown.visitTileOperands(*this);
  }
  RankedTensorType type = typeOf(value);
  if (!type || isa<BlockArgument>(value))
    return false;
  if (value.getDefiningOp<PositionsOp>())
    return form.kind == TileKind::Elements;
  return isKernelFloat(type.getElementType()) && visitTile(value);
}

TileForm FormFinder::find() {
  Operation *yield = group.getBody().front().getTerminator();
  if (yield->getNumOperands() == 0 || !chooseDomain())
    return {};
  form.hasOpenColumns =
      form.kind == TileKind::Contraction && llvm::all_of(yield->getOperands(), [&](Value value) {
        RankedTensorType type = typeOf(value);
        return type && type.getRank() == form.rowAxes + 1 && type.isDynamicDim(form.rowAxes);
      });
  for (Value value : yield->getOperands())
    if (!visitResult(value))
      return {};
  // A flattened tensor has one shape.
  if (form.kind == TileKind::Elements)
    for (BlockArgument argument : rowOperands)
      if (typeOf(argument).getRank() != form.rowAxes + 1)
        return {};
  form.rowOperands = rowOperands.takeVector();
  form.phasesBefore = phasesBefore.takeVector();
  llvm::sort(form.phasesBefore, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return form;
}

TileForm mlir::fovea::getTileForm(GroupOp group) { return FormFinder(group).find(); }

bool mlir::fovea::readsElements(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect, linalg::LinalgDialect, tensor::TensorDialect>(
      op->getDialect());
}
