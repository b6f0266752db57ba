// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of weights on their way to products: as floats, times their scales.
#include "lowering/GPU/ThreadLowering.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

static Value constant(Emitter &b, int32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

/// The bits from `first` on, as a number that is not negative. Not by conversions, of which a
/// multiprocessor does 16 a clock: with n in the low bits of 2^23 an f32 is 2^23 + n, exact.
static Value toFloat(Emitter &b, Value word, int64_t first, int64_t bits) {
  constexpr int32_t kExponent = 0x4b000000;
  Value number;
  if (bits == 8) {
    // One byte of the word, and the exponent's (PTX ISA, "prmt").
    Value selector = constant(b, static_cast<int32_t>(0x7540 + first / 8));
    number = LLVM::CallIntrinsicOp::create(b, b.getI32Type(), b.getStringAttr("llvm.nvvm.prmt"),
                                           ValueRange{word, constant(b, kExponent), selector})
                 .getResult(0);
  } else {
    number = first == 0
                 ? word
                 : Value(arith::ShRUIOp::create(b, word, constant(b, static_cast<int32_t>(first))));
    number = arith::AndIOp::create(b, number, constant(b, (1 << bits) - 1));
    number = arith::OrIOp::create(b, number, constant(b, kExponent));
  }
  double offset = double(1 << 23) + (1 << (bits - 1));
  return arith::SubFOp::create(
      b, arith::BitcastOp::create(b, b.getF32Type(), number),
      arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(offset))));
}

SmallVector<Value> ThreadLowering::toFloats(Value integers) {
  SmallVector<Value> floats;
  int64_t bits = getElementTypeOrSelf(integers.getType()).getIntOrFloatBitWidth();
  auto vector = dyn_cast<VectorType>(integers.getType());
  int64_t count = vector ? vector.getNumElements() : 1;
  if (count * bits % 32 != 0) {
    for (Value element : toElements(integers))
      floats.push_back(arith::SIToFPOp::create(b, b.getF32Type(), element));
    return floats;
  }
  auto words = VectorType::get(count * bits / 32, b.getI32Type());
  // With its sign turned, a number of two's complement counts from the least one on.
  Value sign = constant(b, static_cast<int32_t>(bits == 8 ? 0x80808080 : 0x88888888));
  for (Value word : toElements(vector::BitCastOp::create(b, words, integers))) {
    Value turned = arith::XOrIOp::create(b, word, sign);
    for (int64_t first = 0; first < 32; first += bits)
      floats.push_back(toFloat(b, turned, first, bits));
  }
  return floats;
}

SmallVector<Value> ThreadLowering::scale(SmallVector<Value> floats,
                                         ArrayRef<std::array<int64_t, 2>> places,
                                         const ViewMemory &scales, int64_t group, Value row,
                                         Value column) {
  // One load for neighbours that are surely of one group.
  int64_t step = group;
  while (step > 1 && !isMultipleOf(column, step))
    step = step % 2 == 0 ? step / 2 : 1;
  std::map<std::pair<int64_t, int64_t>, Value> factors;
  for (auto [number, place] : llvm::zip(floats, places)) {
    Value &factor = factors[{place[0], place[1] / step}];
    if (!factor) {
      Value at = b.add(row, place[0]);
      if (scales.panel == 0 && place[0] != 0) // where panels end with more rows than there are
        at = b.minimum(at, b.sub(scales.extent[0], b.index(1)));
      at = scales.place(b, at, b.div(b.add(column, place[1] / step * step), group));
      factor = b.convert(loadAt(scales, at), b.getF32Type());
    }
    number = arith::MulFOp::create(b, number, factor);
  }
  return floats;
}

/// What a product reads where it lies needs no registers of its own.
LogicalResult ThreadLowering::lower(DequantizeOp op) {
  if (isReadInPlace(op.getResult()))
    return success();
  return op.emitOpError("expects products alone to read it, which fovea-stage-operands stages");
}
