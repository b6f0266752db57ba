// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which ops choose between sides, and which side they take. Integers are left out, but for
// conditions: sizes and places are chosen in ways that no input reaches.
#include "interpreter/Frame.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

unsigned interpreter::getSides(Operation *op) {
  if (isa<math::ClampFOp>(op))
    return FirstSide | SecondSide | ThirdSide;
  bool chooses = isa<arith::SelectOp, arith::CmpFOp, arith::MaximumFOp, arith::MinimumFOp,
                     arith::MaxNumFOp, arith::MinNumFOp, math::IsFiniteOp, math::IsInfOp,
                     math::IsNaNOp, math::IsNormalOp, scf::IfOp>(op);
  return chooses ? FirstSide | SecondSide : 0;
}

unsigned interpreter::getTakenSide(Operation *op, ArrayRef<Element> x, Element result) {
  if (isa<math::ClampFOp>(op))
    return x[0].real < x[1].real ? SecondSide : x[0].real > x[2].real ? ThirdSide : FirstSide;
  if (isa<arith::SelectOp>(op))
    return x[0].integer ? FirstSide : SecondSide;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return x[0].real > x[1].real ? FirstSide : x[0].real < x[1].real ? SecondSide : 0;
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    return x[0].real < x[1].real ? FirstSide : x[0].real > x[1].real ? SecondSide : 0;
  return result.integer ? FirstSide : SecondSide;
}
