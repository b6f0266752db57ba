// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which choices are worth telling, and what their sides are called.
#include "tools/verify/Branches.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "tools/verify/Departure.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;
using namespace mlir::fovea::verify;

/// The side of a test for NaN or infinity that ordinary numbers do not take; 0 for other ops.
static unsigned getRareSide(Operation *op) {
  if (isa_and_nonnull<math::IsNaNOp, math::IsInfOp>(op))
    return FirstSide;
  if (isa_and_nonnull<math::IsFiniteOp, math::IsNormalOp>(op))
    return SecondSide;
  auto compare = dyn_cast_or_null<arith::CmpFOp>(op);
  if (!compare)
    return 0;
  using P = arith::CmpFPredicate;
  P predicate = compare.getPredicate();
  bool isSelf = compare.getLhs() == compare.getRhs();
  if (predicate == P::UNO || (isSelf && (predicate == P::UNE || predicate == P::ONE)))
    return FirstSide;
  return predicate == P::ORD || (isSelf && (predicate == P::OEQ || predicate == P::UEQ))
             ? SecondSide
             : 0;
}

/// Whether an op only hands on what another one decides, or decides about sizes.
static bool isUntold(Operation *op) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return getElementTypeOrSelf(op->getResult(0).getType()).isIntOrIndex() ||
           getRareSide(select.getCondition().getDefiningOp());
  if (!isa<arith::CmpFOp>(op))
    return false;
  return !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
    return isa<arith::SelectOp, scf::IfOp>(use.getOwner()) && use.getOperandNumber() == 0;
  });
}

static StringRef nameSide(Operation *op, unsigned side) {
  if (isa<math::ClampFOp>(op))
    return side == FirstSide    ? "between its bounds"
           : side == SecondSide ? "below its bounds"
                                : "above its bounds";
  if (isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op))
    return side == FirstSide ? "its first operand" : "its second operand";
  if (isa<arith::SelectOp, scf::IfOp>(op))
    return side == FirstSide ? "its first side" : "its second side";
  return side == FirstSide ? "true" : "false";
}

/// The op's place, or that of the op around it which has one.
static std::string locate(Operation *op) {
  while (isa<UnknownLoc>(op->getLoc()) && op->getParentOp() && !isa<ModuleOp>(op->getParentOp()))
    op = op->getParentOp();
  return describeLocation(op->getLoc());
}

Branches verify::findUnreached(ModuleOp module, const ChoiceMap &choices) {
  Branches branches;
  std::map<std::string, size_t> known;
  auto add = [&](Operation *op, StringRef side) {
    Unreached one{op->getName().getStringRef().str(), locate(op), side.str()};
    auto [at, isNew] =
        known.try_emplace(one.op + "@" + one.location + "@" + one.side, branches.unreached.size());
    if (isNew)
      branches.unreached.push_back(std::move(one));
    else
      ++branches.unreached[at->second].count;
  };
  module.walk([&](Operation *op) {
    unsigned sides = getSides(op), rare = getRareSide(op);
    if (!sides || (!rare && isUntold(op)))
      return;
    auto found = choices.find(op);
    unsigned missing = sides & ~(found == choices.end() ? 0 : found->second);
    if (rare)
      branches.nanTests += (missing & rare) != 0;
    else if (found == choices.end())
      add(op, "not run");
    else
      for (unsigned side : {FirstSide, SecondSide, ThirdSide})
        if (missing & side)
          add(op, nameSide(op, side));
  });
  return branches;
}
