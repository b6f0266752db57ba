// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls, groups, branches and loops, and index arithmetic by affine maps. Refuses loops whose step
// is not positive.
#include "interpreter/Frame.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static SmallVector<RuntimeValue> valuesOf(Frame &frame, ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return frame.get(value); });
}

static LogicalResult bindAll(Operation *op, Frame &frame, ArrayRef<RuntimeValue> values) {
  if (op->getNumResults() != values.size())
    return op->emitOpError("expects ") << op->getNumResults() << " values, got " << values.size();
  for (auto [result, value] : llvm::zip_equal(op->getResults(), values))
    if (failed(frame.bind(op, result, value)))
      return failure();
  return success();
}

static LogicalResult runCall(func::CallOp op, Frame &frame) {
  FailureOr<std::vector<RuntimeValue>> results = frame.call(op, valuesOf(frame, op.getOperands()));
  return failed(results) ? failure() : bindAll(op, frame, *results);
}

static LogicalResult runGroup(GroupOp op, Frame &frame) {
  SmallVector<RuntimeValue> results;
  if (failed(frame.run(op.getBody().front(), valuesOf(frame, op.getInputs()), results)))
    return failure();
  return bindAll(op, frame, results);
}

static LogicalResult runIf(scf::IfOp op, Frame &frame) {
  bool isFirst = frame.integer(op.getCondition());
  if (unsigned *sides = frame.getChoices(op))
    *sides |= isFirst ? FirstSide : SecondSide;
  Region &region = isFirst ? op.getThenRegion() : op.getElseRegion();
  SmallVector<RuntimeValue> results;
  if (!region.empty() && failed(frame.run(region.front(), {}, results)))
    return failure();
  return bindAll(op, frame, results);
}

static LogicalResult runFor(scf::ForOp op, Frame &frame) {
  int64_t lower = frame.integer(op.getLowerBound()), upper = frame.integer(op.getUpperBound());
  int64_t step = frame.integer(op.getStep());
  if (step <= 0)
    return op.emitOpError("expects a positive step, got ") << step;
  SmallVector<RuntimeValue> carried = valuesOf(frame, op.getInitArgs());
  for (int64_t i = lower; i < upper;) {
    SmallVector<RuntimeValue> arguments{i};
    arguments.append(carried);
    if (failed(frame.run(*op.getBody(), arguments, carried)))
      return failure();
    if (__builtin_add_overflow(i, step, &i))
      break;
  }
  return bindAll(op, frame, carried);
}

//===-- Affine -------------------------------------------------------------------------------===//

/// The results of a map on operands that are its dimensions, then its symbols.
static SmallVector<int64_t> evaluate(Frame &frame, AffineMap map, ValueRange operands) {
  Builder builder(map.getContext());
  SmallVector<Attribute> constants, results;
  for (Value operand : operands)
    constants.push_back(builder.getIndexAttr(frame.integer(operand)));
  if (failed(map.constantFold(constants, results)))
    return {};
  return llvm::map_to_vector(results,
                             [](Attribute one) { return cast<IntegerAttr>(one).getInt(); });
}

enum class Choice { First, Least, Greatest };

template <typename OpT, Choice choice> static LogicalResult runAffine(OpT op, Frame &frame) {
  SmallVector<int64_t> results = evaluate(frame, op.getMap(), op.getOperands());
  if (results.empty())
    return op.emitOpError("expects divisors that are positive");
  int64_t result = results.front();
  for (int64_t one : results) {
    if (choice == Choice::Least)
      result = std::min(result, one);
    if (choice == Choice::Greatest)
      result = std::max(result, one);
  }
  return frame.set(op, RuntimeValue(result));
}

void interpreter::addControlOps(HandlerTable &table) {
  table.add(runCall);
  table.add(runGroup);
  table.add(runIf);
  table.add(runFor);
  table.add(runAffine<affine::AffineApplyOp, Choice::First>);
  table.add(runAffine<affine::AffineMinOp, Choice::Least>);
  table.add(runAffine<affine::AffineMaxOp, Choice::Greatest>);
}
