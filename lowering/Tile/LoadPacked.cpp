// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LoadPacked.h.
#include "lowering/Tile/LoadPacked.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace mlir::fovea;

Value mlir::fovea::loadPacked(ImplicitLocOpBuilder &b, const PackedIntegers &packed, Value k,
                              function_ref<Value(Value word, Value byte)> load) {
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(b, value); };
  auto divide = [&](Value l, int64_t r) -> Value { return arith::DivUIOp::create(b, l, index(r)); };
  auto remainder = [&](Value l, int64_t r) -> Value {
    return arith::RemUIOp::create(b, l, index(r));
  };
  auto multiply = [&](Value l, int64_t r) -> Value {
    return arith::MulIOp::create(b, l, index(r));
  };
  auto add = [&](Value l, Value r) -> Value { return arith::AddIOp::create(b, l, r); };
  Value unit = multiply(divide(k, packed.unit()), packed.words());
  Value within = remainder(k, packed.unit());
  if (packed.bits == 8)
    return load(unit, within);
  Value part = add(multiply(divide(within, 8), 2), remainder(within, 2));
  Value byte = divide(remainder(within, 8), 2);
  auto loadBits = [&](Value word, Value first) -> Value {
    Value loaded = load(add(unit, word), byte);
    return arith::ShRUIOp::create(b, loaded,
                                  arith::IndexCastOp::create(b, loaded.getType(), first));
  };
  Type type = b.getIntegerType(packed.bits), lowType = b.getIntegerType(packed.lowBits());
  Value place = multiply(part, packed.lowBits());
  Value low = arith::TruncIOp::create(b, lowType, loadBits(divide(place, 8), remainder(place, 8)));
  if (packed.highBits() == 0)
    return low;
  Value high = loadBits(index(packed.highWord()), multiply(part, packed.highBits()));
  Value left = arith::ConstantOp::create(b, b.getIntegerAttr(high.getType(), packed.lowBits()));
  high = arith::TruncIOp::create(b, type, arith::ShLIOp::create(b, high, left));
  return arith::OrIOp::create(b, arith::ExtUIOp::create(b, type, low), high);
}

Value mlir::fovea::lookUp(ImplicitLocOpBuilder &b, ArrayRef<int8_t> table, Value number) {
  auto vector = dyn_cast<VectorType>(number.getType());
  auto constant = [&](Type element, int64_t value) -> Value {
    TypedAttr attribute = b.getIntegerAttr(element, value);
    if (vector)
      attribute = DenseElementsAttr::get(vector.clone(element), Attribute(attribute));
    return arith::ConstantOp::create(b, attribute);
  };
  Value result = constant(b.getI8Type(), table.front());
  for (auto [i, entry] : llvm::enumerate(table.drop_front())) {
    Value other = constant(getElementTypeOrSelf(number.getType()), static_cast<int64_t>(i) + 1);
    Value isThis = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, number, other);
    result = arith::SelectOp::create(b, isThis, constant(b.getI8Type(), entry), result);
  }
  return result;
}
