// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products in register blocks.
#include "dialects/ElementTypes.h"
#include "lowering/CPU/TileLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

//===-- Products -----------------------------------------------------------------------------===//

/// A tile in wider elements: else every block of a result would widen them again, one by one.
Value TileLowering::widen(Value tile, Type element) {
  Value &known = wide[tile];
  if (known)
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(tile);
  auto cast = CastOp::create(b, typeOf(tile).withElementType(element), tile);
  tileOps.push_back(cast);
  lowerCast(cast);
  return known = cast;
}

bool TileLowering::Product::addsPairs() const {
  auto isBF16 = [](Value tile) { return typeOf(tile).getElementType().isBF16(); };
  return t.multipliesPairs() && isBF16(operands.lanes) && isBF16(operands.other);
}

int64_t TileLowering::Product::countFewRows(bool converts) {
  if (layout.axis != 1 || !type.getElementType().isF32())
    return 0;
  int64_t rows = getConstant(t.endAlong(dot.getResult(), 0)).value_or(0);
  return rows <= getMostFewRows(converts) ? rows : 0;
}

void TileLowering::Product::forSomeRows(int64_t count, int64_t most,
                                        function_ref<void(Value, int64_t, bool)> body) {
  body(b.index(0), most, true);
  b.loop(b.index(most), b.index(count / most * most), most,
         [&](Value first) { body(first, most, false); });
  if (count % most != 0)
    body(b.index(count - count % most), count % most, false);
}

void TileLowering::Product::writeSum(const Scratch &result, Value row, Value inner, Value sum) {
  if (dot.getAcc())
    sum = arith::AddFOp::create(b, sum, t.readVector(dot.getAcc(), 1, row, inner));
  t.write(result, row, inner, sum);
}

/// A product of tiles in register blocks. One operand lies in lanes, of the other's elements one at
/// a time is broadcast.
class TileLowering::DotLowering : Product {
public:
  DotLowering(TileLowering &t, DotOp dot) : Product(t, dot) {
    block.sum = type.getElementType();
    block.lanes = lanes;
  }

  LogicalResult run() {
    placeLanes();
    if (multiplyMatrices())
      return success();
    chooseBlock();
    placeBroadcast();
    placeSums();
    findDepth();
    std::optional<Scratch> donor = t.findDonor(dot.getAcc(), dot, type);
    result = t.resultScratch(dot.getResult(), donor);
    bool isComputed =
        readsRowsTwice()
            ? emitParts(donor && !t.isLazy(dot.getAcc()))
            : emitColumns([&](Value inner, int64_t vectors) { return emitBlocks(inner, vectors); });
    if (!isComputed)
      return dot.emitOpError("has elements that no product of this target computes");
    return success();
  }

private:
  /// A place in memory for k = 0, by an index into the operand.
  using Place = std::function<Value(Value)>;

  static int64_t bytesOf(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8); }
  int64_t alignmentOf(int64_t bytes) const { return std::min<int64_t>(64, bytes); }

  void placeLanes();
  void placePanels(LoadOp load, DequantizeOp dequantize);
  void placeIntegers(LoadOp load);
  void placeRows(LoadOp load);
  void placeWords(LoadOp load);
  bool isOfPairs() const;
  void placeUnpacked(const UnpackedPanels &panels);
  void placePrepared(const PreparedBytes &bytes);
  Place startOfPanels(LoadOp load);
  void placeFactors(Value factors, LaneScales &place, LaneScales &ofBlocks);
  void chooseBlock();
  int64_t countRows();
  bool collides(LoadOp load);
  void placeBroadcast();
  void placeSums();
  void findDepth();
  Place startOfLoad(LoadOp load, int64_t axis);
  Value rowAt(Value outer);
  void placeVectors(Value inner, int64_t vectors);
  const DotAtom *findAtom() const;
  bool emitRows(Value outer, Value inner, int64_t vectors, Value begin);
  bool emitBlocks(Value inner, int64_t vectors);
  bool emitBlocks(Value inner, int64_t vectors, Value begin);
  bool emitColumns(function_ref<bool(Value, int64_t)> emit);
  bool readsRowsTwice();
  bool emitParts(bool hasAcc);
  int64_t countDepths(int64_t vectors) const;
  MatrixRows placeMatrix();
  bool multiplyMatrices();
  void convertSums(Value sums);
  void emitMatrices(MatrixBlock &matrices, Value inner, int64_t vectors);

  DotBlock block;
  int64_t rows = 4, columns = 0; ///< of a register block
  Value outerEnd;
  std::optional<Scratch> result;
  Place laneStart, zeroStart, otherStart, sumStart;
  SmallVector<std::pair<LaneScales *, Place>> factorStarts; ///< of scales and offsets
  // Of a lanes' operand in panels; 0: it is in none.
  int64_t panel = 0;
  bool isPacked = false; ///< pairs of what is no weight
  bool isBegun = false;  ///< the result has what sums begin with
  bool together = false; ///< tiles divide the panels: one place and constants give all of a tile's
  Value panelStride;
};

/// Sums of groups are read where offsets of the same groups are multiplied by them; of others they
/// are no use.
void TileLowering::DotLowering::placeSums() {
  auto load = dot.getSums() ? dot.getSums().getDefiningOp<LoadOp>() : LoadOp();
  if (!load ||
      block.lane.offsets.group != typeOf(dot.getA()).getColumns() / typeOf(load).getColumns())
    return;
  const ViewMemory &view = t.viewOf(load.getView());
  block.groupSums = {view.flat, {}, view.stride[1], b.getF32Type()};
  sumStart = startOfLoad(load, 0);
}

TileLowering::DotLowering::Place TileLowering::DotLowering::startOfLoad(LoadOp load, int64_t axis) {
  return [this, view = t.viewOf(load.getView()), load, axis](Value index) mutable {
    Value at[2] = {load.getRow(), load.getColumn()};
    at[axis] = b.add(at[axis], index);
    return view.place(b, at[0], at[1]);
  };
}

/// Whether pairs of bf16 are to be multiplied that are not packed yet.
bool TileLowering::DotLowering::isOfPairs() const {
  auto load = operands.lanes.getDefiningOp<LoadOp>();
  return addsPairs() && block.sum.isF32() && layout.outer >= kLeastRowsOfPairs &&
         !(load && t.viewOf(load.getView()).panel != 0) &&
         !operands.lanes.getDefiningOp<DequantizeOp>();
}

/// The lanes' operand: as it lies, or turned into a buffer.
void TileLowering::DotLowering::placeLanes() {
  LaneOperand &lane = block.lane;
  lane.type = typeOf(operands.lanes).getElementType();
  int64_t axis = operands.lanesAxis;
  auto load = operands.lanes.getDefiningOp<LoadOp>();
  auto dequantize = operands.lanes.getDefiningOp<DequantizeOp>();
  if (auto found = t.unpacked.find(operands.lanes); found != t.unpacked.end())
    return placeUnpacked(found->second);
  if (isOfPairs())
    if (std::optional<UnpackedPanels> packed = t.packPairs(operands.lanes, axis)) {
      placeUnpacked(*packed);
      isPacked = true;
      return;
    }
  if (dequantize && t.readsIntegers(dequantize, axis))
    return axis == 1 ? placeIntegers(dequantize.getLoad()) : placeWords(dequantize.getLoad());
  if (load && axis == 0 && t.liesInWords(load) && block.sum.isF32())
    return placeWords(load);
  if (dequantize && axis == 0 && t.readsPanels(dequantize)) {
    load = dequantize.getLoad();
    operands.lanes = load;
    lane.type = typeOf(operands.lanes).getElementType();
  } else {
    dequantize = {};
  }
  if (dequantize) {
    lane.bits = dequantize.getMostBits();
    lane.table = dequantize.getTable().value_or(ArrayRef<int8_t>());
    if (auto found = t.prepared.find(dequantize.getResult()); found != t.prepared.end()) {
      if (!found->second.memory)
        placePanels(load, dequantize);
      return placePrepared(found->second);
    }
  }
  if (load && axis == 0 && t.readsPanels(load)) {
    placePanels(load, dequantize);
  } else if (load && t.isDirect(load, axis)) {
    const ViewMemory view = t.viewOf(load.getView());
    lane.memory = view.flat;
    if (axis == 1)
      placeRows(load);
    lane.stride = view.stride[1 - axis];
    laneStart = startOfLoad(load, axis);
  } else {
    Scratch scratch = t.materialize(operands.lanes, axis);
    lane.memory = scratch.memory;
    lane.stride = b.index(scratch.layout.pitch);
    lane.alignment = alignmentOf(lanes * bytesOf(lane.type));
    laneStart = [](Value inner) { return inner; };
  }
}

/// Rows in memory, which few rows of the other operand are multiplied by as fast as memory gives
/// them; many, or several for which they are converted, take longer anyway.
void TileLowering::DotLowering::placeRows(LoadOp load) {
  LaneOperand &lane = block.lane;
  bool walks = t.walksRows(load), converts = !t.viewOf(load.getView()).type.isF32();
  lane.inOrder = walks && countRows() <= getMostFewRows(converts);
  lane.streams = walks && !lane.inOrder;
}

/// Bytes that lie in lanes already.
void TileLowering::DotLowering::placeIntegers(LoadOp load) {
  const ViewMemory view = t.viewOf(load.getView());
  block.lane.type = b.getI8Type();
  block.lane.memory = view.flat;
  placeRows(load);
  block.lane.stride = view.stride[0];
  laneStart = startOfLoad(load, 1);
}

/// Narrow elements of rows that lie across lanes.
void TileLowering::DotLowering::placeWords(LoadOp load) {
  LaneOperand &lane = block.lane;
  int64_t pitch = llvm::alignTo(typeOf(operands.lanes).getRows(), lanes);
  lane.type = typeOf(load).getElementType();
  lane.memory = t.turnWords(load, pitch);
  lane.interleave = 32 / lane.type.getIntOrFloatBitWidth();
  lane.stride = b.index(lane.interleave * pitch);
  lane.alignment = 4 * lanes;
  laneStart = [this](Value inner) { return b.mul(inner, block.lane.interleave); };
}

void TileLowering::DotLowering::placePanels(LoadOp load, DequantizeOp dequantize) {
  LaneOperand &lane = block.lane;
  const ViewMemory view = t.viewOf(load.getView());
  // Of nibbles memory is bytes, and places are counted in elements.
  int64_t perByte = view.isOfNibbles() ? 2 : 1;
  lane.memory = view.flat;
  lane.interleave = view.interleave;
  lane.stride = b.index(view.unitSize() / perByte);
  lane.alignment = alignmentOf(lanes * view.wordSize() / perByte * bytesOf(lane.type));
  lane.streams = true;
  panel = view.panel;
  panelStride = b.div(view.panelStride, perByte);
  int64_t width = typeOf(operands.lanes).getRows(), tilePanels = llvm::divideCeil(width, panel);
  together =
      width % panel == 0 && view.panels % tilePanels == 0 && isMultipleOf(load.getRow(), width);
  laneStart = [this, start = startOfPanels(load), perByte](Value inner) {
    return b.div(start(inner), perByte);
  };
  // One row leaves the panels once; then those of the next tile are to be there.
  int64_t depth = typeOf(operands.lanes).getColumns();
  bool jumps = together && layout.outer == 1 && depth % lane.interleave == 0;
  if (jumps)
    lane.jump = b.sub(b.mul(panelStride, tilePanels), b.mul(lane.stride, depth / lane.interleave));
  if (!dequantize)
    return;
  placeFactors(dequantize.getScales(), lane.scales, lane.blockScales);
  placeFactors(dequantize.getOffsets(), lane.offsets, lane.blockOffsets);
  lane.bias = dequantize.getBias();
}

/// Scales or offsets, and what they are multiplied by if they are integers.
void TileLowering::DotLowering::placeFactors(Value factors, LaneScales &place,
                                             LaneScales &ofBlocks) {
  if (!factors)
    return;
  LaneScales none;
  if (auto inner = factors.getDefiningOp<DequantizeOp>()) {
    placeFactors(inner.getScales(), ofBlocks, none);
    factors = inner.getInput();
  }
  auto load = factors.getDefiningOp<LoadOp>();
  const ViewMemory view = t.viewOf(load.getView());
  int64_t depth = typeOf(operands.lanes).getColumns(), groups = typeOf(factors).getColumns();
  place = {view.flat, {}, b.index(view.panel), depth / groups, view.type, {}};
  if (block.lane.jump) {
    int64_t tilePanels = llvm::divideCeil(typeOf(operands.lanes).getRows(), panel);
    place.jump = b.sub(b.mul(view.panelStride, tilePanels), b.mul(place.stride, groups));
  }
  factorStarts.push_back({&place, startOfPanels(load)});
}

void TileLowering::DotLowering::placeUnpacked(const UnpackedPanels &panels) {
  LaneOperand &lane = block.lane;
  lane.memory = panels.memory;
  lane.interleave = 2;
  lane.stride = b.index(2 * lanes);
  lane.alignment = 4 * lanes;
  panel = lanes;
  laneStart = [this, size = panels.size](Value inner) {
    return b.add(b.mul(b.div(inner, lanes), size), b.mul(b.rem(inner, lanes), 2));
  };
}

/// What was made for all rows, in place of what lies in memory.
void TileLowering::DotLowering::placePrepared(const PreparedBytes &bytes) {
  LaneOperand &lane = block.lane;
  panel = lanes;
  auto startOf = [this](int64_t size, int64_t each) -> Place {
    return [this, size, each](Value inner) {
      return b.add(b.mul(b.div(inner, lanes), size), b.mul(b.rem(inner, lanes), each));
    };
  };
  int64_t depth = bytes.size / lanes, groups = bytes.groups;
  if (bytes.memory) {
    lane.memory = bytes.memory;
    lane.type = b.getI8Type();
    lane.table = {};
    lane.interleave = 4;
    lane.stride = b.index(4 * lanes);
    lane.alignment = 4 * lanes;
    laneStart = startOf(bytes.size, 4);
  }
  factorStarts.clear();
  lane.blockScales = lane.offsets = lane.blockOffsets = {};
  lane.bias = 0;
  if (bytes.scales) {
    lane.scales = {bytes.scales, {}, b.index(lanes), depth / groups, b.getF32Type(), {}};
    factorStarts.push_back({&lane.scales, startOf(groups * lanes, 1)});
  }
  if (bytes.offsets) {
    lane.offsets = {bytes.offsets, {}, b.index(lanes), depth / groups, b.getF32Type(), {}};
    factorStarts.push_back({&lane.offsets, startOf(groups * lanes, 1)});
  }
  lane.zero = {bytes.zero, {}, b.index(lanes), depth / groups, b.getI32Type(), {}};
  zeroStart = startOf(groups * lanes, 1);
}

/// Panels past the last are computed as the last, and not stored, where tiles do not divide them.
TileLowering::DotLowering::Place TileLowering::DotLowering::startOfPanels(LoadOp load) {
  const ViewMemory view = t.viewOf(load.getView());
  Value first;
  if (together) {
    int64_t tilePanels = typeOf(operands.lanes).getRows() / panel;
    first = b.minimum(b.div(load.getRow(), panel), b.index(view.panels - tilePanels));
    first = b.mul(first, view.panelStride);
  }
  return [this, view, first, load](Value inner) mutable {
    Value at = b.mul(b.rem(inner, view.panel), view.wordSize());
    if (first)
      return b.add(first, b.add(b.mul(b.div(inner, view.panel), view.panelStride), at));
    Value row = b.add(load.getRow(), inner);
    Value place = b.minimum(b.div(row, view.panel), b.index(view.panels - 1));
    return b.add(b.mul(place, view.panelStride), at);
  };
}

void TileLowering::DotLowering::chooseBlock() {
  columns = 4 * lanes;
  if (std::optional<ArrayRef<int64_t>> given = dot.getBlock()) {
    // More rows are for a unit of matrices, which does not compute these elements.
    rows = (*given)[0] <= kMaxBlockRows ? (*given)[0] : kMaxBlockRows / 2;
    columns = llvm::alignTo((*given)[1], lanes);
  }
  if (block.lane.inOrder) {
    // As many sums, of rows as they lie in memory.
    int64_t sums = rows * columns / lanes;
    columns = std::min(layout.pitch, sums * lanes);
    rows = sums * lanes / columns;
  }
  rows = std::min(rows, countRows());
  columns = std::min(columns, layout.pitch);
}

/// Of the result, the most there can be.
int64_t TileLowering::DotLowering::countRows() {
  return getConstant(t.endAlong(dot.getResult(), 1 - layout.axis)).value_or(layout.outer);
}

/// Rows that are multiples of a page apart all fall into the same few lines of the nearest cache;
/// where k walks along them again and again they are copied.
bool TileLowering::DotLowering::collides(LoadOp load) {
  const ViewMemory &view = t.viewOf(load.getView());
  std::optional<int64_t> stride = getConstant(view.stride[1 - operands.otherAxis]);
  return view.isUnit(operands.otherAxis) && stride &&
         *stride * bytesOf(block.broadcast.type) % 4096 == 0 && layout.outer > rows;
}

/// The other operand, in place or in a buffer.
void TileLowering::DotLowering::placeBroadcast() {
  BroadcastOperand &other = block.broadcast;
  int64_t axis = operands.otherAxis;
  auto load = operands.other.getDefiningOp<LoadOp>();
  other.type = typeOf(operands.other).getElementType();
  outerEnd = t.endAlong(dot.getResult(), 1 - layout.axis);
  // Pairs are read together.
  if (isPacked && !(load && t.viewOf(load.getView()).isUnit(1 - axis) && !collides(load))) {
    Scratch scratch = t.materialize(operands.other, 1 - axis);
    other.memory = scratch.memory;
    other.stride = b.index(1);
    otherStart = [this, pitch = scratch.layout.pitch](Value outer) { return b.mul(outer, pitch); };
    return;
  }
  if (load && isHalf(other.type)) {
    other.stride = b.index(1);
    const DotAtom *atom = findAtom();
    if (atom && atom->widens()) {
      operands.other = t.widen(operands.other, block.sum);
      other.type = block.sum;
      load = {};
    }
  }
  if (load && t.viewOf(load.getView()).panel == 0 && !collides(load)) {
    const ViewMemory view = t.viewOf(load.getView());
    other.memory = view.flat;
    other.stride = view.stride[1 - axis];
    otherStart = startOfLoad(load, axis);
    return;
  }
  Scratch scratch = t.materialize(operands.other);
  other.memory = scratch.memory;
  bool along = scratch.layout.axis == axis; // outer indices are neighbours
  other.stride = b.index(along ? scratch.layout.pitch : 1);
  int64_t step = along ? 1 : scratch.layout.pitch;
  otherStart = [this, step](Value outer) { return b.mul(outer, step); };
}

/// As far as both operands are there.
void TileLowering::DotLowering::findDepth() {
  block.depth = b.index(typeOf(dot.getA()).getColumns());
  for (auto [tile, axis] : {std::pair(operands.lanes, 1 - operands.lanesAxis),
                            std::pair(operands.other, 1 - operands.otherAxis)})
    if (Value known = t.validAlong(tile, axis))
      block.depth = b.minimum(block.depth, known);
}

/// Rows past the end are computed as the last, and not stored.
Value TileLowering::DotLowering::rowAt(Value outer) {
  bool isWhole = getConstant(outerEnd).value_or(1) % rows == 0;
  return isWhole ? outer : b.minimum(outer, b.sub(outerEnd, b.index(1)));
}

void TileLowering::DotLowering::placeVectors(Value inner, int64_t vectors) {
  LaneOperand &lane = block.lane;
  lane.vectors.clear();
  for (auto &[factors, start] : factorStarts)
    factors->vectors.clear();
  lane.zero.vectors.clear();
  for (int64_t v = 0; v < vectors; ++v) {
    lane.vectors.push_back(laneStart(b.add(inner, v * lanes)));
    for (auto &[factors, start] : factorStarts)
      factors->vectors.push_back(start(b.add(inner, v * lanes)));
    if (zeroStart)
      lane.zero.vectors.push_back(zeroStart(b.add(inner, v * lanes)));
  }
}

/// The best one that computes a block of these operands; null if none does.
const DotAtom *TileLowering::DotLowering::findAtom() const {
  const auto *found = llvm::find_if(t.atoms, [&](const DotAtom *a) { return a->supports(block); });
  return found == t.atoms.end() ? nullptr : *found;
}

/// One block, from `begin` of the depth on; false if no atom computes it. Rows past the end begin
/// with the last one's sums, since nobody wrote theirs.
bool TileLowering::DotLowering::emitRows(Value outer, Value inner, int64_t vectors, Value begin) {
  block.broadcast.rows.clear();
  block.groupSums.rows.clear();
  SmallVector<Value> acc;
  bool isFirst = !isBegun && getConstant(begin) == 0;
  for (int64_t r = 0; r < rows; ++r) {
    Value row = rowAt(b.add(outer, r));
    block.broadcast.rows.push_back(b.add(otherStart(row), b.mul(begin, block.broadcast.stride)));
    if (sumStart)
      block.groupSums.rows.push_back(sumStart(row));
    for (int64_t v = 0; v < vectors; ++v) {
      Value column = b.add(inner, v * lanes);
      if (!isFirst)
        acc.push_back(
            t.readScratch(*result, block.sum, b.add(b.mul(row, layout.pitch), column), lanes));
      else
        acc.push_back(dot.getAcc() ? t.readVector(dot.getAcc(), layout.axis, row, column)
                                   : b.zero(VectorType::get(lanes, block.sum)));
    }
  }
  const DotAtom *atom = findAtom();
  if (!atom)
    return false;
  acc = atom->emit(b, block, acc);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      t.write(*result, b.add(outer, r), b.add(inner, v * lanes), acc[r * vectors + v]);
  return true;
}

/// In how many parts the depth is multiplied, each for all rows before the next: panels that a
/// second-level cache does not hold would be read from farther away for each block of rows.
int64_t TileLowering::DotLowering::countDepths(int64_t vectors) const {
  constexpr int64_t kHeld = 768 << 10, kPart = 400 << 10, kWhole = 8;
  const LaneOperand &lane = block.lane;
  int64_t whole = std::max(kWhole, lane.interleave);
  std::optional<int64_t> depth = getConstant(block.depth);
  if (panel == 0 || !factorStarts.empty() || zeroStart || layout.outer <= rows || !depth)
    return 1;
  int64_t bytes = *depth * vectors * lanes * lane.type.getIntOrFloatBitWidth() / 8;
  if (bytes <= kHeld)
    return 1;
  for (int64_t parts = llvm::divideCeil(bytes, kPart); parts <= *depth / whole; ++parts)
    if (*depth % (parts * whole) == 0)
      return parts;
  return 1;
}

/// All blocks of `vectors` from `inner` on.
bool TileLowering::DotLowering::emitBlocks(Value inner, int64_t vectors) {
  int64_t parts = countDepths(vectors);
  if (parts == 1)
    return emitBlocks(inner, vectors, b.index(0));
  Value depth = block.depth;
  int64_t size = *getConstant(depth) / parts;
  block.depth = b.index(size);
  bool isComputed = emitBlocks(inner, vectors, b.index(0));
  b.loop(b.index(size), depth, size,
         [&](Value begin) { isComputed &= emitBlocks(inner, vectors, begin); });
  block.depth = depth;
  return isComputed;
}

/// Those of `block.depth` from `begin` on.
bool TileLowering::DotLowering::emitBlocks(Value inner, int64_t vectors, Value begin) {
  placeVectors(inner, vectors);
  for (Value &vector : block.lane.vectors)
    vector = b.add(vector, b.mul(b.div(begin, block.lane.interleave), block.lane.stride));
  block.lane.next = {};
  // Panels far away take longer to come than a row block takes: each block of rows fetches one of
  // those that follow this tile's.
  int64_t panels = together ? vectors * lanes / panel : 0;
  bool isComputed = true;
  b.loop(b.index(0), outerEnd, rows, [&](Value outer) {
    if (panels > 0 && rows > 1) {
      Value which = b.add(b.rem(b.div(outer, rows), panels), panels);
      block.lane.next = b.add(block.lane.vectors.front(), b.mul(which, panelStride));
    }
    isComputed &= emitRows(outer, inner, vectors, begin);
  });
  return isComputed;
}

/// Of all columns, some vectors at a time.
bool TileLowering::DotLowering::emitColumns(function_ref<bool(Value, int64_t)> emit) {
  bool isComputed = true;
  int64_t whole = layout.pitch / columns * columns;
  b.loop(b.index(0), b.index(whole), columns,
         [&](Value inner) { isComputed &= emit(inner, columns / lanes); });
  if (whole != layout.pitch)
    isComputed &= emit(b.index(whole), (layout.pitch - whole) / lanes);
  return isComputed;
}

/// Whether rows in memory are read by several blocks, all of few rows of the other operand.
bool TileLowering::DotLowering::readsRowsTwice() {
  return block.lane.inOrder && (countRows() > rows || layout.pitch > columns);
}

/// Some rows in memory at a time for all blocks, so that memory is read as it lies and without a
/// rest, while the blocks after the first multiply what is in the nearest cache. Whether the
/// result's memory has the accumulator already.
bool TileLowering::DotLowering::emitParts(bool hasAcc) {
  constexpr int64_t kRows = 16;
  if (dot.getAcc() && !hasAcc)
    t.copy(dot.getAcc(), *result);
  else if (!dot.getAcc())
    t.clear(*result, block.sum, b.index(0));
  Value depth = block.depth;
  bool isComputed = true;
  isBegun = true;
  b.loop(b.index(0), depth, kRows, [&](Value begin) {
    block.depth = b.minimum(b.sub(depth, begin), b.index(kRows));
    isComputed = emitColumns(
        [&](Value inner, int64_t vectors) { return emitBlocks(inner, vectors, begin); });
  });
  block.depth = depth;
  return isComputed;
}

//===-- Units of matrices --------------------------------------------------------------------===//

/// The other operand with its depth in rows of memory: as it lies, or in a buffer. Rows that fall
/// into the same lines of the cache do no harm, since each line is read as a whole.
MatrixRows TileLowering::DotLowering::placeMatrix() {
  int64_t axis = operands.otherAxis;
  Type element = typeOf(operands.other).getElementType();
  if (auto load = operands.other.getDefiningOp<LoadOp>())
    if (const ViewMemory view = t.viewOf(load.getView()); view.isUnit(1 - axis)) {
      otherStart = startOfLoad(load, axis);
      return {view.flat, {}, view.stride[axis], element};
    }
  Scratch scratch = t.materialize(operands.other, 1 - axis);
  otherStart = [this, pitch = scratch.layout.pitch](Value outer) { return b.mul(outer, pitch); };
  return {scratch.memory, {}, b.index(scratch.layout.pitch), element};
}

/// Sums of integers as numbers, without what the zero point has added.
void TileLowering::DotLowering::convertSums(Value sums) {
  auto floats = VectorType::get(lanes, block.sum);
  t.forEachVector(layout, outerEnd, [&](Value outer, Value inner) {
    Value sum = b.load(b.getI32Type(), sums, b.add(b.mul(outer, layout.pitch), inner), lanes);
    Value zero = b.load(b.getI32Type(), block.lane.zero.memory, zeroStart(inner), lanes);
    Value number = arith::SIToFPOp::create(b, floats, arith::AddIOp::create(b, sum, zero));
    if (dot.getAcc())
      number =
          arith::AddFOp::create(b, number, t.readVector(dot.getAcc(), layout.axis, outer, inner));
    t.write(*result, outer, inner, number);
  });
}

/// The product by the level's unit of matrices; false if it has none that computes it.
bool TileLowering::DotLowering::multiplyMatrices() {
  const LaneOperand &lane = block.lane;
  MatrixBlock matrices;
  matrices.depth = typeOf(dot.getA()).getColumns();
  matrices.right = {lane.memory, {}, panel * lane.interleave, lane.interleave, lane.type, {}, {}};
  matrices.left.type = typeOf(operands.other).getElementType();
  bool ofBytes = matrices.left.type.isInteger(8) && zeroStart;
  matrices.sums.type = ofBytes ? Type(b.getI32Type()) : block.sum;
  // Fewer rows than a register has would leave most of the unit idle.
  constexpr int64_t kLeastRows = 16;
  if (!t.matrixAtom || panel == 0 || !factorStarts.empty() || layout.outer < kLeastRows ||
      !t.matrixAtom->supports(matrices) || t.validAlong(operands.lanes, 1 - operands.lanesAxis) ||
      t.validAlong(operands.other, 1 - operands.otherAxis))
    return false;
  matrices.left = placeMatrix();
  outerEnd = t.endAlong(dot.getResult(), 1 - layout.axis);
  result = t.resultScratch(dot.getResult(), t.findDonor(dot.getAcc(), dot, type));
  matrices.sums = {result->memory, {}, b.index(layout.pitch), block.sum};
  if (ofBytes)
    matrices.sums = {t.allocate(b.getI32Type(), layout), {}, b.index(layout.pitch), b.getI32Type()};
  matrices.begun = dot.getAcc() && !ofBytes;
  if (matrices.begun)
    t.copy(dot.getAcc(), *result);
  int64_t most = t.matrixAtom->vectors() * lanes, whole = layout.pitch / most * most;
  b.loop(b.index(0), b.index(whole), most,
         [&](Value inner) { emitMatrices(matrices, inner, most / lanes); });
  if (whole != layout.pitch)
    emitMatrices(matrices, b.index(whole), (layout.pitch - whole) / lanes);
  if (ofBytes)
    convertSums(matrices.sums.memory);
  return true;
}

/// All blocks of `vectors` from `inner` on. Each fetches a part of the panels that follow this
/// tile's.
void TileLowering::DotLowering::emitMatrices(MatrixBlock &matrices, Value inner, int64_t vectors) {
  constexpr int64_t kShares = 4; // of a panel
  placeVectors(inner, vectors);
  matrices.right.vectors = block.lane.vectors;
  int64_t panels = together ? vectors * lanes / panel : 0, most = t.matrixAtom->rows();
  bool isWhole = getConstant(outerEnd).value_or(1) % most == 0;
  b.loop(b.index(0), outerEnd, most, [&](Value outer) {
    if (panels > 0) {
      Value number = b.div(outer, most);
      Value which = b.add(b.rem(b.div(number, kShares), panels), panels);
      matrices.right.next = b.add(matrices.right.vectors.front(), b.mul(which, panelStride));
      matrices.right.share = b.rem(number, kShares);
    }
    matrices.left.place = otherStart(outer);
    matrices.sums.place = b.add(b.mul(outer, layout.pitch), inner);
    matrices.rows = isWhole ? b.index(most) : b.sub(outerEnd, outer);
    t.matrixAtom->emit(b, matrices, t.prepareMatrices());
  });
}

LogicalResult TileLowering::lowerDot(DotOp dot) {
  if (lowerRowPairs(dot) || lowerLaneSums(dot))
    return success();
  return DotLowering(*this, dot).run();
}
