// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the operands of products lie in a GPU's block. The pass's text says what it refuses.
#include "dialects/Tile/TileDialect.h"
#include "lowering/Entries/Entries.h"
#include "lowering/GPU/GPU.h"
#include "lowering/GPU/Registers.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Iterators.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_STAGEOPERANDSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// Rows of shared memory start this far apart in bytes beyond their length, so that threads which
/// read or write a column meet different banks and whole vectors stay aligned.
static constexpr int64_t kPadding = 16;

namespace {
/// One operand of a product. Its first axis is the result's, its second the depth, or with `kFirst`
/// the other way round.
struct Operand {
  TypedValue<TileType> tile;
  bool kFirst;
  /// Elements along the axis that is the result's.
  int64_t extent;
  /// The load that it is, if it is one, or that its integers are; these with their scales.
  LoadOp load;
  LoadOp scales;
  /// Read from memory by the product itself.
  bool inPlace = false;
  /// Held by the warps whose rows of the product need it, in registers.
  bool inRegisters = false;
  /// Loaded outside of the product's loop, and copied to shared memory there.
  bool isOutside = false;

  bool isStaged() const { return load && !inRegisters && !isOutside; }
  Value getScales() const { return scales ? Value(LoadOp(scales).getView()) : Value(); }
  /// How many k have one scale; 0 without scales.
  int64_t getGroup() const {
    auto dequantize = tile.getDefiningOp<DequantizeOp>();
    return dequantize ? dequantize.getGroup() : 0;
  }

  int64_t getWidth() const {
    return llvm::divideCeil(tile.getType().getElementType().getIntOrFloatBitWidth(), 8);
  }
  TileType getType(int64_t depth) const {
    return TileType::get(kFirst ? depth : extent, kFirst ? extent : depth,
                         tile.getType().getElementType());
  }
};

/// Computed tiles that lie in shared memory already, by how.
using Staged = llvm::DenseMap<std::pair<Value, Type>, Value>;

class Staging {
public:
  Staging(DotOp dot, Block &kernel, std::optional<TensorWarps> warps, int64_t chunkBytes,
          Staged &staged);
  void run();

private:
  /// Whether the product reads shared memory by wgmma, swizzled.
  bool byWarpgroups() const { return DotOp(dot).getAtom() == Atom::M64K16; }
  /// Whether the warps can hold their rows of the left operand for as long as the product needs
  /// them.
  bool fitsRegisters(const Operand &operand, TensorWarps warps) const;
  /// Whether an operand lies in columns: opposite to the way that the product reads it, or, for
  /// atoms, as its memory does.
  bool liesInColumns(const Operand &operand, bool natural);
  /// How many k are staged at a time.
  int64_t getChunk() const;
  /// How `depth` of the operand's k lie in shared memory.
  SharedType getSharedType(const Operand &operand, int64_t depth, bool byColumns);
  /// Memory at the kernel's start.
  Value makeShared(SharedType type);
  /// How many k the other operand's view has from its load's first one on; null if a static view
  /// has all.
  Value getBound(const Operand &other);
  /// A computed tile, zero where the other operand is outside of its view.
  Value clear(const Operand &operand, const Operand &other);
  /// Copies a load to shared memory, where it is loaded.
  Value copyOutside(const Operand &operand, bool byColumns);
  /// Puts a computed tile into shared memory, where it is computed.
  Value put(const Operand &operand, const Operand &other, bool byColumns);
  /// What the product reads for `depth` of k from `k` on.
  Value stage(const Operand &operand, Value memory, Value k, int64_t depth);
  Value multiply(Value a, Value b, Value sum);

  DotOp dot;
  Block &kernel;
  ImplicitLocOpBuilder b;
  Operand left, right;
  int64_t depth, chunkBytes;
  Staged &staged;
};
} // namespace

/// What each element is used for once would be written to shared memory to be read once.
static Operand makeOperand(TypedValue<TileType> tile, bool kFirst, int64_t uses) {
  LoadOp load, scales;
  if (auto dequantize = tile.getDefiningOp<DequantizeOp>()) {
    load = dequantize.getLoad();
    scales = dequantize.getScalesLoad();
  } else {
    load = tile.getDefiningOp<LoadOp>();
  }
  return {tile, kFirst, tile.getType().getSize(kFirst ? 1 : 0), load, scales, load && uses == 1};
}

/// The axis of a load's view that is summed over: its size, a value if it is known at run time
/// only, and the load's first place.
static std::tuple<int64_t, Value, Value> getDepth(LoadOp load, bool kFirst) {
  ViewType type = load.getView().getType();
  int64_t size = kFirst ? type.getRows() : type.getColumns();
  Value first = kFirst ? load.getRow() : load.getColumn(), length;
  auto view = load.getView().getDefiningOp<ViewOp>();
  if (ShapedType::isDynamic(size) && view && kFirst)
    length = view.getLength();
  return {size, length, first};
}

/// Whether the views of two loads end at the same k, or surely have all.
static bool endAlike(const Operand &one, const Operand &other) {
  auto [size, length, first] = getDepth(one.load, one.kFirst);
  auto [otherSize, otherLength, otherFirst] = getDepth(other.load, other.kFirst);
  std::optional<int64_t> begin = getConstantIntValue(first);
  std::optional<int64_t> otherBegin = getConstantIntValue(otherFirst);
  bool firstAlike = first == otherFirst || (begin && begin == otherBegin);
  if (ShapedType::isDynamic(size) || ShapedType::isDynamic(otherSize))
    return firstAlike && size == otherSize && length && length == otherLength;
  int64_t depth = one.tile.getType().getSize(one.kFirst ? 0 : 1);
  auto hasAll = [&](std::optional<int64_t> from, int64_t extent) {
    return from && *from + depth <= extent;
  };
  return (firstAlike && size == otherSize) ||
         (hasAll(begin, size) && hasAll(otherBegin, otherSize));
}

/// Integers and their scales are loads from the beginning of the same rows on, as wide as their
/// views: so a copy finds the scale of an element by its place.
static LogicalResult checkIntegers(DequantizeOp op) {
  Type integers = op.getInput().getType().getElementType();
  if (op.getTable() || !(integers.isInteger(4) || integers.isInteger(8)))
    return op.emitOpError("expects i4 or i8 without a table, since code for GPUs reads no other "
                          "integers yet");
  if (op.getOffsets())
    return op.emitOpError("expects no offsets, which code for GPUs does not add yet");
  LoadOp load = op.getLoad(), scales = op.getScalesLoad();
  auto isWhole = [](LoadOp load) {
    return getConstantIntValue(load.getColumn()) == 0 &&
           load.getTile().getType().getColumns() == load.getView().getType().getColumns();
  };
  bool fits = load && (!op.getScales() || (scales && scales.getRow() == load.getRow() &&
                                           isWhole(load) && isWhole(scales)));
  if (fits && isReadByRows(op))
    return success();
  return op.emitOpError("expects whole rows of integers, and of scales, that tile.load gives, and "
                        "to be the right operand of products with transpose_b");
}

/// The left operand and the right one.
static std::pair<Operand, Operand> getOperands(DotOp dot) {
  TileType result = dot.getResult().getType();
  auto getTile = [&](TypedValue<TileType> tile) {
    // What only changes its lanes, which blocks do not have; of wgmma, which reads loads anyway.
    if (dot.getAtom() == Atom::M64K16)
      while (auto cast = tile.getDefiningOp<CastOp>()) {
        if (cast.getInput().getType().getElementType() != tile.getType().getElementType())
          break;
        tile = cast.getInput();
      }
    return tile;
  };
  Operand left = makeOperand(getTile(dot.getA()), /*kFirst=*/false, result.getColumns());
  Operand right =
      makeOperand(getTile(dot.getB()), /*kFirst=*/!dot.getTransposeB(), result.getRows());
  // Shared memory has zeros where a view ends; opposite of them may stand what is no number.
  if (left.load && right.load && !endAlike(left, right))
    left.inPlace = right.inPlace = true;
  return {left, right};
}

Staging::Staging(DotOp dot, Block &kernel, std::optional<TensorWarps> warps, int64_t chunkBytes,
                 Staged &staged)
    : dot(dot), kernel(kernel), b(dot.getLoc(), dot), depth(dot.getA().getType().getColumns()),
      chunkBytes(chunkBytes), staged(staged) {
  std::tie(left, right) = getOperands(dot);
  left.inRegisters = dot.getAtom() && fitsRegisters(left, *warps);
  for (Operand *operand : {&left, &right})
    operand->isOutside = byWarpgroups() && operand->load && !operand->inPlace &&
                         operand->load->getBlock() != dot->getBlock();
}

bool Staging::fitsRegisters(const Operand &operand, TensorWarps warps) const {
  constexpr int64_t kMost = 64; // of 255, beside the sums
  TileType type = operand.tile.getType();
  int64_t rows = llvm::divideCeil(type.getRows(), 16 * warps.rows);
  int64_t registers = rows * 16 * type.getColumns() * operand.getWidth() / 4 / kWarp;
  // A load is as good in registers only if several products read it; wgmma reads it anyway.
  bool isKept = !operand.load || (!byWarpgroups() && operand.load->getBlock() != dot->getBlock());
  // Four lanes share a row; of fewer columns some would hold copies.
  return warps.columns == 1 && type.getColumns() > 4 && registers <= kMost && isKept;
}

bool Staging::liesInColumns(const Operand &operand, bool natural) {
  if (!dot.getAtom())
    return natural;
  LoadOp load = operand.load;
  auto view = load ? load.getView().getDefiningOp<ViewOp>() : ViewOp();
  if (!view) // packed weights run along k, and so do computed tiles
    return operand.kFirst;
  int64_t fastest = view.getMemory().getType().getRank() - 1;
  return view.getAxes().size() == 2 && view.getAxes().front() == fastest;
}

int64_t Staging::getChunk() const {
  if (!left.isStaged() || !right.isStaged())
    return depth;    // what is computed, or outside of the loop, is there as a whole
  int64_t bytes = 0; // of one k
  for (const Operand *operand : {&left, &right})
    bytes += operand->inPlace ? 0 : operand->extent * operand->getWidth();
  int64_t least = byWarpgroups() ? 16 : 1;
  int64_t most = bytes ? std::max(chunkBytes / bytes, least) : depth;
  if (most >= depth)
    return depth;
  int64_t chunk = int64_t(1) << llvm::Log2_64(most);
  // What is read in place has whole scales, or one.
  for (const Operand *operand : {&left, &right})
    if (int64_t group = operand->getGroup();
        group && operand->inPlace && group % chunk != 0 && chunk % group != 0)
      return depth;
  return chunk;
}

SharedType Staging::getSharedType(const Operand &operand, int64_t chunk, bool byColumns) {
  TileType type = operand.getType(chunk);
  if (byWarpgroups())
    return SharedType::getSwizzled(type.getRows(), type.getColumns(), type.getElementType(),
                                   /*fastAxis=*/byColumns ? 0 : 1);
  int64_t padding = kPadding / operand.getWidth();
  // A row of one element needs no padding, for there is nothing beside it.
  auto pad = [&](int64_t length) { return length + (type.getSize(byColumns) > 1 ? padding : 0); };
  return SharedType::get(type.getRows(), type.getColumns(), type.getElementType(),
                         byColumns ? 1 : pad(type.getColumns()),
                         byColumns ? pad(type.getRows()) : 1);
}

Value Staging::makeShared(SharedType type) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&kernel);
  return SharedOp::create(b, type, IntegerAttr());
}

Value Staging::getBound(const Operand &other) {
  LoadOp load = other.load;
  if (!load)
    return {};
  ViewType view = load.getView().getType();
  int64_t axis = other.kFirst ? 0 : 1;
  int64_t size = axis == 0 ? view.getRows() : view.getColumns();
  Value first = axis == 0 ? load.getRow() : load.getColumn();
  if (std::optional<int64_t> begin = getConstantIntValue(first);
      begin && !ShapedType::isDynamic(size) && *begin + depth <= size)
    return {};
  Value bound;
  if (!ShapedType::isDynamic(size)) {
    bound = arith::ConstantIndexOp::create(b, size);
  } else {
    auto made = load.getView().getDefiningOp<ViewOp>();
    if (axis == 0 && made.getLength())
      bound = made.getLength();
    else
      bound = memref::DimOp::create(b, made.getMemory(),
                                    axis == 0 ? made.getAxes().front() : made.getAxes().back());
  }
  return arith::SubIOp::create(b, bound, first);
}

Value Staging::clear(const Operand &operand, const Operand &other) {
  Value bound = getBound(other);
  if (!bound)
    return operand.tile;
  // A tile that is only rounded for the product is cleared before, so that pairs are rounded at
  // once.
  auto cast = operand.tile.getDefiningOp<CastOp>();
  Value tile = cast ? cast.getInput() : operand.tile;
  auto type = mlir::cast<TileType>(tile.getType());
  auto clearPast = [&](OpBuilder &builder, Location loc) -> Value {
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value limit = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), bound);
    Value k = IotaOp::create(
        builder, loc,
        TileType::get(type.getRows(), type.getColumns(), builder.getI32Type(), type.getLanes()),
        zero, operand.kFirst ? 0 : 1);
    return MapOp::create(
        builder, loc, type, ValueRange{tile, k},
        [&](OpBuilder &inner, Location loc, ValueRange values) {
          Value inside =
              arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt, values[1], limit);
          Value nothing =
              arith::ConstantOp::create(inner, loc, inner.getZeroAttr(type.getElementType()));
          return arith::SelectOp::create(inner, loc, inside, values[0], nothing).getResult();
        });
  };
  // Of many blocks of keys only the last may end.
  Value ends = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, bound,
                                     arith::ConstantIndexOp::create(b, depth));
  auto branch = scf::IfOp::create(
      b, ends,
      [&](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, clearPast(builder, loc));
      },
      [&](OpBuilder &builder, Location loc) { scf::YieldOp::create(builder, loc, tile); });
  Value cleared = branch.getResult(0);
  return cast ? CastOp::create(b, operand.tile.getType(), cleared).getResult() : cleared;
}

Value Staging::put(const Operand &operand, const Operand &other, bool byColumns) {
  Value tile = clear(operand, other);
  bool isWhole = tile == operand.tile;
  SharedType type = getSharedType(operand, depth, byColumns);
  Value &known = staged[{tile, type}];
  if (isWhole && known)
    return known;
  Value memory = makeShared(type);
  OpBuilder::InsertionGuard guard(b);
  // As far out of loops as the tile itself is.
  if (isWhole)
    b.setInsertionPointAfterValue(tile);
  LocalStoreOp::create(b, tile, memory);
  return known = memory;
}

Value Staging::copyOutside(const Operand &operand, bool byColumns) {
  SharedType type = getSharedType(operand, depth, byColumns);
  Value &known = staged[{operand.tile, type}];
  if (known)
    return known;
  known = makeShared(type);
  OpBuilder::InsertionGuard guard(b);
  LoadOp load = operand.load;
  b.setInsertionPointAfter(load);
  CopyOp::create(b, load.getView(), load.getRow(), load.getColumn(), known, operand.getScales());
  return known;
}

Value Staging::stage(const Operand &operand, Value memory, Value k, int64_t chunk) {
  if (!operand.isStaged())
    return memory;
  LoadOp load = operand.load;
  auto add = [&](Value first, bool isDepth) -> Value {
    return isDepth ? arith::AddIOp::create(b, first, k).getResult() : first;
  };
  Value row = add(load.getRow(), operand.kFirst), column = add(load.getColumn(), !operand.kFirst);
  if (!operand.inPlace) {
    CopyOp::create(b, load.getView(), row, column, memory, operand.getScales());
    return memory;
  }
  TileType type = operand.getType(chunk);
  Value part = LoadOp::create(b, type.withElementType(load.getView().getType().getElementType()),
                              load.getView(), row, column);
  if (!operand.tile.getDefiningOp<DequantizeOp>())
    return part;
  Value scales;
  if (LoadOp given = operand.scales) {
    int64_t group = operand.getGroup();
    Value first = arith::DivUIOp::create(b, column, arith::ConstantIndexOp::create(b, group));
    auto tile = TileType::get(type.getRows(), std::max<int64_t>(chunk / group, 1),
                              given.getView().getType().getElementType());
    scales = LoadOp::create(b, tile, given.getView(), row, first);
  }
  return DequantizeOp::create(b, type, part, scales);
}

Value Staging::multiply(Value a, Value bOperand, Value sum) {
  return MmaOp::create(b, sum.getType(), a, bOperand, sum, dot.getTransposeBAttr(),
                       dot.getAtomAttr(), /*async=*/UnitAttr());
}

void Staging::run() {
  TileType result = dot.getResult().getType();
  Value sum = dot.getAcc();
  if (!sum) {
    Type element = result.getElementType();
    sum = SplatOp::create(b, result, arith::ConstantOp::create(b, element, b.getZeroAttr(element)));
  }
  // Without atoms threads of a warp share rows and differ in columns: the left operand's elements
  // go to many at once and lie as k runs; the right one's are read beside each other.
  bool leftByColumns = liesInColumns(left, /*natural=*/false);
  bool rightByColumns = liesInColumns(right, /*natural=*/!right.kFirst);
  int64_t chunk = getChunk(), whole = depth / chunk * chunk;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  auto part = [&](Value k, int64_t size, Value leftMemory, Value rightMemory, Value into) {
    Value a = stage(left, leftMemory, k, size), other = stage(right, rightMemory, k, size);
    return multiply(a, other, into);
  };
  auto memory = [&](const Operand &operand, const Operand &opposite, int64_t size,
                    bool byColumns) -> Value {
    if (operand.inRegisters)
      return operand.load ? Value(operand.tile) : clear(operand, opposite);
    if (!operand.load)
      return put(operand, opposite, byColumns);
    if (operand.isOutside)
      return copyOutside(operand, byColumns);
    return operand.inPlace ? Value() : makeShared(getSharedType(operand, size, byColumns));
  };
  auto memories = [&](int64_t size) {
    Value a = memory(left, right, size, leftByColumns);
    return std::pair(a, memory(right, left, size, rightByColumns));
  };
  auto [a, other] = memories(chunk);
  if (chunk == depth) {
    sum = part(zero, depth, a, other, sum);
  } else {
    auto loop = scf::ForOp::create(b, zero, arith::ConstantIndexOp::create(b, whole),
                                   arith::ConstantIndexOp::create(b, chunk), sum);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b,
                         part(loop.getInductionVar(), chunk, a, other, loop.getRegionIterArg(0)));
    sum = loop.getResult(0);
  }
  if (whole != depth) {
    auto [restOfA, restOfOther] = memories(depth - whole);
    sum = part(arith::ConstantIndexOp::create(b, whole), depth - whole, restOfA, restOfOther, sum);
  }
  dot.replaceAllUsesWith(sum);
  dot.erase();
}

namespace {
struct StageOperandsPass : fovea::impl::StageOperandsPassBase<StageOperandsPass> {
  using StageOperandsPassBase::StageOperandsPassBase;

  void runOnOperation() override {
    SmallVector<std::pair<DotOp, Block *>> dots;
    WalkResult found = getOperation()->walk([&](DotOp dot) {
      auto kernel = dot->getParentOfType<KernelOp>();
      if (!kernel) {
        dot.emitOpError("expects to stand in a tile.kernel");
        return WalkResult::interrupt();
      }
      for (Value operand : {dot.getA(), dot.getB()}) {
        if (auto dequantize = operand.getDefiningOp<DequantizeOp>()) {
          if (failed(checkIntegers(dequantize)))
            return WalkResult::interrupt();
          operand = dequantize.getInput();
        }
        if (auto load = operand.getDefiningOp<LoadOp>(); load && !load.getView().getDefiningOp()) {
          dot.emitOpError("expects operands of views made by tile.view or tile.packed");
          return WalkResult::interrupt();
        }
      }
      dots.emplace_back(dot, &kernel.getBody().front());
      return WalkResult::advance();
    });
    if (found.wasInterrupted())
      return signalPassFailure();
    Staged staged;
    // What is read in place has no atom, and layouts are as the atoms that remain need them.
    for (auto [dot, kernel] : dots)
      if (auto [left, right] = getOperands(dot); left.inPlace || right.inPlace)
        dot.removeAtomAttr();
    llvm::DenseMap<Block *, std::optional<TensorWarps>> warps;
    int64_t threads = getThreads(getOperation());
    for (auto [dot, kernel] : dots)
      if (auto [place, isNew] = warps.try_emplace(kernel); isNew)
        place->second = TensorWarps::find(cast<KernelOp>(kernel->getParentOp()), threads);
    for (auto [dot, kernel] : dots)
      Staging(dot, *kernel, warps[kernel], chunkBytes, staged).run();
    // Loads that only products read are gone; other loads are no side effect either.
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isa<LoadOp, CastOp, DequantizeOp>(op) && op->use_empty())
        op->erase();
    });
  }
};
} // namespace
