// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which products warps do by instructions for matrices. The pass's text says what it refuses.
#include "dialects/Tile/TileDialect.h"
#include "lowering/GPU/GPU.h"
#include "mlir/IR/Builders.h"

namespace mlir::fovea {
#define GEN_PASS_DEF_CHOOSEATOMSPASS
#include "lowering/GPU/Passes.h.inc"
} // namespace mlir::fovea

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::tile;

/// The instruction for a product; none if there is no such one.
static std::optional<Atom> getAtom(DotOp dot, bool warpgroups) {
  TileType result = dot.getResult().getType();
  Type a = dot.getA().getType().getElementType(), b = dot.getB().getType().getElementType();
  int64_t rows = result.getRows(), columns = result.getColumns();
  // Less than one instruction's rows or columns would leave most of it idle.
  if (!result.getElementType().isF32() || rows < 16 || columns < 8)
    return std::nullopt;
  bool halves = a == b && !a.isF32();
  bool whole = rows % 64 == 0 && columns % 8 == 0 && columns <= 256 &&
               dot.getA().getType().getColumns() % 16 == 0;
  if (warpgroups && halves && whole)
    return Atom::M64K16;
  return halves ? Atom::M16N8K16 : Atom::M16N8K8;
}

namespace {
struct ChooseAtomsPass : fovea::impl::ChooseAtomsPassBase<ChooseAtomsPass> {
  using ChooseAtomsPassBase::ChooseAtomsPassBase;

  void runOnOperation() override {
    if (!tensorCores)
      return;
    getOperation()->walk([&](DotOp dot) {
      if (std::optional<Atom> atom = getAtom(dot, warpgroups))
        dot.setAtom(*atom);
    });
  }
};
} // namespace
