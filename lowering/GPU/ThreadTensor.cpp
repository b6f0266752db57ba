// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by atoms: a warp's instructions for matrices (PTX ISA 8.0, 9.7.14). Lane 4 g + t of a
// warp holds, of the sums' rows g and g + 8, columns 2 t and 2 t + 1; of a left operand's the same
// rows, of a right one's column g. The depth is counted as columns are, 2 t + c in each eight, in
// both operands, so that what a product gave is the next one's left operand as it is.
#include "lowering/GPU/ThreadLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

using Digit = LayoutAttr::Digit;

namespace mlir::fovea {

/// Emits one product.
class TensorProduct {
public:
  TensorProduct(ThreadLowering &t, MmaOp op);
  LogicalResult run();

private:
  /// Neighbours in depth, as vectors of two, in the order in which the atom takes them: those of
  /// both rows of eight columns, then of the next eight.
  using Pairs = SmallVector<Value>;
  /// The words of one instruction; of tf32 first the great parts, then the small ones.
  using Pieces = SmallVector<SmallVector<Value>>;

  /// An operand in shared memory. `outer` is its axis that is the result's.
  struct Shared {
    Value memory;
    SharedType type;
    int64_t outer;
    int64_t size() const { return type.getSize(outer); }
    int64_t stride() const { return type.getStride(outer); }
    int64_t depthStride() const { return type.getStride(1 - outer); }
  };

  LogicalResult check();
  Pairs readLeft(int64_t block, int64_t step);
  Pairs readRight(int64_t block, int64_t step);
  /// Two neighbours in depth of a tile in registers; zero past its end.
  Value pairOfTile(int64_t row, int64_t eight);
  /// The two from `8 * eight + 2 t` on, at `outer`; zero past the end.
  Value pairOfShared(const Shared &operand, Value outer, int64_t eight);
  /// Whether `ldmatrix` can read step `step`.
  bool hasMatrices(const Shared &operand, int64_t step) const;
  /// Four matrices of 8 x 8: lanes 0 to 7 point to rows of the first, and so on. The two bits of a
  /// matrix's number are steps of eight along the operand's axes.
  SmallVector<Value> loadMatrices(const Shared &operand, Value outer, bool outerFirst,
                                  int64_t step);
  Pieces split(const Pairs &pairs);
  void multiply(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums);
  /// Where the warp begins along an axis of the result, as i32.
  Value warpPart(int64_t axis);
  Value call(StringRef intrinsic, Type type, ValueRange arguments);

  ThreadLowering &t;
  Emitter &b;
  MmaOp op;
  TileType result;
  TileRegisters registers;
  bool halves;           ///< m16n8k16
  int64_t depth, eights; ///< of the operands; of an atom
  std::optional<Shared> left;
  Shared right;
  llvm::DenseMap<std::pair<int64_t, int64_t>, SmallVector<Value>> loaded; ///< by block, step
};

TensorProduct::TensorProduct(ThreadLowering &t, MmaOp op)
    : t(t), b(t.b), op(op), result(op.getResult().getType()), registers(result),
      halves(*op.getAtom() == Atom::M16N8K16), eights(halves ? 2 : 1) {}

//===-- What the atom takes ------------------------------------------------------------------===//

LogicalResult TensorProduct::check() {
  LayoutAttr layout = result.getLayout();
  if (failed(t.checkLayout(op, result)))
    return failure();
  Digits rows = layout.getDigits(0), columns = layout.getDigits(1);
  auto isWhole = [](Digit digit) { return digit.by % kWarp == 0; }; // registers or whole warps
  if (!beginsWith(rows, {{8, 4}, {2, 0}}) || !beginsWith(columns, {{2, 0}, {4, 1}}) ||
      !llvm::all_of(ArrayRef(rows).drop_front(2), isWhole) ||
      !llvm::all_of(ArrayRef(columns).drop_front(2), isWhole))
    return op.emitOpError(
               "expects its sums in the atom's layout, rows = [threads 8 by 4, registers "
               "2, ...], columns = [registers 2, threads 4 by 1, ...], got ")
           << layout;
  if (auto tile = dyn_cast<TileType>(op.getA().getType())) {
    if (failed(t.checkLayout(op, tile)))
      return failure();
    if (!isLeftOperand(tile.getLayout(), layout))
      return op.emitOpError("expects a left operand in the atom's layout, its depth in registers, "
                            "got ")
             << tile.getLayout();
    depth = tile.getColumns();
  } else {
    left = Shared{t.get(op.getA()), cast<SharedType>(op.getA().getType()), 0};
    depth = left->type.getColumns();
  }
  auto type = dyn_cast<SharedType>(op.getB().getType());
  if (!type)
    return op.emitOpError("expects an atom's right operand in shared memory, got ")
           << op.getB().getType();
  right = Shared{t.get(op.getB()), type, op.getTransposeB() ? 0 : 1};
  return success();
}

//===-- Operands -----------------------------------------------------------------------------===//

Value TensorProduct::warpPart(int64_t axis) {
  Value sum = t.int32(0);
  int64_t stride = 1;
  for (Digit one : result.getLayout().getDigits(axis)) {
    if (one.by >= kWarp && one.size > 1)
      sum = t.add32(sum, t.mul32(t.digit(one), stride));
    stride *= one.size;
  }
  return sum;
}

Value TensorProduct::pairOfTile(int64_t row, int64_t eight) {
  TileType type = cast<TileType>(op.getA().getType());
  TileRegisters held(type);
  ValueRange values = t.getTile(op.getA());
  SmallVector<Value> pair;
  for (int64_t c : {0, 1}) {
    int64_t column = 2 * eight + c;
    Value zero = b.zero(type.getElementType());
    if (column >= held.count(1) || held.surelyOutside(1, column)) {
      pair.push_back(zero);
      continue;
    }
    Value value = values[held.index(row, column)];
    if (Value inside = t.isInside(type, held, 1, column))
      value = arith::SelectOp::create(b, inside, value, zero);
    pair.push_back(value);
  }
  return t.toVector(pair);
}

Value TensorProduct::pairOfShared(const Shared &operand, Value outer, int64_t eight) {
  Type element = operand.type.getElementType();
  Value first = t.add32(t.mul32(t.digit({4, 1}), 2), t.int32(8 * eight));
  Value base = t.mul32(outer, operand.stride());
  bool surely = 8 * eight + 8 <= depth;
  if (surely && operand.depthStride() == 1 && operand.stride() % 2 == 0)
    return t.loadShared(operand.memory, operand.type, t.add32(base, first), /*width=*/2);
  SmallVector<Value> pair;
  for (int64_t c : {0, 1}) {
    Value k = t.add32(first, t.int32(c)), inside;
    if (!surely) {
      inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, k, t.int32(depth));
      k = arith::SelectOp::create(b, inside, k, t.int32(0));
    }
    Value value = t.loadShared(operand.memory, operand.type,
                               t.add32(base, t.mul32(k, operand.depthStride())));
    if (inside)
      value = arith::SelectOp::create(b, inside, value, b.zero(element));
    pair.push_back(value);
  }
  return t.toVector(pair);
}

bool TensorProduct::hasMatrices(const Shared &operand, int64_t step) const {
  bool byDepth = operand.depthStride() == 1;
  int64_t slow = byDepth ? operand.stride() : operand.depthStride();
  int64_t fast = byDepth ? operand.depthStride() : operand.stride();
  return halves && 16 * (step + 1) <= depth && fast == 1 &&
         slow * operand.type.getElementBytes() % 16 == 0 && (byDepth || operand.size() % 8 == 0);
}

SmallVector<Value> TensorProduct::loadMatrices(const Shared &operand, Value outer, bool outerFirst,
                                               int64_t step) {
  bool byDepth = operand.depthStride() == 1;
  Value row = t.digit({8, 1}), low = t.mul32(t.digit({2, 8}), 8),
        high = t.mul32(t.digit({2, 16}), 8);
  outer = t.add32(outer, outerFirst ? low : high);
  Value k = t.add32(outerFirst ? high : low, t.int32(16 * step));
  (byDepth ? outer : k) = t.add32(byDepth ? outer : k, row);
  // Past the operand's end the last ones are read; nobody holds what becomes of them.
  int64_t last = operand.size() - (byDepth ? 1 : 8);
  outer = b.createOrFold<arith::MinUIOp>(outer, t.int32(last));
  Value at = t.add32(t.mul32(outer, operand.stride()), t.mul32(k, operand.depthStride()));
  Type word = b.getI32Type();
  Value words = call(byDepth ? "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3"
                             : "llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16.p3",
                     LLVM::LLVMStructType::getLiteral(b.getContext(), {word, word, word, word}),
                     t.sharedPointer(operand.memory, operand.type, at));
  auto pair = VectorType::get({2}, operand.type.getElementType());
  SmallVector<Value> pairs;
  for (int64_t i = 0; i < 4; ++i)
    pairs.push_back(
        LLVM::BitcastOp::create(b, pair, LLVM::ExtractValueOp::create(b, words, i).getResult()));
  return pairs;
}

TensorProduct::Pairs TensorProduct::readLeft(int64_t block, int64_t step) {
  if (left && hasMatrices(*left, step))
    return loadMatrices(*left, t.add32(warpPart(0), t.int32(registers.place(0, 2 * block))),
                        /*outerFirst=*/true, step);
  Pairs pairs;
  for (int64_t eight = step * eights; eight < (step + 1) * eights; ++eight)
    for (int64_t half : {0, 1}) {
      int64_t row = 2 * block + half;
      if (!left) {
        pairs.push_back(pairOfTile(row, eight));
        continue;
      }
      Value outer = t.add32(t.part32(result.getLayout(), 0), t.int32(registers.place(0, row)));
      if (!registers.surelyInside(0, row))
        outer = b.createOrFold<arith::MinUIOp>(outer, t.int32(left->size() - 1));
      pairs.push_back(pairOfShared(*left, outer, eight));
    }
  return pairs;
}

TensorProduct::Pairs TensorProduct::readRight(int64_t block, int64_t step) {
  int64_t place = registers.place(1, 2 * block);
  if (hasMatrices(right, step)) {
    // Two blocks of columns at once.
    SmallVector<Value> &known = loaded[{block / 2, step}];
    if (known.empty())
      known = loadMatrices(right, t.add32(warpPart(1), t.int32(registers.place(1, block / 2 * 4))),
                           /*outerFirst=*/false, step);
    return Pairs(ArrayRef(known).slice(block % 2 * 2, 2));
  }
  Value outer = t.add32(t.add32(warpPart(1), t.digit({8, 4})), t.int32(place));
  outer = b.createOrFold<arith::MinUIOp>(outer, t.int32(right.size() - 1));
  Pairs pairs;
  for (int64_t eight = step * eights; eight < (step + 1) * eights; ++eight)
    pairs.push_back(pairOfShared(right, outer, eight));
  return pairs;
}

//===-- Instructions -------------------------------------------------------------------------===//

Value TensorProduct::call(StringRef intrinsic, Type type, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(b, type, b.getStringAttr(intrinsic), arguments).getResult(0);
}

TensorProduct::Pieces TensorProduct::split(const Pairs &pairs) {
  Type element = cast<VectorType>(pairs.front().getType()).getElementType();
  Pieces pieces(1);
  if (halves) {
    for (Value pair : pairs)
      pieces.front().push_back(
          element.isF16() ? pair : LLVM::BitcastOp::create(b, b.getI32Type(), pair).getResult());
    return pieces;
  }
  auto round = [&](Value x) { return call("llvm.nvvm.f2tf32.rna", b.getI32Type(), x); };
  if (element.isF32())
    pieces.resize(2);
  for (int64_t c : {0, 1})
    for (Value pair : pairs) {
      Value x = b.convert(vector::ExtractOp::create(b, pair, c), b.getF32Type());
      if (!element.isF32()) {
        pieces[0].push_back(LLVM::BitcastOp::create(b, b.getI32Type(), x));
        continue;
      }
      Value great = round(x);
      Value rest = arith::SubFOp::create(
          b, x, LLVM::BitcastOp::create(b, b.getF32Type(), great).getResult());
      pieces[0].push_back(great);
      pieces[1].push_back(round(rest));
    }
  return pieces;
}

void TensorProduct::multiply(ArrayRef<Value> left, ArrayRef<Value> right,
                             MutableArrayRef<Value> sums) {
  Type f32 = b.getF32Type();
  StringRef intrinsic = !halves ? "llvm.nvvm.mma.m16n8k8.row.col.tf32"
                        : left.front().getType().isInteger(32)
                            ? "llvm.nvvm.mma.m16n8k16.row.col.bf16"
                            : "llvm.nvvm.mma.m16n8k16.row.col.f32.f32";
  SmallVector<Value> arguments(left);
  llvm::append_range(arguments, right);
  llvm::append_range(arguments, sums);
  Value next = call(
      intrinsic, LLVM::LLVMStructType::getLiteral(b.getContext(), {f32, f32, f32, f32}), arguments);
  for (int64_t i = 0; i < 4; ++i)
    sums[i] = LLVM::ExtractValueOp::create(b, next, i);
}

LogicalResult TensorProduct::run() {
  if (failed(check()))
    return failure();
  SmallVector<Value> all(t.getTile(op.getAcc()));
  int64_t rowBlocks = registers.count(0) / 2, columnBlocks = registers.count(1) / 2;
  int64_t steps = llvm::divideCeil(depth, 8 * eights);
  for (int64_t step = 0; step < steps; ++step) {
    SmallVector<Pieces> lefts;
    for (int64_t i = 0; i < rowBlocks; ++i)
      lefts.push_back(split(readLeft(i, step)));
    for (int64_t j = 0; j < columnBlocks; ++j) {
      if (registers.surelyOutside(1, 2 * j))
        continue;
      Pieces rights = split(readRight(j, step));
      for (int64_t i = 0; i < rowBlocks; ++i) {
        SmallVector<int64_t> places;
        for (int64_t half : {0, 1})
          for (int64_t c : {0, 1})
            places.push_back(registers.index(2 * i + half, 2 * j + c));
        SmallVector<Value> sums =
            llvm::map_to_vector(places, [&](int64_t place) { return all[place]; });
        // The small products first; that of two small ones is below the sums' last bit.
        for (int64_t l = lefts[i].size() - 1; l >= 0; --l)
          for (int64_t r = rights.size() - 1; r >= 0; --r)
            if (l + r < 2)
              multiply(lefts[i][l], rights[r], sums);
        for (auto [place, sum] : llvm::zip(places, sums))
          all[place] = sum;
      }
    }
  }
  t.define(op.getResult(), all);
  return success();
}

} // namespace mlir::fovea

LogicalResult ThreadLowering::lowerByWarps(MmaOp op) { return TensorProduct(*this, op).run(); }
