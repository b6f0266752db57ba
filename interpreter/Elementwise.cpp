// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules for one element, applied to scalars and tensors.
#include "interpreter/Elementwise.h"

using namespace mlir;
using namespace mlir::fovea;
using namespace mlir::fovea::interpreter;

static LogicalResult applyRule(Operation *op, Frame &frame, const ElementRule &rule) {
  unsigned count = op->getNumOperands(), *sides = frame.getChoices(op);
  SmallVector<Element, 3> elements(count);
  auto resultType = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!resultType) {
    for (unsigned i = 0; i < count; ++i)
      elements[i] = frame.element(op->getOperand(i));
    TRY(Element result, rule(op, elements));
    if (sides)
      *sides |= getTakenSide(op, elements, result);
    return frame.setElement(op, op->getResult(0), result);
  }

  SmallVector<TensorRef, 3> tensors(count);
  TensorRef first;
  for (unsigned i = 0; i < count; ++i) {
    if (!isa<RankedTensorType>(op->getOperand(i).getType())) {
      elements[i] = frame.element(op->getOperand(i));
      continue;
    }
    tensors[i] = frame.tensorRef(op->getOperand(i));
    if (!first)
      first = tensors[i];
    if (tensors[i]->shape != first->shape)
      return op->emitOpError("expects operands of one shape, got [")
             << first->shape << "] and [" << tensors[i]->shape << "]";
  }
  TRY(Tensor result,
      frame.makeTensor(op, first->shape, isa<FloatType>(resultType.getElementType())));
  for (int64_t at = 0, size = result.size(); at < size; ++at) {
    for (unsigned i = 0; i < count; ++i)
      if (tensors[i])
        elements[i] = tensors[i]->at(at);
    TRY(Element element, rule(op, elements));
    if (sides)
      *sides |= getTakenSide(op, elements, element);
    result.put(at, element);
  }
  return frame.set(op, std::move(result));
}

Handler interpreter::elementwise(ElementRule rule) {
  return
      [rule = std::move(rule)](Operation *op, Frame &frame) { return applyRule(op, frame, rule); };
}

Handler interpreter::realUnary(double (*function)(double)) {
  return elementwise([function](Operation *, ArrayRef<Element> x) -> FailureOr<Element> {
    return Element{function(x[0].real), 0};
  });
}

Handler interpreter::realBinary(double (*function)(double, double)) {
  return elementwise([function](Operation *, ArrayRef<Element> x) -> FailureOr<Element> {
    return Element{function(x[0].real, x[1].real), 0};
  });
}
