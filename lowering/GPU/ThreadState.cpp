// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all ops' lowerings ask: this thread's digits, where its registers lie, and conditions.
#include "lowering/GPU/ThreadLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

//===-- Values -------------------------------------------------------------------------------===//

FailureOr<const ViewMemory *> ThreadLowering::getView(Operation *op, Value view) {
  auto found = views.find(view);
  if (found == views.end())
    return op->emitOpError("expects views made by tile.view or tile.packed, got one of ")
           << view.getType() << " that is carried";
  return &found->second;
}

LogicalResult ThreadLowering::checkLayout(Operation *op, TileType type) {
  LayoutAttr layout = type.getLayout();
  if (!layout)
    return op->emitOpError("expects tiles with layouts, got ") << type;
  if (layout.getThreads() > threads)
    return op->emitOpError("expects layouts of at most ")
           << threads << " threads, got " << layout.getThreads() << " in " << type;
  return success();
}

/// Sums and products of places, which are small and not negative.
static constexpr auto kNoWrap = arith::IntegerOverflowFlags::nsw | arith::IntegerOverflowFlags::nuw;

Value ThreadLowering::int32(int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

Value ThreadLowering::add32(Value l, Value r) {
  return b.createOrFold<arith::AddIOp>(l, r, kNoWrap);
}

Value ThreadLowering::mul32(Value l, int64_t r) {
  return b.createOrFold<arith::MulIOp>(l, int32(r), kNoWrap);
}

Value ThreadLowering::toIndex(Value narrow) {
  return b.createOrFold<arith::IndexCastUIOp>(b.getIndexType(), narrow);
}

//===-- Threads ------------------------------------------------------------------------------===//

Value ThreadLowering::atEntry(function_ref<Value()> make) {
  OpBuilder::InsertionGuard guard(b);
  if (lastAtEntry)
    b.setInsertionPointAfter(lastAtEntry);
  else
    b.setInsertionPointToStart(entry);
  Value value = make();
  if (b.getInsertionPoint() != entry->begin())
    lastAtEntry = &*std::prev(b.getInsertionPoint());
  return value;
}

Value ThreadLowering::digit(LayoutAttr::Digit digit) {
  Value &known = digits[{digit.size, digit.by}];
  if (!known)
    known = atEntry([&]() -> Value {
      Value value = b.createOrFold<arith::DivUIOp>(threadAtEntry, int32(digit.by));
      if (digit.size * digit.by >= threads)
        return value;
      return b.createOrFold<arith::RemUIOp>(value, int32(digit.size));
    });
  return known;
}

Value ThreadLowering::part32(LayoutAttr layout, int64_t axis) {
  auto [place, isNew] = parts.try_emplace({layout, axis});
  if (!isNew)
    return place->second;
  Value sum;
  int64_t stride = 1;
  for (LayoutAttr::Digit one : layout.getDigits(axis)) {
    if (one.by && one.size > 1) {
      Value value = digit(one);
      sum = atEntry([&] {
        Value scaled = mul32(value, stride);
        return sum ? add32(sum, scaled) : scaled;
      });
    }
    stride *= one.size;
  }
  if (!sum)
    sum = atEntry([&] { return int32(0); });
  return parts[{layout, axis}] = sum;
}

Value ThreadLowering::part(LayoutAttr layout, int64_t axis) {
  return toIndex(part32(layout, axis));
}

Value ThreadLowering::isFirst(ArrayRef<LayoutAttr::Digit> digits) {
  int64_t covered = 1;
  for (LayoutAttr::Digit one : digits)
    covered *= one.size;
  if (covered >= threads)
    return {};
  Value sum = int32(0);
  for (LayoutAttr::Digit one : digits)
    if (one.size > 1)
      sum = add32(sum, mul32(digit(one), one.by));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, sum, thread);
}

Value ThreadLowering::isOwner(LayoutAttr layout) {
  Digits all;
  for (int64_t axis : {0, 1})
    for (LayoutAttr::Digit one : layout.getDigits(axis))
      if (one.by)
        all.push_back(one);
  return isFirst(all);
}

Value ThreadLowering::isInside(TileType type, const TileRegisters &registers, int64_t axis,
                               int64_t number) {
  if (registers.surelyInside(axis, number))
    return {};
  int64_t room = std::max<int64_t>(type.getSize(axis) - registers.place(axis, number), 0);
  return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, part32(type.getLayout(), axis),
                               int32(room));
}

Value ThreadLowering::isInside(TileType type, const TileRegisters &registers, int64_t index) {
  return both(isInside(type, registers, 0, registers.along(0, index)),
              isInside(type, registers, 1, registers.along(1, index)));
}

void ThreadLowering::emitProxyFence() {
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKindAttr::get(b.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(b.getContext(), NVVM::SharedSpace::shared_cta));
}

void ThreadLowering::emitBarrier() {
  if (hasWarpgroups)
    emitProxyFence();
  // Number 0 is the whole block's.
  if (isPart)
    NVVM::BarrierOp::create(b, /*res=*/Type(), int32(1), int32(threads),
                            NVVM::BarrierReductionAttr(), /*reductionPredicate=*/Value());
  else
    NVVM::BarrierOp::create(b);
}

//===-- Conditions ---------------------------------------------------------------------------===//

Value ThreadLowering::both(Value l, Value r) {
  if (!l || !r)
    return l ? l : r;
  return b.createOrFold<arith::AndIOp>(l, r);
}

SmallVector<Value> ThreadLowering::where(Value condition, TypeRange types,
                                         function_ref<SmallVector<Value>()> body,
                                         function_ref<SmallVector<Value>()> otherwise) {
  if (!condition)
    return body();
  auto branch = scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, body());
  b.setInsertionPointToStart(branch.elseBlock());
  SmallVector<Value> other;
  if (otherwise)
    other = otherwise();
  else
    for (Type type : types)
      other.push_back(b.zero(type));
  scf::YieldOp::create(b, other);
  return SmallVector<Value>(branch.getResults());
}

void ThreadLowering::when(Value condition, function_ref<void()> body) {
  if (!condition)
    return body();
  b.when(condition, body);
}

Value ThreadLowering::isBelow(Value index, Value bound) {
  return b.createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, index, bound);
}
