// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of values: from memory, through each op, joined into maps. What stands around them (the
// grid, blocks, phases) is in TileKernel.cpp.
#include "lowering/Kernels/TileBuilder.h"
#include "dialects/ElementTypes.h"
#include "lowering/Kernels/Scalars.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;
using tile::ViewType;

static Type getTileElement(Value value) {
  return TypeSwitch<Type, Type>(value.getType())
      .Case<TileType, ViewType>([](auto type) { return type.getElementType(); })
      .Default([](Type type) { return getElementTypeOrSelf(type); });
}

//===-- Single ops ---------------------------------------------------------------------------===//

TileType TileBuilder::tileType(int64_t rows, int64_t columns, Type element) {
  return TileType::get(rows, columns, element);
}

Value TileBuilder::column(TileColumns c) {
  return c.offset == 0 ? c.base : k.add(c.base, k.index(c.offset));
}

Value TileBuilder::broadcast(Value value, int64_t rows, int64_t columns) {
  TileType type = tileType(rows, columns, getTileElement(value));
  return value.getType() == type ? value : tile::BroadcastOp::create(k, type, value).getResult();
}

Value mlir::fovea::createMap(KernelBuilder &k, TileType type, ValueRange inputs,
                             function_ref<Value(ValueRange)> body) {
  return tile::MapOp::create(k, type, inputs, [&](OpBuilder &inner, Location, ValueRange elements) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    Value element = body(elements);
    inner.restoreInsertionPoint(k.saveInsertionPoint());
    return element;
  });
}

Value TileBuilder::map(TileType type, ValueRange inputs, function_ref<Value(ValueRange)> body) {
  return createMap(k, type, inputs, body);
}

Value TileBuilder::castTo(Value value, Type element) {
  auto type = cast<TileType>(value.getType());
  return type.getElementType() == element
             ? value
             : tile::CastOp::create(k, type.withElementType(element), value).getResult();
}

Value TileBuilder::reduce(tile::ReduceKind kind, Value value) {
  return tile::ReduceOp::create(k, tileType(tileRows, 1, getTileElement(value)), kind, value, 1);
}

//===-- Memory -------------------------------------------------------------------------------===//

/// `memory` as `[outer..., rows, columns]`, made at the head of the kernel.
Value TileBuilder::matrix(Value memory) {
  Value &known = matrices[memory];
  if (known)
    return known;
  return known = atTop([&] {
           auto type = cast<MemRefType>(memory.getType());
           Value result = memory;
           if (!flat && type.getRank() == static_cast<int64_t>(form.rowAxes)) {
             SmallVector<ReassociationIndices> groups;
             for (int64_t axis = 0; axis < type.getRank(); ++axis)
               groups.push_back({axis});
             groups.back().push_back(type.getRank());
             SmallVector<int64_t> shape(type.getShape());
             shape.push_back(1);
             FailureOr<MemRefType> expanded =
                 memref::ExpandShapeOp::computeExpandedType(type, shape, groups);
             SmallVector<OpFoldResult> sizes;
             for (int64_t axis = 0; axis < type.getRank(); ++axis)
               sizes.push_back(type.isDynamicDim(axis) ? OpFoldResult(k.size(memory, axis))
                                                       : k.getIndexAttr(type.getDimSize(axis)));
             sizes.push_back(k.getIndexAttr(1));
             result = memref::ExpandShapeOp::create(k, *expanded, memory, groups, sizes);
             type = *expanded;
           }
           SmallVector<ReassociationIndices> groups =
               flat ? getAllAxes(type.getRank())
                    : getMatrixAxes(type.getRank(), form.rowAxes, outer);
           if (groups.size() != static_cast<size_t>(type.getRank()))
             result = memref::CollapseShapeOp::create(k, result, groups);
           return result;
         });
}

Value mlir::fovea::createView(KernelBuilder &k, Value memory, ValueRange at, ArrayRef<int64_t> axes,
                              Value length) {
  auto type = cast<MemRefType>(memory.getType());
  int64_t rows = 1, columns = type.getDimSize(axes.back());
  if (axes.size() == 2)
    rows = length ? ShapedType::kDynamic : type.getDimSize(axes[0]);
  return tile::ViewOp::create(k, ViewType::get(rows, columns, type.getElementType()), memory, at,
                              length, k.getDenseI64ArrayAttr(axes));
}

Value TileBuilder::viewAt(Value memory, ValueRange at, ArrayRef<int64_t> axes, Value length) {
  return createView(k, memory, at, axes, length);
}

/// Whether all batches have the same rows of it.
bool TileBuilder::isRepeated(Value memory) {
  return form.located && cast<MemRefType>(memory.getType()).getDimSize(0) == 1;
}

/// The block's indices for the outer row axes of a buffer.
SmallVector<Value> TileBuilder::outerIndices(Value memory) {
  if (!isRepeated(memory))
    return at;
  return SmallVector<Value>(at.size(), k.index(0));
}

TileBuilder::Rows TileBuilder::rowsOf(Value memory, bool shared) {
  Key key{memory.getAsOpaquePointer(), -1, -1};
  bool one = single && form.located && (shared || isRepeated(memory));
  auto known = blockValues.find(key);
  if (known != blockValues.end())
    return {known->second, one};
  Value whole = shared ? memory : matrix(memory);
  int64_t rank = cast<MemRefType>(whole.getType()).getRank();
  Value view = atBlock([&] {
    if (flat)
      return viewAt(whole, {}, {0});
    SmallVector<Value> indices;
    if (!shared)
      indices = outerIndices(memory);
    return viewAt(whole, indices, {rank - 2, rank - 1}, shared ? Value() : partEnd);
  });
  blockValues[key] = view;
  return {view, one};
}

Value TileBuilder::loadRows(Rows rows, Value column, int64_t width) {
  auto type = tileType(rows.one ? 1 : tileRows, width, getTileElement(rows.view));
  Value tile =
      tile::LoadOp::create(k, type, rows.view, rows.one || flat ? k.index(0) : row, column);
  return broadcast(tile, tileRows, width);
}

Value TileBuilder::parameter(Value value, TileColumns c, Type type) {
  Key key{value.getAsOpaquePointer(), c.offset, c.width};
  auto known = blockValues.find(key);
  if (known != blockValues.end())
    return castTo(known->second, type);
  Value result = atBlock([&] {
    Value view = viewAt(k.buffer(value), {}, {0});
    Value tile = tile::LoadOp::create(k, tileType(1, c.width, getTileElement(view)), view,
                                      k.index(0), column(c));
    return broadcast(castTo(tile, type), tileRows, c.width);
  });
  return blockValues[key] = result;
}

Value TileBuilder::pairsSwapped(Value value, TileColumns c) {
  Value memory = matrix(k.buffer(value));
  SmallVector<Value> place = outerIndices(k.buffer(value));
  int64_t rank = cast<MemRefType>(memory.getType()).getRank();
  // Rows past the end are as the last one.
  Value last = k.sub(k.size(memory, rank - 2), k.index(1));
  TileType type = tileType(tileRows, c.width, getTileElement(memory));
  TileType numbers = type.withElementType(k.getI32Type());
  Value rows = single && isRepeated(k.buffer(value))
                   ? tile::SplatOp::create(k, numbers, k.integer(k.getI32Type(), 0)).getResult()
                   : tile::IotaOp::create(k, numbers, row, 0).getResult();
  Value columns = tile::IotaOp::create(k, numbers, column(c), 1);
  return map(type, {rows, columns}, [&](ValueRange e) {
    Value other = arith::XOrIOp::create(k, e[1], k.integer(k.getI32Type(), 1));
    SmallVector<Value> indices(place);
    indices.append({arith::MinSIOp::create(k, k.toIndex(e[0]), last), k.toIndex(other)});
    return k.load(memory, indices);
  });
}

Value TileBuilder::tableView(Value table) {
  Value memory = k.buffer(table);
  auto type = cast<RankedTensorType>(table.getType());
  auto rows = cast<MemRefType>(memory.getType());
  if (rows.getElementType() == getElementTypeOrSelf(type) && rows.getRank() == 2)
    return viewAt(memory, {}, {0, 1});
  // Integers that share bytes, row by row, are panels of one output each.
  if (rows.getRank() == 2)
    memory = memref::ExpandShapeOp::create(
        k, MemRefType::get({rows.getDimSize(0), rows.getDimSize(1), 1}, rows.getElementType()),
        memory, ArrayRef<ReassociationIndices>{{0}, {1, 2}});
  return tile::PackedOp::create(
      k, ViewType::get(type.getDimSize(0), type.getDimSize(1), type.getElementType()), memory);
}

TileColumns TileBuilder::ofPart(TileColumns c, int64_t size) {
  if (!part)
    return c;
  Value base = atBlock([&] { return k.add(c.base, k.mul(part, k.index(size))); });
  return {base, c.offset, c.width};
}

Value TileBuilder::joinedRows(Value memory) {
  Value &known = matrices[memory];
  if (!known)
    known = atTop([&]() -> Value {
      int64_t rank = cast<MemRefType>(memory.getType()).getRank();
      if (rank == 2)
        return memory;
      return memref::CollapseShapeOp::create(k, memory, getMatrixAxes(rank, rank - 1, 0));
    });
  return known;
}

//===-- Numbers of rows ----------------------------------------------------------------------===//

Value TileBuilder::numbersOfRows(Value positions, int64_t width) {
  auto op = positions.getDefiningOp<PositionsOp>();
  if (!op)
    return broadcast(loadRows(rowsOf(k.buffer(positions)), k.index(0), 1), tileRows, width);
  Value first = atTop([&] { return k.cloneIn(op.getFirst()); });
  TileType type = tileType(tileRows, width, k.getI32Type());
  if (single)
    return tile::SplatOp::create(k, type, k.toI32(first));
  return tile::IotaOp::create(k, type, k.add(first, row), 0);
}

void TileBuilder::checkNumbers(Value numbers, int64_t offset, Value height) {
  auto check = [&](Value number) {
    if (offset != 0)
      number = k.add(number, k.index(offset));
    FaultOp::create(k, arith::CmpIOp::create(k, arith::CmpIPredicate::uge, number, height));
  };
  Value rows = k.size(k.outputs.front(), form.rowAxes - 1);
  if (auto positions = numbers.getDefiningOp<PositionsOp>()) {
    // They grow: the last of the tile is the largest, the first the least.
    Value first = atTop([&] { return k.cloneIn(positions.getFirst()); });
    if (single)
      return check(first);
    check(k.add(first, row));
    Value end = arith::MinSIOp::create(k, k.add(row, k.index(tileRows)), rows);
    return check(k.add(first, k.sub(end, k.index(1))));
  }
  Value memory = matrix(k.buffer(numbers));
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<Value> indices = outerIndices(k.buffer(numbers));
  indices.append({Value(), k.index(0)});
  if (single && isRepeated(k.buffer(numbers))) {
    indices[indices.size() - 2] = k.index(0);
    return check(k.toIndex(k.load(memory, indices)));
  }
  Value end =
      arith::MinSIOp::create(k, k.add(row, k.index(tileRows)), k.size(memory, type.getRank() - 2));
  k.loop(row, end, [&](Value r) {
    indices[indices.size() - 2] = r;
    for (int64_t column = 0; column < type.getShape().back(); ++column) {
      indices.back() = k.index(column);
      check(k.toIndex(k.load(memory, indices)));
    }
  });
}

Value TileBuilder::gather(Value table, Value numbers, int64_t offset, TileColumns c) {
  Value rows = numbersOfRows(numbers, 1);
  if (offset != 0)
    rows = map(tileType(tileRows, 1, k.getI64Type()), rows, [&](ValueRange x) {
      Value wide = x[0];
      if (!wide.getType().isInteger(64))
        wide = arith::ExtSIOp::create(k, k.getI64Type(), wide);
      return k.add(wide, k.integer(k.getI64Type(), offset));
    });
  Type element = cast<RankedTensorType>(table.getType()).getElementType();
  Value view = atBlock([&] { return tableView(table); });
  return tile::GatherOp::create(k, tileType(tileRows, c.width, element), view, rows, column(c));
}

Value TileBuilder::numbersOfTable(Value vector, Value numbers) {
  Value memory = k.buffer(vector);
  Value height = k.size(memory, 0);
  return map(tileType(tileRows, 1, elementOf(memory)), numbersOfRows(numbers, 1),
             [&](ValueRange x) {
               Value index = k.toIndex(x[0]);
               Value inside = arith::CmpIOp::create(k, arith::CmpIPredicate::ult, index, height);
               return k.load(memory, k.select(inside, index, k.index(0)));
             });
}

//===-- Elements -----------------------------------------------------------------------------===//

TileElement TileBuilder::leaf(Value tile, int64_t width, TileLeaves &leaves) {
  tile = broadcast(tile, tileRows, width);
  size_t place = llvm::find(leaves, tile) - leaves.begin();
  if (place == leaves.size())
    leaves.push_back(tile);
  return [place](ValueRange elements) -> Value { return elements[place]; };
}

TileElement TileBuilder::convert(TileElement element, Type type) {
  return [this, element, type](ValueRange elements) { return k.convert(element(elements), type); };
}

TileElement TileBuilder::add(TileElement l, TileElement r) {
  return [this, l, r](ValueRange elements) { return k.add(l(elements), r(elements)); };
}

TileElement TileBuilder::mul(TileElement l, TileElement r) {
  return [this, l, r](ValueRange elements) { return k.mul(l(elements), r(elements)); };
}

Value TileBuilder::tile(Value value, TileColumns c) {
  Key key{value.getAsOpaquePointer(), c.offset, c.width};
  auto known = tiles.find(key);
  if (known != tiles.end())
    return known->second;
  SmallVector<Value> leaves;
  TileElement computed = element(value, c, leaves);
  Type type = cast<RankedTensorType>(value.getType()).getElementType();
  TileType result = tileType(tileRows, c.width, type);
  // A lone leaf is the tile, if nothing is done to its elements.
  bool computes = true;
  Value tile = map(result, leaves, [&](ValueRange elements) {
    Value x = computed(elements);
    computes = leaves.size() != 1 || x != elements[0] || leaves[0].getType() != result;
    return x;
  });
  if (!computes) {
    tile.getDefiningOp()->erase();
    tile = leaves[0];
  }
  return tiles[key] = tile;
}

TileElement TileBuilder::element(Value value, TileColumns c, TileLeaves &leaves) {
  Key key{value.getAsOpaquePointer(), c.offset, c.width};
  auto known = tiles.find(key);
  if (known != tiles.end())
    return leaf(known->second, c.width, leaves);
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    auto number = cast<TypedAttr>(constant.getSplatValue<Attribute>());
    return [this, number](ValueRange) -> Value { return arith::ConstantOp::create(k, number); };
  }
  if (isa<BlockArgument>(value))
    return leaf(tiles[key] = loadRows(rowsOf(k.buffer(value)), column(c), c.width), c.width,
                leaves);
  TileElement result = emitElement(value.getDefiningOp(), c, leaves);
  Type type = getElementTypeOrSelf(value.getType());
  return isa<FloatType>(type) ? convert(result, type) : result;
}

TileElement TileBuilder::operandOf(Value operand, TileColumns c, TileLeaves &leaves) {
  bool isResult =
      llvm::is_contained(group.getBody().front().getTerminator()->getOperands(), operand);
  if (isResult && isComputedByElement(operand.getDefiningOp()))
    return leaf(tile(operand, c), c.width, leaves);
  return element(operand, c, leaves);
}

/// An op's model has its tiles, or it is elementwise.
TileElement TileBuilder::emitElement(Operation *op, TileColumns c, TileLeaves &leaves) {
  if (auto kernel = dyn_cast<KernelOpInterface>(op))
    return kernel.emitTile(*this, c, leaves);
  if (auto splat = dyn_cast<tensor::SplatOp>(op)) {
    Value value = atTop([&] { return k.cloneIn(splat.getInput()); });
    return [value](ValueRange) { return value; };
  }
  SmallVector<TileElement> operands = llvm::map_to_vector(
      op->getOperands(), [&](Value operand) { return operandOf(operand, c, leaves); });
  return [this, operands, op](ValueRange e) -> Value {
    SmallVector<Value> values =
        llvm::map_to_vector(operands, [&](const TileElement &operand) { return operand(e); });
    return emitRounded(k, op, values).front();
  };
}

Value TileBuilder::once(Operation *op, TileColumns c, function_ref<Value()> emit) {
  Key key{op, c.offset, c.width};
  auto known = tiles.find(key);
  return known != tiles.end() ? known->second : tiles[key] = emit();
}

Value TileBuilder::multiply(Value a, Value b, int64_t columns, Type sum, Value acc, Value sums) {
  auto dot =
      tile::DotOp::create(k, tileType(tileRows, columns, sum), a, b, acc, /*transpose_b=*/true,
                          block.empty() ? DenseI64ArrayAttr() : k.getDenseI64ArrayAttr(block));
  if (sums)
    dot.getSumsMutable().assign(sums);
  return dot;
}

Value TileBuilder::product(Operation *op, Value input, int64_t depth, TileColumns c,
                           function_ref<Value()> emit) {
  return once(op, c, [&] {
    Value weight = atBlock(emit);
    Value &x = wholeRows[input.getAsOpaquePointer()];
    if (!x)
      x = loadRows(rowsOf(k.buffer(input)), k.index(0), depth);
    return multiply(x, weight, c.width, getAccumulationType(getTileElement(x)));
  });
}

Value TileBuilder::productOfTemporary(Operation *op, ArrayRef<unsigned> numbers, int64_t depth,
                                      TileColumns c, Type sum, function_ref<Value()> emit) {
  return once(op, c, [&] {
    Value weight = atBlock(emit);
    Value rows = loadTemporary(numbers.front(), 0, depth), sums;
    if (numbers.size() == 2)
      sums = loadTemporary(numbers[1], 0,
                           cast<MemRefType>(k.temporary(numbers[1]).getType()).getShape().back());
    return multiply(rows, weight, c.width, sum, /*acc=*/{}, sums);
  });
}

//===-- Phases before ------------------------------------------------------------------------===//

void TileBuilder::setTemporaries(Operation *op, ArrayRef<unsigned> numbers) {
  temporaries[op] = SmallVector<unsigned>(numbers);
}

Operation *TileBuilder::findPhase(function_ref<bool(Operation *)> isSame) const {
  auto found = llvm::find_if(temporaries, [&](const auto &entry) { return isSame(entry.first); });
  return found == temporaries.end() ? nullptr : found->first;
}

Value TileBuilder::loadTemporary(unsigned number, int64_t column, int64_t width) {
  Value &known = tiles[Key{k.temporary(number).getAsOpaquePointer(), column, width}];
  if (!known)
    known = loadRows(rowsOf(k.temporary(number)), k.index(column), width);
  return known;
}

void TileBuilder::emitPhaseOfRows(Operation *op, Value memory, ArrayRef<RowTemporary> found,
                                  StringRef name, function_ref<SmallVector<Value>()> emit) {
  auto from = cast<MemRefType>(memory.getType());
  SmallVector<unsigned> numbers;
  for (RowTemporary each : found) {
    SmallVector<int64_t> shape(from.getShape().take_front(form.rowAxes));
    if (each.columns > 0)
      shape.push_back(each.columns);
    numbers.push_back(
        k.addTemporary(MemRefType::get(shape, each.type), k.openSizes(memory, shape)));
  }
  setTemporaries(op, numbers);
  tileRows = helperRows;
  SmallVector<Value> extents = rowExtents(memory);
  emitHelperGrid(extents, [&] {
    for (auto [number, tile] : llvm::zip(numbers, emit()))
      storeRows(tile, k.temporary(number), k.index(0));
  });
  endPhase(name);
}

Value TileBuilder::numberOfRows(Operation *op, int64_t width) {
  Value &known = statistics[op];
  if (!known)
    known = loadRows(rowsOf(k.temporary(temporaries.at(op).front())), k.index(0), 1);
  return broadcast(known, tileRows, width);
}
