// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of weights on their way to products: as floats, times their scales.
#include "lowering/GPU/ThreadLowering.h"
#include <cmath>

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

static Value constant(Emitter &b, int32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

static Value constant(Emitter &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

/// The bits from `first` on, as a number that counts from the least one on. Not by conversions, of
/// which a multiprocessor does 16 a clock: with n in the low bits of 2^23 an f32 is 2^23 + n,
/// exact. Four bits of a word's lower half stay where they are, times a power of two.
static Value toFloat(Emitter &b, Value word, int64_t first, int64_t bits, int64_t &shift) {
  constexpr int32_t kExponent = 0x4b000000;
  shift = bits == 4 ? first % 16 : 0;
  Value number;
  if (bits == 8) {
    // One byte of the word, and the exponent's (PTX ISA, "prmt").
    Value selector = constant(b, static_cast<int32_t>(0x7540 + first / 8));
    number = LLVM::CallIntrinsicOp::create(b, b.getI32Type(), b.getStringAttr("llvm.nvvm.prmt"),
                                           ValueRange{word, constant(b, kExponent), selector})
                 .getResult(0);
  } else {
    number = first < 16 ? word : b.createOrFold<arith::ShRUIOp>(word, constant(b, 16));
    number = arith::AndIOp::create(b, number, constant(b, 0xf << shift));
    number = arith::OrIOp::create(b, number, constant(b, kExponent));
  }
  int32_t least = 1 << (bits - 1 + shift);
  return arith::SubFOp::create(b, arith::BitcastOp::create(b, b.getF32Type(), number),
                               constant(b, static_cast<float>((1 << 23) + least)));
}

ThreadLowering::Numbers ThreadLowering::toNumbers(Value integers) {
  Numbers numbers;
  int64_t bits = getElementTypeOrSelf(integers.getType()).getIntOrFloatBitWidth();
  auto vector = dyn_cast<VectorType>(integers.getType());
  int64_t count = vector ? vector.getNumElements() : 1;
  if (count * bits % 32 != 0) {
    for (Value element : toElements(integers))
      numbers.values.push_back(arith::SIToFPOp::create(b, b.getF32Type(), element));
    numbers.shifts.assign(numbers.values.size(), 0);
    return numbers;
  }
  auto words = VectorType::get(count * bits / 32, b.getI32Type());
  // With its sign turned, a number of two's complement counts from the least one on.
  Value sign = constant(b, static_cast<int32_t>(bits == 8 ? 0x80808080 : 0x88888888));
  for (Value word : toElements(vector::BitCastOp::create(b, words, integers))) {
    Value turned = arith::XOrIOp::create(b, word, sign);
    for (int64_t first = 0; first < 32; first += bits)
      numbers.values.push_back(toFloat(b, turned, first, bits, numbers.shifts.emplace_back()));
  }
  return numbers;
}

SmallVector<Value> ThreadLowering::toFloats(Numbers numbers) {
  for (auto [value, shift] : llvm::zip(numbers.values, numbers.shifts))
    if (shift != 0)
      value = arith::MulFOp::create(b, value, constant(b, std::ldexp(1.0f, -shift)));
  return std::move(numbers.values);
}

SmallVector<Value> ThreadLowering::scale(Numbers numbers, ArrayRef<std::array<int64_t, 2>> places,
                                         const ViewMemory &scales, int64_t group, Value row,
                                         Value column) {
  // One load for neighbours that are surely of one group.
  int64_t step = group;
  while (step > 1 && !isMultipleOf(column, step))
    step = step % 2 == 0 ? step / 2 : 1;
  std::map<std::pair<int64_t, int64_t>, Value> loaded;
  std::map<std::tuple<int64_t, int64_t, int64_t>, Value> factors;
  for (auto [value, shift, place] : llvm::zip(numbers.values, numbers.shifts, places)) {
    Value &factor = factors[{place[0], place[1] / step, shift}];
    Value &whole = loaded[{place[0], place[1] / step}];
    if (!whole) {
      Value at = b.add(row, place[0]);
      if (scales.panel == 0 && place[0] != 0) // where panels end with more rows than there are
        at = b.minimum(at, b.sub(scales.extent[0], b.index(1)));
      at = scales.place(b, at, b.div(b.add(column, place[1] / step * step), group));
      whole = b.convert(loadAt(scales, at), b.getF32Type());
    }
    if (!factor)
      factor = shift == 0
                   ? whole
                   : Value(arith::MulFOp::create(b, whole, constant(b, std::ldexp(1.0f, -shift))));
    value = arith::MulFOp::create(b, value, factor);
  }
  return std::move(numbers.values);
}

/// What a product reads where it lies needs no registers of its own.
LogicalResult ThreadLowering::lower(DequantizeOp op) {
  if (isReadInPlace(op.getResult()))
    return success();
  return op.emitOpError("expects products alone to read it, which fovea-stage-operands stages");
}
