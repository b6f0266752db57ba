// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FewBits.h.
#include "lowering/CPU/FewBits.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/CPU/DotAtoms.h"
#include "lowering/Tile/LoadPacked.h"

using namespace mlir;
using namespace mlir::fovea;

//===-- Fields of bytes ----------------------------------------------------------------------===//

Value mlir::fovea::asWords(Emitter &b, Value bytes) {
  return vector::BitCastOp::create(b, VectorType::get(getLanes(bytes) / 4, b.getI32Type()), bytes);
}

Value mlir::fovea::asBytes(Emitter &b, Value words) {
  return vector::BitCastOp::create(b, VectorType::get(4 * getLanes(words), b.getI8Type()), words);
}

/// A constant like `vector` whose bytes are all this one.
static Value splatLike(Emitter &b, Value vector, uint8_t byte) {
  auto type = cast<VectorType>(vector.getType());
  return arith::ConstantOp::create(
      b,
      DenseElementsAttr::get(type, APInt::getSplat(type.getElementTypeBitWidth(), APInt(8, byte))));
}

/// Of each byte the `width` bits from `from` on, to `to` on, beside zeros.
static Value moveField(Emitter &b, Value bytes, int64_t from, int64_t to, int64_t width) {
  bool ofBytes = b.products && b.products->shiftsBytes();
  Value all = ofBytes ? bytes : asWords(b, bytes);
  auto type = cast<VectorType>(all.getType());
  auto distance = [&](int64_t bits) {
    APInt value(type.getElementTypeBitWidth(), bits);
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, value));
  };
  if (to > from)
    all = arith::ShLIOp::create(b, all, distance(to - from));
  else if (to < from)
    all = arith::ShRUIOp::create(b, all, distance(from - to));
  bool isAlone = ofBytes && ((to > from && from == 0 && to + width == 8) ||
                             (to < from && to == 0 && from + width == 8));
  if (!isAlone)
    all = arith::AndIOp::create(b, all, splatLike(b, all, ((1 << width) - 1) << to));
  return ofBytes ? all : asBytes(b, all);
}

/// With the highest bit of each field turned over.
static Value flipHighest(Emitter &b, Value bytes, int64_t width) {
  uint8_t flipped = 0;
  for (int64_t place = width - 1; place < 8; place += width)
    flipped |= 1 << place;
  Value words = asWords(b, bytes);
  return asBytes(b, arith::XOrIOp::create(b, words, splatLike(b, words, flipped)));
}

//===-- Parts --------------------------------------------------------------------------------===//

Value FewBits::unpackSigned(Emitter &b, int64_t part, UnitWords &words, bool isShifted) const {
  if (!table.empty())
    return lookUp(b, unpackLow(b, part, words, /*flipsSign=*/false), 0);
  if (isShifted)
    return unpackHigh(b, part, words, /*flipsSign=*/false);
  Value bytes = unpackLow(b, part, words, /*flipsSign=*/true);
  return arith::SubIOp::create(b, bytes, splatByte(b, zeroPoint(), getLanes(bytes)));
}

Value FewBits::unpackUnsigned(Emitter &b, int64_t part, UnitWords &words, uint8_t added) const {
  if (!table.empty())
    return lookUp(b, unpackLow(b, part, words, /*flipsSign=*/false), added);
  if (added == tile::DotOp::kZeroPoint)
    return unpackHigh(b, part, words, /*flipsSign=*/true);
  assert(added == zeroPoint() && "what turning the sign over adds");
  return unpackLow(b, part, words, /*flipsSign=*/true);
}

/// The sign is turned over of all parts of a word at once, if there are others beside it: else by
/// the instruction that cuts off what is around a part.
Value FewBits::unpackHigh(Emitter &b, int64_t part, UnitWords &words, bool flipsSign) const {
  int64_t low = packed.lowBits(), high = packed.highBits();
  Value bits = moveField(b, words.load(packed.lowWord(part)), packed.lowShift(part), shift(), low);
  if (high == 0)
    return flipsSign ? shiftByZeroPoint(b, bits) : bits;
  Value upper = words.load(packed.highWord());
  if (flipsSign)
    upper = flipHighest(b, upper, high);
  upper = moveField(b, upper, packed.highShift(part), shift() + low, high);
  return arith::OrIOp::create(b, bits, upper);
}

Value FewBits::unpackLow(Emitter &b, int64_t part, UnitWords &words, bool flipsSign) const {
  int64_t low = packed.lowBits(), high = packed.highBits();
  auto field = [&](int64_t word, int64_t from, int64_t to, int64_t width, bool hasSign) {
    Value bytes = words.load(word);
    return moveField(b, hasSign && flipsSign ? flipHighest(b, bytes, width) : bytes, from, to,
                     width);
  };
  Value bits = field(packed.lowWord(part), packed.lowShift(part), 0, low, high == 0);
  return high == 0 ? bits
                   : Value(arith::OrIOp::create(b, bits,
                                                field(packed.highWord(), packed.highShift(part),
                                                      low, high,
                                                      /*hasSign=*/true)));
}

/// By the level's instruction, or entry by entry.
Value FewBits::lookUp(Emitter &b, Value numbers, uint8_t added) const {
  SmallVector<int8_t> entries;
  for (int8_t entry : table)
    entries.push_back(static_cast<int8_t>(entry + added));
  return b.products ? b.products->lookUp(b, entries, numbers) : fovea::lookUp(b, entries, numbers);
}

//===-- One by one ---------------------------------------------------------------------------===//

UnitIntegers::UnitIntegers(Emitter &b, const FewBits &form, UnitWords words) : form(&form) {
  if (form.areShiftsOfWord()) {
    parts = {asWords(b, words.load(0))};
    return;
  }
  for (int64_t part = 0; part < form.packed.parts(); ++part)
    parts.push_back(asWords(b, form.unpackSigned(b, part, words)));
}

Value UnitIntegers::get(Emitter &b, int64_t k) const {
  const PackedIntegers &packed = form->packed;
  if (form->areShiftsOfWord())
    return extractIntegers(b, parts.front(), k, packed.bits);
  Value byte = extractIntegers(b, parts[packed.part(k)], packed.byte(k), 8);
  if (form->shift() == 0)
    return byte;
  auto type = cast<VectorType>(byte.getType());
  Value down = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, b.getI32IntegerAttr(static_cast<int32_t>(form->shift()))));
  return arith::ShRSIOp::create(b, byte, down);
}
