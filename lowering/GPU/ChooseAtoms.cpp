// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products warps do by instructions for matrices. The pass's text says what it refuses.
#include "dialects/Fovea/FoveaDialect.h"
#include "dialects/Tile/TileDialect.h"
#include "lowering/GPU/GPU.h"
#include "lowering/GPU/Registers.h"
#include "mlir/IR/Builders.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_CHOOSEATOMSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// Of more, each thread would have fewer than 168 registers: not enough for 64 rows of scores, of
/// weights and of a head of 128.
static constexpr int64_t kMostWarpgroups = 3;

/// The instruction for a product; none if there is no such one.
static std::optional<Atom> getAtom(DotOp dot, bool warpgroups) {
  TileType result = dot.getResult().getType();
  Type a = dot.getA().getType().getElementType(), b = dot.getB().getType().getElementType();
  int64_t rows = result.getRows(), columns = result.getColumns();
  // Less than one instruction's rows or columns would leave most of it idle.
  if (!result.getElementType().isF32() || rows < 16 || columns < 8)
    return std::nullopt;
  bool halves = a == b && !a.isF32();
  if (warpgroups && halves && fitsWarpgroups(rows, columns, dot.getA().getType().getColumns()))
    return Atom::M64K16;
  return halves ? Atom::M16N8K16 : Atom::M16N8K8;
}

/// Whether integers are rows of a cache, of which there are fewer than it has room for.
static bool isOfCache(DequantizeOp op) {
  LoadOp load = op.getLoad();
  auto view = load ? load.getView().getDefiningOp<ViewOp>() : ViewOp();
  return view && view.getLength();
}

/// Integers with other readers, and those of caches, become floats element by element.
static void convertElements(func::FuncOp function) {
  function->walk([](DequantizeOp op) {
    if (op.getScales() || (isReadByRows(op) && !isOfCache(op)))
      return;
    OpBuilder builder(op);
    TileType type = op.getResult().getType();
    auto convert = [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
      Value number = arith::SIToFPOp::create(b, loc, b.getF32Type(), x[0]);
      if (type.getElementType().isF32())
        return number;
      return arith::TruncFOp::create(b, loc, type.getElementType(), number);
    };
    op.getResult().replaceAllUsesWith(
        MapOp::create(builder, op.getLoc(), type, op.getInput(), convert).getResult());
    op->erase();
  });
}

namespace {
struct ChooseAtomsPass : fovea::impl::ChooseAtomsPassBase<ChooseAtomsPass> {
  using ChooseAtomsPassBase::ChooseAtomsPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    WalkResult hasBytes = function->walk([&](DotOp dot) {
      if (!dot.getA().getType().getElementType().isInteger())
        return WalkResult::advance();
      dot.emitOpError("has rows of i8, expects floats: no GPU's schedule has operands = i8");
      return WalkResult::interrupt();
    });
    if (hasBytes.wasInterrupted())
      return signalPassFailure();
    convertElements(function);
    if (!tensorCores)
      return;
    int64_t rows = 0; // of products by warpgroups
    function->walk([&](DotOp dot) {
      std::optional<Atom> atom = getAtom(dot, warpgroups);
      if (!atom)
        return;
      dot.setAtom(atom);
      if (*atom == Atom::M64K16)
        rows = std::max(rows, dot.getResult().getType().getRows());
    });
    if (rows) {
      int64_t groups = kMostWarpgroups;
      while (rows % (groups * kWarpgroupRows) != 0)
        --groups;
      function->setAttr(FoveaDialect::kThreadsAttr,
                        Builder(&getContext()).getI32IntegerAttr(groups * kWarpgroup));
    }
  }
};
} // namespace
