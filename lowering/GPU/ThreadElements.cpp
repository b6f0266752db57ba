// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops on elements: each register by itself, and reductions, in which registers, then lanes, then
// warps meet.
#include "dialects/ElementTypes.h"
#include "lowering/GPU/ThreadLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The ops of a map's body that give the same for every element and may run once before.
static llvm::SetVector<Operation *> findUniform(Block &body) {
  llvm::SetVector<Operation *> uniform;
  for (Operation &op : body.without_terminator()) {
    bool same = isPure(&op) && op.getNumRegions() == 0 &&
                llvm::all_of(op.getOperands(), [&](Value operand) {
                  return operand.getParentBlock() != &body ||
                         (operand.getDefiningOp() && uniform.contains(operand.getDefiningOp()));
                });
    if (same)
      uniform.insert(&op);
  }
  return uniform;
}

LogicalResult ThreadLowering::lower(MapOp op) {
  TileType type = op.getResult().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  Block &body = op.getBody().front();
  TileRegisters registers(type);
  llvm::SetVector<Operation *> uniform = findUniform(body);
  bool anywhere = true; // may run on elements that are none
  for (Operation &inner : body.without_terminator()) {
    for (Value operand : inner.getOperands())
      if (isa<TileType, ViewType, SharedType>(operand.getType()))
        return inner.emitOpError("has to do with tiles, expects scalars in a tile.map");
    if (uniform.contains(&inner))
      b.clone(inner, mapping);
    else
      anywhere &= isPure(&inner);
  }
  SmallVector<SmallVector<Value>> inputs;
  for (Value input : op.getInputs())
    inputs.emplace_back(getTile(input));
  SmallVector<Value> values;
  for (int64_t i = 0; i < registers.count(); ++i) {
    if (registers.surelyOutside(i)) {
      values.push_back(b.zero(type.getElementType()));
      continue;
    }
    for (auto [argument, input] : llvm::zip(body.getArguments(), inputs))
      mapping.map(argument, input[i]);
    auto run = [&] {
      for (Operation &inner : body.without_terminator())
        if (!uniform.contains(&inner))
          b.clone(inner, mapping);
      return SmallVector<Value>{get(body.getTerminator()->getOperand(0))};
    };
    Value inside = anywhere ? Value() : isInside(type, registers, i);
    values.push_back(where(inside, type.getElementType(), run).front());
  }
  define(op.getResult(), values);
  return success();
}

LogicalResult ThreadLowering::lower(BroadcastOp op) {
  TileType type = op.getResult().getType(), from = op.getInput().getType();
  if (failed(checkLayout(op, type)) || failed(checkLayout(op, from)))
    return failure();
  TileRegisters registers(type), source(from);
  SmallVector<Value> input(getTile(op.getInput())), values;
  for (int64_t i = 0; i < registers.count(); ++i) {
    int64_t at[2];
    for (int64_t axis : {0, 1})
      at[axis] = source.count(axis) == 1 ? 0 : registers.along(axis, i);
    values.push_back(input[source.index(at[0], at[1])]);
  }
  define(op.getResult(), values);
  return success();
}

LogicalResult ThreadLowering::lower(ExtractOp op) {
  TileType type = op.getTile().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  if (type.getLayout().getThreads() != 1)
    return op.emitOpError("expects an element that every thread holds, got ") << type;
  mapping.map(op.getElement(), getTile(op.getTile()).front());
  return success();
}

LogicalResult ThreadLowering::lower(SplatOp op) {
  TileType type = op.getResult().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  define(op.getResult(), SmallVector<Value>(TileRegisters(type).count(), get(op.getValue())));
  return success();
}

LogicalResult ThreadLowering::lower(IotaOp op) {
  TileType type = op.getResult().getType();
  if (failed(checkLayout(op, type)))
    return failure();
  TileRegisters registers(type);
  // Wraps as the number does that an index is cut to.
  Value first = b.createOrFold<arith::IndexCastOp>(b.getI32Type(), get(op.getFirst()));
  first = b.createOrFold<arith::AddIOp>(first, part32(type.getLayout(), op.getAxis()));
  SmallVector<Value> values;
  for (int64_t i = 0; i < registers.count(); ++i) {
    int64_t place = registers.place(op.getAxis(), registers.along(op.getAxis(), i));
    values.push_back(b.createOrFold<arith::AddIOp>(first, int32(place)));
  }
  define(op.getResult(), values);
  return success();
}

/// For each register of `to`, the one of `from` with the same element in the same thread; empty if
/// some thread lacks one, or threads have it in different registers.
static SmallVector<int64_t> matchRegisters(TileType from, TileType to, int64_t threads) {
  TileRegisters source(from), target(to);
  auto place = [](TileType type, const TileRegisters &registers, int64_t thread, int64_t axis,
                  int64_t number) {
    int64_t sum = registers.place(axis, number), stride = 1;
    for (LayoutAttr::Digit digit : type.getLayout().getDigits(axis)) {
      if (digit.by)
        sum += thread / digit.by % digit.size * stride;
      stride *= digit.size;
    }
    return sum;
  };
  SmallVector<int64_t> matches[2];
  for (int64_t axis : {0, 1}) {
    matches[axis].assign(target.count(axis), -1);
    for (int64_t thread = 0; thread < threads; ++thread) {
      llvm::DenseMap<int64_t, int64_t> held;
      for (int64_t i = source.count(axis) - 1; i >= 0; --i)
        held[place(from, source, thread, axis, i)] = i;
      for (int64_t i = 0; i < target.count(axis); ++i) {
        int64_t wanted = place(to, target, thread, axis, i);
        if (wanted >= to.getSize(axis)) // no element
          continue;
        auto found = held.find(wanted);
        if (found == held.end() || (matches[axis][i] >= 0 && matches[axis][i] != found->second))
          return {};
        matches[axis][i] = found->second;
      }
    }
  }
  SmallVector<int64_t> result;
  for (int64_t i = 0; i < target.count(); ++i)
    result.push_back(source.index(std::max<int64_t>(matches[0][target.along(0, i)], 0),
                                  std::max<int64_t>(matches[1][target.along(1, i)], 0)));
  return result;
}

LogicalResult ThreadLowering::lower(CastOp op) {
  TileType from = op.getInput().getType(), type = op.getResult().getType();
  if (failed(checkLayout(op, type)) || failed(checkLayout(op, from)))
    return failure();
  SmallVector<int64_t> sources;
  if (from.getLayout() == type.getLayout())
    sources = llvm::to_vector(llvm::seq<int64_t>(0, TileRegisters(type).count()));
  else
    sources = matchRegisters(from, type, threads);
  if (sources.empty())
    return op.emitOpError("expects a layout whose elements every thread has in registers of ")
           << from << ", got " << type;
  SmallVector<Value> input(getTile(op.getInput())), values;
  Type element = type.getElementType();
  bool isPairs = sources.size() % 2 == 0 && from.getElementType().isF32() && isHalf(element);
  if (!isPairs) {
    for (int64_t source : sources)
      values.push_back(b.convert(input[source], element));
    define(op.getResult(), values);
    return success();
  }
  // One instruction rounds two, as products and stores take them; its first operand is the second.
  auto pair = VectorType::get({2}, element);
  StringAttr intrinsic =
      b.getStringAttr(element.isF16() ? "llvm.nvvm.ff2f16x2.rn" : "llvm.nvvm.ff2bf16x2.rn");
  for (size_t i = 0; i < sources.size(); i += 2) {
    Value words[] = {input[sources[i + 1]], input[sources[i]]};
    Value both = LLVM::CallIntrinsicOp::create(b, pair, intrinsic, words).getResult(0);
    llvm::append_range(values, toElements(both));
  }
  define(op.getResult(), values);
  return success();
}

//===-- Reductions ---------------------------------------------------------------------------===//

Value ThreadLowering::join(ReduceKind kind, Value l, Value r) {
  if (kind == ReduceKind::Sum)
    return arith::AddFOp::create(b, l, r);
  return arith::MaxNumFOp::create(b, l, r);
}

/// The value of the lane whose number differs by that bit.
Value ThreadLowering::shuffle(Value value, int64_t distance) {
  auto exchange = [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), int32(-1), word, int32(distance),
                                int32(kWarp - 1), NVVM::ShflKind::bfly, UnitAttr());
  };
  if (value.getType().isF32())
    return exchange(value);
  Value bits = arith::BitcastOp::create(b, b.getI64Type(), value);
  Value half = arith::ConstantOp::create(b, b.getI64IntegerAttr(32));
  Value low = exchange(arith::TruncIOp::create(b, b.getI32Type(), bits));
  Value high =
      exchange(arith::TruncIOp::create(b, b.getI32Type(), arith::ShRUIOp::create(b, bits, half)));
  low = arith::ExtUIOp::create(b, b.getI64Type(), low);
  high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, b.getI64Type(), high), half);
  return arith::BitcastOp::create(b, value.getType(), arith::OrIOp::create(b, low, high));
}

LogicalResult ThreadLowering::meet(Operation *op, MutableArrayRef<Value> parts,
                                   TypedValue<SharedType> scratch, ArrayRef<Value> holders,
                                   ReduceKind kind) {
  SharedType type = scratch.getType();
  int64_t count = parts.size();
  Type element = parts.front().getType();
  if (type.getRows() < threads || type.getColumns() < count || type.getElementType() != element)
    return op->emitOpError("expects a scratch of ")
           << threads << "x" << count << "x" << element << ", got " << type;
  Value memory = get(scratch);
  auto place = [&](Value holder, int64_t i) {
    return add32(mul32(holder, type.getRowStride()), int32(i * type.getColumnStride()));
  };
  for (int64_t i = 0; i < count; ++i)
    storeShared(parts[i], memory, type, place(thread, i));
  emitBarrier();
  for (auto [number, holder] : llvm::enumerate(holders))
    for (int64_t i = 0; i < count; ++i) {
      Value value = loadShared(memory, type, place(holder, i));
      parts[i] = number == 0 ? value : join(kind, parts[i], value);
    }
  return success();
}

/// Every thread joins in the same order, so copies stay equal to the bit.
LogicalResult ThreadLowering::lower(ReduceOp op) {
  TileType from = op.getInput().getType(), type = op.getResult().getType();
  if (failed(checkLayout(op, from)) || failed(checkLayout(op, type)))
    return failure();
  int64_t axis = op.getAxis(), other = 1 - axis;
  LayoutAttr layout = from.getLayout();
  TileRegisters source(from), registers(type);
  Type element = type.getElementType();
  SmallVector<Value> input(getTile(op.getInput()));
  // What is past the tile must not count: a NaN is no number where there is another.
  Value none = op.getKind() == ReduceKind::Sum
                   ? b.zero(element)
                   : Value(arith::ConstantOp::create(
                         b, b.getFloatAttr(element, std::numeric_limits<double>::quiet_NaN())));
  SmallVector<Value> sums;
  for (int64_t o = 0; o < source.count(other); ++o) {
    Value sum;
    for (int64_t i = 0; i < source.count(axis); ++i) {
      if (source.surelyOutside(axis, i))
        continue;
      Value value = input[axis == 0 ? source.index(i, o) : source.index(o, i)];
      if (Value inside = isInside(from, source, axis, i))
        value = arith::SelectOp::create(b, inside, value, none);
      sum = sum ? join(op.getKind(), sum, value) : value;
    }
    sums.push_back(sum ? sum : none);
  }
  ReduceDigits digits(layout, axis);
  for (LayoutAttr::Digit one : digits.lanes)
    for (int64_t distance = one.by; distance < one.by * one.size; distance *= 2)
      for (Value &sum : sums)
        sum = join(op.getKind(), sum, shuffle(sum, distance));
  int64_t parts = digits.parts();
  if (parts == 1) {
    define(op.getResult(), sums);
    return success();
  }

  if (!op.getScratch())
    return op.emitOpError("expects a scratch, since ")
           << parts << " groups of threads hold elements along the axis";
  // The first threads with this one's place along the other axis: the last ones that hold copies
  // may be fewer.
  Value first = int32(0);
  for (LayoutAttr::Digit one : layout.getDigits(other))
    if (one.by && one.size > 1)
      first = add32(first, mul32(digit(one), one.by));
  SmallVector<Value> holders;
  for (int64_t part = 0; part < parts; ++part) {
    int64_t offset = 0, rest = part;
    for (LayoutAttr::Digit one : digits.across) {
      offset += rest % one.size * one.by;
      rest /= one.size;
    }
    holders.push_back(add32(first, int32(offset)));
  }
  if (failed(meet(op, sums, op.getScratch(), holders, op.getKind())))
    return failure();
  define(op.getResult(), sums);
  return success();
}
