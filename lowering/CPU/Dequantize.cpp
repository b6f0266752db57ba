// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of weights on their way to products: read as they lie where rows are few or floats are
// multiplied; unpacked to pairs of bf16 once for all rows where those are; else one by one. Refuses
// integers and scales that tile.load does not give.
#include "lowering/CPU/TileLowering.h"
#include "lowering/Tile/LoadPacked.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

bool TileLowering::readsPanels(LoadOp load) {
  const ViewMemory &view = viewOf(load.getView());
  return view.panel != 0 && view.panel % lanes == 0 && isMultipleOf(load.getRow(), view.panel) &&
         getConstant(load.getColumn()) == 0;
}

static bool areWholeUnits(DequantizeOp op, int64_t unit) {
  int64_t depth = op.getResult().getType().getColumns();
  return depth > 0 && depth % unit == 0 && op.getGroup() % unit == 0;
}

bool TileLowering::multipliesWholeUnits(DequantizeOp op, int64_t unit) {
  auto hasWholeDepth = [&](Operation *user) {
    auto dot = dyn_cast<DotOp>(user);
    if (!dot)
      return true;
    DotOperands operands(dot, layoutOf(dot.getResult()));
    return !validAlong(operands.other, 1 - operands.otherAxis);
  };
  return areWholeUnits(op, unit) && !validAlong(op.getInput(), 1) &&
         llvm::all_of(op->getUsers(), hasWholeDepth);
}

bool TileLowering::readsPanels(DequantizeOp op) {
  LoadOp load = op.getLoad();
  if (!load || !readsPanels(load))
    return false;
  const ViewMemory &view = viewOf(load.getView());
  if (view.interleave != getForm(op).packed.unit())
    return false;
  // Such are not read one by one.
  if ((view.liesInUnits() || op.getTable()) && !multipliesWholeUnits(op, view.interleave))
    return false;
  return readsFactors(op, op.getScales()) && readsFactors(op, op.getOffsets());
}

bool TileLowering::readsFactors(DequantizeOp op, Value factors) {
  if (!factors)
    return true;
  if (auto inner = factors.getDefiningOp<DequantizeOp>())
    return readsFactors(op, inner.getInput()) && readsFactors(op, inner.getScales());
  auto load = factors.getDefiningOp<LoadOp>();
  const ViewMemory &view = viewOf(op.getLoad().getView());
  return load && readsPanels(load) && load.getRow() == op.getLoad().getRow() &&
         viewOf(load.getView()).panel == view.panel && viewOf(load.getView()).interleave == 1;
}

Value TileLowering::loadFactors(Value factors, Value from, Value within, Value k, int64_t depth) {
  if (auto inner = factors.getDefiningOp<DequantizeOp>())
    return arith::MulFOp::create(b, loadFactors(inner.getInput(), from, within, k, depth),
                                 loadFactors(inner.getScales(), from, within, k, depth));
  auto load = factors.getDefiningOp<LoadOp>();
  const ViewMemory &of = viewOf(load.getView());
  int64_t group = depth / typeOf(factors).getColumns();
  Value at = b.add(b.mul(from, of.panelStride), b.mul(b.div(k, group), of.panel));
  Value loaded = b.load(cast<MemRefType>(of.flat.getType()).getElementType(), of.flat,
                        b.add(at, within), lanes);
  return toFactors(b, loaded, of.type);
}

//===-- Groups of panels ---------------------------------------------------------------------===//

bool TileLowering::hasWholeUnits(DequantizeOp op) {
  return readsPanels(op) && areWholeUnits(op, viewOf(op.getLoad().getView()).interleave);
}

bool TileLowering::meetsManyRows(DequantizeOp op, Type rows) {
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    auto dot = cast<DotOp>(user);
    DotOperands operands(dot, layoutOf(dot.getResult()));
    return layoutOf(dot.getResult()).outer >= kLeastRowsOfPairs &&
           typeOf(operands.other).getElementType() == rows;
  });
}

void TileLowering::forEachGroup(DequantizeOp op, function_ref<void(const PanelGroup &)> body) {
  TileType type = op.getResult().getType();
  LoadOp load = op.getLoad();
  const ViewMemory view = viewOf(load.getView());
  int64_t depth = type.getColumns(), length = op.getScales() ? op.getGroup() : depth;
  int64_t panels = llvm::divideCeil(type.getRows(), lanes), vectors = view.panel / lanes;
  b.loop(b.index(0), b.index(panels), 1, [&](Value panel) {
    // Panels past the last are those of the last.
    Value from = b.minimum(b.add(b.div(load.getRow(), view.panel), b.div(panel, vectors)),
                           b.index(view.panels - 1));
    Value within = b.mul(b.rem(panel, vectors), lanes);
    Value start = b.add(b.mul(from, view.panelStride), b.mul(within, view.wordSize()));
    b.loop(b.index(0), b.index(depth), length, [&](Value first) {
      Value scales, offsets;
      if (op.getScales())
        scales = loadFactors(op.getScales(), from, within, first, depth);
      if (op.getOffsets())
        offsets = addBias(b, scales, loadFactors(op.getOffsets(), from, within, first, depth),
                          op.getBias());
      body({view, panel, start, first, length, scales, offsets});
    });
  });
}

Value TileLowering::loadWord(const PanelGroup &group, Value within, int64_t word) {
  const ViewMemory &view = group.view;
  int64_t perByte = view.isOfNibbles() ? 2 : 1, size = view.unitSize() / perByte;
  Value number = b.div(b.add(group.first, within), view.interleave);
  Value at = b.add(b.div(group.start, perByte), b.mul(number, size));
  return b.load(b.getI8Type(), view.flat, b.add(at, word * (size / view.words())), 4 * lanes);
}

FewBits TileLowering::getForm(DequantizeOp op) {
  return {{op.getInput().getType().getElementType().getIntOrFloatBitWidth()},
          op.getTable().value_or(ArrayRef<int8_t>())};
}

//===-- Pairs of bf16 ------------------------------------------------------------------------===//

/// Of a unit for each output, neighbours i and i + 1 in k as a pair each: integers of at most eight
/// bits are exact in bf16, times a scale they are rounded to nearest.
Value TileLowering::unpackPair(const UnitIntegers &unit, int64_t i, const PanelGroup &group) {
  auto words = VectorType::get(lanes, b.getI32Type());
  auto floats = VectorType::get(lanes, b.getF32Type());
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(words, b.getI32IntegerAttr(value)));
  };
  SmallVector<Value> bits;
  for (int64_t neighbour : {i, i + 1}) {
    Value number = arith::SIToFPOp::create(b, floats, unit.get(b, neighbour));
    if (group.scales) {
      auto halves = VectorType::get(lanes, b.getBF16Type());
      number = group.offsets ? b.mulAdd(number, group.scales, group.offsets)
                             : Value(arith::MulFOp::create(b, number, group.scales));
      Value rounded = arith::TruncFOp::create(b, halves, number);
      number = arith::ExtFOp::create(b, floats, rounded);
    }
    bits.push_back(arith::BitcastOp::create(b, words, number));
  }
  Value low = arith::ShRUIOp::create(b, bits[0], constant(16));
  Value high = arith::AndIOp::create(b, bits[1], constant(-65536));
  return arith::OrIOp::create(b, low, high);
}

/// Pairs of bf16 in a buffer, if the level multiplies those and there are rows enough to make it
/// worth while; false if not.
bool TileLowering::unpackPanels(DequantizeOp op) {
  TileType type = op.getResult().getType();
  int64_t panels = llvm::divideCeil(type.getRows(), lanes), size = type.getColumns() * lanes;
  if (!type.getElementType().isBF16() || panels * size * 2 > kMostBytesOfPairs ||
      !multipliesPairs() || !hasWholeUnits(op) || !meetsManyRows(op, b.getBF16Type()))
    return false;
  UnpackedPanels result = allocatePanels(panels, size);
  int64_t interleave = viewOf(op.getLoad().getView()).interleave;
  auto pairsType = VectorType::get(2 * lanes, b.getI16Type());
  forEachGroup(op, [&](const PanelGroup &group) {
    b.loop(b.index(0), b.index(group.length), interleave, [&](Value within) {
      FewBits form = getForm(op);
      UnitWords words([&](int64_t word) { return loadWord(group, within, word); });
      UnitIntegers unit(b, form, words);
      Value to = b.add(b.mul(group.panel, size), b.mul(b.add(group.first, within), lanes));
      for (int64_t i = 0; i < interleave; i += 2) {
        Value pair = unpackPair(unit, i, group);
        b.store(vector::BitCastOp::create(b, pairsType, pair), result.memory, b.add(to, i * lanes),
                4 * lanes);
      }
    });
  });
  unpacked.try_emplace(op.getResult(), result);
  return true;
}

//===-- One by one ---------------------------------------------------------------------------===//

/// An f32 that a narrower type holds. Not by a conversion to bf16, which LLVM would join with one
/// from an integer to a call of a library.
static Value convertExactly(Emitter &b, Value number, Type type) {
  if (!type.isBF16())
    return b.convert(number, type);
  auto like = [&](Type element) -> Type {
    auto vector = dyn_cast<VectorType>(number.getType());
    return vector ? Type(vector.clone(element)) : element;
  };
  Value sixteen = arith::ConstantOp::create(b, b.getI32IntegerAttr(16));
  if (auto vector = dyn_cast<VectorType>(number.getType()))
    sixteen = b.splat(sixteen, vector.getNumElements());
  Value bits = arith::BitcastOp::create(b, like(b.getI32Type()), number);
  bits = arith::TruncIOp::create(b, like(b.getI16Type()), arith::ShRUIOp::create(b, bits, sixteen));
  return arith::BitcastOp::create(b, like(type), bits);
}

/// Whether a product reads integers that lie row by row as they are, in lanes: along these vectors
/// from memory, across them as words of four neighbours.
bool TileLowering::readsIntegers(DequantizeOp op, int64_t axis) {
  LoadOp load = op.getLoad();
  if (!load || op.getScales() || !op.getResult().getType().getElementType().isF32())
    return false;
  const ViewMemory &view = viewOf(load.getView());
  if (view.panel != 0 || !view.type.isInteger(8))
    return false;
  return axis == 1 ? isDirect(load, 1) : liesInWords(load);
}

//===-- Words of rows, turned ----------------------------------------------------------------===//

/// Whether rows of memory are whole squares of words, each of some narrow neighbours, and surely
/// have all columns.
bool TileLowering::liesInWords(LoadOp load) {
  const ViewMemory &view = viewOf(load.getView());
  int64_t bits = view.type.getIntOrFloatBitWidth(), columns = typeOf(load).getColumns();
  bool isNarrow = view.type.isBF16() || view.type.isInteger(8);
  std::optional<int64_t> first = getConstant(load.getColumn());
  std::optional<int64_t> extent = getConstant(view.extent[1]);
  return isNarrow && view.panel == 0 && view.isUnit(1) && columns % (32 / bits * lanes) == 0 &&
         first && extent && *first + columns <= *extent;
}

/// Words of a load's rows, turned so that rows lie in lanes: word w of row r is number `w * pitch +
/// r`. A square of words has fewer vectors than one of narrow elements.
Value TileLowering::turnWords(LoadOp load, int64_t pitch) {
  const ViewMemory view = viewOf(load.getView());
  TileType type = typeOf(load);
  auto flat = cast<MemRefType>(view.flat.getType());
  Type element = flat.getElementType();
  int64_t each = 32 / element.getIntOrFloatBitWidth(), words = type.getColumns() / each;
  Value memory =
      allocate(element, TileLayout(TileType::get(1, words * pitch * each, view.type), lanes));
  Value end = endAlong(load.getTile(), 0);
  Value last = b.maximum(b.sub(end, b.index(1)), b.index(0));
  auto wordType = VectorType::get(lanes, b.getI32Type());
  auto stored = VectorType::get(each * lanes, cast<MemRefType>(memory.getType()).getElementType());
  b.loop(b.index(0), b.index(pitch), lanes, [&](Value inner) {
    b.loop(b.index(0), b.index(words), lanes, [&](Value word) {
      SmallVector<Value> rows;
      for (int64_t i = 0; i < lanes; ++i) {
        Value row = b.add(load.getRow(), b.minimum(b.add(inner, i), last));
        Value place = view.place(b, row, b.add(load.getColumn(), b.mul(word, each)));
        Value loaded = b.load(element, view.flat, place, each * lanes);
        prefetchRows(load, place, type.getRows());
        rows.push_back(vector::BitCastOp::create(b, wordType, loaded));
      }
      rows = b.transpose(rows);
      for (int64_t i = 0; i < lanes; ++i) {
        Value at = b.mul(b.add(b.mul(b.add(word, i), pitch), inner), each);
        b.store(vector::BitCastOp::create(b, stored, rows[i]), memory, at, 4 * lanes);
      }
    });
  });
  return memory;
}

Value TileLowering::dequantizeElement(DequantizeOp op, Value row, Value column) {
  auto read = [&](Value tile, Value row, Value column) -> Value {
    if (auto inner = tile.getDefiningOp<DequantizeOp>())
      return dequantizeElement(inner, row, column);
    auto from = tile.getDefiningOp<LoadOp>();
    const ViewMemory view = viewOf(from.getView());
    return view.load(b, b.add(from.getRow(), row), b.add(from.getColumn(), column));
  };
  Value integer = read(op.getInput(), row, column);
  if (std::optional<ArrayRef<int8_t>> table = op.getTable())
    integer = lookUp(b, *table, integer);
  if (op.getBias() != 0) {
    integer = arith::ExtSIOp::create(b, b.getI32Type(), integer);
    integer = arith::AddIOp::create(
        b, integer,
        arith::ConstantOp::create(b, b.getI32IntegerAttr(static_cast<int32_t>(op.getBias()))));
  }
  Value number = arith::SIToFPOp::create(b, b.getF32Type(), integer);
  if (!op.getScales())
    return number;
  Value place = b.div(column, op.getGroup());
  auto readFactor = [&](Value factors) {
    return b.convert(read(factors, row, place), b.getF32Type());
  };
  number = arith::MulFOp::create(b, number, readFactor(op.getScales()));
  return op.getOffsets() ? Value(arith::AddFOp::create(b, number, readFactor(op.getOffsets())))
                         : number;
}

/// Whether all that is read is loaded: integers, scales, and those of these.
static bool isLoaded(DequantizeOp op) {
  auto isRead = [](Value tile) {
    if (auto inner = tile.getDefiningOp<DequantizeOp>())
      return isLoaded(inner);
    return tile.getDefiningOp<LoadOp>() != nullptr;
  };
  return op.getLoad() && llvm::all_of(op->getOperands(), isRead);
}

/// What products read as it lies needs no buffer; else integers are converted one by one. Scales
/// are found by who reads them.
LogicalResult TileLowering::lowerDequantize(DequantizeOp op) {
  if (llvm::all_of(op->getUsers(), llvm::IsaPred<DequantizeOp>))
    return success();
  auto isReadAlong = [&](int64_t axis) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      auto dot = dyn_cast<DotOp>(user);
      if (!dot)
        return false;
      DotOperands operands(dot, layoutOf(dot.getResult()));
      return operands.lanes == op.getResult() && operands.other != op.getResult() &&
             operands.lanesAxis == axis;
    });
  };
  for (int64_t axis : {0, 1})
    if (isReadAlong(axis) && readsIntegers(op, axis))
      return success();
  if (isReadAlong(0) && (unpackPanels(op) || prepareBytes(op) || readsPanels(op)))
    return success();
  if (!isLoaded(op))
    return op.emitOpError("expects integers and scales that tile.load gives");
  LoadOp load = op.getLoad();
  Scratch result = resultScratch(op.getResult(), std::nullopt);
  const TileLayout &layout = result.layout;
  TileType type = op.getResult().getType();
  // Rows as they lie are converted vector by vector.
  if (!op.getScales() && viewOf(load.getView()).panel == 0 &&
      viewOf(load.getView()).type.isInteger(8)) {
    auto floats = VectorType::get(lanes, b.getF32Type());
    forEachVector(layout, endAlong(op.getResult(), 1 - layout.axis), [&](Value outer, Value inner) {
      Value integers = readVector(load.getResult(), layout.axis, outer, inner);
      write(result, outer, inner,
            convertExactly(b, arith::SIToFPOp::create(b, floats, integers), type.getElementType()));
    });
    return success();
  }
  Value ends[2] = {endAlong(load.getTile(), 0), endAlong(load.getTile(), 1)};
  clearUnlessWhole(result, type.getElementType(), ends[layout.axis]);
  b.loop(b.index(0), ends[1 - layout.axis], 1, [&](Value outer) {
    b.loop(b.index(0), ends[layout.axis], 1, [&](Value inner) {
      Value row = layout.axis == 0 ? inner : outer, column = layout.axis == 0 ? outer : inner;
      Value number = dequantizeElement(op, row, column);
      Type element = type.getElementType();
      memref::StoreOp::create(b,
                              toStorage(op.getScales() ? b.convert(number, element)
                                                       : convertExactly(b, number, element)),
                              result.memory, b.add(b.mul(outer, layout.pitch), inner));
    });
  });
  return success();
}
