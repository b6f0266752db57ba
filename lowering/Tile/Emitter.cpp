// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic that folds as it is written, loops that vanish when they run once, and vectors
// by nothing but shuffles, masks and plain arithmetic, which every target has.
#include "lowering/Tile/Emitter.h"
#include "dialects/Fovea/FoveaDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::fovea;

std::optional<int64_t> mlir::fovea::getConstant(Value index) {
  APInt value;
  if (index && matchPattern(index, m_ConstantInt(&value)))
    return value.getSExtValue();
  return std::nullopt;
}

bool mlir::fovea::collectSlice(Value value, function_ref<bool(Value)> isKnown,
                               llvm::SetVector<Operation *> &slice) {
  if (isKnown(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !isMemoryEffectFree(op))
    return false;
  if (slice.contains(op))
    return true;
  llvm::SetVector<Value> inside;
  getUsedValuesDefinedAbove(op->getRegions(), inside);
  for (Value operand : op->getOperands())
    inside.insert(operand);
  for (Value operand : inside)
    if (!collectSlice(operand, isKnown, slice))
      return false;
  slice.insert(op);
  return true;
}

Value mlir::fovea::repeat(OpBuilder &b, Value value, IRMapping &mapping,
                          function_ref<bool(Value)> isKnown) {
  llvm::SetVector<Operation *> slice;
  if (!collectSlice(value, isKnown, slice))
    return {};
  for (Operation *op : slice)
    b.clone(*op, mapping);
  return mapping.lookupOrDefault(value);
}

std::string mlir::fovea::getVectorLevel(Operation *op, StringRef option) {
  if (!option.empty())
    return option.str();
  auto module = op->getParentOfType<ModuleOp>();
  auto target =
      module ? module->getAttrOfType<TargetAttr>(FoveaDialect::kTargetAttr) : TargetAttr();
  return target ? target.getLevel().str() : "";
}

//===-- Index arithmetic ---------------------------------------------------------------------===//

Value Emitter::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }

Value Emitter::index(OpFoldResult value) {
  if (auto known = dyn_cast<Value>(value))
    return known;
  return index(cast<IntegerAttr>(cast<Attribute>(value)).getInt());
}

Value Emitter::add(Value l, Value r) { return createOrFold<arith::AddIOp>(l, r); }
Value Emitter::sub(Value l, Value r) { return createOrFold<arith::SubIOp>(l, r); }
Value Emitter::mul(Value l, Value r) { return createOrFold<arith::MulIOp>(l, r); }
Value Emitter::div(Value l, int64_t r) { return createOrFold<arith::DivUIOp>(l, index(r)); }
Value Emitter::rem(Value l, int64_t r) { return createOrFold<arith::RemUIOp>(l, index(r)); }
Value Emitter::minimum(Value l, Value r) { return createOrFold<arith::MinSIOp>(l, r); }
Value Emitter::maximum(Value l, Value r) { return createOrFold<arith::MaxSIOp>(l, r); }

//===-- Control ------------------------------------------------------------------------------===//

void Emitter::loop(Value begin, Value end, int64_t step, function_ref<void(Value)> body) {
  loop(begin, end, step, {}, [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value> Emitter::loop(Value begin, Value end, int64_t step, ValueRange carried,
                                 function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  std::optional<int64_t> from = getConstant(begin), to = getConstant(end);
  if (from && to && *to <= *from)
    return SmallVector<Value>(carried);
  if (from && to && *to - *from <= step)
    return body(begin, carried);
  auto loop = scf::ForOp::create(*this, begin, end, index(step), carried);
  InsertionGuard guard(*this);
  Block *block = loop.getBody();
  if (carried.empty()) {
    setInsertionPoint(block->getTerminator());
    body(loop.getInductionVar(), {});
  } else {
    setInsertionPointToEnd(block);
    SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
    scf::YieldOp::create(*this, next);
  }
  return SmallVector<Value>(loop.getResults());
}

void Emitter::when(Value condition, function_ref<void()> then, function_ref<void()> otherwise) {
  if (std::optional<int64_t> known = getConstant(condition)) {
    if (*known != 0)
      then();
    else if (otherwise)
      otherwise();
    return;
  }
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/bool(otherwise));
  InsertionGuard guard(*this);
  setInsertionPoint(branch.thenBlock()->getTerminator());
  then();
  if (otherwise) {
    setInsertionPoint(branch.elseBlock()->getTerminator());
    otherwise();
  }
}

//===-- Vectors ------------------------------------------------------------------------------===//

Value Emitter::splat(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(*this, VectorType::get(lanes, scalar.getType()), scalar);
}

Value Emitter::iota(int64_t lanes) {
  SmallVector<int32_t> numbers(lanes);
  std::iota(numbers.begin(), numbers.end(), 0);
  return arith::ConstantOp::create(
      *this, DenseElementsAttr::get(VectorType::get(lanes, getI32Type()), ArrayRef(numbers)));
}

Value Emitter::lanesBelow(Value count, int64_t lanes) {
  // More than any vector has is as good as any count, and fits.
  Value clamped = maximum(minimum(count, index(lanes)), index(0));
  Value narrow = arith::IndexCastOp::create(*this, getI32Type(), clamped);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::slt, iota(lanes), splat(narrow, lanes));
}

Value Emitter::zero(Type type) { return arith::ConstantOp::create(*this, getZeroAttr(type)); }

static IntegerAttr getAlignment(OpBuilder &b, int64_t alignment) {
  return alignment == 0 ? IntegerAttr() : b.getI64IntegerAttr(alignment);
}

Value Emitter::load(Type element, Value memory, Value at, int64_t lanes, int64_t alignment) {
  auto load = vector::LoadOp::create(*this, VectorType::get(lanes, element), memory, at);
  if (alignment != 0)
    load->setAttr("alignment", getAlignment(*this, alignment));
  return load;
}

void Emitter::store(Value vector, Value memory, Value at, int64_t alignment) {
  auto store = vector::StoreOp::create(*this, vector, memory, at);
  if (alignment != 0)
    store->setAttr("alignment", getAlignment(*this, alignment));
}

Value Emitter::loadMasked(Type element, Value memory, Value at, Value mask) {
  auto type = VectorType::get(cast<VectorType>(mask.getType()).getShape(), element);
  return vector::MaskedLoadOp::create(*this, type, memory, at, mask, zero(type));
}

void Emitter::storeMasked(Value vector, Value memory, Value at, Value mask) {
  vector::MaskedStoreOp::create(*this, memory, at, mask, vector);
}

Value mlir::fovea::convertFloat(ImplicitLocOpBuilder &b, Value value, Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == element)
    return value;
  auto typed = [&](Type type) -> Type {
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      return vector.clone(type);
    return type;
  };
  unsigned source = from.getIntOrFloatBitWidth(), target = element.getIntOrFloatBitWidth();
  if (source < target)
    return arith::ExtFOp::create(b, typed(element), value);
  if (source > target)
    return arith::TruncFOp::create(b, typed(element), value);
  // f16 and bf16: through f32, which holds both.
  return arith::TruncFOp::create(b, typed(element),
                                 arith::ExtFOp::create(b, typed(b.getF32Type()), value));
}

Value Emitter::convert(Value value, Type element) { return convertFloat(*this, value, element); }

/// One operation: LLVM fuses a product and a sum only where nobody else wants the product, and two
/// kernels that round the same must not differ by that.
Value Emitter::mulAdd(Value a, Value b, Value c) { return LLVM::FMulAddOp::create(*this, a, b, c); }

Value Emitter::maximumNumber(Value l, Value r) {
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, l, r);
  return arith::SelectOp::create(*this, greater, l, r);
}

void Emitter::prefetch(Value memory, Value at, unsigned locality) {
  memref::PrefetchOp::create(*this, memory, at, /*isWrite=*/false, locality, /*isDataCache=*/true);
}

void Emitter::keepOrder() {
  LLVM::FenceOp::create(*this, LLVM::AtomicOrdering::acq_rel, "singlethread");
}

/// The sum of two places each of `l` and `r`, elements of both one behind the other.
static Value addPlaces(Emitter &b, Value l, Value r, ArrayRef<int64_t> low,
                       ArrayRef<int64_t> high) {
  return arith::AddFOp::create(b, vector::ShuffleOp::create(b, l, r, low),
                               vector::ShuffleOp::create(b, l, r, high));
}

Value Emitter::sumInUnits(ArrayRef<Value> four) {
  int64_t lanes = cast<VectorType>(four.front().getType()).getNumElements();
  // Places in a unit as shuffles of one instruction have them: below four of `l`, else of `r`.
  auto join = [&](Value l, Value r, ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    auto inAllUnits = [&](ArrayRef<int64_t> places) {
      SmallVector<int64_t> all;
      for (int64_t lane = 0; lane < lanes; ++lane)
        all.push_back(lane / 4 * 4 + places[lane % 4] % 4 + places[lane % 4] / 4 * lanes);
      return all;
    };
    return addPlaces(*this, l, r, inAllUnits(low), inAllUnits(high));
  };
  Value first = join(four[0], four[1], {0, 1, 4, 5}, {2, 3, 6, 7});
  Value second = join(four[2], four[3], {0, 1, 4, 5}, {2, 3, 6, 7});
  return join(first, second, {0, 2, 4, 6}, {1, 3, 5, 7});
}

Value Emitter::sumUnits(SmallVector<Value> vectors) {
  int64_t lanes = 4 * vectors.size();
  for (int64_t terms = lanes; vectors.size() > 1; terms /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < 2 * lanes; ++lane)
      (lane % terms < terms / 2 ? low : high).push_back(lane);
    SmallVector<Value> next;
    for (size_t i = 0; i < vectors.size(); i += 2)
      next.push_back(addPlaces(*this, vectors[i], vectors[i + 1], low, high));
    vectors = next;
  }
  return vectors.front();
}

SmallVector<Value> Emitter::transpose(SmallVector<Value> rows) {
  // One bit of the place at a time: exchanges the halves of pairs of vectors.
  int64_t lanes = rows.size();
  for (int64_t bit = lanes / 2; bit > 0; bit /= 2) {
    SmallVector<Value> next(lanes);
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & bit)
        continue;
      SmallVector<int64_t> low(lanes), high(lanes);
      for (int64_t l = 0; l < lanes; ++l) {
        low[l] = (l & bit) ? lanes + (l ^ bit) : l;
        high[l] = (l & bit) ? lanes + l : (l | bit);
      }
      next[i] = vector::ShuffleOp::create(*this, rows[i], rows[i | bit], low);
      next[i | bit] = vector::ShuffleOp::create(*this, rows[i], rows[i | bit], high);
    }
    rows = next;
  }
  return rows;
}
