// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands around the tiles of a group's values: its rows, the grid, blocks of columns, phases
// that compute what all blocks need. Refuses (`fits`) buffers that are no matrices.
#include "lowering/Kernels/TileBuilder.h"
#include "lowering/Targets/Table.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::fovea;

Attribute mlir::fovea::makeContraction(MLIRContext *context, const ContractionSizes &sizes,
                                       Type operands) {
  ContractionAxis outermost =
      sizes.rowsOutermost ? ContractionAxis::Rows : ContractionAxis::Outputs;
  return ContractionScheduleAttr::get(context, sizes.tile, sizes.chunk, sizes.block, outermost,
                                      operands);
}

SmallVector<ReassociationIndices> mlir::fovea::getMatrixAxes(int64_t rank, unsigned rowAxes,
                                                             unsigned outer) {
  SmallVector<ReassociationIndices> groups;
  for (unsigned axis = 0; axis < outer; ++axis)
    groups.push_back({axis});
  ReassociationIndices rows, columns;
  for (int64_t axis = outer; axis < rank; ++axis)
    (axis < rowAxes ? rows : columns).push_back(axis);
  for (const ReassociationIndices &joined : {rows, columns})
    if (!joined.empty())
      groups.push_back(joined);
  return groups;
}

SmallVector<ReassociationIndices> mlir::fovea::getAllAxes(int64_t rank) {
  return {llvm::to_vector<2>(llvm::seq<int64_t>(rank))};
}

//===-- Rows ---------------------------------------------------------------------------------===//

/// Buffers with the group's rows; with `all`, those that batches share too.
SmallVector<Value> TileBuilder::memories(bool all) {
  SmallVector<Value> result = llvm::map_to_vector(
      form.rowOperands, [&](BlockArgument argument) { return k.buffer(argument); });
  llvm::append_range(result, k.outputs);
  if (all)
    for (BlockArgument argument : form.sharedOperands)
      result.push_back(k.buffer(argument));
  return result;
}

bool TileBuilder::isCollapsible(unsigned outerAxes) {
  return llvm::all_of(memories(true), [&](Value memory) {
    auto type = cast<MemRefType>(memory.getType());
    return memref::CollapseShapeOp::isGuaranteedCollapsible(
        type,
        flat ? getAllAxes(type.getRank()) : getMatrixAxes(type.getRank(), form.rowAxes, outerAxes));
  });
}

bool TileBuilder::fits() {
  for (Value memory : memories(true)) {
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<int64_t> strides;
    int64_t offset;
    if (type.getRank() == 0 || failed(type.getStridesAndOffset(strides, offset)) ||
        strides.back() != 1)
      return false;
  }
  // Rows found by their numbers are those of one matrix.
  for (BlockArgument argument : form.matrices) {
    auto type = cast<MemRefType>(k.buffer(argument).getType());
    if (!memref::CollapseShapeOp::isGuaranteedCollapsible(
            type, getMatrixAxes(type.getRank(), type.getRank() - 1, 0)))
      return false;
  }
  SmallVector<Value> known = memories(false);
  if (known.empty())
    return false;
  flat = form.kind == TileKind::Elements;
  if (flat && isCollapsible(0))
    return true;
  auto isOpen = [](Value memory) {
    return ShapedType::isDynamic(cast<MemRefType>(memory.getType()).getShape().back());
  };
  if (form.rowAxes == 0 || (flat && llvm::any_of(known, isOpen)))
    return false;
  flat = false;
  if (form.located) {
    single = cast<MemRefType>(known.front().getType()).getDimSize(1) == 1 && isCollapsible(0);
    outer = single ? 0 : 1;
    return isCollapsible(outer);
  }
  int64_t mostOuter = form.parts ? form.outerAxes + 1 : form.rowAxes;
  for (outer = form.outerAxes; outer < mostOuter; ++outer)
    if (isCollapsible(outer))
      return true;
  return false;
}

/// Of an operand, or of a value that has the axes of the results.
Value TileBuilder::sizeOf(TensorAxis axis) {
  Value memory = k.buffer(axis.tensor);
  return k.size(memory ? memory : k.outputs.front(), axis.axis);
}

/// The extents of the outer row axes and then the number of rows. All zero, and the call at fault,
/// if the buffers' sizes differ.
SmallVector<Value> TileBuilder::rowExtents(ArrayRef<Value> known) {
  // A result that batches share is all rows only if nothing else is.
  Value reference = known.front();
  if (form.located)
    for (Value memory : known)
      if (cast<MemRefType>(memory.getType()).getDimSize(0) != 1) {
        reference = memory;
        break;
      }
  auto type = cast<MemRefType>(reference.getType());
  unsigned axes = flat ? type.getRank() : form.rowAxes;
  SmallVector<Value> sizes;
  Value differ;
  auto require = [&](Value l, Value r) {
    Value unequal = arith::CmpIOp::create(k, arith::CmpIPredicate::ne, l, r);
    differ = differ ? Value(arith::OrIOp::create(k, differ, unequal)) : unequal;
  };
  for (auto [a, b] : form.equalSizes)
    require(sizeOf(a), sizeOf(b));
  for (unsigned axis = 0; axis < axes; ++axis) {
    sizes.push_back(k.size(reference, axis));
    for (Value memory : known) {
      auto other = cast<MemRefType>(memory.getType());
      if (memory == reference || (!type.isDynamicDim(axis) && !other.isDynamicDim(axis)))
        continue;
      require(sizes.back(), k.size(memory, axis));
    }
  }
  SmallVector<Value> result;
  for (unsigned axis = 0; axis < axes; ++axis) {
    if (axis <= outer || result.empty())
      result.push_back(sizes[axis]);
    else
      result.back() = k.mul(result.back(), sizes[axis]);
  }
  if (differ) {
    FaultOp::create(k, differ);
    for (Value &extent : result)
      extent = k.select(differ, k.index(0), extent);
  }
  return result;
}

//===-- Phases before ------------------------------------------------------------------------===//

void TileBuilder::forgetBlock() {
  tiles.clear();
  blockValues.clear();
  statistics.clear();
  wholeRows.clear();
  rowLoop = nullptr;
}

void TileBuilder::endPhase(StringRef name) {
  k.nextPhase(name);
  matrices.clear();
  forgetBlock();
}

static Value ceilDiv(KernelBuilder &k, Value extent, int64_t by) {
  return by == 1 ? extent : arith::CeilDivUIOp::create(k, extent, k.index(by)).getResult();
}

void TileBuilder::storeRows(Value value, Value memory, Value column) {
  Rows rows = rowsOf(memory);
  value = castTo(value, elementOf(memory));
  tile::StoreOp::create(k, value, rows.view, flat ? k.index(0) : row, column);
}

void TileBuilder::emitHelperGrid(SmallVector<Value> extents, function_ref<void()> body) {
  extents.back() = ceilDiv(k, extents.back(), tileRows);
  tile::KernelOp::create(k, extents, [&](OpBuilder &inner, Location, ValueRange ivs) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    at = SmallVector<Value>(ivs.drop_back());
    row = k.mul(ivs.back(), k.index(tileRows));
    body();
  });
}

//===-- Blocks of columns --------------------------------------------------------------------===//

namespace {
/// Where the columns of a result come from, and what is done to heads of them on the way.
struct Origin {
  Operation *product = nullptr;
  int64_t offset = 0;
  bool heads = false;
  SmallVector<int64_t> cuts; ///< of a head
};
} // namespace

static Origin findOrigin(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  TileNeeds needs = getTileNeeds(op);
  if (needs.kind == TileNeeds::Product)
    return {op, 0, false, {}};
  Origin result;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    Origin origin = findOrigin(operand);
    if (!result.product) {
      result.product = origin.product;
      result.offset = origin.offset;
    }
    result.heads |= origin.heads;
    llvm::append_range(result.cuts, origin.cuts);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    result.offset += slice.getStaticOffsets().back();
  result.heads |= needs.heads;
  llvm::append_range(result.cuts, needs.cuts);
  return result;
}

/// Results from the same columns go together: they share products.
SmallVector<TileBuilder::Strip> TileBuilder::findStrips(int64_t columns) {
  SmallVector<Strip> strips;
  SmallVector<std::tuple<Operation *, int64_t, int64_t>> keys;
  SmallVector<SmallVector<int64_t>> headCuts;
  unsigned next = 0;
  for (Value value : group.getBody().front().getTerminator()->getOperands()) {
    Sink sink{value, Value(), Value(), Value()};
    auto append = value.getDefiningOp<CacheAppendOp>();
    if (append && value == append.getGrownScales())
      continue; // with the integers
    bool isArgmax = argmax && value == argmax.getResult();
    if (isArgmax) {
      sink.value = argmax.getInput();
      argmaxOutput = next++;
    } else if (append) {
      CacheBuffer cache = k.cache(append.getCache());
      Value scales = append.getScales() ? k.cache(append.getScales()).memory : Value();
      sink = {append.getInput(), cache.memory, cache.length, scales};
    } else {
      sink.memory = k.outputs[next++];
    }
    Origin origin = findOrigin(sink.value);
    auto shape = cast<RankedTensorType>(sink.value.getType()).getShape();
    int64_t size = 1;
    for (int64_t axis : shape.drop_front(form.rowAxes))
      size *= axis; // an open one is alone
    std::tuple<Operation *, int64_t, int64_t> key{origin.product, origin.offset, size};
    size_t place = llvm::find(keys, key) - keys.begin();
    if (place == keys.size()) {
      keys.push_back(key);
      strips.push_back({{}, size, 0, 0, 0, {}});
      headCuts.push_back({});
    }
    Strip &strip = strips[place];
    strip.hasArgmax |= isArgmax;
    if (!isArgmax)
      strip.sinks.push_back(sink);
    llvm::append_range(headCuts[place], origin.cuts);
    if (append || origin.heads)
      strip.head = shape.back();
  }
  for (auto [strip, inner] : llvm::zip(strips, headCuts)) {
    if (strip.head == 0) {
      strip.width = form.kind == TileKind::Rows ? strip.columns : columns;
      strip.pieces = {{0, strip.width}};
    } else {
      // As many heads as fit, and a whole number of blocks.
      int64_t heads = strip.columns / strip.head, each = 1;
      for (int64_t count = 1; count <= heads && count * strip.head <= columns; ++count)
        if (heads % count == 0)
          each = count;
      strip.width = each * strip.head;
      SmallVector<int64_t> cuts{0, strip.head};
      llvm::append_range(cuts, inner);
      llvm::sort(cuts);
      cuts.erase(llvm::unique(cuts), cuts.end());
      for (size_t i = 1; i < cuts.size(); ++i)
        strip.pieces.push_back({cuts[i - 1], cuts[i] - cuts[i - 1]});
    }
    strip.blocks = form.hasOpenColumns ? 0 : llvm::divideCeil(strip.columns, strip.width);
  }
  return strips;
}

void TileBuilder::store(const Sink &sink, TileColumns c, const Strip &strip, Value head) {
  Value value = tile(sink.value, c);
  if (!sink.length)
    return storeRows(value, sink.memory, c.offset == 0 ? c.base : column(c));
  storeInCache(sink, sink.memory, castTo(value, elementOf(sink.memory)), head,
               c.offset % strip.head);
}

/// A cache is [batch, heads, capacity, size]: rows go behind its length.
void TileBuilder::storeInCache(const Sink &sink, Value memory, Value value, Value head,
                               int64_t column) {
  Value inside = k.index(column);
  if (single) {
    Value view = viewAt(memory, {head, sink.length}, {0, 3});
    tile::StoreOp::create(k, value, view, row, inside);
    return;
  }
  Value end = k.add(sink.length, k.size(memories(false).front(), 1));
  Value view = viewAt(memory, {at[0], head}, {2, 3}, end);
  tile::StoreOp::create(k, value, view, k.add(sink.length, row), inside);
}

/// A head's rows as integers with a scale each. `first` is the head's first column.
void TileBuilder::storeIntegers(const Sink &sink, const Strip &strip, Value base, int64_t first,
                                Value head) {
  SmallVector<Value> parts;
  for (auto [offset, width] : strip.pieces)
    parts.push_back(castTo(tile(sink.value, {base, first + offset, width}), k.getF32Type()));
  QuantizedTiles found = quantizeTiles(*this, parts, Value(), k.getI8Type(), /*zeroPoint=*/0);
  for (auto [piece, integers] : llvm::zip(strip.pieces, found.integers))
    storeInCache(sink, sink.memory, integers, head, piece.first);
  storeInCache(sink, sink.scales, found.scale, head, 0);
}

/// One tile of rows of block `number` of the strip.
void TileBuilder::emitTile(const Strip &strip, Value number) {
  Value base = atBlock([&] {
    return strip.blocks == 1 && !flat ? k.index(0) : k.mul(number, k.index(strip.width));
  });
  int64_t each = strip.head ? strip.width / strip.head : 1;
  for (int64_t h = 0; h < each; ++h) {
    Value head;
    if (strip.head)
      head = atBlock([&] { return k.add(k.mul(number, k.index(each)), k.index(h)); });
    for (auto [offset, width] : strip.pieces)
      for (const Sink &sink : strip.sinks)
        if (!sink.scales)
          store(sink, {base, h * strip.head + offset, width}, strip, head);
    for (const Sink &sink : strip.sinks)
      if (sink.scales)
        storeIntegers(sink, strip, base, h * strip.head, head);
  }
  if (strip.hasArgmax)
    emitGreatest(strip, number, base);
}

void TileBuilder::emitBlock(const Strip &strip, Value number, Value begin, Value end, bool loops) {
  forgetBlock();
  if (!loops) {
    row = begin;
    return emitTile(strip, number);
  }
  auto loop = scf::ForOp::create(k, begin, end, k.index(tileRows));
  OpBuilder::InsertionGuard guard(k);
  k.setInsertionPoint(loop.getBody()->getTerminator());
  rowLoop = loop;
  row = loop.getInductionVar();
  emitTile(strip, number);
  rowLoop = nullptr;
}

//===-- Parts of the rows --------------------------------------------------------------------===//

/// Where the rows of the block's part begin; those of one whose bounds are none begin and end at 0,
/// and the call is at fault. All rows are in a part: the first begins with them, the last ends so.
Value TileBuilder::beginPart(Value rows) {
  Value offsets = k.buffer(form.parts);
  int64_t count = cast<MemRefType>(offsets.getType()).getDimSize(0) - 1;
  auto load = [&](Value at) { return k.toIndex(k.load(offsets, at)); };
  Value begin = load(part), end = load(k.add(part, k.index(1)));
  auto compare = [&](arith::CmpIPredicate predicate, Value l, Value r) -> Value {
    return arith::CmpIOp::create(k, predicate, l, r);
  };
  auto either = [&](Value l, Value r) -> Value { return arith::OrIOp::create(k, l, r); };
  // Negative ones are large without a sign.
  Value wrong = either(compare(arith::CmpIPredicate::ugt, begin, end),
                       compare(arith::CmpIPredicate::ugt, end, rows));
  Value first = arith::SelectOp::create(k, compare(arith::CmpIPredicate::eq, part, k.index(0)),
                                        begin, k.index(0));
  Value last = arith::SelectOp::create(
      k, compare(arith::CmpIPredicate::eq, part, k.index(count - 1)), end, rows);
  wrong = either(wrong, either(compare(arith::CmpIPredicate::ne, first, k.index(0)),
                               compare(arith::CmpIPredicate::ne, last, rows)));
  FaultOp::create(k, wrong);
  partEnd = k.select(wrong, k.index(0), end);
  return k.select(wrong, k.index(0), begin);
}

/// The rows that a block has by its place in the grid, behind the block of columns. What follows is
/// emitted for those that there are.
std::pair<Value, Value> TileBuilder::beginRows(ValueRange ivs, const TileSizes &sizes, Value rows) {
  bool hasChunks = sizes.chunk != sizes.rows;
  if (!form.parts) {
    at = SmallVector<Value>(ivs.drop_back());
    Value begin = k.mul(ivs.back(), k.index(sizes.chunk)), end;
    if (hasChunks)
      end = arith::MinSIOp::create(k, k.add(begin, k.index(sizes.chunk)), rows);
    return {begin, end};
  }
  part = ivs.front();
  Value begin = beginPart(rows);
  if (hasChunks)
    return {begin, partEnd};
  begin = k.add(begin, k.mul(ivs.back(), k.index(sizes.rows)));
  auto isThere = scf::IfOp::create(k, k.less(begin, partEnd), /*withElseRegion=*/false);
  k.setInsertionPoint(isThere.thenBlock()->getTerminator());
  return {begin, partEnd};
}

//===-- The kernel ---------------------------------------------------------------------------===//

void TileBuilder::emit(const TileSizes &sizes) {
  helperRows = std::min<int64_t>(sizes.rows, 4);
  operands = sizes.operands;
  for (Operation *op : form.phasesBefore)
    cast<KernelOpInterface>(op).emitPhaseBefore(*this);
  tileRows = sizes.rows;
  block = sizes.block;

  SmallVector<Strip> strips = findStrips(sizes.columns);
  int64_t blocks = 0;
  for (const Strip &strip : strips)
    blocks += strip.blocks;
  for (const Strip &strip : strips)
    if (strip.hasArgmax)
      addArgmaxTemporaries(strip);
  SmallVector<Value> extents = rowExtents(memories(false));
  Value rows = extents.back();
  extents.back() = ceilDiv(k, rows, sizes.chunk);
  if (form.parts) {
    // A block has all rows of a part, or a tile of them: as many as the longest part may have.
    if (sizes.chunk != sizes.rows)
      extents.clear();
    int64_t count = cast<RankedTensorType>(form.parts.getType()).getDimSize(0) - 1;
    extents.insert(extents.begin(), k.index(count));
  }
  bool areSplit = blocks > 1 || form.hasOpenColumns;
  bool isInnermost = sizes.rowsOutermost || form.parts;
  if (areSplit) {
    Value count = k.index(blocks);
    if (form.hasOpenColumns)
      count = ceilDiv(k, k.size(k.outputs.front(), form.rowAxes), strips.front().width);
    extents.insert(isInnermost ? extents.end() : extents.begin(), count);
  }
  tile::KernelOp::create(k, extents, [&](OpBuilder &inner, Location, ValueRange ivs) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    Value number = k.index(0);
    if (areSplit) {
      number = isInnermost ? ivs.back() : ivs.front();
      ivs = isInnermost ? ivs.drop_back() : ivs.drop_front();
    }
    auto [begin, end] = beginRows(ivs, sizes, rows);
    bool loops = sizes.chunk != sizes.rows;
    // One strip after the other; a block belongs to one of them.
    int64_t first = 0;
    for (const Strip &strip : strips) {
      Value own = first == 0 ? number : k.sub(number, k.index(first));
      first += strip.blocks;
      if (first == blocks) {
        emitBlock(strip, own, begin, end, loops);
        break;
      }
      auto choice = scf::IfOp::create(k, k.less(number, k.index(first)), /*withElseRegion=*/true);
      {
        OpBuilder::InsertionGuard branch(k);
        k.setInsertionPoint(choice.thenBlock()->getTerminator());
        emitBlock(strip, own, begin, end, loops);
      }
      k.setInsertionPoint(choice.elseBlock()->getTerminator());
    }
  });
  if (argmax)
    emitArgmax();
}

void TileBuilder::emitElements(int64_t count) {
  if (!flat) {
    auto type = cast<MemRefType>(k.outputs.front().getType());
    int64_t columns = std::min(count, type.getShape().back());
    int64_t rows = std::max<int64_t>(count / std::max<int64_t>(columns, 1), 1);
    return emit({rows, columns, rows, {}});
  }
  SmallVector<Value> extents = rowExtents(memories(false));
  Value total = extents.front();
  for (Value extent : ArrayRef(extents).drop_front())
    total = k.mul(total, extent);
  tile::KernelOp::create(
      k, ceilDiv(k, total, count), [&](OpBuilder &inner, Location, ValueRange ivs) {
        OpBuilder::InsertionGuard guard(k);
        k.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
        Strip strip{{}, 0, 0, count, 1, {{0, count}}};
        unsigned next = 0;
        for (Value value : group.getBody().front().getTerminator()->getOperands())
          strip.sinks.push_back({value, k.outputs[next++], Value(), Value()});
        emitBlock(strip, ivs.front(), k.index(0), Value(), /*loops=*/false);
      });
}

FailureOr<bool> mlir::fovea::buildTiles(KernelBuilder &k, GroupOp group, Attribute schedule) {
  TileForm form = getTileForm(group);
  auto refuse = [&] {
    return group.emitOpError("is no computation that ") << schedule << " is a schedule of";
  };
  if (form.kind == TileKind::None)
    return refuse();
  TileBuilder builder(k, group, form);
  if (!builder.fits())
    return false;
  if (auto sizes = dyn_cast<ContractionScheduleAttr>(schedule)) {
    ArrayRef<int64_t> tile = sizes.getTile();
    builder.emit({tile[0], tile[1], sizes.getChunk(), SmallVector<int64_t>(sizes.getBlock()),
                  sizes.getOutermost() == ContractionAxis::Rows, sizes.getOperands()});
  } else if (auto rows = dyn_cast<RowScheduleAttr>(schedule)) {
    builder.emit({rows.getRows(), 1, rows.getRows(), {}});
  } else if (form.kind == TileKind::Elements) {
    builder.emitElements(cast<ElementScheduleAttr>(schedule).getCount());
  } else {
    return refuse();
  }
  return true;
}
