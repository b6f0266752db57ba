// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which thread holds which element of a kernel's tiles. The pass's text says what it refuses.
#include "dialects/Tile/TileDialect.h"
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

namespace {

/// A kernel's layouts: `rows` groups of `columns` threads. What an axis of some size looks like
/// depends on that size alone, so tiles agree wherever they have rows or columns in common.
class Family {
public:
  /// For tiles of at most `rows` and `columns`. Columns lie in a warp if they can, so that a row is
  /// summed by shuffles.
  Family(MLIRContext *context, int64_t threads, int64_t rows, int64_t columns) : context(context) {
    auto power = [](int64_t size) { return int64_t(llvm::PowerOf2Ceil(size)); };
    int64_t wanted = std::max<int64_t>(power(columns) / kVector, 1);
    this->columns = std::min({wanted, kWarp, threads});
    this->rows = std::min(threads / this->columns, power(rows));
    this->columns = threads / this->rows;
  }

  LayoutAttr getLayout(TileType type) const {
    return LayoutAttr::get(context, getRows(type.getRows()), getColumns(type.getColumns()));
  }

private:
  SmallVector<Digit> getRows(int64_t size) const {
    return makeDigits(size, /*vector=*/1, rows, columns);
  }
  SmallVector<Digit> getColumns(int64_t size) const {
    int64_t vector = kVector;
    while (vector > 1 && size % (vector * columns) != 0)
      vector /= 2;
    return makeDigits(size, vector, columns, 1);
  }
  /// `vector` neighbours in a thread, then threads, then as many rounds as it takes.
  static SmallVector<Digit> makeDigits(int64_t size, int64_t vector, int64_t threads, int64_t by) {
    SmallVector<Digit> digits;
    if (size == 1)
      return digits;
    threads = std::min<int64_t>(threads, llvm::PowerOf2Ceil(size));
    if (vector > 1)
      digits.push_back({vector, 0});
    if (threads > 1)
      digits.push_back({threads, by});
    if (int64_t rounds = llvm::divideCeil(size, vector * threads); rounds > 1)
      digits.push_back({rounds, 0});
    return digits;
  }

  MLIRContext *context;
  int64_t rows, columns;
};

} // namespace

/// Runs `body` for each tile that threads hold.
static void forEachTile(KernelOp kernel, function_ref<void(Value, TileType)> body) {
  auto visit = [&](Value value) {
    auto type = dyn_cast<TileType>(value.getType());
    auto load = value.getDefiningOp<LoadOp>();
    if (type && !(load && isReadInPlace(load)))
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

static void assign(KernelOp kernel, int64_t threads) {
  int64_t rows = 1, columns = 1;
  forEachTile(kernel, [&](Value, TileType type) {
    rows = std::max(rows, type.getRows());
    columns = std::max(columns, type.getColumns());
  });
  Family family(kernel.getContext(), threads, rows, columns);
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
      OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
      TileType result = reduce.getResult().getType();
      auto scratch =
          SharedType::get(threads, result.getLayout().getRegisters(), result.getElementType());
      reduce.getScratchMutable().assign(
          SharedOp::create(builder, op->getLoc(), scratch, IntegerAttr()));
    }
  });
}

namespace {
struct AssignLayoutsPass : fovea::impl::AssignLayoutsPassBase<AssignLayoutsPass> {
  using AssignLayoutsPassBase::AssignLayoutsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (threads < kWarp || !llvm::isPowerOf2_64(threads) || threads > 1024) {
      function.emitOpError("expects a power of two from 32 to 1024 threads, got ")
          << static_cast<int64_t>(threads);
      return signalPassFailure();
    }
    bool any = false;
    for (auto kernel : function.getOps<KernelOp>()) {
      assign(kernel, threads);
      any = true;
    }
    if (any)
      function->setAttr(FoveaDialect::kThreadsAttr,
                        Builder(&getContext()).getI32IntegerAttr(threads));
  }
};
} // namespace
