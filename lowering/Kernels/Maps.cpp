// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps of linalg as tile programs: in the domain of what they stand beside, where operands have all
// axes of the result or the last; else by themselves, with two loops as a tile's axes and the
// others as the grid's: transposes, and operands that lack axes. Left to plain loops are results
// whose rows are shorter than a vector, and code with integers.
#include "dialects/ElementTypes.h"
#include "lowering/Kernels/Elements.h"
#include "lowering/Kernels/Scalars.h"
#include "lowering/Kernels/TileBuilder.h"
#include "lowering/Targets/Table.h"

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;

/// The code of a map on single numbers, rounded as its source rounds. Constants may stand outside.
static Value emitBody(KernelBuilder &k, linalg::LinalgOp op, ArrayRef<Value> inputs) {
  IRMapping numbers;
  numbers.map(op.getBlock()->getArguments().take_front(inputs.size()), inputs);
  auto get = [&](Value value) {
    Operation *constant = value.getDefiningOp();
    if (!numbers.contains(value))
      numbers.map(value, k.clone(*constant)->getResult(0));
    return numbers.lookup(value);
  };
  for (Operation &scalar : op.getBlock()->without_terminator())
    numbers.map(scalar.getResult(0),
                emitRounded(k, &scalar, llvm::map_to_vector(scalar.getOperands(), get)).front());
  return get(op.getBlock()->getTerminator()->getOperand(0));
}

//===-- By themselves ------------------------------------------------------------------------===//

/// The axis of an operand that a loop runs along.
static std::optional<int64_t> getAxis(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

namespace {
/// The loops that are a tile's axes.
struct TiledMap {
  static constexpr int64_t kSquare = 32, kMost = 1024;

  unsigned row = 0, column = 0;
  bool isTurned = false; ///< an operand lies along the rows
  int64_t columns = 0;   ///< of a tile

  /// How many rows a tile has: squares are turned, else it has `elements`, or one longest row.
  int64_t countRows(int64_t elements) const {
    return isTurned ? columns : std::max<int64_t>(elements / columns, 1);
  }

  static std::optional<TiledMap> find(linalg::LinalgOp op);
};
} // namespace

/// Each loop at most once, and zeros.
static bool isProjection(AffineMap map) {
  return map.isProjectedPermutation(/*allowZeroInResults=*/true);
}

/// In memory, and the result.
static bool hasKernelFloats(linalg::LinalgOp op) {
  return isKernelFloat(getElementTypeOrSelf(op->getResult(0).getType())) &&
         llvm::all_of(op.getDpsInputs(), [](Value input) {
           auto type = dyn_cast<RankedTensorType>(input.getType());
           return type && !type.getEncoding() && isa<BlockArgument>(input) &&
                  isKernelFloat(type.getElementType());
         });
}

/// Whether nothing else is computed in the group.
static bool isAlone(Operation *op) {
  return isa_and_nonnull<GroupOp>(op->getParentOp()) &&
         llvm::all_of(op->getBlock()->without_terminator(), [&](Operation &other) {
           return &other == op || isa<tensor::EmptyOp>(other) ||
                  llvm::none_of(other.getResultTypes(), llvm::IsaPred<RankedTensorType>);
         });
}

/// Whether it is one computation of floats for each element, of operands read by projections.
static bool isPlainMap(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return op.getNumDpsInits() == 1 && op.getNumDpsInputs() > 0 && op.hasPureTensorSemantics() &&
         op.getNumParallelLoops() == op.getNumLoops() && maps.back().isPermutation() &&
         llvm::all_of(maps, isProjection) && isScalarBody(op) && hasKernelFloats(op);
}

std::optional<TiledMap> TiledMap::find(linalg::LinalgOp op) {
  constexpr int64_t kVector = 16;
  if (!isPlainMap(op) || !isAlone(op))
    return std::nullopt;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  auto isLong = [&](unsigned loop) {
    return ShapedType::isDynamic(sizes[loop]) || sizes[loop] >= kVector;
  };
  // The result's last two axes of more than one element.
  SmallVector<unsigned> longAxes;
  for (AffineExpr expression : llvm::reverse(maps.back().getResults()))
    if (unsigned loop = cast<AffineDimExpr>(expression).getPosition(); sizes[loop] != 1)
      longAxes.push_back(loop);
  if (longAxes.size() < 2 || !isLong(longAxes[0]))
    return std::nullopt;
  unsigned last = longAxes[0];
  TiledMap result{longAxes[1], last};
  for (auto [input, map] : llvm::zip(op.getDpsInputs(), ArrayRef(maps).drop_back())) {
    std::optional<unsigned> loop = getLastLoop(map, input);
    if (!loop || *loop == last || !getAxis(map, last))
      continue;
    if (!isLong(*loop) || (result.isTurned && result.row != *loop) ||
        getElementTypeOrSelf(input.getType()).getIntOrFloatBitWidth() > 32)
      return std::nullopt;
    // Lanes along it as they are read, turned as they are stored.
    result.isTurned = true;
    result.row = *loop;
  }
  if (result.isTurned)
    std::swap(result.row, result.column);
  bool isShort = !ShapedType::isDynamic(sizes[last]) && sizes[last] < kMost;
  result.columns = result.isTurned ? kSquare
                   : isShort       ? llvm::alignTo(sizes[last], kVector)
                                   : kMost;
  return result;
}

namespace {
class MapBuilder {
public:
  MapBuilder(KernelBuilder &k, linalg::LinalgOp op, TiledMap loops, int64_t rows)
      : k(k), op(op), loops(loops), maps(op.getIndexingMapsArray()), rows(rows),
        columns(loops.columns) {}
  void emit();

private:
  Value viewOf(Value memory, AffineMap map);
  Value indexOf(AffineMap map, int64_t axis);
  Value load(Value memory, AffineMap map);
  Value numbersOfRows(Value memory, AffineMap map, int64_t axis);

  KernelBuilder &k;
  linalg::LinalgOp op;
  TiledMap loops;
  SmallVector<AffineMap> maps;
  int64_t rows, columns;
  SmallVector<Value> at; ///< of each loop; of a tile's axes its first
};
} // namespace

/// Where the block is along an axis that is none of the tile's.
Value MapBuilder::indexOf(AffineMap map, int64_t axis) {
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(axis));
  return dim ? at[dim.getPosition()] : k.index(0);
}

/// The tile's axes of an operand as a matrix: both, or the columns as its only row.
Value MapBuilder::viewOf(Value memory, AffineMap map) {
  auto type = cast<MemRefType>(memory.getType());
  std::optional<int64_t> row = getAxis(map, loops.row), column = getAxis(map, loops.column);
  SmallVector<int64_t> axes;
  if (row)
    axes.push_back(*row);
  axes.push_back(*column);
  SmallVector<Value> indices;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (axis != row && axis != column)
      indices.push_back(indexOf(map, axis));
  return createView(k, memory, indices, axes);
}

/// An element for each of the tile's rows.
Value MapBuilder::numbersOfRows(Value memory, AffineMap map, int64_t axis) {
  TileType type = TileType::get(rows, 1, elementOf(memory));
  Value last = k.sub(k.size(memory, axis), k.index(1));
  Value number = tile::IotaOp::create(k, type.withElementType(k.getI32Type()), at[loops.row], 0);
  return createMap(k, type, number, [&](ValueRange e) {
    SmallVector<Value> indices;
    for (int64_t other = 0; other < map.getNumResults(); ++other)
      indices.push_back(other == axis ? Value(arith::MinSIOp::create(k, k.toIndex(e[0]), last))
                                      : indexOf(map, other));
    return k.load(memory, indices);
  });
}

/// An operand's elements for the tile, those it shares repeated.
Value MapBuilder::load(Value memory, AffineMap map) {
  std::optional<int64_t> row = getAxis(map, loops.row), column = getAxis(map, loops.column);
  TileType whole = TileType::get(rows, columns, elementOf(memory));
  Value part;
  if (column) {
    TileType type = TileType::get(row ? rows : 1, columns, whole.getElementType());
    part = tile::LoadOp::create(k, type, viewOf(memory, map), row ? at[loops.row] : k.index(0),
                                at[loops.column]);
  } else if (row && rows > 1) {
    part = numbersOfRows(memory, map, *row);
  } else {
    SmallVector<Value> indices;
    for (int64_t axis = 0; axis < map.getNumResults(); ++axis)
      indices.push_back(indexOf(map, axis));
    return tile::SplatOp::create(k, whole, k.load(memory, indices));
  }
  return part.getType() == whole ? part : tile::BroadcastOp::create(k, whole, part).getResult();
}

void MapBuilder::emit() {
  ElementReader reader(k, op);
  SmallVector<Value> sizes = reader.guarded(reader.loopExtents(op)), grid;
  SmallVector<unsigned> order;
  for (AffineExpr expression : maps.back().getResults()) {
    order.push_back(cast<AffineDimExpr>(expression).getPosition());
    int64_t step = order.back() == loops.row ? rows : order.back() == loops.column ? columns : 1;
    grid.push_back(step == 1 ? sizes[order.back()]
                             : arith::CeilDivUIOp::create(k, sizes[order.back()], k.index(step)));
  }
  tile::KernelOp::create(k, grid, [&](OpBuilder &builder, Location, ValueRange ivs) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(builder.getInsertionBlock(), builder.getInsertionPoint());
    at.assign(sizes.size(), Value());
    for (auto [loop, index] : llvm::zip(order, ivs))
      at[loop] = loop == loops.row      ? k.mul(index, k.index(rows))
                 : loop == loops.column ? k.mul(index, k.index(columns))
                                        : index;
    SmallVector<Value> inputs;
    for (auto [input, map] : llvm::zip(op.getDpsInputs(), maps))
      inputs.push_back(load(k.buffer(input), map));
    TileType type = TileType::get(rows, columns, elementOf(k.outputs[0]));
    Value result = createMap(k, type, inputs,
                             [&](ValueRange e) { return emitBody(k, op, SmallVector<Value>(e)); });
    tile::StoreOp::create(k, result, viewOf(k.outputs[0], maps.back()), at[loops.row],
                          at[loops.column]);
    builder.setInsertionPointToEnd(k.getInsertionBlock());
  });
}

//===-- The interface ------------------------------------------------------------------------===//

namespace {
template <typename OpTy>
struct MapKernel : KernelOpInterface::ExternalModel<MapKernel<OpTy>, OpTy> {
  TileElement emitTile(Operation *operation, TileBuilder &b, TileColumns c,
                       TileLeaves &leaves) const {
    auto op = cast<linalg::LinalgOp>(operation);
    SmallVector<TileElement> inputs;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value value = input->get();
      inputs.push_back(op.getMatchingIndexingMap(input).isIdentity()
                           ? b.operandOf(value, c, leaves)
                           : b.leaf(b.parameter(value, c, getElementTypeOrSelf(value.getType())),
                                    c.width, leaves));
    }
    return [&k = b.k, op, inputs](ValueRange e) {
      return emitBody(
          k, op, llvm::map_to_vector(inputs, [&](const TileElement &input) { return input(e); }));
    };
  }

  bool hasOwnTiles(Operation *op) const {
    auto map = cast<linalg::LinalgOp>(op);
    // All of one shape are flattened.
    bool isFlat =
        llvm::all_of(map.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); });
    return !isFlat && TiledMap::find(map);
  }

  LogicalResult emitOwnTiles(Operation *op, KernelBuilder &k, Attribute schedule) const {
    auto rows = dyn_cast<RowScheduleAttr>(schedule);
    if (!rows)
      return op->emitOpError("expects the schedule of rows, got ") << schedule;
    auto map = cast<linalg::LinalgOp>(op);
    MapBuilder(k, map, *TiledMap::find(map), rows.getRows()).emit();
    return success();
  }

  Attribute chooseSchedule(Operation *op, const Level &level) const {
    if (!hasOwnTiles(op))
      return {};
    TiledMap loops = *TiledMap::find(cast<linalg::LinalgOp>(op));
    return RowScheduleAttr::get(op->getContext(), loops.countRows(level.elements));
  }
};
} // namespace

void mlir::fovea::attachMapKernels(MLIRContext &context) {
  linalg::GenericOp::attachInterface<MapKernel<linalg::GenericOp>>(context);
  linalg::TransposeOp::attachInterface<MapKernel<linalg::TransposeOp>>(context);
}
