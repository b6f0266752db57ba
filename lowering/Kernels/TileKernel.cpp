// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands around the tiles of a group's values: its rows, the grid, blocks of columns, phases
// that compute what all blocks need. Refuses (`fits`) buffers that are no matrices.
#include "lowering/Kernels/TileBuilder.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using tile::TileType;

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
  SmallVector<Value> result;
  for (BlockArgument argument : form.rowOperands)
    result.push_back(k.buffer(argument));
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
  SmallVector<Value> known = memories(false);
  if (known.empty())
    return false;
  flat = form.kind == TileForm::Kind::Elements;
  if (flat && isCollapsible(0))
    return true;
  flat = false;
  if (form.rowAxes == 0)
    return false;
  if (form.located) {
    single = cast<MemRefType>(known.front().getType()).getDimSize(1) == 1 && isCollapsible(0);
    outer = single ? 0 : 1;
    return isCollapsible(outer);
  }
  for (outer = 0; outer < form.rowAxes; ++outer)
    if (isCollapsible(outer))
      return true;
  return false;
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
  for (unsigned axis = 0; axis < axes; ++axis) {
    sizes.push_back(k.size(reference, axis));
    for (Value memory : known) {
      auto other = cast<MemRefType>(memory.getType());
      if (memory == reference || (!type.isDynamicDim(axis) && !other.isDynamicDim(axis)))
        continue;
      Value unequal =
          arith::CmpIOp::create(k, arith::CmpIPredicate::ne, sizes.back(), k.size(memory, axis));
      differ = differ ? Value(arith::OrIOp::create(k, differ, unequal)) : unequal;
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
  Type element = cast<MemRefType>(memory.getType()).getElementType();
  auto type = cast<TileType>(value.getType());
  if (type.getElementType() != element)
    value = tile::CastOp::create(k, type.withElementType(element), value);
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

/// 1 / sqrt(mean of squares + eps) of each row.
void TileBuilder::emitFactors(RmsNormOp op) {
  Value x = k.buffer(op.getInput());
  auto type = cast<MemRefType>(x.getType());
  SmallVector<int64_t> shape(type.getShape().take_front(form.rowAxes));
  SmallVector<Value> sizes;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      sizes.push_back(k.size(x, axis));
  Type f32 = k.getF32Type();
  factors[op] = k.addTemporary(MemRefType::get(shape, f32), sizes);
  tileRows = helperRows;
  SmallVector<Value> extents = rowExtents(x);
  emitHelperGrid(extents, [&] {
    int64_t size = type.getShape().back();
    Value whole = loadRows(rowsOf(x), k.index(0), size);
    Value squares =
        map(tileType(tileRows, size), whole, [&](ValueRange e) { return k.mul(e[0], e[0]); });
    Value sum = reduce(tile::ReduceKind::Sum, squares);
    Value factor = map(tileType(tileRows, 1), sum, [&](ValueRange e) {
      Value mean = k.mul(e[0], k.real(f32, 1.0 / size));
      Value eps = k.real(f32, op.getEps().convertToDouble());
      return k.div(k.real(f32, 1), math::SqrtOp::create(k, k.add(mean, eps)));
    });
    storeRows(factor, k.temporary(factors.at(op)), k.index(0));
  });
  endPhase("row_factor");
}

/// An f64 angle within half a turn, as an f32, whose sine and cosine are functions of vectors. The
/// turn is taken away in two parts, the first of 33 bits, so that its product with up to a million
/// turns is exact. Off by at most 2e-7.
static Value lessWholeTurns(KernelBuilder &k, Value angle) {
  constexpr long double kTurn = 6.283185307179586476925286766559L;
  const double first = std::ldexp(std::floor(std::ldexp(static_cast<double>(kTurn), 30)), -30);
  const double second = static_cast<double>(kTurn - first);
  Type f64 = k.getF64Type();
  Value turns =
      math::RoundEvenOp::create(k, k.mul(angle, k.real(f64, static_cast<double>(1 / kTurn))));
  Value rest = k.sub(angle, k.mul(turns, k.real(f64, first)));
  rest = k.sub(rest, k.mul(turns, k.real(f64, second)));
  return k.convert(rest, k.getF32Type());
}

/// Cosines and sines of each place and pair, from products in f64: right for every position.
void TileBuilder::emitAngles(RopeOp op) {
  int64_t half = op.getDim() / 2;
  Value positions = k.buffer(op.getPositions()), reference = memories(false).front();
  Value sizesOf = positions ? positions : reference;
  SmallVector<int64_t> shape(cast<MemRefType>(sizesOf.getType()).getShape().take_front(2));
  if (!positions)
    shape[0] = 1;
  SmallVector<Value> sizes;
  for (auto [axis, size] : llvm::enumerate(shape))
    if (ShapedType::isDynamic(size))
      sizes.push_back(k.size(sizesOf, axis));
  shape.push_back(half);
  MemRefType type = MemRefType::get(shape, k.getF32Type());
  unsigned cosines = k.addTemporary(type, sizes), sines = k.addTemporary(type, sizes);
  angles[op] = {cosines, sines};
  RotaryFrequencies frequencies = getRotaryFrequencies(op);
  Value normal = emitTable(k, frequencies.normal), beyond;
  if (!frequencies.beyond.empty())
    beyond = emitTable(k, frequencies.beyond);
  RotaryContext context = emitRotaryContext(k, op, positions);
  tileRows = helperRows;
  Value memory = k.temporary(cosines);
  SmallVector<Value> extents{k.size(memory, 0)};
  if (!single)
    extents.push_back(k.size(memory, 1));
  emitHelperGrid(extents, [&] {
    auto table = [&](Value numbers) {
      Value view = viewAt(numbers, {}, {0});
      Value tile =
          tile::LoadOp::create(k, tileType(1, half, k.getF64Type()), view, k.index(0), k.index(0));
      return broadcast(tile, tileRows, half);
    };
    Value place = numbersOfRows(op.getPositions(), half);
    Value pair = tile::IotaOp::create(k, tileType(tileRows, half, k.getI32Type()), k.index(0), 1);
    SmallVector<Value> operands{place, pair, table(normal)};
    if (beyond)
      operands.push_back(table(beyond));
    for (bool cosine : {true, false}) {
      Value result = map(tileType(tileRows, half), operands, [&](ValueRange e) -> Value {
        Type f64 = k.getF64Type();
        Value frequency = emitRotaryFrequency(k, op, context, e[2], beyond ? e[3] : Value(), e[1]);
        Value angle = k.mul(arith::SIToFPOp::create(k, f64, e[0]), frequency);
        angle = lessWholeTurns(k, angle);
        Value turned = cosine ? math::CosOp::create(k, angle).getResult()
                              : math::SinOp::create(k, angle).getResult();
        if (frequencies.attentionFactor != 1)
          turned = k.mul(turned, k.real(k.getF32Type(), frequencies.attentionFactor));
        return turned;
      });
      storeRows(result, k.temporary(cosine ? cosines : sines), k.index(0));
    }
  });
  endPhase("rotary_angles");
}

//===-- Blocks of columns --------------------------------------------------------------------===//

namespace {
/// Where the columns of a result come from, and what is done to heads of them on the way.
struct Origin {
  LinearOp linear;
  int64_t offset = 0;
  SmallVector<RopeOp> ropes;
};
} // namespace

static Origin findOrigin(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto linear = dyn_cast<LinearOp>(op))
    return {linear, 0, {}};
  Origin result;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    Origin origin = findOrigin(operand);
    if (!result.linear) {
      result.linear = origin.linear;
      result.offset = origin.offset;
    }
    llvm::append_range(result.ropes, origin.ropes);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    result.offset += slice.getStaticOffsets().back();
  if (auto rope = dyn_cast<RopeOp>(op))
    result.ropes.push_back(rope);
  return result;
}

/// Results from the same columns go together: they share products.
SmallVector<TileBuilder::Strip> TileBuilder::findStrips(int64_t columns) {
  SmallVector<Strip> strips;
  SmallVector<std::tuple<Operation *, int64_t, int64_t>> keys;
  SmallVector<SmallVector<RopeOp>> ropes;
  unsigned next = 0;
  for (Value value : group.getBody().front().getTerminator()->getOperands()) {
    Sink sink{value, Value(), Value()};
    auto append = value.getDefiningOp<CacheAppendOp>();
    bool isArgmax = argmax && value == argmax.getResult();
    if (isArgmax) {
      sink.value = argmax.getInput();
      argmaxOutput = next++;
    } else if (append) {
      CacheBuffer cache = k.cache(append.getCache());
      sink = {append.getInput(), cache.memory, cache.length};
    } else {
      sink.memory = k.outputs[next++];
    }
    Origin origin = findOrigin(sink.value);
    auto shape = cast<RankedTensorType>(sink.value.getType()).getShape();
    int64_t size = 1;
    for (int64_t axis : shape.drop_front(form.rowAxes))
      size *= axis;
    std::tuple<Operation *, int64_t, int64_t> key{origin.linear, origin.offset, size};
    size_t place = llvm::find(keys, key) - keys.begin();
    if (place == keys.size()) {
      keys.push_back(key);
      strips.push_back({{}, size, 0, 0, 0, {}});
      ropes.push_back({});
    }
    Strip &strip = strips[place];
    strip.hasArgmax |= isArgmax;
    if (!isArgmax)
      strip.sinks.push_back(sink);
    llvm::append_range(ropes[place], origin.ropes);
    if (append || !origin.ropes.empty())
      strip.head = shape.back();
  }
  for (auto [strip, turned] : llvm::zip(strips, ropes)) {
    if (strip.head == 0) {
      strip.width = form.kind == TileForm::Kind::Rows ? strip.columns : columns;
      strip.pieces = {{0, strip.width}};
    } else {
      // As many heads as fit, and a whole number of blocks.
      int64_t heads = strip.columns / strip.head, each = 1;
      for (int64_t count = 1; count <= heads && count * strip.head <= columns; ++count)
        if (heads % count == 0)
          each = count;
      strip.width = each * strip.head;
      SmallVector<int64_t> cuts{0, strip.head};
      for (RopeOp rope : turned)
        cuts.append({static_cast<int64_t>(rope.getDim()) / 2, static_cast<int64_t>(rope.getDim())});
      llvm::sort(cuts);
      cuts.erase(llvm::unique(cuts), cuts.end());
      for (size_t i = 1; i < cuts.size(); ++i)
        strip.pieces.push_back({cuts[i - 1], cuts[i] - cuts[i - 1]});
    }
    strip.blocks = llvm::divideCeil(strip.columns, strip.width);
  }
  return strips;
}

void TileBuilder::store(const Sink &sink, TileColumns c, const Strip &strip, Value head) {
  Value value = tile(sink.value, c);
  if (!sink.length)
    return storeRows(value, sink.memory, c.offset == 0 ? c.base : column(c));
  // A cache is [batch, heads, capacity, size]: rows go behind its length.
  auto type = cast<MemRefType>(sink.memory.getType());
  Value inside = k.index(c.offset % strip.head);
  if (!value.getType().isF32() &&
      cast<TileType>(value.getType()).getElementType() != type.getElementType())
    value = tile::CastOp::create(
        k, cast<TileType>(value.getType()).withElementType(type.getElementType()), value);
  if (single) {
    Value view = viewAt(sink.memory, {head, sink.length}, {0, 3});
    tile::StoreOp::create(k, value, view, row, inside);
    return;
  }
  Value end = k.add(sink.length, k.size(memories(false).front(), 1));
  Value view = viewAt(sink.memory, {at[0], head}, {2, 3}, end);
  tile::StoreOp::create(k, value, view, k.add(sink.length, row), inside);
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
        store(sink, {base, h * strip.head + offset, width}, strip, head);
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

//===-- The kernel ---------------------------------------------------------------------------===//

void TileBuilder::emit(const TileSizes &sizes) {
  helperRows = std::min<int64_t>(sizes.rows, 4);
  for (RmsNormOp norm : form.factors)
    emitFactors(norm);
  for (RopeOp rope : form.ropes) {
    auto same = llvm::find_if(angles, [&](const auto &entry) {
      auto other = cast<RopeOp>(entry.first);
      return other.getPositions() == rope.getPositions() && other.getDim() == rope.getDim() &&
             other.getTheta() == rope.getTheta() && other.getScalingAttr() == rope.getScalingAttr();
    });
    if (same != angles.end())
      angles[rope] = same->second;
    else
      emitAngles(rope);
  }
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
  if (blocks > 1)
    extents.insert(extents.begin(), k.index(blocks));
  tile::KernelOp::create(k, extents, [&](OpBuilder &inner, Location, ValueRange ivs) {
    OpBuilder::InsertionGuard guard(k);
    k.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
    Value number = blocks > 1 ? ivs.front() : k.index(0);
    at = SmallVector<Value>(ivs.drop_front(blocks > 1).drop_back());
    Value begin = k.mul(ivs.back(), k.index(sizes.chunk)), end;
    bool loops = sizes.chunk != sizes.rows;
    if (loops)
      end = arith::MinSIOp::create(k, k.add(begin, k.index(sizes.chunk)), rows);
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
          strip.sinks.push_back({value, k.outputs[next++], Value()});
        emitBlock(strip, ivs.front(), k.index(0), Value(), /*loops=*/false);
      });
}

bool mlir::fovea::buildTiles(KernelBuilder &k, GroupOp group, Attribute schedule) {
  TileForm form = getTileForm(group);
  if (form.kind == TileForm::Kind::None)
    return false;
  TileBuilder builder(k, group, form);
  if (!builder.fits())
    return false;
  if (auto sizes = dyn_cast<ContractionScheduleAttr>(schedule)) {
    ArrayRef<int64_t> tile = sizes.getTile();
    builder.emit({tile[0], tile[1], sizes.getChunk(), SmallVector<int64_t>(sizes.getBlock())});
  } else if (auto rows = dyn_cast<RowScheduleAttr>(schedule)) {
    builder.emit({rows.getRows(), 1, rows.getRows(), {}});
  } else if (form.kind == TileForm::Kind::Elements) {
    builder.emitElements(cast<ElementScheduleAttr>(schedule).getCount());
  } else {
    return false;
  }
  return true;
}
