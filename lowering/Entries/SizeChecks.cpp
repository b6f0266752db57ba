// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SizeChecks.h.
#include "lowering/Entries/SizeChecks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::fovea;

/// Sums and products of sizes of arguments are no less than zero; `depth` bounds the search.
static bool isNotNegative(Value value, unsigned depth = 8) {
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return *known >= 0;
  Operation *op = value.getDefiningOp();
  if (!op || isa<memref::DimOp>(op))
    return true;
  auto all = [&] {
    return depth > 0 && llvm::all_of(op->getOperands(), [&](Value operand) {
             return isNotNegative(operand, depth - 1);
           });
  };
  return isa<arith::AddIOp, arith::MulIOp, arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp,
             arith::DivSIOp, arith::FloorDivSIOp, arith::CeilDivSIOp, arith::RemSIOp,
             arith::MinUIOp, arith::MaxUIOp, arith::MinSIOp>(op) &&
         all();
}

static bool isSame(OpFoldResult l, OpFoldResult r) {
  std::optional<int64_t> known = getConstantIntValue(l), other = getConstantIntValue(r);
  return l == r || (known && other && *known == *other);
}

Value SizeChecks::toValue(Location loc, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(math, loc, size);
}

void SizeChecks::refuse(Location loc, Value condition) {
  refused = refused ? Value(arith::OrIOp::create(math, loc, refused, condition)) : condition;
}

void SizeChecks::requireNotNegative(Location loc, OpFoldResult size) {
  std::optional<int64_t> known = getConstantIntValue(size);
  if (known ? *known >= 0 : isNotNegative(cast<Value>(size)))
    return;
  refuse(loc, arith::CmpIOp::create(math, loc, arith::CmpIPredicate::slt, toValue(loc, size),
                                    arith::ConstantIndexOp::create(math, loc, 0)));
}

void SizeChecks::requireEqual(Location loc, OpFoldResult size, OpFoldResult expected) {
  if (!isSame(size, expected))
    refuse(loc, arith::CmpIOp::create(math, loc, arith::CmpIPredicate::ne, toValue(loc, size),
                                      toValue(loc, expected)));
}

void SizeChecks::requireEqualOrOne(Location loc, OpFoldResult size, OpFoldResult expected) {
  if (isSame(size, expected) || isSame(size, math.getIndexAttr(1)))
    return;
  Value given = toValue(loc, size);
  auto differs = [&](Value from) -> Value {
    return arith::CmpIOp::create(math, loc, arith::CmpIPredicate::ne, given, from);
  };
  refuse(loc, arith::AndIOp::create(math, loc, differs(toValue(loc, expected)),
                                    differs(arith::ConstantIndexOp::create(math, loc, 1))));
}

void SizeChecks::requireInside(Location loc, OpFoldResult offset, OpFoldResult count,
                               OpFoldResult stride, OpFoldResult extent) {
  if (isSame(offset, math.getIndexAttr(0)) && isSame(stride, math.getIndexAttr(1)) &&
      isSame(count, extent))
    return;
  requireNotNegative(loc, count);
  std::optional<int64_t> o = getConstantIntValue(offset), c = getConstantIntValue(count),
                         s = getConstantIntValue(stride), e = getConstantIntValue(extent);
  // Both ends; the numbers of verified ops are small enough for their product.
  if (o && c && s && e &&
      (*c <= 0 || (*o >= 0 && *o < *e && *o + (*c - 1) * *s >= 0 && *o + (*c - 1) * *s < *e)))
    return;
  Value first = toValue(loc, offset), size = toValue(loc, extent), number = toValue(loc, count);
  Value one = arith::ConstantIndexOp::create(math, loc, 1);
  Value steps = arith::SubIOp::create(math, loc, number, one);
  Value last = arith::AddIOp::create(math, loc, first,
                                     arith::MulIOp::create(math, loc, steps, toValue(loc, stride)));
  auto outside = [&](Value index) -> Value {
    return arith::CmpIOp::create(math, loc, arith::CmpIPredicate::uge, index, size);
  };
  Value some = arith::CmpIOp::create(math, loc, arith::CmpIPredicate::sge, steps,
                                     arith::ConstantIndexOp::create(math, loc, 0));
  refuse(loc, arith::AndIOp::create(
                  math, loc, some, arith::OrIOp::create(math, loc, outside(first), outside(last))));
}

Value SizeChecks::finish(Location loc, Value bytes) {
  if (!refused)
    return bytes;
  Value none = arith::ConstantIndexOp::create(math, loc, -1);
  return arith::SelectOp::create(math, loc, refused, none, bytes);
}
