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

/// The instruction for operands of these types; none if there is no such one.
static std::optional<Atom> getAtom(Type a, Type b, Type sum) {
  if (!sum.isF32())
    return std::nullopt;
  return a == b && !a.isF32() ? Atom::M16N8K16 : Atom::M16N8K8;
}

namespace {
struct ChooseAtomsPass : fovea::impl::ChooseAtomsPassBase<ChooseAtomsPass> {
  using ChooseAtomsPassBase::ChooseAtomsPassBase;

  void runOnOperation() override {
    if (!tensorCores)
      return;
    getOperation()->walk([](DotOp dot) {
      TileType result = dot.getResult().getType();
      // Less than one instruction's rows or columns would leave most of it idle.
      if (result.getRows() < 16 || result.getColumns() < 8)
        return;
      if (std::optional<Atom> atom =
              getAtom(dot.getA().getType().getElementType(), dot.getB().getType().getElementType(),
                      result.getElementType()))
        dot.setAtom(*atom);
    });
  }
};
} // namespace
