// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProductInstructions.h. x86-64 by the Intel 64 and IA-32 Architectures Software Developer's
// Manual, volume 2C; aarch64 by the Arm Architecture Reference Manual for A-profile, C7.
#include "lowering/CPU/ProductInstructions.h"
#include "dialects/Tile/TileDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::fovea;

ProductInstructions::~ProductInstructions() = default;

Value ProductInstructions::multiplyMatrices(Emitter &, Value, Value, Value) const {
  llvm_unreachable("a level without instructions for matrices");
}

Value ProductInstructions::multiplyToShorts(Emitter &, Value, Value) const {
  llvm_unreachable("a level without sums of 16 bits");
}

Value ProductInstructions::multiplySigned(Emitter &, Value, Value, Value) const {
  llvm_unreachable("a level without products of signed bytes");
}

Value ProductInstructions::convertFixedPoint(Emitter &, Value, int64_t) const {
  llvm_unreachable("a level without conversions of fixed point");
}

Value ProductInstructions::addShorts(Emitter &, Value, Value) const {
  llvm_unreachable("a level without sums of 16 bits");
}

static Value call(Emitter &b, StringRef name, Type result, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), operands).getResult(0);
}

static Value call(Emitter &b, StringRef name, Value sum, Value x, Value y) {
  return call(b, name, sum.getType(), ValueRange{sum, x, y});
}

/// The entries, again and again, like `numbers`.
static Value repeatEntries(Emitter &b, ArrayRef<int8_t> entries, Value numbers) {
  auto type = cast<VectorType>(numbers.getType());
  SmallVector<int8_t> all;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    all.push_back(entries[i % entries.size()]);
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, ArrayRef(all)));
}

/// PSHUFB, of each 128 bits of 512 or 256.
static Value shuffleBytes(Emitter &b, ArrayRef<int8_t> entries, Value numbers) {
  auto type = cast<VectorType>(numbers.getType());
  StringRef name =
      type.getNumElements() == 64 ? "llvm.x86.avx512.pshuf.b.512" : "llvm.x86.avx2.pshuf.b";
  return call(b, name, type, {repeatEntries(b, entries, numbers), numbers});
}

namespace {

class X86Products : public ProductInstructions {
public:
  /// VDPBF16PS: each product and sum is rounded to nearest; subnormal numbers are zero.
  Value multiplyPairs(Emitter &b, Value sum, Value x, Value y) const override {
    return call(b, "llvm.x86.avx512bf16.dpbf16ps.512", sum, x, y);
  }
  /// VPDPBUSD of AVX512_VNNI and AVX-VNNI.
  Value multiplyBytes(Emitter &b, Value sum, Value unsignedBytes,
                      Value signedBytes) const override {
    int64_t bits = 32 * cast<VectorType>(sum.getType()).getNumElements();
    return call(b, "llvm.x86.avx512.vpdpbusd." + std::to_string(bits), sum, unsignedBytes,
                signedBytes);
  }
  Value lookUp(Emitter &b, ArrayRef<int8_t> entries, Value numbers) const override {
    return shuffleBytes(b, entries, numbers);
  }
};

/// Without VPDPBUSD: numbers of 16 bits, whose products VPMADDWD adds to 32 bits. VPMADDUBSW adds
/// products of bytes in 16 bits, which hold no two of 255 * 128, but four of bytes by six bits, and
/// sixteen of bytes by nibbles.
class Avx2Products : public ProductInstructions {
public:
  Value multiplyPairs(Emitter &, Value, Value, Value) const override {
    llvm_unreachable("a level without products of pairs");
  }

  /// The even bytes of each four, and the odd ones.
  Value multiplyBytes(Emitter &b, Value sum, Value unsignedBytes,
                      Value signedBytes) const override {
    VectorType shorts = getShorts(b, sum);
    Value x = vector::BitCastOp::create(b, shorts, unsignedBytes);
    Value y = vector::BitCastOp::create(b, shorts, signedBytes), eight = splat(b, shorts, 8);
    Value evenX = arith::AndIOp::create(b, x, splat(b, shorts, 0xff));
    Value oddX = arith::ShRUIOp::create(b, x, eight);
    Value evenY = arith::ShRSIOp::create(b, arith::ShLIOp::create(b, y, eight), eight);
    Value oddY = arith::ShRSIOp::create(b, y, eight);
    sum = addProducts(b, sum, evenX, evenY);
    return addProducts(b, sum, oddX, oddY);
  }

  Value lookUp(Emitter &b, ArrayRef<int8_t> entries, Value numbers) const override {
    return shuffleBytes(b, entries, numbers);
  }

  /// Two products of 255 by the least of so many bits are -255 * 2^bits.
  int64_t countShorts(int64_t bits) const override { return (1 << 15) / (255 << bits); }

  Value multiplyToShorts(Emitter &b, Value unsignedBytes, Value signedBytes) const override {
    int64_t bytes = cast<VectorType>(signedBytes.getType()).getNumElements();
    return callWithoutSum(b, "llvm.x86.avx2.pmadd.ub.sw",
                          VectorType::get(bytes / 2, b.getI16Type()), unsignedBytes, signedBytes);
  }
  Value addShorts(Emitter &b, Value sum, Value shorts) const override {
    return addProducts(b, sum, shorts, splat(b, getShorts(b, sum), 1));
  }

private:
  static VectorType getShorts(Emitter &b, Value sum) {
    return VectorType::get(2 * cast<VectorType>(sum.getType()).getNumElements(), b.getI16Type());
  }
  static Value splat(Emitter &b, VectorType type, int16_t value) {
    return arith::ConstantOp::create(b, DenseElementsAttr::get(type, b.getI16IntegerAttr(value)));
  }
  static Value callWithoutSum(Emitter &b, StringRef name, Type result, Value x, Value y) {
    return LLVM::CallIntrinsicOp::create(b, result, b.getStringAttr(name), ValueRange{x, y})
        .getResult(0);
  }
  static Value addProducts(Emitter &b, Value sum, Value x, Value y) {
    return arith::AddIOp::create(b, sum,
                                 callWithoutSum(b, "llvm.x86.avx2.pmadd.wd", sum.getType(), x, y));
  }
};

class NeonProducts : public ProductInstructions {
public:
  /// `hasMixed`: there are products of unsigned by signed bytes.
  explicit NeonProducts(bool hasMixed) : hasMixed(hasMixed) {}

  bool takesElements() const override { return true; }
  /// USMMLA and BFMMLA are where USDOT and BFDOT are.
  bool hasMatrices() const override { return hasMixed; }
  Value multiplyMatrices(Emitter &b, Value sums, Value rows, Value outputs) const override {
    bool ofBytes = getElementTypeOrSelf(sums.getType()).isInteger();
    return call(b, ofBytes ? "llvm.aarch64.neon.usmmla.v4i32.v16i8" : "llvm.aarch64.neon.bfmmla",
                sums, asOperand(b, rows, ofBytes), asOperand(b, outputs, ofBytes));
  }

  /// BFDOT: both products are added, then the sum; each is rounded to odd, and subnormal numbers
  /// are zero. Processors with FEAT_EBF16 may be told to round to nearest.
  Value multiplyPairs(Emitter &b, Value sum, Value x, Value y) const override {
    // The last operand may be an element.
    return call(b, "llvm.aarch64.neon.bfdot.v4f32.v8bf16", sum, y, x);
  }
  /// USDOT, or SDOT.
  Value multiplyBytes(Emitter &b, Value sum, Value unsignedBytes,
                      Value signedBytes) const override {
    if (hasMixed)
      return call(b, "llvm.aarch64.neon.usdot.v4i32.v16i8", sum, unsignedBytes, signedBytes);
    constexpr uint8_t kZeroPoint = tile::DotOp::kZeroPoint;
    DenseElementsAttr constant;
    if (matchPattern(unsignedBytes, m_Constant(&constant)) && constant.isSplat() &&
        constant.getSplatValue<APInt>() == kZeroPoint)
      return sum;
    // As words, so that LLVM does it before one of them goes to all lanes.
    auto words = cast<VectorType>(sum.getType());
    auto points = arith::ConstantOp::create(
        b, DenseElementsAttr::get(words, APInt::getSplat(32, APInt(8, kZeroPoint))));
    Value shifted = vector::BitCastOp::create(b, words, unsignedBytes);
    shifted = arith::XOrIOp::create(b, shifted, points);
    shifted = vector::BitCastOp::create(b, cast<VectorType>(unsignedBytes.getType()), shifted);
    return multiplySigned(b, sum, shifted, signedBytes);
  }

  bool multipliesSigned() const override { return true; }
  /// SDOT. The last operand may be an element.
  Value multiplySigned(Emitter &b, Value sum, Value x, Value y) const override {
    return call(b, "llvm.aarch64.neon.sdot.v4i32.v16i8", sum, y, x);
  }
  /// SHL.
  bool shiftsBytes() const override { return true; }
  bool convertsFixedPoint() const override { return true; }
  /// SCVTF.
  Value convertFixedPoint(Emitter &b, Value integers, int64_t bits) const override {
    auto floats = VectorType::get(cast<VectorType>(integers.getType()).getShape(), b.getF32Type());
    Value fraction = arith::ConstantOp::create(b, b.getI32IntegerAttr(bits));
    return call(b, "llvm.aarch64.neon.vcvtfxs2fp.v4f32.v4i32", floats, {integers, fraction});
  }

  /// TBL.
  Value lookUp(Emitter &b, ArrayRef<int8_t> entries, Value numbers) const override {
    return call(b, "llvm.aarch64.neon.tbl1.v16i8", numbers.getType(),
                {repeatEntries(b, entries, numbers), numbers});
  }

private:
  static Value asOperand(Emitter &b, Value vector, bool isBytes) {
    VectorType type =
        isBytes ? VectorType::get(16, b.getI8Type()) : VectorType::get(8, b.getBF16Type());
    return vector::BitCastOp::create(b, type, vector);
  }

  bool hasMixed;
};

} // namespace

const ProductInstructions *mlir::fovea::getProductInstructions(const Level &level) {
  static const X86Products x86;
  static const Avx2Products avx2;
  static const NeonProducts dotprod(/*hasMixed=*/false), i8mm(/*hasMixed=*/true);
  if (!level.multipliesPairs && !level.multipliesBytes)
    return nullptr;
  if (level.family == &kX86)
    return level.hasVnni() ? static_cast<const ProductInstructions *>(&x86) : &avx2;
  return llvm::is_contained(level.features, "i8mm") ? &i8mm : &dotprod;
}

Value mlir::fovea::multiplyPairs(Emitter &b, Value sum, Value x, Value y) {
  return b.products->multiplyPairs(b, sum, x, y);
}

Value mlir::fovea::multiplyBytes(Emitter &b, Value sum, Value unsignedBytes, Value signedBytes) {
  return b.products->multiplyBytes(b, sum, unsignedBytes, signedBytes);
}
