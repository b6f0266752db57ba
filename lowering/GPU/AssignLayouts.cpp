// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which thread holds which element of a kernel's tiles. The pass's text says what it refuses.
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/Entries/Entries.h"
#include "lowering/GPU/GPU.h"
#include "lowering/GPU/Registers.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_ASSIGNLAYOUTSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

using Digit = LayoutAttr::Digit;

/// f32 that a thread moves at once.
static constexpr int64_t kVector = 4;

/// Of a kernel that streams a weight: twice as many have no room for all their registers.
static constexpr int64_t kMostStreamWarps = 16;

namespace {

/// A kernel's layouts. What an axis of some size looks like depends on that size alone, so tiles
/// agree wherever they have rows or columns in common.
class Family {
public:
  /// For tiles of at most `rows` and `columns`: groups of threads for rows, threads of a group for
  /// columns. Columns lie in a warp if they can, so that a row is summed by shuffles.
  static Family byElements(MLIRContext *context, int64_t threads, int64_t rows, int64_t columns) {
    auto power = [](int64_t size) { return int64_t(llvm::PowerOf2Ceil(size)); };
    Family family(context);
    int64_t wanted = std::max<int64_t>(power(columns) / kVector, 1);
    int64_t across = std::min({wanted, kWarp, threads});
    int64_t down = std::min(threads / across, power(rows));
    family.across = threads / down;
    family.rows = {{down, family.across}, kRest};
    return family;
  }

  /// As atoms give their sums, 16 rows of 8 columns each, and take their left operands: the depth
  /// is in the order of the columns, for both operands alike.
  static Family byAtoms(MLIRContext *context, TensorWarps warps) {
    Family family(context);
    family.rows = {{8, 4}, {2, 0}, {warps.rows, kWarp}, kRest};
    family.warps = warps;
    return family;
  }

  LayoutAttr getLayout(TileType type) const {
    return LayoutAttr::get(context, makeDigits(type.getRows(), rows),
                           makeDigits(type.getColumns(), getColumns(type.getColumns())));
  }

private:
  explicit Family(MLIRContext *context) : context(context) {}

  /// As many registers as it takes.
  static constexpr Digit kRest = {0, 0};

  SmallVector<Digit> getColumns(int64_t size) const {
    if (warps) {
      int64_t pieces = llvm::divideCeil(size, 8 * warps->columns);
      return {{2, 0}, {4, 1}, {pieces, 0}, {warps->columns, kWarp * warps->rows}};
    }
    int64_t vector = kVector;
    while (vector > 1 && size % (vector * across) != 0)
      vector /= 2;
    return {{vector, 0}, {across, 1}, kRest};
  }

  /// Of a pattern's digits as much as it takes to count to `size`.
  static SmallVector<Digit> makeDigits(int64_t size, ArrayRef<Digit> pattern) {
    SmallVector<Digit> digits;
    int64_t rest = size;
    for (Digit digit : pattern) {
      int64_t most = digit.by ? int64_t(llvm::PowerOf2Ceil(rest)) : rest;
      digit.size = digit.size ? std::min(digit.size, most) : rest;
      if (digit.size > 1)
        digits.push_back(digit);
      rest = llvm::divideCeil(rest, digit.size);
    }
    return digits;
  }

  MLIRContext *context;
  SmallVector<Digit> rows;
  int64_t across = 1;               ///< threads for columns, without atoms
  std::optional<TensorWarps> warps; ///< with atoms
};

} // namespace

/// Runs `body` for each tile that threads hold.
static void forEachTile(KernelOp kernel, function_ref<void(Value, TileType)> body) {
  auto visit = [&](Value value) {
    auto type = dyn_cast<TileType>(value.getType());
    if (type && !isReadInPlace(value))
      body(value, type);
  };
  kernel->walk([&](Operation *op) {
    for (Value result : op->getResults())
      visit(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          visit(argument);
  });
}

/// What threads meet in that have parts of a result's elements.
static Value makeScratch(KernelOp kernel, Operation *op, int64_t threads, TileType result) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  auto type = SharedType::get(threads, result.getLayout().getRegisters(), result.getElementType());
  return SharedOp::create(builder, op->getLoc(), type, IntegerAttr());
}

static void assign(KernelOp kernel, int64_t threads, std::optional<TensorWarps> warps) {
  int64_t rows = 1, columns = 1;
  forEachTile(kernel, [&](Value, TileType type) {
    rows = std::max(rows, type.getRows());
    columns = std::max(columns, type.getColumns());
  });
  MLIRContext *context = kernel.getContext();
  Family family = warps ? Family::byAtoms(context, *warps)
                        : Family::byElements(context, threads, rows, columns);
  forEachTile(kernel, [&](Value value, TileType type) {
    value.setType(type.withLayout(family.getLayout(type)));
  });
  kernel->walk([&](Operation *op) {
    if (auto cast = dyn_cast<CastOp>(op); cast && cast.getInput().getType() == cast.getType()) {
      // Other lanes, which are no more.
      cast.replaceAllUsesWith(cast.getInput());
      cast.erase();
    } else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (ReduceDigits(reduce.getInput().getType().getLayout(), reduce.getAxis()).parts() == 1)
        return;
      reduce.getScratchMutable().assign(
          makeScratch(kernel, op, threads, reduce.getResult().getType()));
    } else if (auto product = dyn_cast<MmaOp>(op)) {
      // What streams from memory is read by one thread for each of its elements, not by all that
      // hold copies.
      TileType result = product.getResult().getType();
      bool streams = isa<TileType>(product.getB().getType());
      if (!product.getAtom() && streams && countCopies(result.getLayout(), threads) > 1)
        product.getScratchMutable().assign(makeScratch(kernel, op, threads, result));
    }
  });
}

/// A product of few sums that streams its right operand from memory.
static bool isStream(MmaOp product) {
  TileType result = product.getResult().getType();
  return !product.getAtom() && isa<TileType>(product.getB().getType()) &&
         result.getRows() * result.getColumns() <= kWarp;
}

/// Of a kernel whose threads nothing says. A stream waits for its loads: with few outputs there are
/// few blocks, and what they read at a time is up to their warps. Each is to take two turns.
static int64_t chooseThreads(KernelOp kernel) {
  int64_t threads = kDefaultThreads;
  kernel.walk([&](MmaOp product) {
    if (!isStream(product))
      return;
    auto weight = cast<TileType>(product.getB().getType());
    int64_t depth = product.getTransposeB() ? weight.getColumns() : weight.getRows();
    int64_t turn = kLoads * kLoadBits / weight.getElementType().getIntOrFloatBitWidth();
    int64_t warps = llvm::bit_floor<uint64_t>(std::max<int64_t>(depth / (2 * turn), 1));
    threads = std::max(threads, std::min(warps, kMostStreamWarps) * kWarp);
  });
  return threads;
}

namespace {
struct AssignLayoutsPass : fovea::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  using AssignLayoutsPassBase::AssignLayoutsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    int64_t threads = getThreads(function);
    if (!function->hasAttr(FoveaDialect::kThreadsAttr))
      for (auto kernel : function.getOps<KernelOp>())
        threads = std::max(threads, chooseThreads(kernel));
    if (threads < kWarp || threads % kWarp != 0 || threads > 1024) {
      function.emitOpError("expects whole warps of up to 1024 threads, got ") << threads;
      return signalPassFailure();
    }
    bool any = false;
    for (auto kernel : function.getOps<KernelOp>()) {
      std::optional<TensorWarps> warps = TensorWarps::find(kernel, threads);
      if (!warps && !llvm::isPowerOf2_64(threads)) {
        kernel.emitOpError("expects a power of two threads where no product has an atom, got ")
            << threads;
        return signalPassFailure();
      }
      assign(kernel, threads, warps);
      any = true;
    }
    if (any)
      function->setAttr(FoveaDialect::kThreadsAttr,
                        Builder(&getContext()).getI32IntegerAttr(threads));
  }
};
} // namespace
