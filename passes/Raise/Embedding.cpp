// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of tables, read by ids or by consecutive positions. Refuses tables of other ranks, and
// positions that are not known to be consecutive.
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Raise/Identity.h"
#include "passes/Raise/Passes.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_RAISEEMBEDDINGPASS
#include "passes/Raise/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::raise;

namespace {

/// The first of numbers that are consecutive along dim `axis` and do not depend on any other:
/// computed so, or read from a constant that holds them.
AffineExpr getFirstPosition(Expressions &e, Expr ids, unsigned axis) {
  ids = stripIntegerCasts(ids);
  AffineExpr dim = getAffineDimExpr(axis, e.getContext());
  auto getFirst = [&](AffineExpr affine) -> AffineExpr {
    AffineExpr first = affine ? e.simplify(affine - dim) : AffineExpr();
    return first && first.isSymbolicOrConstant() ? first : AffineExpr();
  };
  if (ids->kind != Node::Kind::Element)
    return getFirst(ids->getAffine());
  DenseIntElementsAttr table;
  if (!matchPattern(ids->tensor, m_Constant(&table)))
    return {};
  // One axis runs with the positions, the others stand still.
  int64_t running = -1;
  SmallVector<uint64_t> place;
  AffineExpr first;
  for (auto [number, index] : llvm::enumerate(ids->args)) {
    AffineExpr affine = index->getAffine();
    if (!affine)
      return {};
    if (std::optional<int64_t> constant = getInteger(affine)) {
      if (*constant < 0 || *constant >= table.getType().getDimSize(number))
        return {};
      place.push_back(*constant);
      continue;
    }
    if (running != -1 || !(first = getFirst(affine)))
      return {};
    running = number;
    place.push_back(0);
  }
  if (running == -1)
    return {};
  std::optional<int64_t> start;
  for (int64_t i = 0; i < table.getType().getDimSize(running); ++i) {
    place[running] = i;
    int64_t value = table.getValues<APInt>()[place].getSExtValue();
    if (!start)
      start = value;
    if (value != *start + i)
      return {};
  }
  return start ? first + *start : AffineExpr();
}

/// A row of a table for each id.
struct Lookup {
  Value table;
  Expr id;
};

/// The lookup that an op makes.
std::optional<Lookup> getLookup(Expressions &e, Operation *op, ArrayRef<Expr> indices) {
  if (auto embedding = dyn_cast<EmbeddingOp>(op); embedding && !embedding.getScales())
    return Lookup{embedding.getTable(), e.at(embedding.getIds(), indices.drop_back())};
  Expr row = e.at(op->getResult(0), indices);
  if (row->kind != Node::Kind::Element || row->args.size() != 2 || row->args[1] != indices.back())
    return std::nullopt;
  auto type = cast<RankedTensorType>(row->tensor.getType());
  auto resultType = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned column = resultType.getRank() - 1;
  if (!type.hasStaticShape() || type.getDimSize(0) == 0 ||
      type.getElementType() != resultType.getElementType() ||
      type.getDimSize(1) != resultType.getShape().back() || row->args[0]->dependsOn(column))
    return std::nullopt;
  return Lookup{row->tensor, row->args[0]};
}

struct RaiseEmbeddingPass : fovea::impl::RaiseEmbeddingPassBase<RaiseEmbeddingPass> {
  using RaiseEmbeddingPassBase::RaiseEmbeddingPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      auto generic = dyn_cast<linalg::GenericOp>(op);
      if (isa<EmbeddingOp>(op) ||
          (generic && generic->getNumResults() == 1 &&
           generic.getNumLoops() == generic.getNumParallelLoops() &&
           generic.getRegion().front().getOps<tensor::ExtractOp>().begin() !=
               generic.getRegion().front().getOps<tensor::ExtractOp>().end()))
        ops.push_back(op);
    });
    bool changed = false;
    for (Operation *op : llvm::reverse(ops))
      changed |= raise(op);
    if (!changed)
      return;
    SmallVector<PositionLearnedOp> tables;
    getOperation()->walk([&](PositionLearnedOp op) { tables.push_back(op); });
    for (PositionLearnedOp table : tables)
      broadcastInSums(table);
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }

private:
  bool raise(Operation *op) {
    Value result = op->getResult(0);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.getRank() < 2 || !isa<FloatType>(type.getElementType()))
      return false;
    Expressions e(op->getContext());
    SmallVector<Expr> indices = makeIndices(e, result);
    std::optional<Lookup> lookup = getLookup(e, op, indices);
    if (!lookup)
      return false;
    OpBuilder builder(op);
    Value raised;
    if (type.getRank() <= 3 && (type.getElementType().isF32() || type.getElementType().isF64()))
      if (AffineExpr first = getFirstPosition(e, lookup->id, type.getRank() - 2))
        raised = createPositions(e, builder, result, *lookup, first);
    if (raised) {
      ++numPositions;
    } else if (!isa<EmbeddingOp>(op)) {
      Value ids = getIds(e, builder, *lookup, result);
      if (!ids)
        return false;
      raised = EmbeddingOp::create(builder, op->getLoc(), type, ids, lookup->table);
      ++numEmbeddings;
    }
    if (!raised)
      return false;
    result.replaceAllUsesWith(raised);
    op->erase();
    return true;
  }

  /// The rows of consecutive positions, of the result's shape.
  Value createPositions(Expressions &e, OpBuilder &builder, Value result, const Lookup &lookup,
                        AffineExpr first) {
    Location loc = result.getLoc();
    auto type = cast<RankedTensorType>(result.getType());
    int64_t rank = type.getRank(), length = type.getDimSize(rank - 2);
    // A number that is known is the table's offset; positions themselves begin at 0.
    std::optional<int64_t> known = getInteger(first);
    if (known && *known < 0)
      return {};
    Value start = known ? Value(arith::ConstantIndexOp::create(builder, loc, 0))
                        : e.materialize(builder, loc, first);
    if (!start)
      return {};
    Value count;
    if (ShapedType::isDynamic(length))
      count = e.materialize(builder, loc, e.getSize(result, rank - 2));
    auto positionsType = RankedTensorType::get({1, length}, builder.getI32Type());
    Value positions = PositionsOp::create(builder, loc, positionsType, start, count);
    int64_t width = type.getShape().back();
    Value rows = PositionLearnedOp::create(
        builder, loc, RankedTensorType::get({1, length, width}, type.getElementType()), positions,
        lookup.table, builder.getI64IntegerAttr(known.value_or(0)));
    if (rank == 3 && type.getDimSize(0) == 1)
      return rows;
    rows = tensor::CollapseShapeOp::create(builder, loc, rows,
                                           ArrayRef<ReassociationIndices>{{0, 1}, {2}});
    if (rank == 2)
      return rows;
    return broadcast(e, builder, loc, rows, result);
  }

  /// `rows` [S,D] for each batch of `like` [B,S,D].
  static Value broadcast(Expressions &e, OpBuilder &builder, Location loc, Value rows, Value like) {
    auto type = cast<RankedTensorType>(like.getType());
    SmallVector<OpFoldResult> sizes;
    for (int64_t axis = 0; axis < 3; ++axis) {
      if (!type.isDynamicDim(axis)) {
        sizes.push_back(builder.getIndexAttr(type.getDimSize(axis)));
        continue;
      }
      Value size = e.materialize(builder, loc, e.getSize(like, axis));
      if (!size)
        return {};
      sizes.push_back(size);
    }
    Value empty = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    return linalg::BroadcastOp::create(builder, loc, rows, empty, ArrayRef<int64_t>{0})
        ->getResult(0);
  }

  /// A tensor of the ids.
  Value getIds(Expressions &e, OpBuilder &builder, const Lookup &lookup, Value result) {
    auto type = cast<RankedTensorType>(result.getType());
    Expr id = stripIntegerCasts(lookup.id);
    SmallVector<Axis> axes = makeAxes(type.getShape().drop_back());
    if (!id->type.isInteger(32) && !id->type.isInteger(64))
      return {};
    if (id->kind != Node::Kind::Element)
      return compute(e, builder, result.getLoc(), id, axes);
    bool inPlace = id->args.size() == axes.size();
    for (unsigned axis = 0; inPlace && axis < axes.size(); ++axis)
      inPlace = !axes[axis].empty() && id->args[axis] == e.dim(axis);
    return inPlace ? id->tensor : layOut(e, builder, result.getLoc(), id->tensor, id->args, axes);
  }

  /// Sums of [B,S,D] and one row of positions [1,S,D]: the broadcast apart, as kernels of rows take
  /// it.
  void broadcastInSums(PositionLearnedOp rows) {
    for (Operation *user : llvm::make_early_inc_range(rows.getResult().getUsers())) {
      auto generic = dyn_cast<linalg::GenericOp>(user);
      if (!generic || generic.getNumDpsInputs() != 2 || generic.getNumLoops() != 3 ||
          generic.getNumParallelLoops() != 3 || !llvm::hasNItems(generic.getRegion().front(), 2))
        continue;
      Block &body = generic.getRegion().front();
      Operation &sum = body.front();
      SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
      unsigned place = generic.getDpsInputOperand(0)->get() == rows.getResult() ? 0 : 1;
      Value other = generic.getDpsInputOperand(1 - place)->get();
      MLIRContext *context = rows.getContext();
      AffineMap inRow = AffineMap::get(3, 0,
                                       {getAffineConstantExpr(0, context),
                                        getAffineDimExpr(1, context), getAffineDimExpr(2, context)},
                                       context);
      if (!isa<arith::AddFOp>(sum) || body.getTerminator()->getOperand(0) != sum.getResult(0) ||
          maps[place] != inRow || !maps[1 - place].isIdentity() || !maps[2].isIdentity() ||
          other.getType() != generic->getResult(0).getType() ||
          !llvm::is_contained(sum.getOperands(), Value(body.getArgument(0))) ||
          !llvm::is_contained(sum.getOperands(), Value(body.getArgument(1))))
        continue;
      OpBuilder builder(generic);
      Expressions e(context);
      // As many rows as the other operand has, which a sum asks for: a slice of a buffer of
      // positions has at most the buffer's, and that would make another size of it.
      auto type = cast<RankedTensorType>(other.getType());
      PositionLearnedOp own = rows;
      auto positions = rows.getPositions().getDefiningOp<PositionsOp>();
      if (positions) {
        Value count;
        if (type.isDynamicDim(1))
          count = e.materialize(builder, rows.getLoc(), e.getSize(other, 1));
        Value all = PositionsOp::create(
            builder, positions.getLoc(),
            RankedTensorType::get({1, type.getDimSize(1)}, builder.getI32Type()),
            positions.getFirst(), count);
        own = PositionLearnedOp::create(
            builder, rows.getLoc(),
            RankedTensorType::get({1, type.getDimSize(1), type.getDimSize(2)},
                                  type.getElementType()),
            all, rows.getTable(), rows.getOffsetAttr());
      }
      Value flat = tensor::CollapseShapeOp::create(builder, rows.getLoc(), own.getResult(),
                                                   ArrayRef<ReassociationIndices>{{0, 1}, {2}});
      auto flatType = cast<RankedTensorType>(flat.getType());
      if (flatType.getShape() != type.getShape().drop_front())
        flat = tensor::CastOp::create(builder, rows.getLoc(),
                                      flatType.clone(type.getShape().drop_front()), flat);
      Value wide = broadcast(e, builder, rows.getLoc(), flat, other);
      if (!wide)
        continue;
      Value summed = arith::AddFOp::create(builder, generic.getLoc(), other, wide);
      generic->getResult(0).replaceAllUsesWith(summed);
      generic.erase();
    }
  }
};
} // namespace
