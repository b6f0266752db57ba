// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What no tile program computes as it is: norms and softmax whose rows no tile holds, as reductions
// and maps of linalg; ops without an axis of rows, with one; rotations of heads whose number is
// open. Refuses nothing; what tiles compute stays as it is.
#include "dialects/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

namespace mlir::fovea {
#define GEN_PASS_DEF_DECOMPOSEPASS
#include "passes/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;

//===-- Long rows ----------------------------------------------------------------------------===//

namespace {
/// Loops over the elements of a tensor, whose rows lie along one axis. Bodies compute in the type
/// of sums: f32, or f64.
class RowLoops {
public:
  using Body = function_ref<Value(ValueRange)>;

  RowLoops(Operation *op, Value input, int64_t axis)
      : b(op->getLoc(), op), type(cast<RankedTensorType>(input.getType())), axis(axis),
        number(getAccumulationType(type)), sizes(tensor::getMixedSizes(b, b.getLoc(), input)) {}

  /// A number for each row: `fold`, from `init` on, of what `term` makes of its elements.
  template <typename Fold> Value reduce(ValueRange operands, double init, Body term) {
    SmallVector<OpFoldResult> rows(sizes);
    rows.erase(rows.begin() + axis);
    Value empty = tensor::EmptyOp::create(b, rows, number);
    Value start = linalg::FillOp::create(b, real(init), empty).getResult(0);
    Value result = loop(operands, start, [&](ValueRange e) -> Value {
      return Fold::create(b, e.back(), term(e.drop_back()));
    });
    numbersOfRows.push_back(result);
    return result;
  }
  Value sum(ValueRange operands, Body term) { return reduce<arith::AddFOp>(operands, 0, term); }

  /// An element for each, as floats of `element`.
  Value map(ValueRange operands, Type element, Body body) {
    Value empty = tensor::EmptyOp::create(b, sizes, element);
    return loop(operands, empty, [&](ValueRange e) { return body(e.drop_back()); });
  }

  // Scalars in a body.
  Value real(double value) { return arith::ConstantOp::create(b, b.getFloatAttr(number, value)); }
  Value add(Value l, Value r) { return arith::AddFOp::create(b, l, r); }
  Value sub(Value l, Value r) { return arith::SubFOp::create(b, l, r); }
  Value mul(Value l, Value r) { return arith::MulFOp::create(b, l, r); }
  Value div(Value l, Value r) { return arith::DivFOp::create(b, l, r); }
  Value exp(Value x) { return math::ExpOp::create(b, x); }
  Value sqrt(Value x) { return math::SqrtOp::create(b, x); }
  Value maximum(Value l, Value r) { return arith::MaximumFOp::create(b, l, r); }
  /// Of a sum over a row.
  Value mean(Value sum) { return mul(sum, real(1.0 / type.getDimSize(axis))); }
  Value inverseRoot(Value variance, const APFloat &eps) {
    return div(real(1), sqrt(add(variance, real(eps.convertToDouble()))));
  }

  Type getNumber() const { return number; }
  Type getElement() const { return type.getElementType(); }

private:
  /// A float of the type of sums from another, or back.
  Value convert(Value value, Type type) {
    unsigned from = value.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
    if (from == to)
      return value;
    return from < to ? arith::ExtFOp::create(b, type, value).getResult()
                     : arith::TruncFOp::create(b, type, value).getResult();
  }

  Value loop(ValueRange operands, Value init, Body body) {
    SmallVector<AffineMap> maps =
        llvm::map_to_vector(operands, [&](Value operand) { return mapOf(operand); });
    int64_t rank = cast<RankedTensorType>(init.getType()).getRank();
    SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    AffineMap all = b.getMultiDimIdentityMap(type.getRank());
    maps.push_back(rank == type.getRank() ? all : all.dropResult(axis));
    if (rank != type.getRank())
      loops[axis] = utils::IteratorType::reduction;
    return linalg::GenericOp::create(b, init.getType(), operands, init, maps, loops,
                                     [&](OpBuilder &inner, Location loc, ValueRange elements) {
                                       OpBuilder::InsertionGuard guard(b);
                                       b.setInsertionPoint(inner.getInsertionBlock(),
                                                           inner.getInsertionPoint());
                                       SmallVector<Value> wide(elements);
                                       for (Value &e : wide)
                                         e = convert(e, number);
                                       Value made = convert(body(wide), elements.back().getType());
                                       linalg::YieldOp::create(b, made);
                                     })
        .getResult(0);
  }

  /// Where an operand's elements lie: it has all, one for each row, or one for each column.
  AffineMap mapOf(Value operand) {
    AffineMap all = b.getMultiDimIdentityMap(type.getRank());
    if (llvm::is_contained(numbersOfRows, operand))
      return all.dropResult(axis);
    return cast<RankedTensorType>(operand.getType()).getRank() == type.getRank()
               ? all
               : AffineMap::get(type.getRank(), 0, b.getAffineDimExpr(axis));
  }

  ImplicitLocOpBuilder b;
  RankedTensorType type;
  int64_t axis;
  Type number;
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> numbersOfRows;
};
} // namespace

static Value square(RowLoops &loops, Value x) { return loops.mul(x, x); }

static Value decompose(LayerNormOp op, RowLoops &loops) {
  Value x = op.getInput();
  Value sum = loops.sum(x, [](ValueRange e) { return e[0]; });
  Value squares = loops.sum(
      {x, sum}, [&](ValueRange e) { return square(loops, loops.sub(e[0], loops.mean(e[1]))); });
  SmallVector<Value> operands{x, sum, squares};
  for (Value parameter : {op.getWeight(), op.getBias()})
    if (parameter)
      operands.push_back(parameter);
  return loops.map(operands, loops.getElement(), [&](ValueRange e) {
    Value factor = loops.inverseRoot(loops.mean(e[2]), op.getEps());
    Value y = loops.mul(loops.sub(e[0], loops.mean(e[1])), factor);
    if (op.getWeight())
      y = loops.mul(y, e[3]);
    return op.getBias() ? loops.add(y, e.back()) : y;
  });
}

static Value decompose(RmsNormOp op, RowLoops &loops) {
  Value x = op.getInput();
  SmallVector<Value> operands{x, loops.sum(x, [&](ValueRange e) { return square(loops, e[0]); })};
  if (op.getWeight())
    operands.push_back(op.getWeight());
  return loops.map(operands, loops.getElement(), [&](ValueRange e) {
    Value y = loops.mul(e[0], loops.inverseRoot(loops.mean(e[1]), op.getEps()));
    if (!op.getWeight())
      return y;
    double offset = op.getWeightOffset().convertToDouble();
    return loops.mul(y, offset == 0 ? e[2] : loops.add(e[2], loops.real(offset)));
  });
}

static Value decompose(GatedNormOp op, RowLoops &loops) {
  Value x = op.getInput(),
        squares = loops.sum(x, [&](ValueRange e) { return square(loops, e[0]); });
  return loops.map({x, squares, op.getWeight(), op.getGate()}, loops.getElement(),
                   [&](ValueRange e) {
                     Value factor = loops.inverseRoot(loops.mean(e[1]), op.getEps());
                     Value y = loops.mul(loops.mul(e[0], factor), e[2]);
                     Value away = loops.exp(loops.sub(loops.real(0), e[3]));
                     Value open = loops.div(loops.real(1), loops.add(loops.real(1), away));
                     return loops.mul(y, loops.mul(e[3], open)); // silu
                   });
}

static Value decompose(L2NormOp op, RowLoops &loops) {
  Value x = op.getInput(),
        squares = loops.sum(x, [&](ValueRange e) { return square(loops, e[0]); });
  return loops.map({x, squares}, loops.getElement(), [&](ValueRange e) {
    Value least = loops.real(op.getEps().convertToDouble());
    return loops.div(e[0], loops.maximum(loops.sqrt(e[1]), least));
  });
}

static Value decompose(linalg::SoftmaxOp op, RowLoops &loops) {
  Value x = op.getInput();
  Value most = loops.reduce<arith::MaximumFOp>(x, -std::numeric_limits<double>::infinity(),
                                               [](ValueRange e) { return e[0]; });
  Value powers = loops.map({x, most}, loops.getNumber(),
                           [&](ValueRange e) { return loops.exp(loops.sub(e[0], e[1])); });
  Value sum = loops.sum(powers, [](ValueRange e) { return e[0]; });
  return loops.map({powers, sum}, loops.getElement(),
                   [&](ValueRange e) { return loops.div(e[0], e[1]); });
}

//===-- Axes that tiles lack -----------------------------------------------------------------===//

/// The axes of a tensor behind another: alone, but for the first, which belongs to the new one.
static SmallVector<ReassociationIndices> getGroupsBehindAxis(int64_t rank) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t axis = 1; axis <= rank; ++axis)
    groups.push_back(axis == 1 ? ReassociationIndices{0, 1} : ReassociationIndices{axis});
  return groups;
}

static RankedTensorType addAxis(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Whether an op that is computed row by row has no axis of rows, or an elementwise one no axis.
static bool lacksRows(Operation *op) {
  auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                       : RankedTensorType();
  if (!type || !isa<TileableOpInterface>(op))
    return false;
  TileNeeds needs = getTileNeeds(op);
  switch (needs.kind) {
  case TileNeeds::Elements:
    return type.getRank() == 0;
  case TileNeeds::Table:
  case TileNeeds::WholeRow:
  case TileNeeds::Product:
    return !needs.located && needs.rowAxes == 0;
  case TileNeeds::View:
  case TileNeeds::Sequence:
    return false;
  }
  llvm_unreachable("all kinds return");
}

/// The op on one row: an axis leads in all its operands but its weights.
static Operation *addRow(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto weights = dyn_cast<WeightsOpInterface>(op);
  Operation *row = b.clone(*op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type || (weights && weights.getWeightRole(operand) != WeightRole::None))
      continue;
    b.setInsertionPoint(row);
    row->setOperand(operand.getOperandNumber(),
                    tensor::ExpandShapeOp::create(b, addAxis(type), operand.get(),
                                                  getGroupsBehindAxis(type.getRank())));
  }
  if (auto softmax = dyn_cast<linalg::SoftmaxOp>(row))
    softmax.setDimension(softmax.getDimension() + 1);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  row->getResult(0).setType(addAxis(type));
  b.setInsertionPoint(op);
  op->getResult(0).replaceAllUsesWith(tensor::CollapseShapeOp::create(
      b, type, row->getResult(0), getGroupsBehindAxis(type.getRank())));
  op->erase();
  return row;
}

/// A rotation of heads whose number is open, as one of one head at each place and head: every
/// position once for each of them.
static void joinHeads(RopeOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  RankedTensorType type = op.getType(), positions = op.getPositions().getType();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, b.getLoc(), op.getInput());
  SmallVector<OpFoldResult> each = tensor::getMixedSizes(b, b.getLoc(), op.getPositions());
  each.push_back(sizes[2]);
  Value empty = tensor::EmptyOp::create(b, each, positions.getElementType());
  Value repeated =
      linalg::BroadcastOp::create(b, op.getPositions(), empty, ArrayRef<int64_t>{2})->getResult(0);
  ReassociationIndices places{1, 2};
  Value at =
      tensor::CollapseShapeOp::create(b, repeated, ArrayRef<ReassociationIndices>{{0}, places});
  Value x = tensor::CollapseShapeOp::create(b, op.getInput(),
                                            ArrayRef<ReassociationIndices>{{0}, places, {3}});
  int64_t batch = type.getDimSize(0), size = type.getDimSize(3);
  SmallVector<ReassociationIndices> groups{{0}, {1}, {2, 3}};
  x = tensor::ExpandShapeOp::create(
      b, RankedTensorType::get({batch, ShapedType::kDynamic, 1, size}, type.getElementType()), x,
      groups);
  IRMapping joined;
  joined.map(op.getInput(), x);
  joined.map(op.getPositions(), at);
  Operation *rope = b.clone(*op, joined);
  rope->getResult(0).setType(x.getType());
  Value flat = tensor::CollapseShapeOp::create(b, rope->getResult(0), groups);
  Value split = tensor::ExpandShapeOp::create(
      b, type, flat, ArrayRef<ReassociationIndices>{{0}, places, {3}}, sizes);
  op.replaceAllUsesWith(split);
  op.erase();
}

/// Whether a tile can hold a whole row along `axis`.
static bool fitsTile(RankedTensorType type, int64_t axis) {
  int64_t columns = type.getDimSize(axis);
  return axis == type.getRank() - 1 && !ShapedType::isDynamic(columns) && columns <= kMostColumns;
}

namespace {
struct DecomposePass : fovea::impl::DecomposePassBase<DecomposePass> {
  using DecomposePassBase::DecomposePassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops) {
      if (lacksRows(op)) {
        op = addRow(op);
        ++numDecomposed;
      }
      llvm::TypeSwitch<Operation *>(op)
          .Case<LayerNormOp, RmsNormOp, GatedNormOp, L2NormOp>([&](auto norm) {
            if (int64_t axis = getLeadingAxes(norm.getInput()); !fitsTile(norm.getType(), axis))
              replace(norm, norm.getInput(), axis);
          })
          .Case([&](linalg::SoftmaxOp softmax) {
            // Its group has a copy of what is constant, which is no tile in memory.
            Value input = softmax.getInput();
            int64_t axis = softmax.getDimension();
            if (softmax.hasPureTensorSemantics() &&
                (!fitsTile(cast<RankedTensorType>(input.getType()), axis) ||
                 matchPattern(input, m_Constant())))
              replace(softmax, input, axis);
          })
          .Case([&](RopeOp rope) {
            if (!rope.getType().isDynamicDim(2))
              return;
            joinHeads(rope);
            ++numDecomposed;
          });
    }
  }

  template <typename OpTy> void replace(OpTy op, Value input, int64_t axis) {
    if (!isKernelFloat(getElementTypeOrSelf(input.getType())))
      return;
    RowLoops loops(op, input, axis);
    op->getResult(0).replaceAllUsesWith(decompose(op, loops));
    op->erase();
    ++numDecomposed;
  }
};
} // namespace
