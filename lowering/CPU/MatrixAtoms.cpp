// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AMX (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18): eight
// registers of 16 rows of 64 bytes. By intrinsics that number the registers: LLVM's typed ones copy
// tiles through the stack. Refuses all but bf16 and bytes, and depths that are no whole registers.
#include "lowering/CPU/MatrixAtoms.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace mlir::fovea;

MatrixAtom::~MatrixAtom() = default;

namespace {
constexpr int64_t kTileRows = 16, kTileBytes = 64;
/// What LDTILECFG reads: the palette's number, bytes of a row as 16 bits, and rows.
constexpr int64_t kConfigBytes = 64, kRowBytesAt = 16, kRowsAt = 48;
/// Registers of a block: sums of 2 x 2 tiles, two of the left operand, two of the right one.
constexpr int64_t kSums = 0, kLeft = 4, kRight = 6, kRegisters = 8;
/// Lines of the next panels that a block fetches at each step; all of a panel's step are 16.
constexpr int64_t kFetched = 4;

/// TDPBF16PS: pairs of bf16 into sums of f32. TDPBUSD: fours of bytes, unsigned by signed, into
/// sums of i32.
class AmxAtom : public MatrixAtom {
public:
  int64_t rows() const override { return 2 * kTileRows; }
  int64_t vectors() const override { return 2; }
  bool supports(const MatrixBlock &block) const override {
    Type type = block.left.type;
    bool pairs = type.isBF16() && block.sums.type.isF32() && block.right.interleave == 2;
    bool bytes = type.isInteger(8) && block.sums.type.isInteger(32) && block.right.interleave == 4;
    return (pairs || bytes) && type == block.right.type && block.depth % depthOf(type) == 0;
  }
  Value begin(Emitter &b) const override;
  void end(Emitter &b) const override;
  void emit(Emitter &b, const MatrixBlock &block, Value state) const override;

private:
  /// Of a register, in elements.
  static int64_t depthOf(Type type) { return kTileBytes * 8 / type.getIntOrFloatBitWidth(); }
};

/// Emits the instructions of one block.
class AmxEmitter {
public:
  AmxEmitter(Emitter &b, const MatrixBlock &block, Value config)
      : b(b), block(block), config(config) {}

  /// The sums of `tiles` times 16 rows from row `row` on.
  void multiply(Value row, int64_t tiles, int64_t depthOfTile);
  /// Takes registers of sums and of the left operand for so many rows, a byte.
  void configure(Value rows);

private:
  Value number(int64_t value) { return arith::ConstantOp::create(b, b.getI8IntegerAttr(value)); }
  void call(StringRef name, ValueRange arguments) {
    LLVM::CallIntrinsicOp::create(b, b.getStringAttr(name), arguments);
  }
  /// Element `at` of a buffer.
  Value pointer(Value memory, Value at);
  Value bytes(Value memory, Value stride);
  void move(StringRef intrinsic, int64_t tile, Value memory, Value at, Value stride) {
    call(intrinsic, {number(tile), pointer(memory, at), bytes(memory, stride)});
  }
  void fetch(Value k);
  Value sumAt(Value row, int64_t tile, int64_t v) {
    const MatrixRows &sums = block.sums;
    Value place = b.add(sums.place, b.mul(b.add(row, tile * kTileRows), sums.stride));
    return b.add(place, v * kTileRows);
  }

  Emitter &b;
  const MatrixBlock &block;
  Value config;
};
} // namespace

static int64_t bytesOf(Value memory) {
  return cast<MemRefType>(memory.getType()).getElementTypeBitWidth() / 8;
}

Value AmxEmitter::bytes(Value memory, Value stride) {
  return arith::IndexCastOp::create(b, b.getI64Type(), b.mul(stride, bytesOf(memory)));
}

Value AmxEmitter::pointer(Value memory, Value at) {
  Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, memory);
  Value address =
      arith::IndexCastOp::create(b, b.getI64Type(), b.add(base, b.mul(at, bytesOf(memory))));
  return LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), address);
}

void AmxEmitter::configure(Value rows) {
  for (int64_t tile : {kSums, kSums + 1, kSums + 2, kSums + 3, kLeft, kLeft + 1})
    memref::StoreOp::create(b, rows, config, b.index(kRowsAt + tile));
  call("llvm.x86.ldtilecfg", pointer(config, b.index(0)));
}

/// A share of what the next block of outputs reads at this step.
void AmxEmitter::fetch(Value k) {
  const MatrixPanels &right = block.right;
  if (!right.next)
    return;
  Value line = b.add(k, b.mul(right.share, kFetched));
  for (int64_t i = 0; i < kFetched; ++i)
    memref::PrefetchOp::create(b, right.memory,
                               b.add(right.next, b.mul(b.add(line, i), right.stride)),
                               /*isWrite=*/false, /*localityHint=*/2, /*isDataCache=*/true);
}

void AmxEmitter::multiply(Value row, int64_t tiles, int64_t depthOfTile) {
  const MatrixRows &left = block.left, &sums = block.sums;
  const MatrixPanels &right = block.right;
  int64_t columns = right.vectors.size();
  auto sum = [&](int64_t tile, int64_t v) { return kSums + 2 * tile + v; };
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int64_t v = 0; v < columns; ++v)
      if (block.begun)
        move("llvm.x86.tileloadd64", sum(tile, v), sums.memory, sumAt(row, tile, v), sums.stride);
      else
        call("llvm.x86.tilezero", number(sum(tile, v)));
  b.loop(b.index(0), b.index(block.depth), depthOfTile, [&](Value k) {
    Value step = b.div(k, right.interleave);
    for (int64_t v = 0; v < columns; ++v)
      move("llvm.x86.tileloadd64", kRight + v, right.memory,
           b.add(right.vectors[v], b.mul(step, right.stride)), b.index(right.stride));
    for (int64_t tile = 0; tile < tiles; ++tile) {
      Value at = b.add(left.place, b.mul(b.add(row, tile * kTileRows), left.stride));
      move("llvm.x86.tileloadd64", kLeft + tile, left.memory, b.add(at, k), left.stride);
      for (int64_t v = 0; v < columns; ++v)
        call(left.type.isBF16() ? "llvm.x86.tdpbf16ps" : "llvm.x86.tdpbusd",
             {number(sum(tile, v)), number(kLeft + tile), number(kRight + v)});
    }
    fetch(step);
  });
  for (int64_t tile = 0; tile < tiles; ++tile)
    for (int64_t v = 0; v < columns; ++v)
      move("llvm.x86.tilestored64", sum(tile, v), sums.memory, sumAt(row, tile, v), sums.stride);
}

Value AmxAtom::begin(Emitter &b) const {
  auto type = MemRefType::get(kConfigBytes, b.getI8Type());
  Value config = memref::AllocaOp::create(b, type, b.getI64IntegerAttr(64));
  auto put = [&](int64_t at, int64_t value) {
    Value byte = arith::ConstantOp::create(b, b.getI8IntegerAttr(value));
    memref::StoreOp::create(b, byte, config, b.index(at));
  };
  for (int64_t i = 0; i < kConfigBytes; ++i)
    put(i, i == 0 ? 1 : 0);
  for (int64_t tile = 0; tile < kRegisters; ++tile) {
    put(kRowBytesAt + 2 * tile, kTileBytes);
    put(kRowsAt + tile, kTileRows);
  }
  AmxEmitter(b, {}, config).configure(arith::ConstantOp::create(b, b.getI8IntegerAttr(kTileRows)));
  return config;
}

void AmxAtom::end(Emitter &b) const {
  LLVM::CallIntrinsicOp::create(b, b.getStringAttr("llvm.x86.tilerelease"), ValueRange());
}

/// A block whose rows end has its tiles one after the other, the last of fewer rows: nothing past
/// them is read or written.
void AmxAtom::emit(Emitter &b, const MatrixBlock &block, Value config) const {
  AmxEmitter emitter(b, block, config);
  int64_t depth = depthOf(block.left.type);
  auto whole = [&] { emitter.multiply(b.index(0), 2, depth); };
  if (getConstant(block.rows) == rows())
    return whole();
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, block.rows, b.index(rows()));
  auto part = [&] {
    b.loop(b.index(0), block.rows, kTileRows, [&](Value row) {
      Value count = b.minimum(b.sub(block.rows, row), b.index(kTileRows));
      emitter.configure(arith::IndexCastOp::create(b, b.getI8Type(), count));
      emitter.multiply(row, 1, depth);
    });
    emitter.configure(arith::ConstantOp::create(b, b.getI8IntegerAttr(kTileRows)));
  };
  b.when(isWhole, whole, part);
}

const MatrixAtom *mlir::fovea::getMatrixAtom(StringRef level) {
  static const AmxAtom amx;
  return level == "amx" ? &amx : nullptr;
}
