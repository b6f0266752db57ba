// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products by warpgroups: wgmma (PTX ISA 8.0, 9.7.15). Four warps multiply 64 rows by all columns;
// each holds of the sums its own 16 rows, as mma.sync gives them. The right operand is read where
// it lies in shared memory, the left one there or in registers. Nothing may touch a product's
// registers from its first instruction to the wait, and LLVM does not know: a product is one piece
// of assembly, and the wait for one that was only begun is another, which takes all of its sums.
#include "lowering/GPU/ThreadLowering.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

using Digit = LayoutAttr::Digit;

namespace {

/// An operand in shared memory. `outer` is its axis that is the result's.
struct Operand {
  SharedType type;
  int64_t outer;

  /// Whether elements lie beside each other along the depth.
  bool runsAlongDepth() const { return type.getFastAxis() != outer; }
  /// From the operand's first byte to the place at that number along one of its axes, a whole row
  /// of the swizzle or an eighth of it.
  int64_t getOffset(int64_t axis, int64_t number) const {
    if (axis != type.getFastAxis())
      return number * type.getSwizzle();
    return (number / type.getPanel() * type.getPanelStride() + number % type.getPanel()) *
           type.getElementBytes();
  }
  int64_t getDepthOffset(int64_t k) const { return getOffset(1 - outer, k); }
  /// All of a descriptor but the address ("Matrix Descriptor Format"): from one panel to the next
  /// along rows or columns, which is not read where the depth is the fast axis, and from eight
  /// rows of the swizzle to the next.
  int64_t getDescriptor() const {
    int64_t leading = runsAlongDepth() ? 16 : type.getPanelStride() * type.getElementBytes();
    int64_t stride = 8 * type.getSwizzle();
    int64_t kind = type.getSwizzle() == 128 ? 1 : type.getSwizzle() == 64 ? 2 : 3;
    return (leading >> 4) << 16 | (stride >> 4) << 32 | kind << 62;
  }
};

} // namespace

namespace mlir::fovea {

/// Emits one product.
class WarpgroupProduct {
public:
  WarpgroupProduct(ThreadLowering &t, MmaOp op)
      : t(t), b(t.b), op(op), result(op.getResult().getType()), registers(result) {}
  LogicalResult run();

private:
  LogicalResult check();
  /// Where an operand begins, `offset` bytes further on, as wgmma takes it.
  Value describe(Value memory, const Operand &operand, Value offset);
  /// The words of 16 rows and 16 of the depth, two neighbours in each: both eights of rows of the
  /// first eight columns, then of the next.
  SmallVector<Value> readLeft(int64_t block, int64_t step);
  /// One piece of 64 rows in each warpgroup; `isLast` if it ends the product.
  SmallVector<Value> multiply(int64_t block, ValueRange sums, bool isLast);

  ThreadLowering &t;
  Emitter &b;
  MmaOp op;
  TileType result;
  TileRegisters registers;
  int64_t depth = 0;
  std::optional<Operand> left;
  Operand right;
};

LogicalResult WarpgroupProduct::check() {
  LayoutAttr layout = result.getLayout();
  if (failed(t.checkLayout(op, result)))
    return failure();
  Digits rows = layout.getDigits(0), columns = layout.getDigits(1);
  auto isRegister = [](Digit digit) { return digit.by == 0; };
  if (!beginsWith(rows, {{8, 4}, {2, 0}}) || rows.size() < 3 || rows[2].by != kWarp ||
      rows[2].size % 4 != 0 || !llvm::all_of(ArrayRef(rows).drop_front(3), isRegister) ||
      !beginsWith(columns, {{2, 0}, {4, 1}}) ||
      !llvm::all_of(ArrayRef(columns).drop_front(2), isRegister))
    return op.emitOpError("expects its sums in the layout of warpgroups, rows = [threads 8 by 4, "
                          "registers 2, threads 4 by 32, ...], columns = [registers 2, threads 4 "
                          "by 1, ...], got ")
           << layout;
  if (auto tile = dyn_cast<TileType>(op.getA().getType())) {
    if (failed(t.checkLayout(op, tile)))
      return failure();
    if (!isLeftOperand(tile.getLayout(), layout))
      return op.emitOpError("expects a left operand in the layout of its sums, its depth in "
                            "registers, got ")
             << tile.getLayout();
    depth = tile.getColumns();
  } else {
    left = Operand{cast<SharedType>(op.getA().getType()), 0};
    depth = left->type.getColumns();
    if (!left->runsAlongDepth() && kWarpgroupRows % left->type.getPanel() != 0)
      return op.emitOpError("expects panels that divide 64 rows, got ") << left->type;
  }
  auto type = dyn_cast<SharedType>(op.getB().getType());
  if (!type)
    return op.emitOpError("expects a right operand in shared memory, got ") << op.getB().getType();
  right = Operand{type, op.getTransposeB() ? 0 : 1};
  return success();
}

Value WarpgroupProduct::describe(Value memory, const Operand &operand, Value offset) {
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), memory);
  Value units = b.createOrFold<arith::ShRUIOp>(t.add32(address, offset), t.int32(4));
  units = b.createOrFold<arith::AndIOp>(units, t.int32(0x3fff));
  Value wide = b.createOrFold<arith::ExtUIOp>(b.getI64Type(), units);
  Value rest = arith::ConstantOp::create(b, b.getI64IntegerAttr(operand.getDescriptor()));
  return b.createOrFold<arith::OrIOp>(wide, rest);
}

/// A piece of assembly that gives `count` numbers of f32.
SmallVector<Value> emitAssembly(Emitter &b, StringRef text, StringRef constraints,
                                ValueRange operands, int64_t count) {
  Type type = LLVM::LLVMVoidType::get(b.getContext());
  if (count)
    type =
        LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(count, b.getF32Type()));
  auto dialect = LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT);
  auto code = LLVM::InlineAsmOp::create(b, type, operands, text, (constraints + "~{memory}").str(),
                                        /*has_side_effects=*/true, /*is_align_stack=*/false,
                                        LLVM::tailcallkind::TailCallKind::None, dialect,
                                        /*operand_attrs=*/ArrayAttr());
  SmallVector<Value> results;
  for (int64_t i = 0; i < count; ++i)
    results.push_back(LLVM::ExtractValueOp::create(b, code.getResult(0), i));
  return results;
}

/// Two halves as wgmma takes them.
static Value toWord(Emitter &b, ArrayRef<Value> halves) {
  auto type = VectorType::get(2, halves.front().getType());
  Value pair = vector::FromElementsOp::create(b, type, halves);
  return LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

SmallVector<Value> WarpgroupProduct::readLeft(int64_t block, int64_t step) {
  TileRegisters held(cast<TileType>(op.getA().getType()));
  ValueRange values = t.getTile(op.getA());
  SmallVector<Value> words;
  for (int64_t eight : {2 * step, 2 * step + 1})
    for (int64_t half : {0, 1}) {
      int64_t first = held.index(2 * block + half, 2 * eight);
      words.push_back(toWord(b, {values[first], values[first + 1]}));
    }
  return words;
}

/// Whether a product begins with nothing.
static bool isZero(Value tile) {
  auto splat = tile.getDefiningOp<SplatOp>();
  return splat && matchPattern(splat.getOperand(), m_AnyZeroFloat());
}

SmallVector<Value> WarpgroupProduct::multiply(int64_t block, ValueRange sums, bool isLast) {
  bool fresh = isZero(op.getAcc());
  Type element = right.type.getElementType();
  int64_t count = sums.size(), next = fresh ? count : 2 * count;
  auto name = [](int64_t number) { return "$" + std::to_string(number); };
  auto list = [&](int64_t first, int64_t size) {
    std::string text = "{";
    for (int64_t i = 0; i < size; ++i)
      text += (i ? ", " : "") + name(first + i);
    return text + "}";
  };
  SmallVector<Value> operands;
  std::string constraints;
  for (int64_t i = 0; i < count; ++i)
    constraints += "=&f,";
  if (!fresh) {
    llvm::append_range(operands, sums);
    for (int64_t i = 0; i < count; ++i)
      constraints += std::to_string(i) + ",";
  }
  auto add = [&](Value value, const char *constraint) {
    operands.push_back(value);
    constraints += std::string(constraint) + ",";
    return next++;
  };
  // The block's own 64 rows of the left operand, or those of this warpgroup.
  int64_t leftAt = 0;
  if (left) {
    Value warp = t.digit(Digits(result.getLayout().getDigits(0))[2]);
    Value group = b.createOrFold<arith::DivUIOp>(warp, t.int32(4));
    Value offset = t.mul32(group, left->getOffset(0, kWarpgroupRows));
    offset = t.add32(offset, t.int32(left->getOffset(0, registers.place(0, 2 * block))));
    leftAt = add(describe(t.get(op.getA()), *left, offset), "l");
  }
  int64_t rightAt = add(describe(t.get(op.getB()), right, t.int32(0)), "l");

  std::string type = element.isF16() ? "f16" : "bf16";
  std::string text = "{\n\t.reg .pred old;\n\t.reg .b64 a, b;\n\twgmma.fence.sync.aligned;\n";
  for (int64_t step = 0; step < depth / kWarpgroupDepth; ++step) {
    std::string a = "a";
    auto move = [&](const char *to, const Operand &operand, int64_t from) {
      text += std::string("\tadd.s64 ") + to + ", " + name(from) + ", " +
              std::to_string(operand.getDepthOffset(step * kWarpgroupDepth) >> 4) + ";\n";
    };
    if (left) {
      move("a", *left, leftAt);
    } else {
      a = list(next, 4);
      for (Value word : readLeft(block, step))
        add(word, "r");
    }
    move("b", right, rightAt);
    text += std::string("\tsetp.ne.b32 old, ") + (fresh && step == 0 ? "0" : "1") + ", 0;\n";
    text += "\twgmma.mma_async.sync.aligned.m64n" + std::to_string(2 * count) + "k16.f32." + type +
            "." + type + " " + list(0, count) + ", " + a + ", b, old, 1, 1";
    if (left)
      text += left->runsAlongDepth() ? ", 0" : ", 1";
    text += right.runsAlongDepth() ? ", 0;\n" : ", 1;\n";
  }
  if (isLast || !op.getAsync())
    text += "\twgmma.commit_group.sync.aligned;\n";
  if (!op.getAsync())
    text += "\twgmma.wait_group.sync.aligned 0;\n";
  text += "\t}";
  return emitAssembly(b, text, constraints, operands, count);
}

LogicalResult WarpgroupProduct::run() {
  if (failed(check()))
    return failure();
  SmallVector<Value> all(t.getTile(op.getAcc()));
  int64_t blocks = registers.count(0) / 2;
  for (int64_t block = 0; block < blocks; ++block) {
    // Eight columns after the other: of each row two, then of the row eight below.
    SmallVector<int64_t> places;
    for (int64_t eight = 0; eight < registers.count(1) / 2; ++eight)
      for (int64_t half : {0, 1})
        for (int64_t c : {0, 1})
          places.push_back(registers.index(2 * block + half, 2 * eight + c));
    SmallVector<Value> sums =
        multiply(block, llvm::map_to_vector(places, [&](int64_t i) { return all[i]; }),
                 /*isLast=*/block == blocks - 1);
    for (auto [place, sum] : llvm::zip(places, sums))
      all[place] = sum;
  }
  t.define(op.getResult(), all);
  return success();
}

} // namespace mlir::fovea

LogicalResult ThreadLowering::lowerByWarpgroups(MmaOp op) {
  return WarpgroupProduct(*this, op).run();
}

LogicalResult ThreadLowering::lower(MmaWaitOp op) {
  // ptxas moves what the wait does not read behind it, but no store: one that depends on a number
  // and never happens, for no sum is this NaN, keeps what computes the number before the wait.
  Value base = LLVM::AddressOfOp::create(b, shared);
  for (Value tile : op.getAfter())
    for (Value number : getTile(tile)) {
      Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), base);
      emitAssembly(b,
                   "{\n\t.reg .pred never;\n\t.reg .b32 sum;\n\tadd.f32 sum, $0, 0f00000000;\n"
                   "\tsetp.eq.b32 never, sum, 0x7fffdead;\n\t@never st.shared.b32 [$1], sum;\n\t}",
                   "f,r,", {number, address}, /*count=*/0);
    }
  // The left operand's registers are read until then, too.
  auto product = op.getProduct().getDefiningOp<MmaOp>();
  SmallVector<Value> operands(getTile(op.getProduct()));
  size_t count = operands.size();
  if (isa<TileType>(product.getA().getType())) {
    ValueRange left = getTile(product.getA());
    for (size_t i = 0; i < left.size(); i += 2)
      operands.push_back(toWord(b, {left[i], left[i + 1]}));
  }
  std::string text = "wgmma.wait_group.sync.aligned " + std::to_string(op.getPending()) + ";";
  std::string constraints;
  for (size_t i = 0; i < count; ++i)
    constraints += "=f,";
  for (size_t i = 0; i < operands.size(); ++i)
    constraints += i < count ? std::to_string(i) + "," : "r,";
  define(op.getResult(), emitAssembly(b, text, constraints, operands, count));
  return success();
}
