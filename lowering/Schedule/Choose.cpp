// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedule of one group: what kind of computation it is, how many rows it has, and what the
// table says of these.
#include "dialects/ElementTypes.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/Kernels/KernelBuilder.h"
#include "lowering/Kernels/KernelInterface.h"
#include "lowering/Schedule/Schedule.h"
#include "lowering/Schedule/Table.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "passes/Analysis/TileForm.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- Tiles --------------------------------------------------------------------------------===//

/// One row for each batch row: every other leading axis is one. The only axis of rows is no batch.
static bool hasOneRow(RankedTensorType type) {
  return llvm::all_of(type.getShape().drop_front(type.getRank() > 2).drop_back(),
                      [](int64_t size) { return size == 1; });
}

static Attribute makeContraction(MLIRContext *context, const ContractionSizes &sizes) {
  return ContractionScheduleAttr::get(context, sizes.tile, sizes.chunk, sizes.block);
}

/// Whether sequences of the model that this is part of, if it says how long they are, may have two
/// parts of `least` keys.
static bool mayHaveTwoParts(Operation *op, int64_t least) {
  auto module = op->getParentOfType<ModuleOp>();
  return !module || llvm::all_of(module.getOps<ModelOp>(), [&](ModelOp model) {
    return static_cast<int64_t>(model.getMaxPositions().value_or(2 * least)) >= 2 * least;
  });
}

/// Of instructions that multiply f16 or bf16: that type, if all that is multiplied has it.
static Type getOperands(AttentionOp op, const Level &level) {
  auto getElement = [](Value value) -> Type {
    if (auto cache = dyn_cast<CacheType>(value.getType()))
      return cache.getElementType();
    return cast<ShapedType>(value.getType()).getElementType();
  };
  Type type = getElement(op.getQuery());
  bool alike = type == getElement(op.getKey()) && type == getElement(op.getValue());
  return level.multipliesHalves && alike && isHalf(type) ? type : Type();
}

/// Whether scores are read at each place, by a region or a mask that is a tensor: their tiles take
/// registers of their own.
static bool readsPlaces(AttentionOp op) {
  return op.hasScore() || op.hasProbability() ||
         llvm::any_of(*op->getBlock(), llvm::IsaPred<MaskDenseOp, MaskSegmentOp>);
}

/// Queries of a tile of attention that multiplies halves.
static int64_t getQueries(AttentionOp op, const Level &level) {
  int64_t least = level.manyQueries.queries, count = op.getQuery().getType().getDimSize(1);
  int64_t keys = level.manyQueries.keys, headSize = op.getHeadSize(), valueSize = op.getValueSize();
  if (!tile::fitsWarpgroups(least, keys, headSize) || !tile::fitsWarpgroups(least, valueSize, keys))
    return least;
  for (const Level::HeadQueries &head : level.headQueries)
    if (std::max(headSize, valueSize) <= head.size) {
      int64_t most = readsPlaces(op) ? head.reading : head.queries;
      return ShapedType::isDynamic(count) ? most
                                          : std::min<int64_t>(most, llvm::alignTo(count, least));
    }
  return least;
}

/// Queries that fit into one tile leave few blocks of work, so their keys are split; not where
/// probabilities must be known, which no part by itself does.
static Attribute makeAttention(AttentionOp op, const Level &level, int64_t queries) {
  bool one = queries == 1, few = !ShapedType::isDynamic(queries) && queries <= level.few;
  const AttentionSizes &sizes = one ? level.oneQuery : few ? level.fewQueries : level.manyQueries;
  Type operands = getOperands(op, level);
  int64_t rows = operands && !one ? getQueries(op, level) : sizes.queries;
  bool split = !op.hasProbability() && !ShapedType::isDynamic(queries) && queries <= rows &&
               mayHaveTwoParts(op, level.split[0]);
  return AttentionScheduleAttr::get(
      op.getContext(), rows, sizes.keys, one ? AttentionAxis::Heads : AttentionAxis::Queries,
      sizes.scores, sizes.values, split ? ArrayRef<int64_t>(level.split) : ArrayRef<int64_t>(),
      operands);
}

/// Of an open number of queries, one has a schedule of its own, and so have few.
static Attribute makeAttention(AttentionOp op, const Level &level) {
  int64_t queries = op.getQuery().getType().getDimSize(1);
  Attribute schedule = makeAttention(op, level, queries);
  if (!ShapedType::isDynamic(queries))
    return schedule;
  if (level.few)
    schedule = ByRowsScheduleAttr::get(op.getContext(), level.few,
                                       makeAttention(op, level, level.few), schedule);
  return ByRowsScheduleAttr::get(op.getContext(), 1, makeAttention(op, level, 1), schedule);
}

/// Of a product with one row, or one for each row of the batch.
static Attribute makeOneRow(LinearOp op, const Level &level) {
  bool wide = op.getWeight().getType().getDimSize(0) >= level.wide;
  return makeContraction(op.getContext(), wide ? level.oneRow : level.oneRowNarrow);
}

static Attribute makeManyRows(LinearOp op, const Level &level) {
  ContractionSizes sizes = level.manyRows;
  Type element = op.getWeight().getType().getElementType();
  Type input = op.getInput().getType().getElementType();
  bool halves = isHalf(input) && (element == input || op.getScales());
  if (level.manyHalves && halves &&
      op.getWeight().getType().getDimSize(0) >= level.manyHalves->tile[1])
    sizes = *level.manyHalves;
  if (element.isBF16() || op.getScales())
    sizes.block[0] = level.pairRows;
  return makeContraction(op.getContext(), sizes);
}

/// Whether a product whose number of rows is open has a schedule of its own for one: where all its
/// rows are a batch, as in decoding, or where its weights are short, so that computing a whole
/// register block of rows takes longer than reading them. Of f32 reading takes as long.
static bool choosesByRows(LinearOp op) {
  RankedTensorType type = op.getResult().getType();
  bool mayBeOne = llvm::all_of(type.getShape().drop_back(), [](int64_t size) {
    return size == 1 || ShapedType::isDynamic(size);
  });
  bool isShort = op.getWeight().getType().getElementTypeBitWidth() < 32;
  return mayBeOne && (type.getRank() == 2 || isShort);
}

/// Null for what is no computation of tiles. The op that needs most decides: what stands before and
/// behind it is done on its tiles.
Attribute mlir::fovea::chooseTiles(GroupOp group, const Level &level) {
  MLIRContext *context = group.getContext();
  auto find = [&](auto is) -> Operation * {
    for (Operation &op : group.getBody().front())
      if (is(&op))
        return &op;
    return nullptr;
  };
  if (auto op = dyn_cast_or_null<AttentionOp>(find(llvm::IsaPred<AttentionOp>)))
    return makeAttention(op, level);
  if (auto op = dyn_cast_or_null<LinearOp>(find(llvm::IsaPred<LinearOp>))) {
    if (hasOneRow(op.getResult().getType()))
      return makeOneRow(op, level);
    Attribute schedule = makeManyRows(op, level);
    if (!choosesByRows(op))
      return schedule;
    return ByRowsScheduleAttr::get(context, 1, makeOneRow(op, level), schedule);
  }
  if (find(llvm::IsaPred<PoolOp>))
    return RowScheduleAttr::get(context, level.rows);
  switch (getTileForm(group).kind) {
  case TileForm::Kind::Rows:
    return RowScheduleAttr::get(context, level.rows);
  case TileForm::Kind::Elements:
    return ElementScheduleAttr::get(context, level.elements);
  case TileForm::Kind::Contraction:
  case TileForm::Kind::None:
    return {};
  }
  llvm_unreachable("all kinds return");
}

//===-- The choice ---------------------------------------------------------------------------===//

/// The op that computes the group's first result, or null.
static Operation *getRoot(GroupOp group) {
  auto yield = cast<YieldOp>(group.getBody().front().getTerminator());
  return yield.getValues().empty() ? nullptr : yield.getValues().front().getDefiningOp();
}

bool mlir::fovea::isCovered(GroupOp group) {
  for (Operation &op : group.getBody().front())
    if (auto kernel = dyn_cast<KernelOpInterface>(op); kernel && kernel.hasOwnTiles())
      return true;
  return getTileForm(group).kind != TileForm::Kind::None;
}

FailureOr<Attribute> mlir::fovea::chooseSchedule(GroupOp group, TargetAttr target,
                                                 bool assumeCovered) {
  Operation *root = getRoot(group);
  if (!root)
    return group.emitOpError("expects an op that computes its first result, to choose a schedule "
                             "by");
  if (assumeCovered || isCovered(group))
    if (const Level *level = findLevel(target.getLevel()))
      if (Attribute tiles = chooseTiles(group, *level))
        return tiles;
  return Attribute(LoopScheduleAttr::get(group.getContext(), getParallelLoops(root)));
}
